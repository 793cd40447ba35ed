"""Checks on ids and names: each id is there once, what refers to one finds it, and a name of an element type
means one type.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal

from sonnx_clip.language.parse import THEORY_NAMES, VARIABLES
from sonnx_clip.language.types import FloatBits, IntegerBits
from sonnx_clip.spec.document import Diagnostic, unknown
from sonnx_clip.spec.evaluate import declared_names
from sonnx_clip.spec.model import OF_CLIP, ClipSpec
from sonnx_clip.spec.sections import SECTIONS, entries_with, unknown_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.model import Spec


IN_LINES = frozenset({"b", "c", "d", "o", "p", "s", "v", "z", "np"})
"""What the lines of Python that repeat a deviation call their own."""
RESULT = "Y"
"""What the result is called in every specification."""


def check_references(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about ids and what refers to them."""
    yield from _of_clip(spec)
    yield from _operands(spec)
    yield from _duplicates(spec)
    yield from _element_types(spec)
    yield from _declarations(spec)
    yield from _families(spec)
    yield from _every_family(spec)
    yield from _chapters(spec)
    yield from _entries(spec)
    yield from _claims(spec)
    yield from _readings(spec)


def _of_clip(spec: Spec) -> Iterator[Diagnostic]:
    """Another operator states nothing of which nothing would be made."""
    stated = [name for name in OF_CLIP if getattr(spec, name)]
    if stated and not isinstance(spec, ClipSpec):
        what = f"of `{spec.operator}` nothing is made of {', '.join(stated)}"
        yield Diagnostic(("operator",), what, "so far they are stated of `Clip` alone")


def _operands(spec: Spec) -> Iterator[Diagnostic]:
    if spec.result.id in [operand.id for operand in spec.operands]:
        yield Diagnostic(
            ("result", "id"), f"`{spec.result.id}` is an operand", "the result has a name of its own"
        )
    if spec.result.id != RESULT:
        what = f"the result is called `{spec.result.id}`"
        yield Diagnostic(("result", "id"), what, f"conditions know it as {RESULT}")
    for index, operand in enumerate(spec.operands):
        way = ("operands", index, "id")
        if operand.id in VARIABLES and operand.id != spec.result.id:
            yield Diagnostic(way, f"`{operand.id}` is a variable of the language", "choose another name")
        if operand.id.lower() in THEORY_NAMES or operand.id == spec.head.second:
            yield Diagnostic(way, f"`{operand.id}` is a name of the rendered theories", "choose another name")
        if operand.id.lower() in IN_LINES:
            yield Diagnostic(way, f"`{operand.id}` is a name of reproducing lines", "choose another name")
    roles = [operand.role for operand in spec.operands]
    if roles != sorted(roles, reverse=True) and roles[0] == "tensor":
        yield Diagnostic(("operands",), "a tensor stands behind a scalar", "name the tensors first")
    if spec.operands[0].role == "scalar":
        yield Diagnostic(("operands",), "no operand is a tensor", "the result has the entries of a tensor")


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


def _element_types(spec: Spec) -> Iterator[Diagnostic]:
    families = [family.id for family in spec.families]
    for index, etype in enumerate(spec.element_types):
        way = ("element_types", index)
        yield from unknown_in(spec, "families", (*way, "family"), etype.family)
        bits = etype.bits
        fits = {
            "real": bits is None,
            "int": isinstance(bits, IntegerBits),
            "float": isinstance(bits, FloatBits),
        }
        if not fits[etype.family]:
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
    used = Counter(etype.family for etype in spec.element_types)
    for index, family in enumerate(families):
        if not used[family]:
            yield Diagnostic(("families", index, "id"), f"no element type belongs to the family `{family}`")


def _declarations(spec: Spec) -> Iterator[Diagnostic]:
    for name in declared_names(spec):
        type_ = getattr(spec.declared_example, name).type
        yield from unknown_in(spec, "element_types", ("declared_example", name, "type"), type_)
    for index, restriction in enumerate(spec.restrictions):
        for name, change in restriction.broken_alone_by.items():
            if not isinstance(change, str) and change.type is not None:
                way = ("restrictions", index, "broken_alone_by", name, "type")
                yield from unknown_in(spec, "element_types", way, change.type)


