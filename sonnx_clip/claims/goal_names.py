"""What goals are called: every name that more than the claim itself needs is composed here and nowhere else.

An obligation is ``<subject>.<goal>``: `of` joins them. Ids of the YAML are `id`, and `word` is the id of a
reading, a dialect or a latitude as a word of WhyML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.claims.claim import Aspect
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.reading_classes import ReadingInClass

SCALAR_CASTS = ("cast_lowers_a_bound", "cast_underflows", "cast_overflows")
"""What a conversion of a FLOAT to a smaller type changes."""
RESULT_IS_OPERAND = "result_is_operand"


def of(subject: str, goal: str) -> str:
    """The id of an obligation."""
    return f"{subject}.{goal}"


def refuted(id_: str) -> str:
    """A statement is false, at its witness."""
    return f"{id_}_refuted"


def repaired(id_: str) -> str:
    """It is true under its condition."""
    return f"{id_}_repaired"


def inhabited(id_: str) -> str:
    """Some input falls into a case or class, uses a latitude, or meets a condition."""
    return f"{id_}_inhabited"


def complete(id_: str) -> str:
    """Every input of a case falls into one of its classes."""
    return f"classes_of_{id_}_complete"


def disjoint(id_: str) -> str:
    """No input of a case falls into two of its classes."""
    return f"classes_of_{id_}_disjoint"


def written(id_: str) -> str:
    """The YAML and what is written by hand say the same."""
    return f"{id_}_is_written"


def example(id_: str) -> str:
    """A worked example."""
    return f"example_{id_}"


def nowhere_else(goal: str) -> str:
    """Outside of the region that a goal speaks of, what it says is not so."""
    return f"{goal}_nowhere_else"


# ---------------------------------------------------------------------- readings


def agrees(word: str, aspect: Aspect = "values") -> str:
    """A reading agrees with the cases."""
    return f"{word}_agrees{_bitwise(aspect)}"


def differs(word: str, aspect: Aspect = "values") -> str:
    """A reading differs from the cases, at its witness."""
    return f"{word}_differs{_bitwise(aspect)}"


def answers(word: str) -> str:
    """A reading allows an answer for every input."""
    return f"{word}_answers"


def apart(word: str, other: str) -> str:
    """Two readings do not allow the same values."""
    return f"{word}_and_{other}_other_values"


def in_classes(word: str, aspect: Aspect, *, same: bool) -> str:
    """A reading agrees with the cases in some classes, or differs from them in some."""
    return f"{word}_{'same' if same else 'other'}_{aspect}_in_classes"


def in_class(reading: Reading, family: FamilyId, found: ReadingInClass, *, bitwise: bool) -> str:
    """The goal that shows whether a reading agrees with the cases in a class.

    A reading that agrees in all of its family has one goal for everything.
    """
    aspect: Aspect = "bits" if bitwise else "values"
    if family not in reading.regions(bitwise=bitwise):
        return agrees(reading.word, aspect)
    return in_classes(reading.word, aspect, same=found.difference(bitwise=bitwise) is None)


def _bitwise(aspect: Aspect) -> str:
    return "_bitwise" if aspect == "bits" else ""


# ---------------------------------------------------------------------- dialects


def is_sonnx(word: str, aspect: Aspect = "values") -> str:
    """A dialect agrees with SONNX."""
    return f"{word}_is_sonnx{_bitwise(aspect)}"


def without(word: str, bound: str) -> str:
    """What a dialect does without a bound, ``min`` or ``max``, or without ``bounds``."""
    return f"{word}_without_{bound}"


def infinities(word: str) -> str:
    """What the default bounds of a dialect make of the infinities."""
    return f"{word}_infinities"


def printed_default(word: str) -> str:
    """The default as a page prints it limits a finite number."""
    return f"{word}_printed_default"


def after(word: str, before: str) -> str:
    """What a newer version changes."""
    return f"{word}_after_{before}"


def changed(word: str, before: str) -> str:
    """What a newer version changes without bounds."""
    return f"{after(word, before)}_changed"


def equals(word: str, reading: str) -> str:
    """A dialect has the values of a reading."""
    return f"{word}_is_{reading}"


def of_contradiction(word: str, missing: str | None) -> str:
    """What answers contradict that no dialect allows: with a bound missing, or with both."""
    return without(word, missing) if missing else is_sonnx(word)
