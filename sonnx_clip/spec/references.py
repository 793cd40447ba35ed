"""Checks on ids and on what refers to them: an id is unique, and every reference finds its entry."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from sonnx_clip.language.parse import THEORY_NAMES, VARIABLES, suggestion
from sonnx_clip.language.types import Part
from sonnx_clip.spec.dialects import ComputedBy
from sonnx_clip.spec.document import Diagnostic, unknown
from sonnx_clip.spec.entries import OperandValues, is_number
from sonnx_clip.spec.findings import Theorem
from sonnx_clip.spec.model import SECTIONS, entries_with, unknown_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.model import Spec


RESERVED_IN_REPRODUCERS = frozenset({"b", "c", "d", "o", "p", "s", "v", "z", "np"})
RESULT = "Y"
"""The name of the result in every specification."""

REFERENCES: Final = (
    ("families", "families"), ("holds_for", "families"), ("family", "families"), ("case", "cases"),
    ("shows", "constraints"), ("given_by", "readings"), ("false_for", "wrong_clips"),
    ("dialect", "dialects"), ("type", "element_types"), ("element_types", "element_types"),
    ("reading", "readings"), ("answers", "readings"), ("page", "sources"),
)  # fmt: skip
"""The keys of entries that hold ids, one or a list, with the section to which these belong."""


def check_operands(spec: Spec) -> Iterator[Diagnostic]:
    """The results of the cases, and the operands in witnesses and examples, are those of the head."""
    names = spec.head.operands
    if len(set(names)) < len(names):
        return  # `check_references` reports it
    for index, case in enumerate(spec.cases):
        if case.result not in names and not is_number(case.result):
            what = f"`{case.result}` is not allowed here"
            yield Diagnostic(("cases", index, "result"), what, f"one of: {', '.join(names)}; or a number")
    for section in SECTIONS:
        for way, values in _operand_values(getattr(spec, section.name), (section.name,)):
            yield from _check_values(spec, way, values)


def _check_values(spec: Spec, way: Way, values: OperandValues) -> Iterator[Diagnostic]:
    names = spec.head.operands
    needed = (*(() if values.partial else names), *values.further)
    known = list(dict.fromkeys((*names, *needed, *((spec.head.second,) if values.has_second else ()))))
    given = list(values.model_extra or ())
    unknown = [name for name in given if name not in known]
    for name in unknown:
        todo = suggestion(name, (*known, *type(values).model_fields), "known keys")
        yield Diagnostic((*way, name), f"the key `{name}` is not known here", todo, of_key=True)
    for name in (name for name in needed if name not in given and not unknown):
        yield Diagnostic(way, f"the key `{name}` is missing", f"add `{name}: …` to this entry")
    ordered = [name for name in known if name in given]
    if not unknown and given != ordered:
        yield Diagnostic(way, "these numbers are not in order", f"the order is {', '.join(ordered)}")


def _operand_values(part: object, way: tuple[str | int, ...]) -> Iterator[tuple[Way, OperandValues]]:
    """Each part of the model that has values of the operands, with its place."""
    items: Iterable[tuple[str | int, object]] = ()
    if isinstance(part, Part):
        items = (
            (field.alias or name, getattr(part, name)) for name, field in type(part).model_fields.items()
        )
    elif isinstance(part, dict):
        items = part.items()
    elif isinstance(part, tuple):
        items = enumerate(part)
    if isinstance(part, OperandValues):
        yield way, part
    for key, inner in items:
        yield from _operand_values(inner, (*way, key))


def check_references(spec: Spec) -> Iterator[Diagnostic]:
    """Ids that are there twice, and references to missing entries."""
    yield from _check_head(spec)
    yield from _duplicates(spec)
    for key, of in REFERENCES:
        for section, index, entry in entries_with(spec, key):
            ids = getattr(entry, key)
            for position, id_ in enumerate(ids if isinstance(ids, tuple) else filter(None, [ids])):
                way = (section, index, key, position) if isinstance(ids, tuple) else (section, index, key)
                yield from unknown_in(spec, of, way, id_)
    yield from _declared(spec)
    yield from _families(spec)
    yield from _refutations(spec)
    yield from _examples(spec)
    yield from _wrong_operators(spec)
    yield from _readings(spec)
    yield from _theorems(spec)


def _check_head(spec: Spec) -> Iterator[Diagnostic]:
    if spec.result.id in [operand.id for operand in spec.operands]:
        what = f"`{spec.result.id}` is an operand"
        yield Diagnostic(("result", "id"), what, "the result has a name of its own")
    if spec.result.id != RESULT:
        what = f"the result is called `{spec.result.id}`"
        yield Diagnostic(("result", "id"), what, f"conditions know it as {RESULT}")
    for index, operand in enumerate(spec.operands):
        name = operand.id
        for taken, of in (
            (name in VARIABLES and name != spec.result.id, "variable of the language"),
            (name.lower() in THEORY_NAMES or name == spec.head.second, "name of the rendered theories"),
            (name.lower() in RESERVED_IN_REPRODUCERS, "name of reproducing lines"),
        ):
            if taken:
                yield Diagnostic(("operands", index, "id"), f"`{name}` is a {of}", "choose another name")
    roles = [operand.role for operand in spec.operands]
    if roles[0] == "scalar":
        yield Diagnostic(("operands",), "no operand is a tensor", "the result has the entries of a tensor")
    elif roles != sorted(roles, reverse=True):
        yield Diagnostic(("operands",), "a tensor stands behind a scalar", "name the tensors first")


def _duplicates(spec: Spec) -> Iterator[Diagnostic]:
    shared: dict[str, str] = {}
    for section in SECTIONS:
        seen = {} if section.own_ids else shared
        for index, entry in enumerate(getattr(spec, section.name)):
            if entry.id in seen:
                what = f"the id `{entry.id}` is taken by {seen[entry.id]}"
                todo = "an id is permanent and belongs to one entry"
                yield Diagnostic((section.name, index, "id"), what, todo)
            seen.setdefault(entry.id, f"{section.name}[{index}]")


def _declared(spec: Spec) -> Iterator[Diagnostic]:
    """A declared example names every tensor, and a change of it one of them; their types are there."""
    example = spec.declared_example or {}
    for name, declaration in example.items():
        way: Way = ("declared_example", name)
        yield from unknown_in(spec, "element_types", (*way, "type"), declaration.type)
        yield from _tensor(spec, way, name)
    missing = [name for name in spec.head.all if name not in example]
    if spec.declared_example is not None and missing:
        what = f"the tensor `{missing[0]}` is not declared"
        yield Diagnostic(("declared_example",), what, f"add `{missing[0]}: …`")
    if spec.declared_example is None and (spec.restrictions or any(c.broken_by for c in spec.constraints)):
        todo = "give a node that meets every restriction"
        yield Diagnostic(
            (), "there is no `declared_example`, which restrictions and constraints change", todo
        )
    for key in ("broken_alone_by", "broken_by", "aliases"):
        for section, index, entry in entries_with(spec, key):
            for name, change in getattr(entry, key).items():
                way = (section, index, key, name)
                yield from _tensor(spec, way, name)
                if (type_ := getattr(change, "type", None)) is not None:
                    yield from unknown_in(spec, "element_types", (*way, "type"), type_)


def _tensor(spec: Spec, way: Way, name: str) -> Iterable[Diagnostic]:
    known = spec.head.all
    what = f"there is no tensor `{name}`"
    return () if name in known else [Diagnostic(way, what, f"there are {', '.join(known)}", of_key=True)]


def _families(spec: Spec) -> Iterator[Diagnostic]:
    """A statement covers every family, or says why not."""
    for section, index, entry in entries_with(spec, "not_for"):
        for family in (family.id for family in spec.families):
            covered, excused = family in entry.families, family in entry.not_for
            if covered and excused:
                what = f"`{entry.id}` is stated for {family} and excused from it"
                yield Diagnostic((section, index, "not_for", family), what, "remove one of the two")
            elif not covered and not excused:
                what = f"`{entry.id}` says nothing of the family {family}"
                yield Diagnostic(
                    (section, index, "id"), what, f"name it, or write not_for: {{{family}: why}}"
                )


def _examples(spec: Spec) -> Iterator[Diagnostic]:
    """Tensors and the result have entries, as many as the first tensor; scalars have a number."""
    for index, example in enumerate(spec.examples):
        way: Way = ("examples", index)
        types = [etype.id for etype in spec.types_of(example.family)]
        for position, type_ in enumerate(example.not_representable_in):
            one = f"element type of {example.family}"
            yield from unknown((*way, "not_representable_in", position), type_, types, one)
        first, *_ = spec.operands
        wanted = len(example.values[first.id])
        for name, value in example.values.items():
            if isinstance(value, str) != (name in spec.head.scalars):
                what = f"{name} is a {'scalar' if name in spec.head.scalars else 'tensor'}"
                todo = "give one number" if name in spec.head.scalars else "list its entries: [a, b]"
                yield Diagnostic((*way, name), what, todo)
            elif not isinstance(value, str) and len(value) != wanted:
                what = f"{first.id} has {wanted} entries, {name} has {len(value)}"
                yield Diagnostic((*way, name), what, f"the result has the shape of {first.id}")
    for index, of in enumerate(spec.dialect_examples):
        if isinstance(of.Y, ComputedBy):
            yield from unknown_in(spec, "readings", ("dialect_examples", index, "Y", "reading"), of.Y.reading)


def _refutations(spec: Spec) -> Iterator[Diagnostic]:
    """A claim holds or is refuted in a family, never both; where refuted, it is repaired."""
    for section, index, entry in entries_with(spec, "refuted_for"):
        for family in entry.refuted_for:
            way = (section, index, "refuted_for", family)
            if section == "properties" and family in entry.holds_for:
                what = f"`{family}` is under `holds_for` and under `refuted_for`"
                yield Diagnostic(way, what, "it is one or the other", of_key=True)
            if section == "constraints" and family not in entry.families:
                what = f"the constraint does not speak of the family `{family}`"
                yield Diagnostic(way, what, "add it to `families`, or drop it here", of_key=True)
            if family not in entry.repaired:
                what = f"it is refuted for `{family}`, and no condition is given under which it holds"
                yield Diagnostic(way, what, f"add to `repaired`: {{{family}: …}}", of_key=True)
        for family in entry.repaired:
            if family not in entry.refuted_for:
                what = f"it is not refuted for `{family}`, so there is nothing to repair"
                yield Diagnostic((section, index, "repaired", family), what, of_key=True)


def _wrong_operators(spec: Spec) -> Iterator[Diagnostic]:
    """Each claim names one thing that it excludes, and each wrong operator is named."""
    named = {entry.false_for for _, _, entry in entries_with(spec, "false_for")}
    for index, constraint in enumerate(spec.constraints):
        if (constraint.false_for is None) == (not constraint.broken_by):
            what = f"`{constraint.id}` names no one thing of which it is false"
            yield Diagnostic(("constraints", index, "id"), what, "give one of `false_for` and `broken_by`")
    definitions = [definition.id for definition in spec.definitions if not definition.parameters]
    for index, wrong in enumerate(spec.wrong_clips):
        way = ("wrong_clips", index)
        if wrong.id not in named:
            yield Diagnostic((*way, "id"), f"nothing is false of `{wrong.id}`", "remove it")
        if wrong.of is not None:
            yield from unknown((*way, "of"), wrong.of, definitions, "definition without parameters")


def _readings(spec: Spec) -> Iterator[Diagnostic]:
    """A reading names its source, and has a witness exactly where it does not agree everywhere."""
    if spec.readings and "cases" not in {reading.id for reading in spec.readings}:
        yield Diagnostic(("readings",), "there is no reading `cases`", "all others are compared with it")
    words = Counter(reading.word for reading in spec.readings)
    for index, reading in enumerate(spec.readings):
        way = ("readings", index)
        if words[reading.word] > 1:
            what = f"two readings are called {reading.word} in theories"
            yield Diagnostic((*way, "id"), what, "rename one")
        if (reading.source is None) == (reading.reference is None):
            what = "it has both a source and a reference" if reading.source else "it has no source"
            yield Diagnostic((*way, "id"), what, "give one of `source` and `reference`")
        yield from _regions(way, reading)


def _regions(way: Way, reading: Reading) -> Iterator[Diagnostic]:
    for regions, witnesses in (("agrees", "differs_at"), ("agrees_bitwise", "differs_bitwise_at")):
        where, numbers = getattr(reading, regions), getattr(reading, witnesses)
        for family in where.keys() - numbers.keys():
            todo = f"add to `{witnesses}`: {{{family}: …}}"
            yield Diagnostic((*way, regions, family), "no numbers show that it differs elsewhere", todo)
        for family in numbers.keys() - where.keys():
            what = f"it agrees everywhere in {family}, so it differs nowhere"
            yield Diagnostic((*way, witnesses, family), what, f"say in `{regions}` where it agrees")
    for family in reading.agrees.keys() - reading.agrees_bitwise.keys():
        what = f"it does not agree everywhere in {family} by value, so it does not bit for bit"
        yield Diagnostic((*way, "agrees", family), what, "add it to `agrees_bitwise`")


def _theorems(spec: Spec) -> Iterator[Diagnostic]:
    """The element types and the names of the theorems of findings."""
    for index, finding in enumerate(spec.findings):
        names: list[str] = []
        for position, part in enumerate(finding.claim):
            way = ("findings", index, "claim", position)
            if not isinstance(part, Theorem):
                continue
            if (part.families is None) == (part.types is None):
                what = "it does not say for which types it holds"
                yield Diagnostic(way, what, "give one of `families` and `types`")
            for place, id_ in enumerate(part.types or ()):
                yield from unknown_in(spec, "element_types", (*way, "types", place), id_)
            name = finding.goal(part)
            if name in names:
                yield Diagnostic(way, f"two theorems are called {name}", "give them different ids")
            names.append(name)
