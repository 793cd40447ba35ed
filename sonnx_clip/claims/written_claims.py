"""Claims in WhyML: bits and their order, conversions of bounds, and ScaleBias. claims.yaml has the formulas;
their literals are given here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.nodes import number, numbers, value
from sonnx_clip.claims.templates import expanded
from sonnx_clip.language.convert import beyond
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import float_bits, infinity, sign_bit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

_INTEGERS = {"zero": "0", "ten": "10"}
_INTEGERS_AS_FLOAT = {"none": "0", "half": "0.5"}
_FLOATS = {"inf": "inf", "minus_inf": "-inf", "zero": "0", "one": "1"}
_FLOATS_AS_FLOAT = {
    "limit": "65520", "least": "-65520", "tiny": "0x1p-25", "minus_tiny": "-0x1p-25", "tenth": "0.1",
}  # fmt: skip
_SCALED = {
    "one": "1", "two": "2", "tenth": "0.1", "third": "0.3", "small": "-0.03", "far": "-100", "near": "100",
}  # fmt: skip


def encoding_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What the symbols of the element type mean, in bits; the named constants are what they say."""
    if etype.family == "real":
        return
    literals = {"low": number("lowest"), "high": number("highest")}
    if etype.family == "int":
        yield from expanded(spec, etype, "encoding of integers", id=etype.id, literals=literals)
        return
    form = float_bits(etype)
    bits = {"zero": 0, "normal": 1 << (form.significand - 1), "infinity": infinity(form)}
    literals |= {"minus": number("-inf"), "plus": number("inf")}
    literals |= {name: value(pattern) for name, pattern in bits.items()}
    known = {definition.id: True for definition in spec.definitions}
    yield from expanded(spec, etype, "encoding of floats", id=etype.id, literals=literals, **known)


def integer_route_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """That floats can be limited as integers: lemmas of a float format; other types have none."""
    if etype.family != "float":
        return
    form = float_bits(etype)
    bits = {"plus_zero": 0, "minus_zero": sign_bit(form), "infinity": infinity(form)}
    bits |= {"minus_infinity": sign_bit(form) | infinity(form), "magnitude": sign_bit(form) - 1}
    literals = {name: value(pattern) for name, pattern in {**bits, "n": infinity(form) + 1}.items()}
    yield from expanded(spec, etype, "integer route", id=etype.id, literals=literals)


def cast_claims(spec: Spec, etype: ElementType, dialects: str) -> Iterator[Claim]:
    """What a bound that is given as FLOAT becomes.

    Args:
        spec: the specification.
        etype: the type that a FLOAT is converted to.
        dialects: those that convert.
    """
    if etype.family == "int":
        low, high = (value(bits, Kind.FLOAT) for bits in beyond(etype, spec.element_type("float32")))
        literals = {**numbers(_INTEGERS), **_as_float(_INTEGERS_AS_FLOAT), "low": low, "high": high}
        yield from expanded(spec, etype, "conversion to integers", id=dialects, literals=literals)
        return
    literals = {**numbers(_FLOATS), **_as_float(_FLOATS_AS_FLOAT)}
    is_wider = etype.id == "float64"
    yield from expanded(
        spec, etype, "conversion to floats", id=dialects, is_wider=is_wider, literals=literals
    )


def scale_claims(spec: Spec, etype: ElementType, dialects: str) -> Iterator[Claim]:
    """What ScaleBias adds to Clip in a float type; where Scale and Bias are cast to it, what that costs."""
    literals = {**numbers({**_SCALED, "many": "60000", "nearest": "60032"}), **_as_float({"scale": "1.0004"})}
    is_float16 = etype.id == "float16"
    yield from expanded(spec, etype, "scale and bias", id=dialects, is_float16=is_float16, literals=literals)


def _as_float(texts: dict[str, str]) -> dict[str, Expr]:
    return {name: number(text, Kind.FLOAT) for name, text in texts.items()}
