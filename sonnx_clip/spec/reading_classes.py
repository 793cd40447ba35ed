"""Readings by class: where a reading agrees with the cases on a whole class, and where it does not.

What stands here is found by evaluation at samples. It is a claim that generated/why3/readings_<type>.mlw
states for each element type and the provers show: agreement for the whole class, difference by numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.values import encode, identical
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import Triple, answers, same_value

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Reading, ValueClass
    from sonnx_clip.spec.evaluate import Evaluator
    from sonnx_clip.spec.model import Spec

Texts: TypeAlias = tuple[str, str, str]
Agreement: TypeAlias = Literal["bits", "values", "differs"]

# Enough to tell each reading from the cases in each class in which they differ; if it were not, a proof
# that they agree in the whole class would fail.
SAMPLES: dict[FamilyId, tuple[str, ...]] = {
    "real": ("0", "1", "2", "3"),
    "int": ("lowest", "0", "1", "2", "highest"),
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
    """A reading in a class of a family: None where it agrees in the whole class."""

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
        found = spec.memo["reading_classes", family] = _reading_classes(spec, family)
    return found


def _reading_classes(spec: Spec, family: FamilyId) -> tuple[ReadingInClass, ...]:
    etype = spec.types_of(family)[0]
    samples = _samples(spec, etype)
    return tuple(
        ReadingInClass(
            reading.id,
            klass.id,
            _difference(spec, etype, reading, samples[klass.id], bitwise=False),
            _difference(spec, etype, reading, samples[klass.id], bitwise=True),
        )
        for reading in spec.readings
        for klass in spec.classes_of(family)
    )


def answer_at(difference: Difference, etype: ElementType) -> tuple[Triple, Value]:
    """The numbers of a difference in an element type, and the answer."""
    x, l, m = (encode(text, etype) for text in difference.at)
    known = {"X": x, "L": l, "M": m}
    answer = known[difference.answer] if difference.answer in known else encode(difference.answer, etype)
    return (x, l, m), answer


def inhabitant(klass: ValueClass) -> Texts:
    """The numbers that the file gives for a class."""
    given = klass.inhabited_by.texts()
    return given["X"], given["L"], given["M"]


@dataclass(frozen=True)
class _Sample:
    """Numbers that are tried: as texts, as values, and what the cases give."""

    texts: Texts
    triple: Triple
    due: Value


def _samples(spec: Spec, etype: ElementType) -> dict[str, list[_Sample]]:
    """The numbers that are tried in each class: the file's own first."""
    ask = evaluator(spec, etype)
    classes = spec.classes_of(etype.family)
    found: dict[str, list[_Sample]] = {klass.id: [] for klass in classes}
    for klass in classes:
        at = inhabitant(klass)
        given = (encode(at[0], etype), encode(at[1], etype), encode(at[2], etype))
        found[klass.id] += _sample_of(ask, at, given)
    values = {text: encode(text, etype) for text in SAMPLES[etype.family]}
    for x, l, m in product(values, repeat=3):
        for sample in _sample_of(ask, (x, l, m), (values[x], values[l], values[m])):
            for klass in ask.classes(*sample.triple):
                found[klass.id].append(sample)
    return found


def _sample_of(ask: Evaluator, texts: Texts, triple: Triple) -> tuple[_Sample, ...]:
    """One sample; none where the cases have a gap, which the provers find."""
    try:
        return (_Sample(texts, triple, ask.result(*triple)),)
    except ValueError:
        return ()


def _difference(
    spec: Spec, etype: ElementType, reading: Reading, samples: list[_Sample], *, bitwise: bool
) -> Difference | None:
    for sample in samples:
        for y in answers(spec, etype, reading, sample.triple):
            if not (identical(y, sample.due) if bitwise else same_value(y, sample.due, etype)):
                return Difference(sample.texts, _answer(y, sample.triple, etype))
    return None


def _answer(y: Value, triple: Triple, etype: ElementType) -> str:
    """An answer in words that mean the same in every element type of the family."""
    for name, value in zip("XLM", triple, strict=True):
        if identical(y, value):
            return name
    return next(text for text in ("nan", "-nan") if identical(y, encode(text, etype)))
