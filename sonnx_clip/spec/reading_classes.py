"""Readings by class: whether a reading agrees with the cases in a whole class, else numbers where it differs.

The regions of the readings, which are proved exact, are evaluated at samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.values import encode, identical
from sonnx_clip.spec.evaluate import NoCaseError, evaluator
from sonnx_clip.spec.readings import Triple, agrees, answers, same_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Reading, ValueClass
    from sonnx_clip.spec.model import Spec

Texts: TypeAlias = tuple[str, ...]
_Sample: TypeAlias = "tuple[Texts, Triple]"
Agreement: TypeAlias = Literal["bits", "values", "differs"]

# Tried beside the numbers that the file gives for each class.
SAMPLES: dict[FamilyId, tuple[str, ...]] = {
    "real": ("0", "1", "2"),
    "int": ("lowest", "0", "1", "highest"),
    "float": ("nan", "-nan", "snan", "-inf", "-1", "-0", "0", "smallest_subnormal", "1", "inf"),
}


@dataclass(frozen=True)
class Difference:
    """Numbers in a class for which a reading allows an answer other than the result of the cases.

    Args:
        at: X, L and M, as the YAML writes numbers.
        answer: the answer of the reading: ``X``, ``L``, ``M``, or a number.
    """

    at: Texts
    answer: str


@dataclass(frozen=True)
class ReadingInClass:
    """A reading in a class of a family; a difference is None where it agrees in the whole class."""

    reading: str
    klass: str
    other_value: Difference | None
    other_bits: Difference | None

    @property
    def agreement(self) -> Agreement:
        """In the whole class: the bits of the cases, their values, or not even these."""
        if self.other_value is not None:
            return "differs"
        return "bits" if self.other_bits is None else "values"

    def difference(self, *, bitwise: bool) -> Difference | None:
        """Where it differs, bit for bit or in the value."""
        return self.other_bits if bitwise else self.other_value


def reading_classes(spec: Spec, family: FamilyId) -> tuple[ReadingInClass, ...]:
    """Each reading in each class of a family, reading by reading, in the order of the file."""
    found: tuple[ReadingInClass, ...] | None = spec.memo.get(("reading_classes", family))
    if found is None:
        etype = spec.types_of(family)[0]
        samples = _samples(spec, etype)
        found = spec.memo["reading_classes", family] = tuple(
            ReadingInClass(
                reading.id,
                klass.id,
                _difference(spec, etype, reading, samples[klass.id], bitwise=False),
                _difference(spec, etype, reading, samples[klass.id], bitwise=True),
            )
            for reading in spec.readings
            for klass in spec.classes_of(family)
        )
    return found


def answer_at(spec: Spec, difference: Difference, etype: ElementType) -> tuple[Triple, Value]:
    """The numbers of a difference in an element type, and the answer."""
    triple = _encoded(difference.at, etype)
    known = dict(zip(spec.head.operands, triple, strict=True))
    answer = known[difference.answer] if difference.answer in known else encode(difference.answer, etype)
    return triple, answer


def inhabitant(klass: ValueClass) -> Texts:
    """The numbers that the file gives for a class."""
    return tuple(klass.inhabited_by.texts().values())


def _samples(spec: Spec, etype: ElementType) -> dict[str, list[_Sample]]:
    """The numbers tried in each class: first those of the file."""
    ask, classes = evaluator(spec, etype), spec.classes_of(etype.family)
    found = {klass.id: [(inhabitant(klass), _encoded(inhabitant(klass), etype))] for klass in classes}
    values = {text: encode(text, etype) for text in SAMPLES[etype.family]}
    for texts in product(values, repeat=len(spec.operands)):
        triple = tuple(values[text] for text in texts)
        try:
            for klass in ask.classes(*triple):
                found[klass.id].append((texts, triple))
        except NoCaseError:  # the cases have a gap, which the provers find
            continue
    return found


def _encoded(texts: Texts, etype: ElementType) -> Triple:
    return tuple(encode(text, etype) for text in texts)


def _difference(
    spec: Spec, etype: ElementType, reading: Reading, samples: list[_Sample], *, bitwise: bool
) -> Difference | None:
    if etype.family not in reading.regions(bitwise=bitwise):
        return None
    for texts, triple in samples:
        if not agrees(spec, etype, reading, triple, bitwise=bitwise):
            for answer in _other_answers(spec, etype, reading, triple, bitwise=bitwise):
                return Difference(texts, answer)
    return None


def _other_answers(
    spec: Spec, etype: ElementType, reading: Reading, triple: Triple, *, bitwise: bool
) -> Iterator[str]:
    """Answers other than the result of the cases, in words that mean the same in every type of the family."""
    due = evaluator(spec, etype).result(*triple)
    words = dict(zip(spec.head.operands, triple, strict=True))
    for y in answers(spec, etype, reading, triple):
        if not (identical(y, due) if bitwise else same_value(y, due, etype)):
            nans = ("nan", "-nan") if etype.family == "float" else ()
            words |= {text: encode(text, etype) for text in nans}
            yield next(word for word, value in words.items() if identical(value, y))
