"""Mistakes in NumPy kernels are refuted by name, with numbers that fail in NumPy; guards catch the rest."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends import numpy_kernels
from sonnx_clip.prove import completeness
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.trace.explore import Traced, explore
from sonnx_clip.trace.subject import Subject, subject
from sonnx_clip.trace.tracing import trace_all, traced_kernels
from tests.meta.numpy_bugs import BUGS, Bug
from tests.trace.planted import in_use, planted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.prove.workbench import Workbench


FIRST = tuple({bug.module: bug for bug in reversed(BUGS)}.values())  # one of each module, all in one run


@pytest.mark.parametrize(
    "bugs",
    [FIRST, *(pytest.param((b,), marks=pytest.mark.nightly) for b in BUGS)],
    ids=lambda bugs: " and ".join(bug.name for bug in bugs),
)
def test_wrong_kernels_are_refuted(bugs: tuple[Bug, ...], bench: Workbench, tmp_path: Path) -> None:
    wrong = planted(tmp_path, bench.monkeypatch, {bug.module: (bug.old, bug.new) for bug in bugs})
    asked = [id_ for bug in bugs for id_ in (*bug.caught_by, *bug.holds)]
    with in_use(wrong, bench.monkeypatch):
        bench.generate()
        ended = bench.prove(*(part for id_ in asked for part in ("--only", id_)))
    assert ended.status == 1
    failed = re.findall(r"^not proved (\S+):", ended.out, re.MULTILINE)
    assert sorted(failed) == sorted(id_ for bug in bugs for id_ in bug.caught_by)


LIMIT = "    x.clip(lower, upper, out=out)\n\n\n# ---"
# What is planted in a module, and what is said of it.
GUARDED = {
    "an operation that has no meaning": (
        "kernels", "np.copyto(out, upper)", "np.put(out, 0, upper)", "np.put, which has no m"),
    "a method that has no meaning": (
        "kernels", "np.copyto(out, upper)", "out.fill(upper)", ".fill(), which has no m"),
    "a cast": (
        "kernels", LIMIT, f"    x.clip(lower, upper).astype(x.dtype)\n{LIMIT}", ".astype(), which has no m"),
    "the identity of arrays": (
        "kernels", LIMIT, f"    if x is out:\n        np.copyto(out, x)\n{LIMIT}", "a comparison other"),
    "the type of an array": (
        "kernels", LIMIT, f"    if isinstance(x, out):\n        np.copyto(out, x)\n{LIMIT}",
        "a call of isinstance"),
    "a number of Python": (
        "kernels", "form.sign:\n        _make", "int(form.sign):\n        _make", "a call of int"),
    "a function of Python": ("kernels", LIMIT, f"    size = len\n{LIMIT}", "len of Python"),
    "a loop": ("kernels", LIMIT, f"    for _ in ():\n        np.copyto(out, x)\n{LIMIT}", "for, which"),
    "an exception that is swallowed": (
        "kernels", LIMIT,
        f"    try:\n        x.sort()\n    except TypeError:\n        np.copyto(out, x)\n{LIMIT}",
        "try, which"),
    "a text made from a value": ("kernels", LIMIT, f"    name = f'{{x}}'\n{LIMIT}", "an f-string, which"),
    "a global that changes": (
        "kernels", LIMIT, f"    global FORMATS\n    FORMATS = {{}}\n{LIMIT}", "global, which"),
    "a function that is not traced": (
        "kernels", LIMIT, f"    Array(x)\n{LIMIT}", "a call of Array, which is not traced"),
    "an entry": ("kernels", LIMIT, f"    first = x[0]\n{LIMIT}", "an entry of x"),
    "a store into an entry": (
        "kernels", LIMIT, f"    out[...] = x\n{LIMIT}", "an assignment to what is no local"),
    "an option of an operation": (
        "kernels", "np.copyto(out, upper)", "np.copyto(out, upper, casting='no')", "the argument casting"),
    "a decorator": ("kernels", "def limit(x", "@staticmethod\ndef limit(x", "limit is decorated"),
    "a parameter with a default": (
        "kernels", 'lower: Array, upper: Array, out: Array) -> None:\n    """Integers',
        'lower: Array, upper: Array, out: Array = None) -> None:\n    """Integers', "need not be given"),
    "a constant that can be written": (
        "formats", "    constant.flags.writeable = False\n", "",
        "FORMATS holds an array that can be written"),
    "a kernel that is no function of the module": (
        "kernels", LIMIT,
        f"{LIMIT}\nlimit = lambda x, l, m, out: x.clip(l, m, out=out) if vars(x) else None\n# ",
        "<lambda> is not written as a function"),
    "a kernel that is given other code": (
        "plan", "Kernel: TypeAlias",
        "kernels.limit.__code__ = (lambda x, l, m, out: x.clip(l, m, out=out)).__code__\nKernel: TypeAlias",
        "limit is not written as a function"),
    "a default that is given afterwards": (
        "plan", "Kernel: TypeAlias", "kernels.limit.__defaults__ = (None,)\nKernel: TypeAlias",
        "limit holds values that its source does not show"),
    "another module that is called np": (
        "kernels", LIMIT, f"{LIMIT}\nimport numpy.ma as np\n# ", "a call of np, which is not NumPy"),
}  # fmt: skip


