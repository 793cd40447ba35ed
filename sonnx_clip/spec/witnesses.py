"""Checks of the numbers in the file: each exists in every element type for which it is stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.tree import Name, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Example, Property
    from sonnx_clip.spec.model import Spec


def check_numbers(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about witnesses and examples that an element type cannot hold."""
    every = [family.id for family in spec.families]
    for index, case in enumerate(spec.cases):
        yield from _witness(spec, ("cases", index, "inhabited_by"), every, case.inhabited_by.texts())
    for index, klass in enumerate(spec.classes):
        way = ("classes", index, "inhabited_by")
        yield from _witness(spec, way, klass.families, klass.inhabited_by.texts())
    for index, latitude in enumerate(spec.latitude):
        way = ("latitude", index, "inhabited_by")
        yield from _witness(spec, way, ["float"], latitude.inhabited_by.texts())
    for section, key in (
        ("properties", "refuted_for"), ("constraints", "refuted_for"), ("readings", "differs_at"),
        ("readings", "differs_bitwise_at"),
    ):  # fmt: skip
        for index, entry in enumerate(getattr(spec, section)):
            for family, witness in getattr(entry, key).items():
                yield from _witness(spec, (section, index, key, family), [family], witness.texts())
    for index, example in enumerate(spec.examples):
        yield from _example(spec, ("examples", index), example)
    for index, entry in enumerate(spec.properties):
        for family in _without_second(spec, entry):
            what = f"the claim speaks of {spec.head.second}, the witness does not"
            yield Diagnostic(("properties", index, "refuted_for", family), what, "add it")


def _without_second(spec: Spec, entry: Property) -> list[str]:
    """The families whose witness lacks the second input, which the claim uses."""
    second = spec.head.second
    used = any(isinstance(node, Name) and node.id == second for node in subtrees(entry.claim))
    return [family for family, at in entry.refuted_for.items() if used and second not in at.texts()]


def _witness(spec: Spec, way: Way, families: Sequence[str], texts: Mapping[str, str]) -> Iterator[Diagnostic]:
    for etype in (etype for family in families for etype in spec.types_of(family)):
        for name, text in texts.items():
            try:
                encode(text, etype)
            except UserError as error:
                yield Diagnostic((*way, name), error.what, error.todo)
                return


def _example(spec: Spec, way: Way, example: Example) -> Iterator[Diagnostic]:
    """Exactly the types that lack one of its numbers are listed."""
    for etype in spec.types_of(example.family):
        listed = etype.id in example.not_representable_in
        try:
            for text in example.numbers:
                encode(text, etype)
        except UserError as error:
            if not listed:
                todo = f"correct it, or add {etype.id} to `not_representable_in`"
                yield Diagnostic(way, f"`{example.id}` does not fit {etype.id}: {error.what}", todo)
        else:
            if listed:
                place = (*way, "not_representable_in", example.not_representable_in.index(etype.id))
                what = f"`{example.id}` can be represented in {etype.id}"
                yield Diagnostic(place, what, "remove the type")
