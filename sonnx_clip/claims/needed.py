"""The obligations that a finding has to name: they follow from its witnesses, so that none is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.values import encode
from sonnx_clip.spec.finding_answers import answers_of
from sonnx_clip.spec.findings import Contrast, Lack, NoNumber, NotTaken, Refutation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.findings import Side, SourceFinding, Witness


def needed(spec: Spec, entry: SourceFinding, known: Collection[str]) -> tuple[str, ...]:
    """The ids of the obligations that show what the witnesses of a finding say, in their order.

    Args:
        spec: the specification.
        entry: the finding.
        known: the ids of all obligations; what has none in a type needs none.
    """
    found = (id_ for witness in entry.witnesses for id_ in _of_witness(spec, witness))
    return tuple(dict.fromkeys(id_ for id_ in found if id_ in known))


def _of_witness(spec: Spec, witness: Witness) -> Iterator[str]:
    match witness:
        case Contrast():
            yield from _contrast(spec, witness)
        case Refutation():
            yield f"{witness.type}.{witness.refutes}_refuted"
            yield f"{witness.type}.{witness.refutes}_repaired"
        case Lack():
            example = spec.example(witness.example)
            yield from (f"{etype.id}.example_{example.id}" for etype in spec.types_of(example.family))
        case NoNumber():
            yield f"{witness.type}.cast_undefined_elsewhere"
        case NotTaken():
            yield f"{witness.type}.{spec.dialect(witness.taken_by).word}_is_sonnx"
        case _:  # what it shows is computed, or shown by the claim of the finding alone
            return


def _contrast(spec: Spec, witness: Contrast) -> Iterator[str]:
    first, *others = witness.answers
    dialects = {d.id: d for d in spec.whole_dialects}
    for side in witness.answers:
        if side.by in dialects:
            yield from _dialect(witness, side, dialects[side.by])
    for side in others:
        yield from _pair(spec, witness, first, side, dialects)


def _dialect(witness: Contrast, side: Side, dialect: Dialect) -> Iterator[str]:
    """What is shown of a dialect with these bounds: given, printed or missing."""
    stem = f"{witness.type}.{dialect.word}"
    missing = [name for name in "LM" if getattr(witness, name) is None and getattr(side, name) is None]
    if side.L is not None or side.M is not None:
        yield f"{stem}_printed_default"
    elif not missing:
        yield f"{stem}_is_sonnx"
        yield f"{stem}_is_sonnx_nowhere_else"
    else:
        yield f"{stem}_without_{'bounds' if len(missing) == 2 else {'L': 'min', 'M': 'max'}[missing[0]]}"
        if "inf" in witness.X:
            yield f"{stem}_infinities"


def _pair(
    spec: Spec, witness: Contrast, first: Side, side: Side, dialects: dict[str, Dialect]
) -> Iterator[str]:
    """What shows that two sides differ: two versions, two readings, or a reading and the cases."""
    one, other = dialects.get(first.by), dialects.get(side.by)
    mine = one.reading if one else first.by
    theirs = other.reading if other else side.by
    if one is not None and other is not None and mine == theirs:
        for later, earlier in ((one, other), (other, one)):
            yield f"{witness.type}.{later.word}_after_{earlier.word}_changed"
        return
    if one is not None and one.equivalence is not None and one.equivalence.to == side.by:
        stem = f"{witness.type}.{one.word}_is_{spec.reading(side.by).word}"
        yield from (f"{stem}_{what}" for what in ("refuted", "repaired", "nowhere_else"))
    how = "bits" if witness.compared == "bits" else "values"
    same_bounds = answers_of(spec, witness, first).bounds == answers_of(spec, witness, side).bounds
    if mine == "cases" or not same_bounds:
        if other is None or mine == "cases":
            yield from _reading(spec, witness, side, theirs)
        return
    a, b = (spec.reading(name).word for name in (mine, theirs))
    yield f"{witness.type}.{a}_and_{b}_other_{how}"
    yield f"{witness.type}.{b}_and_{a}_other_{how}"


def _reading(spec: Spec, witness: Contrast, side: Side, name: str) -> Iterator[str]:
    """Where a reading agrees with the cases: its own witness if it has these numbers, else its region."""
    etype, reading = spec.element_type(witness.type), spec.reading(name)
    bitwise = witness.compared == "bits"
    suffix = "_bitwise" if bitwise else ""
    numbers = (reading.differs_bitwise_at if bitwise else reading.differs_at).get(etype.family)
    given = (encode(witness.X, etype), *answers_of(spec, witness, side).bounds)
    if numbers is not None and given == tuple(encode(numbers.texts()[n], etype) for n in "XLM"):
        yield f"{etype.id}.{reading.word}_differs{suffix}"
    else:
        yield f"{etype.id}.{reading.word}_agrees{suffix}"
        yield f"{etype.id}.{reading.word}_agrees{suffix}_nowhere_else"
