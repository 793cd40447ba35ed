"""Checks of the numbers in the file: each exists in every element type for which it is stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.tree import Name, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import Diagnostic
from sonnx_clip.spec.model import entries_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Example, Witness
    from sonnx_clip.spec.model import Spec


def check_numbers(spec: Spec) -> Iterator[Diagnostic]:
    """Witnesses and examples that an element type cannot hold."""
    every = [family.id for family in spec.families]
    for section, index, entry in entries_with(spec, "inhabited_by"):
        families = ["float"] if section == "latitude" else getattr(entry, "families", every)
        yield from _witness(spec, (section, index, "inhabited_by"), families, entry.inhabited_by)
    for key in ("refuted_for", "differs_at", "differs_bitwise_at"):
        for section, index, entry in entries_with(spec, key):
            for family, witness in getattr(entry, key).items():
                yield from _witness(spec, (section, index, key, family), [family], witness)
    for index, example in enumerate(spec.examples):
        yield from _example(spec, ("examples", index), example)
    second = spec.head.second
    for index, entry in enumerate(spec.properties):
        used = any(isinstance(node, Name) and node.id == second for node in subtrees(entry.claim))
        for family, witness in entry.refuted_for.items():
            if used and second not in witness.texts():
                what = f"the claim speaks of {second}, the witness does not"
                yield Diagnostic(("properties", index, "refuted_for", family), what, "add it")


def _witness(spec: Spec, way: Way, families: Iterable[str], witness: Witness) -> Iterator[Diagnostic]:
    for etype in (etype for family in families for etype in spec.types_of(family)):
        for name, text in witness.texts().items():
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