def _families(spec: Spec) -> Iterator[Diagnostic]:
    for key in ("families", "holds_for"):
        for section, index, entry in entries_with(spec, key):
            for position, family in enumerate(getattr(entry, key) or ()):
                yield from unknown_in(spec, "families", (section, index, key, position), family)


def _every_family(spec: Spec) -> Iterator[Diagnostic]:
    """A statement speaks of every family, or says why not: none is forgotten in silence."""
    for section, index, entry in entries_with(spec, "not_for"):
        for family in (family.id for family in spec.families):
            told, excused = family in entry.families, family in entry.not_for
            if told and excused:
                what = f"`{entry.id}` speaks of {family} and excuses itself from it"
                yield Diagnostic((section, index, "not_for", family), what, "take one of them away")
            elif not told and not excused:
                what = f"`{entry.id}` says nothing of the family {family}"
                todo = f"name it, or write not_for: {{{family}: why}}"
                yield Diagnostic((section, index, "id"), what, todo)


def _chapters(spec: Spec) -> Iterator[Diagnostic]:
    """The element types of a family are those that its quotation names."""
    for index, family in enumerate(spec.families):
        if listed := re.search(r"\{([^}]*)\}", family.source.quote):
            yield from check_listed_types(spec, index, [name.strip() for name in listed[1].split(",")])


def check_listed_types(spec: Spec, index: int, names: Sequence[str], place: str = "") -> Iterator[Diagnostic]:
    """The element types of a family are those that a list of its chapter names.

    Args:
        spec: the specification.
        index: the place of the family in `families`.
        names: what the list names.
        place: file and line of the list, if it is not the quotation.
    """
    family = spec.families[index]
    at = f", {place}" if place else ""
    there = {etype.sonnx for etype in spec.types_of(family.id)}
    for name in names:
        if name not in there:
            what = f"no element type of {family.id} is the {name} of its chapter{at}"
            yield Diagnostic(("families", index, "source", "quote"), what, "add it to element_types")
    for position, etype in enumerate(spec.element_types):
        if etype.family == family.id and etype.sonnx not in names:
            what = f"the chapter of {family.id} does not name {etype.sonnx}{at}"
            yield Diagnostic(("element_types", position, "sonnx"), what, f"it names {', '.join(names)}")


def _entries(spec: Spec) -> Iterator[Diagnostic]:
    for index, klass in enumerate(spec.classes):
        yield from unknown_in(spec, "cases", ("classes", index, "case"), klass.case)
    for index, entry in enumerate(spec.properties):
        for position, shown in enumerate(entry.shows):
            yield from unknown_in(spec, "constraints", ("properties", index, "shows", position), shown)
    for index, example in enumerate(spec.examples):
        way = ("examples", index)
        yield from unknown_in(spec, "families", (*way, "family"), example.family)
        types = [etype.id for etype in spec.types_of(example.family)]
        for position, type_ in enumerate(example.not_representable_in):
            one = f"element type of {example.family}"
            yield from unknown((*way, "not_representable_in", position), type_, types, one)
        if len(example.X) != len(example.Y):
            what = f"X has {len(example.X)} entries, Y has {len(example.Y)}"
            yield Diagnostic((*way, "Y"), what, "the result has the shape of X")


def _claims(spec: Spec) -> Iterator[Diagnostic]:
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


def _readings(spec: Spec) -> Iterator[Diagnostic]:
    """A reading says where it comes from, and has a witness exactly where it does not agree everywhere."""
    if spec.readings and "cases" not in {reading.id for reading in spec.readings}:
        yield Diagnostic(("readings",), "there is no reading `cases`", "all others are compared with it")
    words = Counter(reading.word for reading in spec.readings)
    for index, reading in enumerate(spec.readings):
        way = ("readings", index)
        if words[reading.word] > 1:
            yield Diagnostic(
                (*way, "id"), f"two readings are called {reading.word} in theories", "rename one"
            )
        if (reading.source is None) == (reading.reference is None):
            what = (
                "it gives both a source and a reference"
                if reading.source
                else "it does not say where it is from"
            )
            yield Diagnostic((*way, "id"), what, "give one of `source` and `reference`")
        yield from _regions(way, reading)


