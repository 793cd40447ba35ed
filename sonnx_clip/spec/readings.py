"""The answers of readings, by evaluation, and whether a reading agrees with the cases at a triple."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.language.special import sampled
from sonnx_clip.language.values import (
    Value,
    encode,
    equal,
    float_bits,
    identical,
    infinity,
    is_nan,
    sign_bit,
)
from sonnx_clip.spec.evaluate import NoCaseError, evaluator

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.model import Spec

Triple: TypeAlias = tuple[Value, ...]


def possible_answers(spec: Spec, etype: ElementType, triple: Triple) -> tuple[Value, ...]:
    """All that some reading may allow, each once: operands, results of cases and two NaNs.

    That is all there is, but for payloads of NaNs.
    """
    evaluate = evaluator(spec, etype)
    named = evaluate.named(triple)
    # Of every case, and not only of the one that holds: a reading may give the result of another.
    results = []
    for case in spec.giving_cases(etype.family):
        results.append(evaluate(case.result, named))
    nans = []
    if etype.family == "float":
        nans = [encode("nan", etype), encode("-nan", etype)]
    return tuple(dict.fromkeys((*triple, *nans, *results)))


def answers(
    spec: Spec,
    etype: ElementType,
    reading: Reading,
    triple: Triple,
) -> tuple[Value, ...]:
    """What a reading allows of the possible answers."""
    evaluate = evaluator(spec, etype)
    named = evaluate.named(triple)
    allowed: list[Value] = []
    try:
        for answer in possible_answers(spec, etype, triple):
            if evaluate(reading.returns, {**named, "Y": answer}):
                allowed.append(answer)
    except NoCaseError:
        # The cases have a gap here, so that a reading that speaks of them allows nothing.
        return ()
    return tuple(allowed)


def answers_told(
    spec: Spec,
    etype: ElementType,
    reading: Reading,
    triple: Triple,
) -> tuple[tuple[Value, ...], bool]:
    """The answers of a reading that are listed one by one, and whether it allows any NaN besides."""
    allowed = answers(spec, etype, reading, triple)
    if etype.family != "float":
        return allowed, False
    evaluate = evaluator(spec, etype)
    named = evaluate.named(triple)
    form = float_bits(etype)
    quiet = int(encode("nan", etype))
    signalling = infinity(form) + 1  # the first pattern behind infinity
    # Of both signs, quiet with two payloads and signalling: whoever allows these allows any.
    for nan in (quiet, quiet + 1, signalling):
        for sign in (0, sign_bit(form)):
            if not evaluate(reading.returns, {**named, "Y": nan | sign}):
                return allowed, False
    # NaNs are not listed then, not even those of the operands.
    numbers = tuple(answer for answer in allowed if not is_nan(answer, etype))
    return numbers, True


def same_value(a: Value, b: Value, etype: ElementType) -> bool:
    """Equal, with zeros of both signs identified, and all NaNs."""
    if identical(a, b) or equal(a, b, etype):
        return True
    return is_nan(a, etype) and is_nan(b, etype)


def agrees(
    spec: Spec,
    etype: ElementType,
    reading: Reading,
    triple: Triple,
    *,
    bitwise: bool,
) -> bool:
    """Whether a triple is in the region of agreement of a reading with the cases, as the file states it."""
    regions = reading.regions(bitwise=bitwise)
    if etype.family not in regions:  # it agrees everywhere
        return True
    evaluate = evaluator(spec, etype)
    environment = evaluate.named(triple) | {"Y": evaluate.result(*triple)}
    return bool(evaluate(regions[etype.family], environment))


def leaves_values_open(spec: Spec, etype: ElementType, reading: Reading) -> bool:
    """Whether a reading allows two answers of different values for some samples."""
    # The first type of the family that is signed alike has samples as different.
    signed = getattr(etype.bits, "signed", None)
    first = etype
    for other in spec.types_of(etype.family):
        if getattr(other.bits, "signed", None) == signed:
            first = other
            break
    # Claims of every type ask, and the answer takes a look at every sample.
    key = ("leaves values open", f"{first.id} {reading.id}")
    if key not in spec.memo:
        spec.memo[key] = _allows_two_values(spec, first, reading)
    return bool(spec.memo[key])


def _allows_two_values(spec: Spec, etype: ElementType, reading: Reading) -> bool:
    for triple in sampled(etype, len(spec.signature.operands)):
        allowed = answers(spec, etype, reading, triple)
        for answer in allowed[1:]:
            if not same_value(answer, allowed[0], etype):
                return True
    return False
