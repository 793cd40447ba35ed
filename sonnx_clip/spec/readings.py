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


def answers(spec: Spec, etype: ElementType, reading: Reading, triple: Triple) -> tuple[Value, ...]:
    """What a reading allows, among operands, results of cases and two NaNs.

    That is all there is, but for payloads of NaNs.
    """
    ask = evaluator(spec, etype)
    named = ask.named(triple)
    results = [ask(case.result, named) for case in spec.giving_cases(etype.family)]
    nans = [encode(text, etype) for text in ("nan", "-nan") if etype.family == "float"]
    tried = dict.fromkeys((*triple, *nans, *results))
    try:
        return tuple(y for y in tried if ask(reading.returns, {**named, "Y": y}))
    except (
        NoCaseError
    ):  # the cases have a gap here, so that a reading that speaks of them allows nothing
        return ()


def answers_told(
    spec: Spec, etype: ElementType, reading: Reading, triple: Triple
) -> tuple[tuple[Value, ...], bool]:
    """The answers of a reading that are listed one by one, and whether it allows any NaN besides."""
    allowed = answers(spec, etype, reading, triple)
    if etype.family != "float":
        return allowed, False
    ask = evaluator(spec, etype)
    form, quiet = float_bits(etype), int(encode("nan", etype))
    nans = [
        y | sign for y in (quiet, quiet + 1, infinity(form) + 1) for sign in (0, sign_bit(form))
    ]
    any_nan = all(ask(reading.returns, {**ask.named(triple), "Y": y}) for y in nans)
    return tuple(y for y in allowed if not (any_nan and is_nan(y, etype))), any_nan


def same_value(a: Value, b: Value, etype: ElementType) -> bool:
    """Equal, with zeros of both signs identified, and all NaNs."""
    return identical(a, b) or equal(a, b, etype) or (is_nan(a, etype) and is_nan(b, etype))


def agrees(
    spec: Spec, etype: ElementType, reading: Reading, triple: Triple, *, bitwise: bool
) -> bool:
    """Whether a triple is in the region of agreement of a reading with the cases, as the file states it."""
    regions = reading.regions(bitwise=bitwise)
    if etype.family not in regions:
        return True
    ask = evaluator(spec, etype)
    return bool(ask(regions[etype.family], {**ask.named(triple), "Y": ask.result(*triple)}))


def leaves_values_open(spec: Spec, etype: ElementType, reading: Reading) -> bool:
    """Whether a reading allows two answers of different values for some samples."""
    signed = getattr(
        etype.bits, "signed", None
    )  # the first type with such bits has samples as different
    first = next(
        t for t in spec.types_of(etype.family) if getattr(t.bits, "signed", None) == signed
    )
    key = ("leaves values open", f"{first.id} {reading.id}")
    if key not in spec.memo:
        found = (
            answers(spec, first, reading, of) for of in sampled(first, len(spec.signature.operands))
        )
        spec.memo[key] = any(
            not same_value(y, allowed[0], first) for allowed in found for y in allowed
        )
    return bool(spec.memo[key])
