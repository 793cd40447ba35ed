"""The answers of readings, by evaluation, and the classes in which each agrees with the cases.

The regions in which a reading agrees are proved exact; in a class they are evaluated at samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.special import FEW, sampled
from sonnx_clip.language.values import Value, encode, equal, float_bits, identical, infinity, is_nan, sign_bit
from sonnx_clip.spec.entries import is_number
from sonnx_clip.spec.evaluate import NoCaseError, evaluator

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.spec.entries import Reading, ValueClass
    from sonnx_clip.spec.model import Spec

Triple: TypeAlias = tuple[Value, ...]
Texts: TypeAlias = tuple[str, ...]
Agreement: TypeAlias = Literal["bits", "values", "differs"]


def answers(spec: Spec, etype: ElementType, reading: Reading, triple: Triple) -> tuple[Value, ...]:
    """What a reading allows, among the operands and two NaNs: all there is, but for payloads of NaNs."""
    known = spec.memo.setdefault(("answers", f"{etype.id} {reading.id}"), {})
    if triple not in known:
        ask, nans = evaluator(spec, etype), ("nan", "-nan") if etype.family == "float" else ()
        allows, environment = ask.function(reading.returns), ask.named(triple)
        given = (case.result for case in spec.cases if is_number(case.result))
        tried = dict.fromkeys((*triple, *(encode(text, etype) for text in (*nans, *given))))
        try:
            known[triple] = tuple(y for y in tried if allows({**environment, "Y": y}))
        except NoCaseError:  # the cases have a gap here, so that a reading that speaks of them allows nothing
            known[triple] = ()
    found: tuple[Value, ...] = known[triple]
    return found


def answers_told(
    spec: Spec, etype: ElementType, reading: Reading, triple: Triple
) -> tuple[tuple[Value, ...], bool]:
    """The answers of a reading that are listed one by one, and whether it allows any NaN besides."""
    allowed = answers(spec, etype, reading, triple)
    if etype.family != "float":
        return allowed, False
    ask = evaluator(spec, etype)
    form, quiet = float_bits(etype), int(encode("nan", etype))
    nans = [y | sign for y in (quiet, quiet + 1, infinity(form) + 1) for sign in (0, sign_bit(form))]
    any_nan = all(ask(reading.returns, {**ask.named(triple), "Y": y}) for y in nans)
    return tuple(y for y in allowed if not (any_nan and is_nan(y, etype))), any_nan


def same_value(a: Value, b: Value, etype: ElementType) -> bool:
    """Equal, zeros of both signs and all NaNs taken together."""
    return identical(a, b) or equal(a, b, etype) or (is_nan(a, etype) and is_nan(b, etype))


def agrees(spec: Spec, etype: ElementType, reading: Reading, triple: Triple, *, bitwise: bool) -> bool:
    """Whether a triple lies in the region in which a reading agrees with the cases, as the file states it."""
    regions = reading.regions(bitwise=bitwise)
    if etype.family not in regions:
        return True
    ask = evaluator(spec, etype)
    return bool(ask(regions[etype.family], {**ask.named(triple), "Y": ask.result(*triple)}))


def leaves_values_open(spec: Spec, etype: ElementType, reading: Reading) -> bool:
    """Whether a reading allows two answers of different values for some samples."""
    signed = getattr(etype.bits, "signed", None)  # the first type with such bits has samples as different
    first = next(t for t in spec.types_of(etype.family) if getattr(t.bits, "signed", None) == signed)
    key = ("leaves values open", f"{first.id} {reading.id}")
    if key not in spec.memo:
        found = (answers(spec, first, reading, of) for of in sampled(first, len(spec.operands)))
        spec.memo[key] = any(not same_value(y, allowed[0], first) for allowed in found for y in allowed)
    return bool(spec.memo[key])


# --- Readings by class ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """Numbers in a class for which a reading allows an answer other than the result of the cases.

    Args:
        at: the operands, as the YAML writes numbers.
        answer: the answer of the reading: the name of an operand, or a number.
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
    known = spec.memo.setdefault(("reading_classes", ""), {})
    if family not in known:
        etype = spec.types_of(family)[0]
        samples = _samples(spec, etype)
        known[family] = tuple(
            ReadingInClass(
                reading.id,
                klass.id,
                _difference(spec, etype, reading, samples[klass.id], bitwise=False),
                _difference(spec, etype, reading, samples[klass.id], bitwise=True),
            )
            for reading in spec.readings
            for klass in spec.classes_of(family)
        )
    found: tuple[ReadingInClass, ...] = known[family]
    return found


def answer_at(spec: Spec, difference: Difference, etype: ElementType) -> tuple[Triple, Value]:
    """The numbers of a difference in an element type, and the answer."""
    triple = _encoded(difference.at, etype)
    known = evaluator(spec, etype).named(triple)
    answer = known[difference.answer] if difference.answer in known else encode(difference.answer, etype)
    return triple, answer


def inhabitant(klass: ValueClass) -> Texts:
    """The numbers that the file gives for a class."""
    return tuple(klass.inhabited_by.texts().values())


def _samples(spec: Spec, etype: ElementType) -> dict[str, list[Texts]]:
    """The numbers tried in each class: first those of the file."""
    ask = evaluator(spec, etype)
    found = {klass.id: [inhabitant(klass)] for klass in spec.classes_of(etype.family)}
    for texts in product(FEW[etype.family], repeat=len(spec.operands)):
        try:
            for klass in ask.classes(*_encoded(texts, etype)):
                found[klass.id].append(texts)
        except NoCaseError:  # the cases have a gap, which the provers find
            continue
    return found


def _encoded(texts: Texts, etype: ElementType) -> Triple:
    return tuple(encode(text, etype) for text in texts)


def _difference(
    spec: Spec, etype: ElementType, reading: Reading, samples: list[Texts], *, bitwise: bool
) -> Difference | None:
    """The first of the samples for which a reading allows another answer than that of the cases."""
    if etype.family not in reading.regions(bitwise=bitwise):
        return None
    ask, nans = evaluator(spec, etype), ("nan", "-nan") if etype.family == "float" else ()
    for texts in samples:
        triple = _encoded(texts, etype)
        if agrees(spec, etype, reading, triple, bitwise=bitwise):
            continue
        due = ask.result(*triple)
        words = ask.named(triple) | {text: encode(text, etype) for text in nans}
        for y in answers(spec, etype, reading, triple):
            if not (identical(y, due) if bitwise else same_value(y, due, etype)):
                return Difference(texts, next(word for word, of in words.items() if identical(of, y)))
    return None
