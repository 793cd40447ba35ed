"""Claims on readings in one element type: beside the cases, class by class, and beside another reading where
a finding contrasts the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import group, numbers, replaced, result_of
from sonnx_clip.claims.templates import expanded
from sonnx_clip.spec.findings import Contrast
from sonnx_clip.spec.readings import leaves_values_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Conditions, Reading
    from sonnx_clip.spec.findings import Side


def region(spec: Spec, regions: Conditions, etype: ElementType) -> Expr | None:
    """Where something agrees with the cases, as a whole; None for everywhere."""
    found = regions.get(etype.family)
    return None if found is None else group(replaced(found, spec.head.result, result_of(spec.head)))


def answer_of(spec: Spec, reading: Reading, answer: str = "Y") -> str:
    """That a reading allows an answer, as text."""
    return f"{reading.predicate}({', '.join((*spec.head.operands, answer))})"


def in_regions(spec: Spec, etype: ElementType, reading: Reading) -> dict[str, Any]:
    """Where a reading agrees with the cases, for the templates."""
    of_bits = region(spec, reading.agrees_bitwise, etype)
    return {
        "reads": answer_of(spec, reading),
        "region": region(spec, reading.agrees, etype),
        "open": leaves_values_open(spec, etype, reading),
        "region_of_bits": of_bits,
        "within_bits": () if of_bits is None else (of_bits,),
    }


def reading_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What each reading does beside the cases, then the pairs of readings that findings contrast."""
    for reading in spec.readings:
        yield from beside_cases(spec, etype, reading)
    yield from contrast_claims(spec, etype)


def beside_cases(spec: Spec, etype: ElementType, r: Reading) -> Iterator[Claim]:
    """What a reading answers, and where that is the result of the cases, by value and bit for bit."""
    witnesses = {
        key: numbers({name: found[etype.family].texts()[name] for name in spec.head.operands})
        for key, found in (("differs_at", r.differs_at), ("differs_bitwise_at", r.differs_bitwise_at))
        if etype.family in found
    }
    yield from expanded(
        spec, etype, "readings", id=r.id, word=r.word, **in_regions(spec, etype, r), **witnesses
    )


def contrast_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Two readings differ at the numbers of a finding that contrasts them; the first finding counts."""
    found: dict[tuple[str, ...], Contrast] = {}
    for witness in (w for finding in spec.findings for w in finding.witnesses if isinstance(w, Contrast)):
        if witness.type == etype.id and witness.texts().keys() >= set(spec.head.operands):
            first, *further = (_reading_of(spec, side) for side in witness.answers)
            for pair in ({first, id_} for id_ in further):
                if len(pair) == 2 and not pair & {"cases", None}:
                    found.setdefault(tuple(r.id for r in spec.readings if r.id in pair), witness)
    for ids, witness in found.items():
        one, other = map(spec.reading, ids)
        yield from expanded(
            spec, etype, "contrasts", id=one.id, one=one.word, other_id=other.id, other=other.word,
            ids=" ".join(ids), reads=answer_of(spec, one), other_reads=answer_of(spec, other, "Z"),
            contrasted_at=numbers(witness.texts()),
        )  # fmt: skip


def _reading_of(spec: Spec, side: Side) -> str | None:
    """The reading that a side follows; None where it answers with bounds of its own."""
    of_dialect = {dialect.id: dialect.reading for dialect in spec.dialects}
    return None if side.texts() else of_dialect.get(side.by, side.by)
