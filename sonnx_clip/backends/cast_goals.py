"""The goals on bounds that are given as FLOAT and converted to the element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.whyml_printer import Printer, float_literal
from sonnx_clip.language.convert import beyond
from sonnx_clip.language.values import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec

EVERY = "forall b: FLOAT.t, r: t. converts b r ->"
EVERY_Y = "forall b: FLOAT.t, r y: t. converts b r ->"
EVERY_W = "forall w: FLOAT.t, r: t."


def cast_goals(spec: Spec, etype: ElementType, shows: tuple[str, ...]) -> Iterator[Goal]:
    """What a bound is after its conversion.

    Args:
        spec: the specification.
        etype: the type that a FLOAT is converted to.
        shows: the dialects that convert.
    """
    of = spec.element_type("float32")
    rows = _to_integer(etype, of) if etype.family == "int" else _to_float(etype, of)
    for name, title, statement in rows:
        yield Goal(f"cast_{name}", "theorem", shows, title, statement)


def cast_names(etype: ElementType) -> tuple[str, ...]:
    """What must be shown of a conversion, by name."""
    if etype.family == "int":
        return (
            "defined_in_range", "undefined_elsewhere", "unique", "toward_zero",
            "keeps_min", "lowers_min", "keeps_max", "raises_max", "fraction",
        )  # fmt: skip
    more = ("exact", "strictly_monotone") if etype.id == "float64" else (
        "keeps_what_fits", "overflows", "underflows", "lowers_a_bound",
    )  # fmt: skip
    return ("exists", "unique", "nan", "monotone", *more)


def _number(text: str, of: ElementType) -> str:
    return float_literal(int(encode(text, of)), text)


def _to_float(etype: ElementType, of: ElementType) -> Iterator[tuple[str, str, str]]:
    yield (
        "exists",
        f"every FLOAT has a {etype.id} that it becomes: the one that is built of its bits",
        "forall b: FLOAT.t. converts b (converted b)",
    )
    yield (
        "unique",
        "a bound becomes one number, or any NaN",
        "forall b: FLOAT.t, r s: t. converts b r -> converts b s -> r = s \\/ (nan r /\\ nan s)",
    )
    yield "nan", "a NaN stays a NaN, and nothing else becomes one", f"{EVERY} (FLOAT.nan b <-> nan r)"
    yield (
        "monotone",
        "conversion keeps the order of bounds",
        "forall a b: FLOAT.t, r s: t. converts a r -> converts b s -> FLOAT.le a b -> le r s",
    )
    literal = Printer(etype, {}).literal
    if etype.id == "float64":
        yield "exact", "every FLOAT is a float64: conversion changes no bound", f"{EVERY} exactly b r"
        yield (
            "strictly_monotone",
            "different bounds stay different",
            "forall a b: FLOAT.t, r s: t. converts a r -> converts b s -> (FLOAT.lt a b <-> lt r s)",
        )
        return
    yield (
        "keeps_what_fits",
        f"a bound that is a {etype.id} is not changed",
        "forall b: FLOAT.t, r: t. exactly b r -> converts b r",
    )
    limit, least = _number("65520", of), _number("-65520", of)
    inf, minus_inf = literal("inf"), literal("-inf")
    yield (
        "overflows",
        "a bound of at least 65520 becomes infinite, and no other finite one",
        f"{EVERY} (r = {inf} <-> FLOAT.le {limit} b) /\\ (r = {minus_inf} <-> FLOAT.le b {least})",
    )
    tiny, minus_tiny = _number("0x1p-25", of), _number("-0x1p-25", of)
    yield (
        "underflows",
        "a bound of at most 2^-25 becomes a zero, and no other",
        f"{EVERY} (eq r {literal('0')} <-> FLOAT.le {minus_tiny} b /\\ FLOAT.le b {tiny})",
    )
    tenth, one = _number("0.1", of), literal("1")
    yield (
        "lowers_a_bound",
        "Min = 0.1 as a FLOAT lets a smaller number through: conversion is not exact",
        f"{EVERY_W} converts {tenth} r -> exactly w r -> clip r r {one} = r /\\ FLOAT.lt w {tenth}",
    )


def _to_integer(etype: ElementType, of: ElementType) -> Iterator[tuple[str, str, str]]:
    low, high = (float_literal(pattern) for pattern in beyond(etype, of))
    zero = Printer(etype, {}).literal("0")
    none = _number("0", of)
    up = f"FLOAT.le {none} b -> le {zero} r /\\ not_below b r"
    down = f"FLOAT.le b {none} -> le r {zero} /\\ not_above b r"
    in_range = f"FLOAT.lt {low} b /\\ FLOAT.lt b {high}"
    yield (
        "defined_in_range",
        f"a FLOAT in the range of {etype.id} has a truncation",
        f"forall b: FLOAT.t. {in_range} -> converts b (truncated b)",
    )
    yield (
        "undefined_elsewhere",
        "in the relation that converts bounds, a NaN, an infinity and what is out of range have none",
        f"{EVERY} {in_range}",
    )
    yield (
        "unique",
        "a bound has one truncation",
        "forall b: FLOAT.t, r s: t. converts b r -> converts b s -> r = s",
    )
    yield (
        "toward_zero",
        "a truncation is between zero and the bound",
        f"{EVERY} ({up}) /\\ ({down})",
    )
    yield (
        "keeps_min",
        "a lower bound that is whole or negative lets nothing below it through",
        f"{EVERY_Y} whole b \\/ FLOAT.lt b {none} -> le r y -> not_above b y",
    )
    yield (
        "lowers_min",
        "any other lower bound lets an integer below it through",
        f"{EVERY} not whole b -> FLOAT.lt {none} b -> not not_above b r",
    )
    yield (
        "keeps_max",
        "an upper bound that is whole or positive lets nothing above it through",
        f"{EVERY_Y} whole b \\/ FLOAT.lt {none} b -> le y r -> not_below b y",
    )
    yield (
        "raises_max",
        "any other upper bound lets an integer above it through",
        f"{EVERY} not whole b -> FLOAT.lt b {none} -> not not_below b r",
    )
    half, ten = _number("0.5", of), Printer(etype, {}).literal("10")
    yield (
        "fraction",
        "Min = 0.5 and X = 0 give 0, which is below Min",
        f"forall r: t. converts {half} r -> clip {zero} r {ten} = {zero} /\\ not not_above {half} {zero}",
    )
