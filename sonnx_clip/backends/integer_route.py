"""Why the bits of a float may be limited as integers: lemmas with names, one set for each float format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.language.values import float_bits, infinity, sign_bit

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType


@dataclass(frozen=True)
class IntegerRoute:
    """The lemmas of a float format, and the literals of its zeros."""

    plus_zero: str
    minus_zero: str
    goals: tuple[Goal, ...]


def integer_route(etype: ElementType) -> IntegerRoute | None:
    """What the template prints for a float type; None for other types."""
    if etype.family != "float" or etype.width is None:
        return None
    form, digits = float_bits(etype), etype.width // 4
    numbers = {"plus_zero": 0, "minus_zero": sign_bit(form), "infinity": infinity(form)}
    numbers["minus_infinity"] = numbers["minus_zero"] | numbers["infinity"]
    numbers["magnitude"] = numbers["minus_zero"] - 1
    numbers["n"] = numbers["infinity"] + 1
    shown = {name: f"(0x{number:0{digits}x}: t)" for name, number in numbers.items()}
    goals = tuple(
        Goal(f"integer_route_{name}", "theorem", (etype.id,), title, statement.format(**shown))
        for name, title, statement in _GOALS
    )
    return IntegerRoute(shown["plus_zero"], shown["minus_zero"], goals)


_GOALS = (
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

INTEGER_ROUTE = tuple(name for name, _, _ in _GOALS)
"""The names of the lemmas."""
