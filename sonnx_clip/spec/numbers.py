"""Checks of the numbers in the file: each is given for an operand, and every element type can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.tree import Name, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.bounds_in_use import holds
from sonnx_clip.spec.dialects import ComputedBy
from sonnx_clip.spec.document import Diagnostic, Way
from sonnx_clip.spec.entries import ABSENT, Example, OperandValues, Witness, is_number
from sonnx_clip.spec.model import Spec, entries_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def witnesses(spec: Spec) -> Iterator[tuple[Way, Iterable[str], Witness]]:
    """Every witness of an entry with its place and the families for which it is given."""
    every = [family.id for family in spec.families]
    for section, index, entry in entries_with(spec, "inhabited_by"):
        families = ["float"] if section == "latitude" else getattr(entry, "families", every)
        yield (section, index, "inhabited_by"), families, entry.inhabited_by
    for key in ("refuted_for", "differs_at", "differs_bitwise_at"):
        for section, index, entry in entries_with(spec, key):
            for family, witness in getattr(entry, key).items():
                yield (section, index, key, family), [family], witness
    for index, dialect in enumerate(spec.dialects):
        for family, witness in dialect.equivalence.fails_at.items() if dialect.equivalence else ():
            yield ("dialects", index, "equivalence", "fails_at", family), [family], witness


def _operand_values(spec: Spec) -> Iterator[tuple[Way, OperandValues]]:
    """Witnesses of entries and findings, and examples, with their places."""
    yield from ((way, witness) for way, _, witness in witnesses(spec))
    for section in ("examples", "dialect_examples"):
        for index, example in enumerate(getattr(spec, section)):
            yield (section, index), example
            if isinstance(example.Y, ComputedBy):
                yield (section, index, "Y"), example.Y
    for index, bounds in enumerate(spec.bounds_in_use):
        yield ("bounds_in_use", index), bounds
    for index, finding in enumerate(spec.findings):
        for position, of in enumerate(finding.witnesses):
            way: Way = ("findings", index, "witnesses", position)
            if isinstance(of, OperandValues):
                yield way, of
                sides = getattr(of, "answers", ())
                yield from (((*way, "answers", place), side) for place, side in enumerate(sides))


def check_operands(spec: Spec) -> Iterator[Diagnostic]:
    """Results of cases, witnesses and examples that do not have the operands of the head."""
    names = spec.head.operands
    if len(set(names)) < len(names):
        return  # `check_references` reports it
    for index, case in enumerate(spec.cases):
        if case.result not in names and not is_number(case.result):
            what = f"`{case.result}` is not allowed here"
            yield Diagnostic(
                ("cases", index, "result"), what, f"one of: {', '.join(names)}; or a number"
            )
    for way, values in _operand_values(spec):
        operands = tuple(spec.head.scalars) if values.of_scalars else names
        needed = (*(() if values.partial else operands), *values.further)
        known = {*operands, *needed, *((spec.head.second,) if values.has_second else ())}
        given = (values.model_extra or {}).keys()
        for name in given - known:
            todo = suggestion(name, (*known, *type(values).model_fields), "known keys")
            yield Diagnostic((*way, name), f"the key `{name}` is not known here", todo, of_key=True)
        for name in needed if given <= known else ():
            if name not in given:
                yield Diagnostic(
                    way, f"the key `{name}` is missing", f"add `{name}: …` to this entry"
                )


def order_operands(spec: Spec) -> None:
    """Put the numbers of witnesses and examples in the order of the head, whatever that of the file is."""
    names = (*spec.head.operands, spec.head.second)
    for _, values in _operand_values(spec):
        given = values.model_extra or {}
        for name in sorted(
            given, key=lambda name: names.index(name) if name in names else len(names)
        ):
            given[name] = given.pop(name)


def check_numbers(spec: Spec) -> Iterator[Diagnostic]:
    """Witnesses and examples that an element type cannot hold."""
    for way, families, witness in witnesses(spec):
        types = [etype for family in families for etype in spec.types_of(family)]
        for name, text in witness.texts().items():
            try:
                for etype in types:
                    encode(text, etype)
            except UserError as error:
                yield Diagnostic((*way, name), error.what, error.todo)
    for index, example in enumerate(spec.examples):
        yield from _check_example(spec, ("examples", index), example)
    yield from _check_bounds_in_use(spec)
    second = spec.head.second
    for index, entry in enumerate(spec.properties):
        used = any(isinstance(node, Name) and node.id == second for node in subtrees(entry.claim))
        for family, witness in entry.refuted_for.items():
            if used and second not in witness.texts():
                what = f"the claim uses {second}, which the witness does not define"
                yield Diagnostic(("properties", index, "refuted_for", family), what, "add it")


def _check_example(spec: Spec, way: Way, example: Example) -> Iterator[Diagnostic]:
    """Exactly the types that lack one of its numbers are listed."""
    listed = example.not_representable_in
    for etype in spec.types_of(example.family):
        try:
            for text in example.numbers:
                encode(text, etype)
        except UserError as error:
            if etype.id not in listed:
                todo = f"correct it, or add {etype.id} to `not_representable_in`"
                yield Diagnostic(way, f"`{example.id}` does not fit {etype.id}: {error.what}", todo)
        else:
            if etype.id in listed:
                place = (*way, "not_representable_in", listed.index(etype.id))
                yield Diagnostic(
                    place, f"`{example.id}` can be represented in {etype.id}", "remove the type"
                )


def _check_bounds_in_use(spec: Spec) -> Iterator[Diagnostic]:
    """A side that no element type holds, and a pair that is there twice."""
    seen: dict[tuple[str, ...], int] = {}
    for index, bounds in enumerate(spec.bounds_in_use):
        way: Way = ("bounds_in_use", index)
        for name, text in zip(spec.head.scalars, bounds.texts, strict=True):
            if text != ABSENT and not any(holds(text, etype) for etype in spec.element_types):
                todo = f"write a number, a constant or {ABSENT}"
                yield Diagnostic((*way, name), f"no element type holds `{text}`", todo)
        if bounds.texts in seen:
            first = spec.bounds_in_use[seen[bounds.texts]].reason
            yield Diagnostic(way, f"these bounds are there already: {first}", "join the reasons")
        seen.setdefault(bounds.texts, index)
