"""What the name of an element type means, wherever it comes from; one that means another type is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from sonnx_clip.language.types import FloatBits, IntegerBits
from sonnx_clip.spec.diagnostic import Diagnostic

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
