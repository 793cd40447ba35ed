"""The obligations that a finding has to name: they follow from its witnesses, so that none is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
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
            yield named.of(witness.type, named.refuted(witness.refutes))
            yield named.of(witness.type, named.repaired(witness.refutes))
        case Lack():
            example = spec.example(witness.example)
            yield from (
                named.of(etype.id, named.example(example.id)) for etype in spec.types_of(example.family)
            )
        case NoNumber():
            yield named.of(witness.type, named.CAST_OF_NO_NUMBER)
        case NotTaken():
            yield named.of(witness.type, named.is_sonnx(spec.dialect(witness.taken_by).word))
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
    missing = [name for name in "LM" if getattr(witness, name) is None and getattr(side, name) is None]
    if side.L is not None or side.M is not None:
        yield named.of(witness.type, named.printed_default(dialect.word))
    elif not missing:
        yield named.of(witness.type, named.is_sonnx(dialect.word))
        yield named.of(witness.type, named.nowhere_else(named.is_sonnx(dialect.word)))
    else:
        bound = "bounds" if len(missing) == 2 else {"L": "min", "M": "max"}[missing[0]]
        yield named.of(witness.type, named.without(dialect.word, bound))
        if "inf" in witness.X:
            yield named.of(witness.type, named.infinities(dialect.word))


def _pair(
    spec: Spec, witness: Contrast, first: Side, side: Side, dialects: dict[str, Dialect]
) -> Iterator[str]:
    """What shows that two sides differ: two versions, two readings, or a reading and the cases."""
    one, other = dialects.get(first.by), dialects.get(side.by)
    mine = one.reading if one else first.by
    theirs = other.reading if other else side.by
    if one is not None and other is not None and mine == theirs:
        for later, earlier in ((one, other), (other, one)):
            yield named.of(witness.type, named.changed(later.word, earlier.word))
        return
    if one is not None and one.equivalence is not None and one.equivalence.to == side.by:
        every = named.of_equivalence(one.word, spec.reading(side.by).word)
        yield from (named.of(witness.type, name) for name in every)
    same_bounds = answers_of(spec, witness, first).bounds == answers_of(spec, witness, side).bounds
    if mine == "cases" or not same_bounds:
        if other is None or mine == "cases":
            yield from _reading(spec, witness, side, theirs)
        return
    a, b = (spec.reading(name).word for name in (mine, theirs))
    yield named.of(witness.type, named.apart(a, b, witness.compared))
    yield named.of(witness.type, named.apart(b, a, witness.compared))


def _reading(spec: Spec, witness: Contrast, side: Side, name: str) -> Iterator[str]:
    """Where a reading agrees with the cases: its own witness if it has these numbers, else its region."""
    etype, reading = spec.element_type(witness.type), spec.reading(name)
    bitwise = witness.compared == "bits"
    numbers = (reading.differs_bitwise_at if bitwise else reading.differs_at).get(etype.family)
    given = (encode(witness.X, etype), *answers_of(spec, witness, side).bounds)
    if numbers is not None and given == tuple(encode(numbers.texts()[n], etype) for n in "XLM"):
        yield named.of(etype.id, named.differs(reading.word, witness.compared))
    else:
        agrees = named.agrees(reading.word, witness.compared)
        yield named.of(etype.id, agrees)
        yield named.of(etype.id, named.nowhere_else(agrees))
