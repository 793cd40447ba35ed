"""What is claimed of the symbols of an element type: what they mean in bits, and what its constants are.

A person wrote these formulas: they speak of bits, which the language of conditions does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.nodes import number, value
from sonnx_clip.language.values import float_bits, infinity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

_ENDS = {"low": number("lowest"), "high": number("highest")}
_INFINITIES = {"minus": number("-inf"), "plus": number("inf")}
_SYMBOLS = (
    ("nan", "a", "a NaN has all bits of the exponent and some of the fraction", "nan a", "nan_bits a"),
    ("le", "a b", "less than or equal orders sign and magnitude", "le a b", "le_bits a b"),
    (
        "lt",
        "a b",
        "less than orders sign and magnitude strictly",
        "lt a b",
        "le_bits a b /\\ not le_bits b a",
    ),
    (
        "eq",
        "a b",
        "equal is the same sign and magnitude, or two zeros",
        "eq a b",
        "le_bits a b /\\ le_bits b a",
    ),
)
_NAMED = (
    ("is_signed_zero", "a zero has no bit but that of the sign", "magnitude a = {zero}"),
    (
        "is_infinite",
        "an infinity has all bits of the exponent and none of the fraction",
        "magnitude a = {infinity}",
    ),
    (
        "is_subnormal",
        "a subnormal number has no bit of the exponent and some of the fraction",
        "ult {zero} (magnitude a) /\\ ult (magnitude a) {normal}",
    ),
)


def encoding_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What the symbols of the element type mean, in bits; the named constants are what they say."""
    if etype.family == "real":
        return
    if etype.family == "int":
        yield Claim(
            etype.id, "extremes", "encoding", "theorem", (etype.id,),
            "no element is below lowest or above highest",
            Written("forall a: t. le {low} a /\\ le a {high}", _ENDS),
        )  # fmt: skip
        return
    yield Claim(
        etype.id, "extremes", "encoding", "theorem", (etype.id,),
        "the infinities bound all numbers, lowest and highest all finite ones",
        Written(
            "forall a: t. not nan a -> le {minus} a /\\ le a {plus} /\\ "
            "(lt {minus} a -> le {low} a) /\\ (lt a {plus} -> le a {high})",
            {**_ENDS, **_INFINITIES},
        ),
    )  # fmt: skip
    for name, variables, title, left, right in _SYMBOLS:
        yield Claim(
            etype.id, f"encoding_{name}", "encoding", "equivalence", (etype.id,), title,
            Written(f"forall {variables}: t. {left} <-> {right}"),
        )  # fmt: skip
    form = float_bits(etype)
    bits = {"zero": 0, "normal": 1 << (form.significand - 1), "infinity": infinity(form)}
    literals = {name: value(pattern) for name, pattern in bits.items()}
    known = {d.id for d in spec.definitions}
    for id_, title, text in _NAMED:
        if id_ in known:
            yield Claim(
                etype.id, f"encoding_{id_}", "encoding", "equivalence", (etype.id,), title,
                Written(f"forall a: t. {id_} a <-> {text}", literals),
            )  # fmt: skip
