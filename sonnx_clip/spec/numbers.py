"""Checks of the numbers in the file: each is given for an operand, and every element type can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.tree import names_in
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.bounds_in_use import holds
from sonnx_clip.spec.dialects import ComputedBy, DialectExample, bounds_of
from sonnx_clip.spec.document import Diagnostic, Way
from sonnx_clip.spec.entries import ABSENT, Example, OperandValues, Witness
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.model import Spec, entries_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language.types import ElementType


class PlacedWitness(NamedTuple):
    """A witness of an entry with its place and the families for which it is given."""

    way: Way
    families: Iterable[str]
    witness: Witness


def witnesses(spec: Spec) -> Iterator[PlacedWitness]:
    """Every witness of an entry."""
    all_families = [family.id for family in spec.families]
    for section, index, entry in entries_with(spec, "inhabited_by"):
        way: Way = (section, index, "inhabited_by")
        if section == "latitude":
            families = ["float"]  # only floats have two answers of equal value
        elif section == "cases":
            families = [family for family in all_families if family not in entry.not_for]
        else:  # a class
            families = entry.families
        yield PlacedWitness(way, families, entry.inhabited_by)
    for key in ("refuted_for", "differs_at", "differs_bitwise_at"):
        for section, index, entry in entries_with(spec, key):
            by_family = getattr(entry, key)
            for family, witness in by_family.items():
                yield PlacedWitness((section, index, key, family), [family], witness)
    for index, dialect in enumerate(spec.dialects):
        if not dialect.equivalence:
            continue
        way_to_failures = ("dialects", index, "equivalence", "fails_at")
        for family, witness in dialect.equivalence.fails_at.items():
            yield PlacedWitness((*way_to_failures, family), [family], witness)


def _operand_values(spec: Spec) -> Iterator[tuple[Way, OperandValues]]:
    """Witnesses of entries and findings, and examples, with their places."""
    for placed in witnesses(spec):
        yield placed.way, placed.witness
    for section in ("examples", "dialect_examples"):
        for index, example in enumerate(getattr(spec, section)):
            yield (section, index), example
            if isinstance(example.Y, ComputedBy):
                yield (section, index, "Y"), example.Y
    for index, bounds in enumerate(spec.bounds_in_use):
        yield ("bounds_in_use", index), bounds
    for index, finding in enumerate(spec.findings):
        for position, witness in enumerate(finding.witnesses):
            if not isinstance(witness, OperandValues):
                continue  # lines of a text
            way: Way = ("findings", index, "witnesses", position)
            yield way, witness
            # The sides of a contrast may have numbers of their own.
            for place, side in enumerate(getattr(witness, "answers", ())):
                yield (*way, "answers", place), side


def check_operands(spec: Spec) -> Iterator[Diagnostic]:
    """Witnesses and examples that do not have the operands of the head."""
    names = spec.signature.ids
    # With a name that is there twice, no witness could have a number for each operand.
    if len(set(names)) < len(names):
        return  # `check_references` reports it
    for way, values in _operand_values(spec):
        yield from _check_keys(spec, way, values)


def _check_keys(spec: Spec, way: Way, values: OperandValues) -> Iterator[Diagnostic]:
    """Operands of a witness or an example that are unknown, or else missing."""
    operands = spec.signature.scalars if values.of_scalars else spec.signature.ids
    required = list(values.further)
    if not values.partial:
        required = [*operands, *required]
    known = {*operands, *required}
    if values.has_second:
        known.add(spec.signature.second)

    # Keys that are no fields of the model: pydantic takes any, since operands differ.
    keys = (values.model_extra or {}).keys()
    for name in keys - known:
        fields = type(values).model_fields
        others = sorted(known - set(operands))
        todo = suggestion(name, (*fields, *operands, *others), "known keys")
        message = f"the key `{name}` is not known here"
        yield Diagnostic((*way, name), message, todo, of_key=True)
    if not keys <= known:
        return  # a missing key may be the unknown one, misspelt
    for name in required:
        if name not in keys:
            message = f"the key `{name}` is missing"
            yield Diagnostic(way, message, f"add `{name}: …` to this entry")


def order_operands(spec: Spec) -> None:
    """Put the numbers of witnesses and examples in the order of the head, whatever that of the file is."""
    names = (*spec.signature.ids, spec.signature.second)

    def place(name: str) -> int:
        return names.index(name) if name in names else len(names)

    for _, values in _operand_values(spec):
        numbers = values.model_extra or {}
        # The models are frozen, but not the dictionary that pydantic keeps further keys in.
        for name in sorted(numbers, key=place):
            numbers[name] = numbers.pop(name)  # moved to the end


def check_numbers(spec: Spec) -> Iterator[Diagnostic]:
    """Witnesses and examples that an element type cannot hold."""
    for placed in witnesses(spec):
        yield from _check_witness(spec, placed)
        yield from _check_in_domain(spec, placed)
    for index, example in enumerate(spec.examples):
        yield from _check_example(spec, ("examples", index), example)
    for index, example_of_dialect in enumerate(spec.dialect_examples):
        yield from _check_dialect_example(spec, ("dialect_examples", index), example_of_dialect)
    yield from _check_bounds_in_use(spec)
    yield from _check_mechanisms(spec)
    yield from _check_second(spec)


def _check_witness(spec: Spec, placed: PlacedWitness) -> Iterator[Diagnostic]:
    """Numbers of a witness that a type of its families cannot hold, each with the first such type."""
    types: list[ElementType] = []
    for family in placed.families:
        types += spec.types_of(family)
    for name, text in placed.witness.texts().items():
        way = (*placed.way, name)
        try:
            for etype in types:
                encode(text, etype)
        except UserError as error:
            yield Diagnostic(way, error.what, error.todo)


def _check_in_domain(spec: Spec, placed: PlacedWitness) -> Iterator[Diagnostic]:
    """A witness for which the operator is not defined. Cases and classes are about all operands."""
    section, *_ = placed.way
    if section in ("cases", "classes"):
        return
    by_operand = placed.witness.texts()
    texts = [by_operand[name] for name in spec.signature.ids]
    for family in placed.families:
        for etype in spec.types_of(family):
            try:
                values = [encode(text, etype) for text in texts]
            except UserError:
                return  # `_check_witness` reports it
            # The first such type is enough: the witness is wrong for the whole entry.
            if not evaluator(spec, etype).is_defined(*values):
                message = f"{spec.operator} is not defined for these operands in {etype.id}"
                yield Diagnostic(placed.way, message, "choose a witness in the domain")
                return


def _check_second(spec: Spec) -> Iterator[Diagnostic]:
    """Witnesses that refute a claim on two values of X, and have one."""
    second = spec.signature.second
    for index, entry in enumerate(spec.properties):
        if second not in names_in(entry.claim):
            continue
        for family, witness in entry.refuted_for.items():
            if second not in witness.texts():
                message = f"the claim uses {second}, which the witness does not define"
                yield Diagnostic(("properties", index, "refuted_for", family), message, "add it")


def _check_example(spec: Spec, way: Way, example: Example) -> Iterator[Diagnostic]:
    """Exactly the types that lack one of its numbers are listed."""
    # An example that needlessly leaves out a type would not be proved there.
    listed = example.not_representable_in
    for etype in spec.types_of(example.family):
        try:
            for text in example.numbers:
                encode(text, etype)
        except UserError as error:
            if etype.id not in listed:
                message = f"`{example.id}` does not fit {etype.id}: {error.what}"
                todo = f"correct it, or add {etype.id} to `not_representable_in`"
                yield Diagnostic(way, message, todo)
        else:
            if etype.id in listed:
                place = (*way, "not_representable_in", listed.index(etype.id))
                message = f"`{example.id}` can be represented in {etype.id}"
                yield Diagnostic(place, message, "remove the type")


def _check_dialect_example(spec: Spec, way: Way, example: DialectExample) -> Iterator[Diagnostic]:
    """A bound or an entry that is no number of the element type."""
    etype = spec.element_type(example.type)
    try:
        bounds_of(spec, example)
        for pair in example.pairs:
            for text in pair:
                encode(text, etype)
    except UserError as error:
        # It does not tell which number is wrong, so that the whole example is the place.
        yield Diagnostic((*way, "id"), f"`{example.id}`: {error.what}", error.todo)


def _check_bounds_in_use(spec: Spec) -> Iterator[Diagnostic]:
    """Bounds that no machine type holds, one by one or together, and a pair that is there twice."""
    # Bounds in use are those of models, which have no reals.
    machine_types = [etype for etype in spec.element_types if etype.width is not None]
    reasons: dict[tuple[object, ...], str] = {}  # by the values of the sides
    for index, bounds in enumerate(spec.bounds_in_use):
        way: Way = ("bounds_in_use", index)
        sides = zip(spec.signature.scalars, bounds.texts, strict=True)
        texts = {name: text for name, text in sides if text != ABSENT}
        # First one by one: the message then names the side that is wrong.
        impossible_side = _side_that_no_type_holds(texts, machine_types)
        if impossible_side is not None:
            message = f"no element type holds `{texts[impossible_side]}`"
            todo = f"write a number, a constant or {ABSENT}"
            yield Diagnostic((*way, impossible_side), message, todo)
            continue
        holding = [etype for etype in machine_types if _holds_all(texts, etype)]
        if not holding:  # each side is held by some type, but by different ones
            yield Diagnostic(way, "no element type holds both bounds", "correct one of them")
            continue
        # `0.0` is the bound `0`: what the widest type makes of the texts is compared.
        widest = holding[-1]
        values = [(name, encode(text, widest)) for name, text in texts.items()]
        key = (widest.id, *values)
        if key in reasons:
            message = f"these bounds are there already: {reasons[key]}"
            yield Diagnostic(way, message, "join the reasons")
        reasons.setdefault(key, bounds.reason)


def _side_that_no_type_holds(
    texts: dict[str, str],
    types: Iterable[ElementType],
) -> str | None:
    for name, text in texts.items():
        is_held = any(holds(text, etype) for etype in types)
        if not is_held:
            return name
    return None


def _holds_all(texts: dict[str, str], etype: ElementType) -> bool:
    return all(holds(text, etype) for text in texts.values())


def _check_mechanisms(spec: Spec) -> Iterator[Diagnostic]:
    """What absent bounds are read as: a number of every type of the mechanism's families, for a scalar."""
    for index, mechanism in enumerate(spec.mechanisms):
        for name, text in (mechanism.absent or {}).items():
            way: Way = ("mechanisms", index, "absent", name)
            if name not in spec.signature.scalars:
                message = f"the key `{name}` is not known here"
                todo = suggestion(name, spec.signature.scalars, "scalars")
                yield Diagnostic(way, message, todo, of_key=True)
                continue
            try:
                for etype in spec.element_types:
                    # Runtimes, which a mechanism is of, have no reals.
                    if mechanism.is_for(etype.family) and etype.width is not None:
                        encode(text, etype)
            except UserError as error:
                yield Diagnostic(way, error.what, error.todo)
