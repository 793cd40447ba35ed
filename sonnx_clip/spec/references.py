"""Checks on ids and on what refers to them: an id is unique, and every reference finds its entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sonnx_clip.language.parse import THEORY_NAMES, VARIABLES
from sonnx_clip.language.types import FloatBits, IntegerBits
from sonnx_clip.spec.dialects import ComputedBy
from sonnx_clip.spec.document import Diagnostic, unknown
from sonnx_clip.spec.findings import Theorem
from sonnx_clip.spec.model import SECTIONS, entries_with, unknown_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.model import Spec


NAMES_IN_REPRODUCERS = frozenset({"b", "c", "d", "o", "p", "s", "v", "z", "np"})
RESULT = "Y"
"""The name of the result in every specification."""

REFERENCES: Final = (
    ("families", "families"), ("holds_for", "families"), ("family", "families"), ("case", "cases"),
    ("shows", "constraints"), ("given_by", "readings"), ("false_for", "wrong_clips"),
    ("dialect", "dialects"), ("type", "element_types"), ("element_types", "element_types"),
    ("reading", "readings"), ("answers", "readings"), ("page", "sources"),
)  # fmt: skip
"""The keys of entries that hold ids, one or a list, with the section to which these belong."""


def check_references(spec: Spec) -> Iterator[Diagnostic]:
    """Ids that are there twice, and references to missing entries."""
    yield from _check_head(spec)
    taken: dict[str, str] = {}
    for section in SECTIONS:
        seen = {} if section.own_ids else taken
        for index, entry in enumerate(getattr(spec, section.name)):
            if entry.id in seen:
                what = f"the id `{entry.id}` is taken by {seen[entry.id]}"
                todo = "an id is permanent and belongs to one entry"
                yield Diagnostic((section.name, index, "id"), what, todo)
            seen.setdefault(entry.id, f"{section.name}[{index}]")
    for key, of in REFERENCES:
        for name, index, entry in entries_with(spec, key):
            ids = getattr(entry, key)
            for position, id_ in enumerate(ids if isinstance(ids, tuple) else filter(None, [ids])):
                way = (name, index, key, position) if isinstance(ids, tuple) else (name, index, key)
                yield from unknown_in(spec, of, way, id_)
    yield from _check_element_types(spec)
    yield from _check_declared(spec)
    yield from _check_families(spec)
    yield from _check_refutations(spec)
    yield from _check_examples(spec)
    yield from _check_wrong_operators(spec)
    yield from _check_readings(spec)
    yield from _check_theorems(spec)


def _check_head(spec: Spec) -> Iterator[Diagnostic]:
    operands, result = spec.head.operands, spec.result.id
    if result in operands:
        yield Diagnostic(("result", "id"), f"`{result}` is an operand", "the result has a name of its own")
    elif result != RESULT:
        what = f"the result is called `{result}`"
        yield Diagnostic(("result", "id"), what, f"conditions know it as {RESULT}")
    taken = {
        "variable of the language": VARIABLES - {result},
        "name of the rendered theories": THEORY_NAMES | {spec.head.second},
        "name of reproducing lines": NAMES_IN_REPRODUCERS,
    }
    for index, name in enumerate(operands):
        for of, names in taken.items():
            if name in names or name.lower() in names:
                yield Diagnostic(("operands", index, "id"), f"`{name}` is a {of}", "choose another name")
    roles = [operand.role for operand in spec.operands]
    if roles[0] == "scalar":
        yield Diagnostic(("operands",), "no operand is a tensor", "the result has the entries of a tensor")
    elif roles != sorted(roles, reverse=True):
        yield Diagnostic(("operands",), "a tensor stands behind a scalar", "name the tensors first")


def _check_element_types(spec: Spec) -> Iterator[Diagnostic]:
    """Bits and widths that do not fit, and families without types."""
    kinds: dict[str, type] = {"real": type(None), "int": IntegerBits, "float": FloatBits}
    for index, etype in enumerate(spec.element_types):
        way, bits = ("element_types", index), etype.bits
        if not isinstance(bits, kinds[etype.family]):
            todo = "real: null; int: {signed: true or false}; float: {exponent: …, significand: …}"
            yield Diagnostic((*way, "bits"), f"these bits are not those of the family {etype.family}", todo)
        elif isinstance(bits, FloatBits) and bits.exponent + bits.significand != etype.width:
            total = bits.exponent + bits.significand
            what = f"{bits.exponent} bits of exponent and {bits.significand} of significand make {total}"
            yield Diagnostic((*way, "width"), what, "the hidden bit counts, in place of the sign")
        elif isinstance(bits, IntegerBits) and etype.width not in (8, 16, 32, 64):
            yield Diagnostic((*way, "width"), "an integer has 8, 16, 32 or 64 bits")
        elif bits is None and etype.width is not None:
            yield Diagnostic((*way, "width"), "`real` has no width", "write null")
    for index, family in enumerate(spec.families):
        if not spec.types_of(family.id):
            what = f"no element type belongs to the family `{family.id}`"
            yield Diagnostic(("families", index, "id"), what)


def _check_declared(spec: Spec) -> Iterator[Diagnostic]:
    """A declared example names every tensor, and a change of it one of them; their types are there."""
    example, known = spec.declared_example, spec.head.all
    changed: list[tuple[Way, Any]] = [
        (("declared_example", name), of) for name, of in (example or {}).items()
    ]
    changed += [
        ((section, index, key, name), of)
        for key in ("broken_alone_by", "aliases")
        for section, index, entry in entries_with(spec, key)
        for name, of in getattr(entry, key).items()
    ]
    for way, declared in changed:
        if way[-1] not in known:
            what = f"there is no tensor `{way[-1]}`"
            yield Diagnostic(way, what, f"there are {', '.join(known)}", of_key=True)
        if type_ := getattr(declared, "type", None):
            yield from unknown_in(spec, "element_types", (*way, "type"), type_)
    missing = [name for name in known if example is not None and name not in example]
    if missing:
        what = f"the tensor `{missing[0]}` is not declared"
        yield Diagnostic(("declared_example",), what, f"add `{missing[0]}: …`")
    if example is None and spec.restrictions:
        what = "there is no `declared_example`, which restrictions change"
        yield Diagnostic((), what, "give a node that meets every restriction")


def _check_families(spec: Spec) -> Iterator[Diagnostic]:
    """A statement covers every family, or says why not."""
    for section, index, entry in entries_with(spec, "not_for"):
        for family in (family.id for family in spec.families):
            if (family in entry.families) == (family in entry.not_for):
                stated = family in entry.families
                what = f"is stated for {family} and excused from it" if stated else f"leaves out {family}"
                todo = "remove one of the two" if stated else f"name it, or write not_for: {{{family}: why}}"
                yield Diagnostic((section, index, "id"), f"`{entry.id}` {what}", todo)


def _check_refutations(spec: Spec) -> Iterator[Diagnostic]:
    """A claim holds or is refuted in a family, never both; where refuted, it is repaired."""
    for section, index, entry in entries_with(spec, "refuted_for"):
        for family in entry.refuted_for:
            way, what, todo = (section, index, "refuted_for", family), "", ""
            if section == "properties" and family in entry.holds_for:
                what, todo = (
                    f"`{family}` is under `holds_for` and under `refuted_for`",
                    "it is one or the other",
                )
            elif family not in entry.families:
                what = f"the constraint does not speak of the family `{family}`"
                todo = "add it to `families`, or drop it here"
            elif family not in entry.repaired:
                what = f"it is refuted for `{family}`, and no condition is given under which it holds"
                todo = f"add to `repaired`: {{{family}: …}}"
            if what:
                yield Diagnostic(way, what, todo, of_key=True)
        for family in entry.repaired.keys() - entry.refuted_for.keys():
            what = f"it is not refuted for `{family}`, so there is nothing to repair"
            yield Diagnostic((section, index, "repaired", family), what, of_key=True)


def _check_examples(spec: Spec) -> Iterator[Diagnostic]:
    """Tensors and the result have entries, as many as the first tensor; scalars have a number."""
    scalars, first = spec.head.scalars, spec.operands[0].id
    for index, example in enumerate(spec.examples):
        way: Way = ("examples", index)
        types = [etype.id for etype in spec.types_of(example.family)]
        for position, type_ in enumerate(example.not_representable_in):
            one = f"element type of {example.family}"
            yield from unknown((*way, "not_representable_in", position), type_, types, one)
        wanted = len(example.values[first])
        for name, value in example.values.items():
            if isinstance(value, str) != (name in scalars):
                what, todo = f"{name} is a tensor", "list its entries: [a, b]"
                if name in scalars:
                    what, todo = f"{name} is a scalar", "give one number"
                yield Diagnostic((*way, name), what, todo)
            elif not isinstance(value, str) and len(value) != wanted:
                what = f"{first} has {wanted} entries, {name} has {len(value)}"
                yield Diagnostic((*way, name), what, f"the result has the shape of {first}")
    for index, of in enumerate(spec.dialect_examples):
        if isinstance(of.Y, ComputedBy):
            yield from unknown_in(spec, "readings", ("dialect_examples", index, "Y", "reading"), of.Y.reading)


def _check_wrong_operators(spec: Spec) -> Iterator[Diagnostic]:
    """Each wrong operator is named, and stands in the place of a definition that there is."""
    named = {entry.false_for for entry in spec.properties}
    definitions = [definition.id for definition in spec.definitions if not definition.parameters]
    for index, wrong in enumerate(spec.wrong_clips):
        if wrong.id not in named:
            yield Diagnostic(("wrong_clips", index, "id"), f"nothing is false of `{wrong.id}`", "remove it")
        if wrong.of is not None:
            way = ("wrong_clips", index, "of")
            yield from unknown(way, wrong.of, definitions, "definition without parameters")


def _check_readings(spec: Spec) -> Iterator[Diagnostic]:
    """A reading names its source, and has a witness exactly where it does not agree everywhere."""
    if spec.readings and "cases" not in {reading.id for reading in spec.readings}:
        yield Diagnostic(("readings",), "there is no reading `cases`", "all others are compared with it")
    for index, reading in enumerate(spec.readings):
        way = ("readings", index)
        if (reading.source is None) == (reading.reference is None):
            what = "it has both a source and a reference" if reading.source else "it has no source"
            yield Diagnostic((*way, "id"), what, "give one of `source` and `reference`")
        for key, numbers in (("agrees", "differs_at"), ("agrees_bitwise", "differs_bitwise_at")):
            where, differs = getattr(reading, key), getattr(reading, numbers)
            for family in where.keys() ^ differs.keys():
                what = f"`{key}` and `{numbers}` do not both speak of {family}"
                todo = "give where it agrees and numbers for which it differs, or neither"
                yield Diagnostic((*way, key if family in where else numbers, family), what, todo)


def _check_theorems(spec: Spec) -> Iterator[Diagnostic]:
    """The element types and the names of the theorems of findings."""
    for index, finding in enumerate(spec.findings):
        names: set[str] = set()
        for position, part in enumerate(finding.claim):
            way = ("findings", index, "claim", position)
            if not isinstance(part, Theorem):
                continue
            if (part.families is None) == (part.types is None):
                what = "it does not say for which types it holds"
                yield Diagnostic(way, what, "give one of `families` and `types`")
            for place, id_ in enumerate(part.types or ()):
                yield from unknown_in(spec, "element_types", (*way, "types", place), id_)
            if (name := finding.goal(part)) in names:
                yield Diagnostic(way, f"two theorems are called {name}", "give them different ids")
            names.add(name)