@pytest.mark.parametrize("planted_in", GUARDED.values(), ids=GUARDED)
def test_unproved_goal_is_named(
    planted_in: tuple[str, str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, old, new, said = planted_in
    what = planted(tmp_path, monkeypatch, {module: (old, new)})
    with pytest.raises(UserError, match=re.escape(said)) as stop:
        trace_all(SPEC.element_types, what)
    assert stop.value.where is not None
    assert stop.value.where.startswith(str(tmp_path))
    assert stop.value.todo


SPEC = load_spec()
FLOAT16 = SPEC.element_type("float16")

# What the lint lets pass, and a run on symbols does not.
UNTRACEABLE = {
    "two types in one operation": (
        "keys.clip(upper, lower, out=out.view(UINT16))",
        "keys.clip(upper, lower.view(INT16), out=out.view(UINT16))", "int16 with uint16"),
    "a result that is cast": (
        "np.copyto(out.view(UINT16), upper)", "np.copyto(out, upper)", "uint16 with float16"),
    "the truth of an array": (
        "    if greatest > form.sign:", "    if np.greater(bits, form.sign):", "the truth of what is"),
    "an operation on another type": (
        "np.copyto(out.view(UINT16), upper)", "np.right_shift(out.view(UINT16), upper, out=out.view(UINT16))",
        "np.right_shift of uint16"),
    "an attribute": (
        "np.copyto(out.view(UINT16), upper)", "np.copyto(out.view(UINT16), upper.real)",
        ".real has no meaning"),
    "a view of another width": (
        "np.copyto(out.view(UINT16), upper)", "np.copyto(out.view(np.uint8), upper)",
        ".view(uint8) of float16"),
    "how many axes there are": (
        "np.copyto(out.view(UINT16), upper)",
        "np.copyto(out.view(UINT16), upper)\n    np.add(out.view(UINT16), x.ndim - 1, out=out.view(UINT16))",
        ".ndim has no meaning"),
    "an integer that is compared with a half": (
        "if bits.min() == 0:", "if bits.min() < 1.5:", "1.5 with uint16"),
    "x as room for a result": (
        "np.copyto(out.view(UINT16), upper)",
        "np.copyto(out.view(UINT16), upper)\n    np.copyto(x.view(UINT16), upper)", "fill_16 writes to `x`"),
    "an exception": (
        "np.copyto(out.view(UINT16), upper)", "np.copyto(out.view(UINT16), 70000)", "raises OverflowError"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNTRACEABLE.values(), ids=UNTRACEABLE)
def test_unsupported_symbolic_operation_is_named(
    case: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, said = case
    what = planted(tmp_path, monkeypatch, {"kernels": (old, new)})
    with pytest.raises(UserError, match=re.escape(said)) as stop:
        trace_all(SPEC.element_types, what)
    assert re.match(rf"{re.escape(str(tmp_path))}/\w+\.py:\d+$", stop.value.where or "")


def _with_paths(bench: Workbench, change: Callable[[Traced], Traced]) -> None:
    """Let the obligations be rendered from other paths than those that were followed."""
    right = traced_kernels(tuple(SPEC.element_types))
    wrong = tuple(change(t) for t in right)
    for module in (numpy_kernels, completeness):
        bench.monkeypatch.setattr(module, "traced_kernels", lambda _: wrong)
    bench.generate()


def test_path_that_no_sample_takes_is_not_proved_complete(bench: Workbench, tmp_path: Path) -> None:
    """A branch on one pattern that is not among the samples: tracing misses it, and the provers do not."""
    begin = "    if low < form.minus_zero:\n        return _from_plus"
    missed = f"    if low == 12345:\n        return Plan(kernels.fill_16, low, high)\n{begin}"
    wrong = planted(tmp_path, bench.monkeypatch, {"plan": (begin, missed)})
    with in_use(wrong, bench.monkeypatch):
        bench.generate()
        ended = bench.prove(
            "--only", "float16.numpy_ways_complete_in_place", "--only", "int8.numpy_ways_complete_in_place"
        )
    assert "not proved float16.numpy_ways_complete_in_place" in ended.out
    assert "not proved int8" not in ended.out


def test_a_way_that_no_input_takes_is_caught(bench: Workbench) -> None:
    """The witness of one way is given to another, as if nothing took it."""

    def swap(t: Traced) -> Traced:
        first, second, *rest = t.paths
        return replace(t, paths=(first, replace(second, witness=first.witness), *rest))

    _with_paths(bench, lambda t: swap(t) if t.etype == FLOAT16 else t)
    ended = bench.prove("--only", "float16.numpy_ways_*", "--only", "int8.numpy_ways_inhabited_in_place")
    assert sorted(re.findall(r"^not proved (\S+):", ended.out, re.MULTILINE)) == [
        "float16.numpy_ways_inhabited_in_place",
        "float16.numpy_ways_inhabited_out_of_place",
    ]


def test_an_element_type_without_kernel_is_named() -> None:
    what = subject()
    fewer = Subject(what.modules, what.constants, {})
    with pytest.raises(UserError, match="float16 has no NumPy kernel"):
        explore(fewer, FLOAT16, in_place=False)


def test_a_kernel_or_planner_from_elsewhere_is_named() -> None:
    """Nobody would read it, nor see where it goes: it could tell an array from a symbol."""
    what = subject()

    def elsewhere(*_: object) -> tuple[object, None, None]:
        return print, None, None

    for planners in (dict.fromkeys(what.planners, elsewhere), dict.fromkeys(what.planners, _Planner())):
        with pytest.raises(UserError, match="is not traced"):
            explore(Subject(what.modules, what.constants, planners), FLOAT16, in_place=False)


class _Planner:
    def __call__(self, *_: object) -> tuple[object, None, None]:
        return print, None, None


def test_a_kernel_from_elsewhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what = planted(tmp_path, monkeypatch, {"kernels": (LIMIT, f"{LIMIT}\nlimit = np.clip\n# ")})
    with pytest.raises(UserError, match=r"numpy\.clip is planned or called, and is not traced"):
        trace_all(SPEC.element_types, what)


def test_tracing_error_stops_generate_and_prove(bench: Workbench, tmp_path: Path) -> None:
    wrong = planted(
        tmp_path, bench.monkeypatch, {"kernels": ("np.copyto(out, upper)", "np.put(out, 0, upper)")}
    )
    with in_use(wrong, bench.monkeypatch):
        for command in (("generate",), ("prove", "--build", str(bench.build))):
            ended = bench.command(*command)
            assert ended.status == 2
            assert "np.put, which has no meaning in why3/numpy.mlw" in ended.err
            assert "Traceback" not in ended.err
