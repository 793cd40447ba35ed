"""Checks of the element types: their bits, and that each of their names means the same type everywhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sonnx_clip.language.types import FloatBits, IntegerBits
from sonnx_clip.spec.document import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.model import Spec

_OWN = {32: "float", 64: "double"}  # C and ONNX say so for the two formats that they had first
_PLACES = ("id", "sonnx", "onnx", "directml", "numpy", "c", "why3")


def check_bits(spec: Spec) -> Iterator[Diagnostic]:
    """Bits and widths that do not fit, and families without types."""
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
    for index, family in enumerate(spec.families):
        if not spec.types_of(family.id):
            what = f"no element type belongs to the family `{family.id}`"
            yield Diagnostic(("families", index, "id"), what)


def check_type_names(spec: Spec) -> Iterator[Diagnostic]:
    """Names of another type, and families whose chapter lists other types."""
    for index, etype in enumerate(spec.element_types):
        known = names_of(etype)
        for place in _PLACES:
            name = getattr(etype, place)
            # C has no type of its own for floats of 16 bits: an unsigned integer carries the bits.
            carried = (place, name, etype.family, etype.width) == ("c", "uint16_t", "float", 16)
            if name is not None and name.lower() not in known and not carried:
                what = f"`{name}` is no name of `{etype.id}`"
                yield Diagnostic(("element_types", index, place), what, f"one of: {', '.join(sorted(known))}")
    for index, family in enumerate(spec.families):
        if listed := re.search(r"\{([^}]*)\}", family.source.quote):
            named = sorted(name.strip() for name in listed[1].split(","))
            if named != (ours := sorted(etype.sonnx for etype in spec.types_of(family.id))):
                what = f"it lists {', '.join(named)}, and the element types are {', '.join(ours)}"
                yield Diagnostic(("families", index, "source", "quote"), what, "see element_types")


def names_of(etype: ElementType) -> frozenset[str]:
    """What a type with these bits is called in all places, in lower case."""
    match etype.bits:
        case IntegerBits(signed=signed):
            name = f"{'' if signed else 'u'}int{etype.width}"
            return frozenset((name, f"{name}_t"))
        case FloatBits(exponent=8) if etype.width == 16:
            return frozenset(("bfloat16",))
        case FloatBits():
            width = etype.width or 0
            return frozenset((f"fp{width}", f"float{width}", _OWN.get(width, f"float{width}")))
        case _:
            return frozenset(("real",))
