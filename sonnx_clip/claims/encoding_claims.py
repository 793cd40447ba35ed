"""What is claimed of bits: what the symbols of an element type mean in them, and that floats are limited as
integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.nodes import number, value
from sonnx_clip.language.values import float_bits, infinity, sign_bit

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


# ------------------------------------------------------------------------------------------------------------
# What is claimed of float bits that are limited as integers: lemmas with names, one set for each format
#
# A person wrote these formulas: they speak of bits. why3/ and generated/why3/numpy_*.mlw use them.


def integer_route_claims(etype: ElementType) -> Iterator[Claim]:
    """The lemmas of a float format; other types have none."""
    if etype.family != "float":
        return
    form = float_bits(etype)
    numbers = {"plus_zero": 0, "minus_zero": sign_bit(form), "infinity": infinity(form)}
    numbers["minus_infinity"] = numbers["minus_zero"] | numbers["infinity"]
    numbers["magnitude"] = numbers["minus_zero"] - 1
    numbers["n"] = numbers["infinity"] + 1
    literals = {name: value(number) for name, number in numbers.items()}
    for name, title, text in _FORMULAS:
        yield Claim(
            etype.id, f"integer_route_{name}", "encoding", "theorem", (etype.id,), title,
            Written(text, literals),
        )  # fmt: skip


_FORMULAS = (
    (
        "nan",
        "a pattern is a NaN if and only if its magnitude is above that of infinity",
        "forall a: t. nan a <-> ult {infinity} (bw_and a {magnitude})",
    ),
    (
        "plus",
        "with a plus sign, numbers are in the order of signed integers",
        "forall a b: t. plus a /\\ plus b /\\ not nan a /\\ not nan b -> (le a b <-> sle a b)",
    ),
    (
        "minus",
        "with a minus sign, numbers are in the reverse order of unsigned integers",
        "forall a b: t. minus a /\\ minus b /\\ not nan a /\\ not nan b -> (le a b <-> ule b a)",
    ),
    (
        "signs",
        "a number with a minus sign is at or below one with a plus sign, and below it as a signed integer",
        "forall a b: t. minus a /\\ plus b /\\ not nan a /\\ not nan b -> le a b /\\ slt a b",
    ),
    (
        "zeros",
        "equal numbers that differ in their bits are zeros of different signs",
        "forall a b: t. eq a b -> a = b \\/ zero a /\\ zero b",
    ),
    (
        "least",
        "-0 is the least signed integer, +0 the least unsigned one",
        "forall a: t. sle {minus_zero} a /\\ ule {plus_zero} a",
    ),
    (
        "views",
        "the signed and the unsigned order differ by the uppermost bit",
        "forall a b: t. slt a b <-> ult (bw_xor a {minus_zero}) (bw_xor b {minus_zero})",
    ),
    (
        "probe",
        "what is above infinity as a signed integer, or above minus infinity as an unsigned one, is a NaN",
        "forall a: t. slt {infinity} a \\/ ult {minus_infinity} a <-> nan a",
    ),
    (
        "turned",
        "turned round by the patterns up to infinity, minus signs come before plus signs",
        "forall a b: t. minus a /\\ plus b /\\ not nan a /\\ not nan b -> ult (bw_sub a {n}) (bw_sub b {n})",
    ),
)
