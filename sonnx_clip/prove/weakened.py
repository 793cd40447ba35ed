"""Comparison of a specification with the committed summary of its claims, so that a weaker one is noticed.

A weaker claim is still true, so no prover objects to it. The summary, ``clip.expected.yaml`` beside
``clip.yaml``, repeats what is claimed of which family; a person changes both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.language.printing import unparse
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import read_document, spell
from sonnx_clip.spec.model import entries_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.model import Spec

Place: TypeAlias = "tuple[str, str, str]"
"""Section, id, and what is summarised of the entry."""


def summary(spec: Spec) -> dict[Place, str]:
    """What a specification claims of each family, its classes, and the conditions of its latitude."""
    found: dict[Place, str] = {}
    for section, _, entry in entries_with(spec, "repaired"):
        claim = entry.claim if section == "properties" else entry.holds
        found[section, entry.id, "claim"] = unparse(claim)
        found[section, entry.id, "proved for"] = ", ".join(entry.holds_for)
        for name, condition in entry.repaired.items():
            found[section, entry.id, name] = (
                f"refuted; holds where, and only where, {unparse(condition)}"
            )
    for case in spec.cases:
        for family in spec.families:
            ids = [c.id for c in spec.classes_of(family.id, case.id)]
            found["classes", case.id, family.id] = ", ".join(ids)
    for latitude in spec.latitude:
        found["latitude", latitude.id, "where"] = unparse(latitude.when)
        found["latitude", latitude.id, "accepts"] = unparse(latitude.accepts)
        found["latitude", latitude.id, "with --policy strict"] = (
            "accepted" if latitude.always else "refused"
        )
    return found


def weakened(spec: Spec) -> Iterator[UserError]:
    """An error for each line in which a specification and its summary differ.

    The summary of another operator than Clip may be left out.

    Raises:
        UserError: the summary cannot be read.
    """
    expected = spec.path.with_name(f"{spec.path.stem}.expected.yaml")
    if spec.operator != "Clip" and not expected.exists():
        return
    document, now = read_document(expected)[0], summary(spec)
    kept = {
        (section, id_, key): str(text)
        for section, entries in document.data.items()
        for id_, lines in entries.items()
        for key, text in lines.items()
    }
    differing = [
        place for place in dict.fromkeys((*kept, *now)) if kept.get(place) != now.get(place)
    ]
    yaml = read_document(spec.path)[0] if differing else document
    for place in differing:
        section, id_, _ = place
        section = "cases" if section == "classes" else section
        ids = [entry.id for entry in getattr(spec, section, ())]
        line = yaml.position((section, ids.index(id_)) if id_ in ids else (section,)).line
        stated, due = (f"`{of[place]}`" if place in of else "nothing" for of in (now, kept))
        yield UserError(
            f"{yaml.name}:{line} (`{id_}`) is now {stated}; expected: {due}",
            f"{document.name}:{document.position(place).line} ({spell(place)})",
            f"correct {spec.path.name}; if the change is intended, change this line too",
        )


def refuse_weakened(spec: Spec) -> None:
    """Raise the first of the errors."""
    for error in weakened(spec):
        raise error
