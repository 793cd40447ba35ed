"""The answers of readings, by evaluation."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sonnx_clip.language.values import Value, encode, equal, float_bits, identical, infinity, is_nan, sign_bit
from sonnx_clip.spec.evaluate import NoCaseError, evaluator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.model import Spec

Triple = tuple[Value, ...]

# Enough to tell every two readings apart, and every region from one that is a point larger.
SAMPLES: dict[FamilyId, tuple[str, ...]] = {
    "real": ("0", "1", "2"),
    "int": ("lowest", "0", "1", "highest"),
    "float": ("nan", "-nan", "snan", "-1", "-0", "0", "1", "inf"),
}


def sampled(etype: ElementType, count: int) -> Iterator[tuple[Value, ...]]:
    """The inputs among which differences are looked for, of so many operands."""
    return product([encode(text, etype) for text in SAMPLES[etype.family]], repeat=count)


def triples(etype: ElementType) -> Iterator[Triple]:
    """The inputs of Clip among which differences are looked for."""
    values = [encode(text, etype) for text in SAMPLES[etype.family]]
    return ((x, l, m) for x in values for l in values for m in values)


def answers(spec: Spec, etype: ElementType, reading: Reading, triple: Triple) -> tuple[Value, ...]:
    """What a reading allows, among the operands and two NaNs: all there is, but for payloads of NaNs."""
    known = spec.memo.setdefault(("answers", f"{etype.id} {reading.id}"), {})
    found: tuple[Value, ...] | None = known.get(triple)
    if found is None:
        allows = evaluator(spec, etype).function(reading.returns)
        environment = dict(zip(spec.head.operands, triple, strict=True))
        allowed = []
        try:
            for y in dict.fromkeys((*triple, *_nans(spec, etype))):
                environment["Y"] = y
                if allows(environment):
                    allowed.append(y)
        except NoCaseError:  # the cases have a gap here, so that a reading that speaks of them allows nothing
            allowed = []
        found = known[triple] = tuple(allowed)
    return found


def _nans(spec: Spec, etype: ElementType) -> tuple[Value, ...]:
    """A NaN of each sign; none where the type has none."""
    found: tuple[Value, ...] | None = spec.memo.get(("nans", etype.id))
    if found is None:
        texts = ("nan", "-nan") if etype.family == "float" else ()
        found = spec.memo["nans", etype.id] = tuple(encode(text, etype) for text in texts)
    return found


def answers_told(
    spec: Spec, etype: ElementType, reading: Reading, triple: Triple
) -> tuple[tuple[Value, ...], bool]:
    """The answers of a reading that are listed one by one, and whether it allows any NaN besides."""
    allowed = answers(spec, etype, reading, triple)
    if etype.family != "float":
        return allowed, False
    ask, environment = evaluator(spec, etype), dict(zip(spec.head.operands, triple, strict=True))
    form, quiet = float_bits(etype), int(encode("nan", etype))
    nans = [y | sign for y in (quiet, quiet + 1, infinity(form) + 1) for sign in (0, sign_bit(form))]
    any_nan = all(ask(reading.returns, environment | {"Y": y}) for y in nans)
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
    environment = dict(zip(spec.head.operands, triple, strict=True))
    return bool(ask(regions[etype.family], environment | {"Y": ask.result(*triple)}))


def _like(spec: Spec, etype: ElementType) -> ElementType:
    """The first type of the family that is signed or unsigned alike: its samples are as different."""
    signed = getattr(etype.bits, "signed", None)
    return next(t for t in spec.types_of(etype.family) if getattr(t.bits, "signed", None) == signed)


def leaves_values_open(spec: Spec, etype: ElementType, reading: Reading) -> bool:
    """Whether a reading allows two answers of different values for some samples."""
    first = _like(spec, etype)
    key = ("leaves values open", f"{first.id} {reading.id}")
    if key not in spec.memo:
        found = (answers(spec, first, reading, triple) for triple in triples(first))
        spec.memo[key] = any(
            not all(same_value(y, allowed[0], first) for y in allowed) for allowed in found if allowed
        )
    return bool(spec.memo[key])
