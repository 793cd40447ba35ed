"""What a copy notes of a run, condition by condition; and what it does not take."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.trace.instrument import Instrumented, unreached
from sonnx_clip.trace.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SOURCE = '''
"""A module."""

def inner(a):
    """One statement."""
    return a

def outer(a, b, c):
    """All constructs."""
    first = a and inner(b)
    if not (a or b) or (a if c else b):
        first = inner(a) if b else c
    else:
        first = not c
    return first
'''


def _subject(folder: Path, text: str) -> Subject:
    file = folder / "written.py"
    file.write_text(text, encoding="utf-8")
    module = ModuleType("written")
    module.__file__ = str(file)
    exec(compile(text, str(file), "exec"), vars(module))
    return Subject((module,), (), {})


def _copy(copies: Instrumented, name: str) -> Callable[..., object]:
    (module,) = copies.subject.modules
    found: Callable[..., object] = vars(module)[name]
    return found


def _passed(copies: Instrumented, *arguments: object) -> list[str]:
    with copies.watch() as record:
        _copy(copies, "outer")(*arguments)
    return [f"{copies.points[n].line} {copies.points[n].kind}" for n in record.places]


def test_each_statement_and_each_part_of_a_condition_is_noted_in_order(tmp_path: Path) -> None:
    copies = Instrumented(_subject(tmp_path, SOURCE))
    head, last = ["8 function", "10 statement"], ["15 statement"]
    assert _passed(copies, 1, 0, 1) == [
        *head, "10 true", "4 function", "6 statement",  # a and inner(b)
        "11 statement", "11 true",  # not (a or …)
        "11 true", "11 true",  # a if c
        "12 statement", "12 false", *last,  # … if b else c
    ]  # fmt: skip
    assert _passed(copies, 0, 1, 0) == [
        *head, "10 false",
        "11 statement", "11 false", "11 true",  # not (a or b)
        "11 false", "11 true",  # … if c else b
        "12 statement", "12 true", "4 function", "6 statement", *last,
    ]  # fmt: skip
    assert _passed(copies, 1, 0, 0)[-4:] == ["11 false", "14 statement", "14 false", *last]


def test_a_copy_computes_what_the_function_computes(tmp_path: Path) -> None:
    what = _subject(tmp_path, SOURCE)
    copies = Instrumented(what)
    outer = vars(what.modules[0])["outer"]
    values = (0, 1, "", "a", None)
    for a in values:
        for b in values:
            for c in values:
                assert _copy(copies, "outer")(a, b, c) == outer(a, b, c)
    assert _copy(copies, "outer") is not outer
    with copies.watch() as record:
        outer(1, 1, 1)
    assert record.places == []  # the function itself is as it was, and calls no copy


def test_what_no_run_passes_is_listed_with_its_line(tmp_path: Path) -> None:
    copies = Instrumented(_subject(tmp_path, SOURCE))
    with copies.watch() as one:
        _copy(copies, "outer")(1, 1, 1)
    missed = [line.removeprefix(f"{tmp_path}/written.py:") for line in unreached(copies.points, [one.places])]
    other, none = "no input takes the other way of this branch", "no input reaches this condition"
    assert missed == [
        "14: no input reaches this line",
        f"10: {other}",
        *(f"11: {said}" for said in (other, none, other, other, none)),  # a, b, c, a, b
        f"12: {other}",
        f"14: {none}",
    ]
    nothing = unreached(copies.points, [])
    assert [line.split(": ")[1] for line in nothing] == ["inner is never called", "outer is never called"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("for a in b: pass", "holds for, whose ways are not recorded"),
        ("while a: pass", "holds while, whose"),
        ("c = [a for a in b]", "holds listcomp, whose"),
        ("c = lambda: a", "holds lambda, whose"),
        ("c = 0 < a < b", "holds compare, whose"),
        ("assert a", "holds assert, whose"),
        ("(c := a)", "holds namedexpr, whose"),
    ],
)
def test_what_branches_otherwise_is_refused(line: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said) as stop:
        Instrumented(_subject(tmp_path, f"def outer(a, b):\n    {line}\n"))
    assert stop.value.where == f"{tmp_path}/written.py:2"


def test_a_function_that_is_not_written_in_its_module_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="<lambda> is not written as a function of the module"):
        Instrumented(_subject(tmp_path, "outer = lambda a: a\n"))
