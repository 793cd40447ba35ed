"""Checks of the element types: their bits, and that each of their names means the same type everywhere."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal

from sonnx_clip.language.types import FloatBits, IntegerBits
from sonnx_clip.spec.document import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.model import Spec

Format = tuple[Literal["signed", "unsigned", "float", "real"], int, int]
"""How the bits are read, how many there are, and how many are of the exponent (0 for integers)."""

# IEEE 754 interchange formats: bits of the exponent by width. bfloat16 has those of binary32.
_EXPONENTS = {16: 5, 32: 8, 64: 11}
_INTEGER = re.compile(r"^(u?)int(8|16|32|64)(?:_t)?$")
_FLOAT = re.compile(r"^(?:fp|float)(16|32|64)$")
# C and ONNX say `float` and `double` for the two formats that they had first.
_OWN = {"float": 32, "double": 64}
_PLACES = ("id", "sonnx", "onnx", "directml", "numpy", "c", "why3")


def check_bits(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about bits and widths that do not fit, and families without types."""
    for index, etype in enumerate(spec.element_types):
        way, bits = ("element_types", index), etype.bits
        kinds: dict[str, type] = {"real": type(None), "int": IntegerBits, "float": FloatBits}
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
    used = Counter(etype.family for etype in spec.element_types)
    for index, family in enumerate(spec.families):
        if not used[family.id]:
            what = f"no element type belongs to the family `{family.id}`"
            yield Diagnostic(("families", index, "id"), what)


def check_type_names(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about names of another type, and about families whose chapter lists other types."""
    for index, etype in enumerate(spec.element_types):
        due = format_of(etype)
        for place in _PLACES:
            name = getattr(etype, place)
            if name is None:
                continue
            found = meaning(name)
            # C has no type of its own for these: an unsigned integer carries the bits.
            carried = place == "c" and due[0] == "float" and found == ("unsigned", due[1], 0) and due[1] == 16
            if found != due and not carried:
                kind = "no element type" if found is None else _described(found)
                what = f"`{name}` means {kind}, and `{etype.id}` is {_described(due)}"
                yield Diagnostic(("element_types", index, place), what, "give the name of the same type")
    for index, family in enumerate(spec.families):
        if listed := re.search(r"\{([^}]*)\}", family.source.quote):
            named = sorted(name.strip() for name in listed[1].split(","))
            if named != (ours := sorted(etype.sonnx for etype in spec.types_of(family.id))):
                what = f"it lists {', '.join(named)}, and the element types are {', '.join(ours)}"
                yield Diagnostic(("families", index, "source", "quote"), what, "see element_types")


def meaning(name: str) -> Format | None:
    """The format that a name stands for, upper and lower case alike; None for a name of no type."""
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
    """The format of an element type."""
    match etype.bits:
        case IntegerBits(signed=signed):
            return ("signed" if signed else "unsigned", etype.width or 0, 0)
        case FloatBits(exponent=exponent):
            return ("float", etype.width or 0, exponent)
        case _:
            return ("real", 0, 0)


def _described(form: Format) -> str:
    kind, width, exponent = form
    if kind == "real":
        return "the real numbers"
    if kind == "float":
        return f"a float of {width} bits, {exponent} of them the exponent"
    return f"{'an' if kind == 'unsigned' else 'a'} {kind} integer of {width} bits"
