"""What specifications share that are written alike in part: all that decides it is among what is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import Spec, alike, load_spec, readings
from sonnx_clip.spec.alike import CORE
from sonnx_clip.spec.checked import DECIDED_BY
from sonnx_clip.spec.finding_checks import WITNESSED, _witnesses
from sonnx_clip.spec.meaning_checks import _latitude_of_readings
from sonnx_clip.spec.reading_classes import _reading_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

TEXT = repo_file("spec/clip.yaml").read_text(encoding="utf-8")


class _Untouchable:
    """A section that nobody may look into."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("a section was read that is not compared")

    def __iter__(self) -> Any:
        raise AssertionError("a section was read that is not compared")

    __len__ = __getitem__ = __bool__ = __contains__ = __iter__


def _with(*sections: str) -> Spec:
    """The specification without all sections but these."""
    others = {name: _Untouchable() for name in Spec.model_fields if name not in sections}
    return load_spec().model_copy(update=others)


def _regions(spec: Spec) -> list[Any]:
    """Of each reading, with no other beside it."""
    found = []
    for reading in load_spec().readings:
        alone = spec.model_copy(update={"readings": (reading,)})
        for etype in (alone.types_of(family.id)[0] for family in alone.families):
            found += readings._regions(alone, etype, 0, reading)
            found.append(readings.leaves_values_open(alone, etype, reading))
    return found


def _of_classes(spec: Spec) -> list[Any]:
    return [_reading_classes(spec, family.id) for family in spec.families]


def _of_witnesses(spec: Spec) -> list[Any]:
    return [
        found for index, entry in enumerate(load_spec().findings) for found in _witnesses(spec, index, entry)
    ]


SHARED: dict[str, tuple[tuple[str, ...], Callable[[Spec], Iterable[Any]]]] = {
    "answers and regions of readings": (CORE, _regions),
    "readings by class": ((*CORE, "readings"), _of_classes),
    "latitude": ((*CORE, "latitude", "readings"), _latitude_of_readings),
    "witnesses of findings": (WITNESSED, _of_witnesses),
    **{check.__name__: (sections, check) for check, sections in DECIDED_BY.items()},
}


@pytest.mark.parametrize("what", SHARED)
def test_what_is_shared_depends_on_what_is_compared(what: str) -> None:
    sections, find = SHARED[what]
    assert list(find(_with(*sections))) == list(find(load_spec()))


@pytest.mark.parametrize("what", SHARED)
def test_a_section_that_is_not_compared_is_noticed(what: str) -> None:
    sections, find = SHARED[what]
    with pytest.raises(AssertionError, match="that is not compared"):
        list(find(_with(*(name for name in sections if name != "cases"))))


def _read(folder: Path, text: str) -> Spec:
    path = folder / "clip.yaml"
    path.write_text(text, encoding="utf-8")
    return load_spec(path)


def test_a_mistake_shares_what_it_does_not_reach(tmp_path: Path) -> None:
    alike.forget()
    one = _read(tmp_path, TEXT)
    other = _read(tmp_path, f"{TEXT}# the same\n")
    assert one.digest != other.digest
    for section in (CORE, (*CORE, "readings")):
        assert alike.alike(one, section) is alike.alike(other, section)
    changed = other.model_copy(update={"cases": other.cases})
    assert alike.alike(changed, CORE) is not alike.alike(one, CORE)


def test_a_condition_is_parsed_anew_where_its_place_or_its_names_differ(tmp_path: Path) -> None:
    """The tree of a condition knows its place, and a name may mean something else by then."""
    one = _read(tmp_path, TEXT)
    moved = _read(tmp_path, f"# one line more\n{TEXT}")
    for before, after in zip(one.classes, moved.classes, strict=True):
        assert (after.when.at.line, after.when.at.column) == (before.when.at.line + 1, before.when.at.column)
    again = _read(tmp_path, TEXT)
    assert all(before.when is after.when for before, after in zip(one.classes, again.classes, strict=True))
    name = one.definitions[0].id
    with pytest.raises(UserError, match=name):
        _read(tmp_path, TEXT.replace(f"id: {name}\n", f"id: {name}s\n"))


def test_what_is_written_otherwise_shares_nothing() -> None:
    first, second = load_spec().model_copy(), load_spec().model_copy()
    for spec, text in ((first, "M < L"), (second, "L < M")):
        data: dict[str, Any] = {name: [] for name in CORE}
        data |= {"cases": [{"when": text}], "readings": [{"id": "a"}]}
        alike.remember(spec, alike.as_written(data))
    assert alike.alike(first, CORE) is not alike.alike(second, CORE)
    assert alike.alike(first, ("families",), ("readings", 0)) is alike.alike(
        second, ("families",), ("readings", 0)
    )
    assert alike.alike(first, ("families",), ("cases", 0)) is not alike.alike(
        second, ("families",), ("cases", 0)
    )
