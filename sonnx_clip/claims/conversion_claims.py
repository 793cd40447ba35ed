"""What is claimed of bounds that are given as FLOAT and converted to the element type, and of ScaleBias,
which rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.nodes import number, value
from sonnx_clip.language.convert import beyond
from sonnx_clip.language.tree import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.claim import Kind as What
    from sonnx_clip.language import ElementType
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec

    Row = tuple[str, str, str]  # the name, the title and the formula


_EVERY = "forall b: FLOAT.t, r: t. converts b r ->"
_EVERY_Y = "forall b: FLOAT.t, r y: t. converts b r ->"
_EVERY_W = "forall w: FLOAT.t, r: t."
_IN_RANGE = "FLOAT.lt {low} b /\\ FLOAT.lt b {high}"
_UP = "FLOAT.le {none} b -> le {zero} r /\\ not_below b r"
_DOWN = "FLOAT.le b {none} -> le r {zero} /\\ not_above b r"


def cast_claims(spec: Spec, etype: ElementType, shows: tuple[str, ...]) -> Iterator[Claim]:
    """What a bound is after its conversion.

    Args:
        spec: the specification.
        etype: the type that a FLOAT is converted to.
        shows: the dialects that convert.
    """
    if etype.family == "int":
        low, high = (value(pattern, Kind.FLOAT) for pattern in beyond(etype, spec.element_type("float32")))
        rows = _TO_INTEGER
        literals: Mapping[str, Expr] = {"low": low, "high": high, **_INTEGERS}
    else:
        rows, literals = (_TO_FLOAT64 if etype.id == "float64" else _TO_SMALLER), _FLOATS
    for name, title, text in rows:
        yield Claim(
            etype.id, f"cast_{name}", "converts", "theorem", shows, title.format(type=etype.id),
            Written(text, literals),
        )  # fmt: skip


def _float(text: str) -> Expr:
    return number(text, Kind.FLOAT)


_INTEGERS: Mapping[str, Expr] = {
    "zero": number("0"), "none": _float("0"), "half": _float("0.5"), "ten": number("10"),
}  # fmt: skip
_FLOATS: Mapping[str, Expr] = {
    "limit": _float("65520"), "least": _float("-65520"),
    "tiny": _float("0x1p-25"), "minus_tiny": _float("-0x1p-25"), "tenth": _float("0.1"),
    "inf": number("inf"), "minus_inf": number("-inf"), "zero": number("0"), "one": number("1"),
}  # fmt: skip
_TO_FLOAT: tuple[Row, ...] = (
    (
        "exists",
        "every FLOAT has a {type} that it becomes: the one that is built of its bits",
        "forall b: FLOAT.t. converts b (converted b)",
    ),
    (
        "unique",
        "a bound becomes one number, or any NaN",
        "forall b: FLOAT.t, r s: t. converts b r -> converts b s -> r = s \\/ (nan r /\\ nan s)",
    ),
    ("nan", "a NaN stays a NaN, and nothing else becomes one", f"{_EVERY} (FLOAT.nan b <-> nan r)"),
    (
        "monotone",
        "conversion keeps the order of bounds",
        "forall a b: FLOAT.t, r s: t. converts a r -> converts b s -> FLOAT.le a b -> le r s",
    ),
)
_TO_FLOAT64: tuple[Row, ...] = (
    *_TO_FLOAT,
    ("exact", "every FLOAT is a float64: conversion changes no bound", f"{_EVERY} exactly b r"),
    (
        "strictly_monotone",
        "different bounds stay different",
        "forall a b: FLOAT.t, r s: t. converts a r -> converts b s -> (FLOAT.lt a b <-> lt r s)",
    ),
)
_TO_SMALLER: tuple[Row, ...] = (
    *_TO_FLOAT,
    (
        "keeps_what_fits",
        "a bound that is a {type} is not changed",
        "forall b: FLOAT.t, r: t. exactly b r -> converts b r",
    ),
    (
        "overflows",
        "a bound of at least 65520 becomes infinite, and no other finite one",
        f"{_EVERY} (r = {{inf}} <-> FLOAT.le {{limit}} b) /\\ (r = {{minus_inf}} <-> FLOAT.le b {{least}})",
    ),
    (
        "underflows",
        "a bound of at most 2^-25 becomes a zero, and no other",
        f"{_EVERY} (eq r {{zero}} <-> FLOAT.le {{minus_tiny}} b /\\ FLOAT.le b {{tiny}})",
    ),
    (
        "lowers_a_bound",
        "Min = 0.1 as a FLOAT lets a smaller number through: conversion is not exact",
        f"{_EVERY_W} converts {{tenth}} r -> exactly w r -> clip r r {{one}} = r /\\ FLOAT.lt w {{tenth}}",
    ),
)
_TO_INTEGER: tuple[Row, ...] = (
    (
        "defined_in_range",
        "a FLOAT in the range of {type} has a truncation",
        f"forall b: FLOAT.t. {_IN_RANGE} -> converts b (truncated b)",
    ),
    (
        "undefined_elsewhere",
        "in the relation that converts bounds, a NaN, an infinity and what is out of range have none",
        f"{_EVERY} {_IN_RANGE}",
    ),
    (
        "unique",
        "a bound has one truncation",
        "forall b: FLOAT.t, r s: t. converts b r -> converts b s -> r = s",
    ),
    ("toward_zero", "a truncation is between zero and the bound", f"{_EVERY} ({_UP}) /\\ ({_DOWN})"),
    (
        "keeps_min",
        "a lower bound that is whole or negative lets nothing below it through",
        f"{_EVERY_Y} whole b \\/ FLOAT.lt b {{none}} -> le r y -> not_above b y",
    ),
    (
        "lowers_min",
        "any other lower bound lets an integer below it through",
        f"{_EVERY} not whole b -> FLOAT.lt {{none}} b -> not not_above b r",
    ),
    (
        "keeps_max",
        "an upper bound that is whole or positive lets nothing above it through",
        f"{_EVERY_Y} whole b \\/ FLOAT.lt {{none}} b -> le y r -> not_below b y",
    ),
    (
        "raises_max",
        "any other upper bound lets an integer above it through",
        f"{_EVERY} not whole b -> FLOAT.lt b {{none}} -> not not_below b r",
    ),
    (
        "fraction",
        "Min = 0.5 and X = 0 give 0, which is below Min",
        "forall r: t. converts {half} r -> clip {zero} r {ten} = {zero} /\\ not not_above {half} {zero}",
    ),
)


# --- What is claimed of ScaleBias: x * scale + bias is rounded, so the result need not be an operand --------
#
# A person wrote these formulas: why3/scale_bias.mlw has the meaning of their symbols.


_NUMBERS: Mapping[str, Expr] = {
    "one": number("1"), "two": number("2"), "tenth": number("0.1"), "third": number("0.3"),
    "small": number("-0.03"), "far": number("-100"), "near": number("100"),
}  # fmt: skip
_ROWS: tuple[tuple[str, What, str, str], ...] = (
    (
        "product_is_exact_in_wide",
        "theorem",
        "a product needs no rounding in twice the precision",
        "forall a b: t. exact_product a b",
    ),
    (
        "rounding_error",
        "theorem",
        "rounding that product to the element type errs by half a unit in the last place at most",
        "forall p: Wide.t, r: t. rounded p r -> finite r -> within_half_unit p r",
    ),
    (
        "bias_is_not_an_operand",
        "counterexample",
        "with ScaleBias the result need not be X, Min or Max: X = 0.1, Scale = 2, Bias = 1",
        (
            "forall p s: t. product {tenth} {two} p -> sum p {one} s ->"
            " clip s {far} {near} = s /\\ s <> {tenth} /\\ s <> {far} /\\ s <> {near}"
        ),
    ),
    (
        "bias_depends_on_rounding",
        "counterexample",
        "rounded once or twice, X = 0.1, Scale = 0.3, Bias = -0.03 give different results",
        (
            "forall p s f: t. product {tenth} {third} p -> sum p {small} s ->"
            " fused {tenth} {third} {small} f -> not eq s f"
        ),
    ),
)
_CAST: Mapping[str, Expr] = {
    "many": number("60000"), "nearest": number("60032"), "scale": number("1.0004", Kind.FLOAT),
}  # fmt: skip
_CAST_TO_FLOAT16 = (
    "cast_costs_more",
    "cast to float16, Scale = 1.0004 makes 60000 of X = 60000; nearest to the product is 60032",
    (
        "forall s p r: t. converts {scale} s -> product {many} s p ->"
        " rounded (0x476a77ff: Wide.t (* 60023.996 *)) r -> p = {many} /\\ r = {nearest} /\\ lt p r"
    ),
)


def scale_claims(etype: ElementType, shows: tuple[str, ...]) -> Iterator[Claim]:
    """What ScaleBias adds to Clip in a float type; where Scale and Bias are cast to it, what that costs."""
    for name, kind, title, text in _ROWS:
        yield Claim(etype.id, f"scale_{name}", "scales", kind, shows, title, Written(text, _NUMBERS))
    if etype.id == "float16":
        name, title, text = _CAST_TO_FLOAT16
        yield Claim(etype.id, f"scale_{name}", "scales", "counterexample", shows, title, Written(text, _CAST))
