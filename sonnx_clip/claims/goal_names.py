"""Names of goals that other rooms refer to; claims.yaml names all goals.

An obligation is ``<subject>.<goal>``. `word` is the id of a reading or a dialect as a word of WhyML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.claims.claim import Aspect

SCALAR_CASTS = ("cast_lowers_a_bound", "cast_underflows", "cast_overflows")
"""What a conversion of a FLOAT to a smaller type changes."""
RESULT_IS_OPERAND = "result_is_operand"


def of(subject: str, goal: str) -> str:
    """The id of an obligation."""
    return f"{subject}.{goal}"


def refuted(id_: str) -> str:
    """A statement is false, at its witness."""
    return f"{id_}_refuted"


def nowhere_else(goal: str) -> str:
    """Outside of the region that a goal speaks of, what it says is not so."""
    return f"{goal}_nowhere_else"


def agrees(word: str, aspect: Aspect = "values") -> str:
    """A reading agrees with the cases."""
    return f"{word}_agrees{_bitwise(aspect)}"


def differs(word: str, aspect: Aspect = "values") -> str:
    """A reading differs from the cases, at its witness."""
    return f"{word}_differs{_bitwise(aspect)}"


def answers(word: str) -> str:
    """A reading allows an answer for every input."""
    return f"{word}_answers"


def _bitwise(aspect: Aspect) -> str:
    return "_bitwise" if aspect == "bits" else ""


def is_sonnx(word: str) -> str:
    """A dialect has the values of SONNX."""
    return f"{word}_is_sonnx"


def without(word: str, bound: str) -> str:
    """What a dialect does without a bound, ``min`` or ``max``, or without ``bounds``."""
    return f"{word}_without_{bound}"


def infinities(word: str) -> str:
    """What the default bounds of a dialect make of the infinities."""
    return f"{word}_infinities"


def of_contradiction(word: str, missing: str | None) -> str:
    """What answers contradict that no dialect allows: with a bound missing, or with both."""
    return without(word, missing) if missing else is_sonnx(word)
