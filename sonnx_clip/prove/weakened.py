"""Comparison of a specification with the committed summary of what it says, so that a change is noticed.

A weaker claim is still true, so no prover objects to it; nor does one object to another name of a type, or
to a class that means something else. The summary, ``clip.expected.yaml`` beside ``clip.yaml``, repeats what
decides the meaning; a person changes both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import yaml as yaml_library

from sonnx_clip.language.printing import unparse
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import read_document, spell
from sonnx_clip.spec.model import entries_with
from sonnx_clip.spec.operators import has_written_theory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.document import Document
    from sonnx_clip.spec.model import Spec

Place: TypeAlias = "tuple[str, str, str]"
"""Section, id, and what is summarised of the entry."""

_CONDITIONS = "conditions of classes"
_SECTION_OF = {"classes": "cases", _CONDITIONS: "classes"}
"""The section of the specification that has an entry of the summary, if it has another name."""


def meaning_summary(spec: Spec) -> dict[Place, str]:
    """What a specification claims of each family, and what its words and names stand for."""
    return {**_claims(spec), **_meanings(spec), **_names(spec)}


def _claims(spec: Spec) -> dict[Place, str]:
    """What is claimed of each family, the classes, and the conditions of the latitude."""
    claims: dict[Place, str] = {}
    # Properties and constraints: no other entries are repaired.
    for section, _, entry in entries_with(spec, "repaired"):
        for key, text in _claims_of(section, entry):
            claims[section, entry.id, key] = text
    for case in spec.cases:
        for family in spec.families:
            ids = [klass.id for klass in spec.classes_of(family.id, case.id)]
            claims["classes", case.id, family.id] = ", ".join(ids)
    for latitude in spec.latitude:
        summary = {
            "where": unparse(latitude.when),
            "accepts": unparse(latitude.accepts),
            "with --policy strict": "accepted" if latitude.always else "refused",
        }
        for key, text in summary.items():
            claims["latitude", latitude.id, key] = text
    return claims


def _claims_of(section: str, entry: Any) -> Iterator[tuple[str, str]]:
    """What a property or a constraint claims, and in which families."""
    claim = entry.claim if section == "properties" else entry.holds
    yield "claim", unparse(claim)
    yield "proved for", ", ".join(entry.holds_for)
    for family, condition in entry.repaired.items():
        where = unparse(condition)
        yield family, f"refuted; holds where, and only where, {where}"


def _meanings(spec: Spec) -> dict[Place, str]:
    """The conditions of classes and definitions, and what sentences are taken to mean."""
    meanings: dict[Place, str] = {}
    for definition in spec.definitions:
        meanings["definitions", definition.id, "is"] = unparse(definition.is_)
    for klass in spec.classes:
        meanings[_CONDITIONS, klass.id, "when"] = unparse(klass.when)
    # In words too: a finding of lint shows the statement, and not the condition.
    for restriction in spec.restrictions:
        meanings["restrictions", restriction.id, "statement"] = restriction.statement
        meanings["restrictions", restriction.id, "holds"] = unparse(restriction.holds)
    for section, _, entry in entries_with(spec, "interpretation"):
        if entry.interpretation is not None:
            meanings[section, entry.id, "ours"] = entry.interpretation.ours
    return meanings


def _names(spec: Spec) -> dict[Place, str]:
    """What each element type is called elsewhere."""
    names_elsewhere: dict[Place, str] = {}
    for etype in spec.element_types:
        names = {
            "SONNX": etype.sonnx,
            "ONNX": etype.onnx,
            "DirectML": etype.directml,
            "NumPy": etype.numpy,
            "C": etype.c,
            "Why3": etype.why3,
        }
        known = []
        for system, name in names.items():
            if name is not None:  # ONNX has no reals, DirectML no bfloat16
                known.append(f"{name} in {system}")
        names_elsewhere["element_types", etype.id, "is called"] = ", ".join(known)
    return names_elsewhere


def weakened(spec: Spec) -> Iterator[UserError]:
    """An error for each line in which a specification and its summary differ.

    An operator without a theory that is written by hand may lack a summary.

    Raises:
        UserError: the summary cannot be read.
    """
    expected = spec.path.with_name(f"{spec.path.stem}.expected.yaml")
    if not expected.exists() and not has_written_theory(spec):
        return
    document, _ = read_document(expected)
    now = meaning_summary(spec)
    kept = _texts_by_place(document)
    places = dict.fromkeys((*kept, *now))
    differing = [place for place in places if kept.get(place) != now.get(place)]
    if not differing:
        return

    # The YAML is read again for its lines, which only messages need.
    yaml, _ = read_document(spec.path)
    kept_entries = {(section, id_) for section, id_, _ in kept}
    new_keys: dict[tuple[str, str], list[str]] = {}  # by section and id
    for place in differing:
        section, id_, key = place
        if (section, id_) not in kept_entries:
            new_keys.setdefault((section, id_), []).append(key)
            continue
        # An entry that was removed has no line: its section stands for it.
        line = _line(spec, yaml, section, id_)
        stated = _quoted(now.get(place))
        expected_text = _quoted(kept.get(place))
        line_of_summary = document.position(place).line
        yield UserError(
            f"{yaml.name}:{line} (`{id_}`) is now {stated}; expected: {expected_text}",
            f"{document.name}:{line_of_summary} ({spell(place)})",
            f"correct {spec.path.name}; if the change is intended, change this line too",
        )

    # A new entry is one error, with all lines that the summary lacks, ready to be pasted.
    for (section, id_), keys in new_keys.items():
        line = _line(spec, yaml, section, id_)
        lines = [f"{section}:", f"  {id_}:"]
        for key in keys:
            text = now[section, id_, key]
            lines.append(f"    {key}: {_scalar(text)}")
        yield UserError(
            f"`{id_}` is new, and {document.name} does not have it",
            f"{yaml.name}:{line}",
            f"if this is what it should say, add to {document.name}:\n" + "\n".join(lines),
        )


def _texts_by_place(document: Document) -> dict[Place, str]:
    """The texts of a summary that was read from a file."""
    texts: dict[Place, str] = {}
    for section, entries in document.data.items():
        for id_, keys in entries.items():
            for key, text in keys.items():
                texts[section, id_, key] = str(text)
    return texts


def _quoted(text: str | None) -> str:
    return "nothing" if text is None else f"`{text}`"


def _line(
    spec: Spec,
    yaml: Document,
    section_of_summary: str,
    id_: str,
) -> int:
    """The line of the specification in which an entry of the summary begins, or else its section."""
    section = _SECTION_OF.get(section_of_summary, section_of_summary)
    for index, entry in enumerate(getattr(spec, section, ())):
        if entry.id == id_:
            return yaml.position((section, index)).line
    return yaml.position((section,)).line


def _scalar(text: str) -> str:
    """A text as YAML, quoted only where it must be."""
    # So wide that no text is broken into lines.
    dumped = yaml_library.safe_dump(text, width=10**6, allow_unicode=True)
    return dumped.removesuffix("...\n").strip()  # the end of a document, after a plain scalar


def refuse_weakened(spec: Spec) -> None:
    """Raise the first of the errors."""
    for error in weakened(spec):
        raise error