def _regions(way: Way, reading: Reading) -> Iterator[Diagnostic]:
    for regions, witnesses in (("agrees", "differs_at"), ("agrees_bitwise", "differs_bitwise_at")):
        where, numbers = getattr(reading, regions), getattr(reading, witnesses)
        for family in where:
            if family not in numbers:
                todo = f"add to `{witnesses}`: {{{family}: …}}"
                yield Diagnostic((*way, regions, family), "no numbers show that it differs elsewhere", todo)
        for family in numbers:
            if family not in where:
                what = f"it agrees everywhere in {family}, so it differs nowhere"
                yield Diagnostic((*way, witnesses, family), what, f"say in `{regions}` where it agrees")
    for family in reading.agrees:
        if family not in reading.agrees_bitwise:
            what = f"it does not agree everywhere in {family} by value, so it does not bit for bit"
            yield Diagnostic((*way, "agrees", family), what, "add it to `agrees_bitwise`")


# ------------------------------------------------------------------------------------------------------------
# What the name of an element type means, wherever it comes from; one that means another type is refused


Format = tuple[Literal["signed", "unsigned", "float", "real"], int, int]
"""How the bits are read, how many there are, and how many are of the exponent (0 for integers)."""

# IEEE 754 interchange formats: bits of the exponent by width. bfloat16 has those of binary32.
_EXPONENTS = {16: 5, 32: 8, 64: 11}
_INTEGER = re.compile(r"^(u?)int(8|16|32|64)(?:_t)?$")
_FLOAT = re.compile(r"^(?:fp|float)(16|32|64)$")
# C and ONNX say `float` and `double` for the two formats that they had first.
_OWN = {"float": 32, "double": 64}
PLACES = ("id", "sonnx", "onnx", "directml", "numpy", "c", "why3")


def meaning(name: str) -> Format | None:
    """What a name says of a type, upper and lower case alike; None for one that says nothing."""
    name = name.lower()
    if name == "real":
        return ("real", 0, 0)
    if name == "bfloat16":
        return ("float", 16, 8)
    if integer := _INTEGER.match(name):
        return ("unsigned" if integer[1] else "signed", int(integer[2]), 0)
    width = _OWN.get(name) or (int(found[1]) if (found := _FLOAT.match(name)) else None)
    return None if width is None else ("float", width, _EXPONENTS[width])


def format_of(etype: ElementType) -> Format:
    """What the specification says of a type."""
    match etype.bits:
        case IntegerBits(signed=signed):
            return ("signed" if signed else "unsigned", etype.width or 0, 0)
        case FloatBits(exponent=exponent):
            return ("float", etype.width or 0, exponent)
        case _:
            return ("real", 0, 0)


def check_type_names(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about names that mean another type than the one that has them."""
    for index, etype in enumerate(spec.element_types):
        due = format_of(etype)
        for place in PLACES:
            name = getattr(etype, place)
            if name is None:
                continue
            found = meaning(name)
            # C has no type of its own for these: an unsigned integer carries the bits.
            carried = place == "c" and due[0] == "float" and found == ("unsigned", due[1], 0) and due[1] == 16
            if found != due and not carried:
                kind = "no element type" if found is None else _told(found)
                what = f"`{name}` means {kind}, and `{etype.id}` is {_told(due)}"
                yield Diagnostic(("element_types", index, place), what, "give the name of the same type")


def _told(form: Format) -> str:
    kind, width, exponent = form
    if kind == "real":
        return "the real numbers"
    if kind == "float":
        return f"a float of {width} bits, {exponent} of them the exponent"
    return f"{'an' if kind == 'unsigned' else 'a'} {kind} integer of {width} bits"
