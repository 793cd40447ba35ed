"""Claims on readings in one element type: beside the cases, class by class, and beside another reading where
a finding contrasts the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import all_of, group, numbers, replaced, result_of
from sonnx_clip.claims.templates import condition, expanded
from sonnx_clip.spec.findings import Contrast
from sonnx_clip.spec.readings import leaves_values_open, reading_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Aspect, Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Conditions, Reading
    from sonnx_clip.spec.findings import Side
    from sonnx_clip.spec.readings import Difference


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


def reading_class_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What each reading does in the classes, by value and then bit for bit."""
    for reading in spec.readings:
        for aspect in ("values", "bits"):
            if etype.family in reading.regions(bitwise=aspect == "bits"):
                yield from _in_classes(spec, etype, reading, aspect)


def _in_classes(spec: Spec, etype: ElementType, reading: Reading, aspect: Aspect) -> Iterator[Claim]:
    every = [one for one in reading_classes(spec, etype.family) if one.reading == reading.id]
    differences = {one.klass: one.difference(bitwise=aspect == "bits") for one in every}
    same = [klass for klass, found in differences.items() if found is None]
    word = "identical" if aspect == "bits" else "same_value"
    agrees = f"{word}(Y, {spec.head.function}({', '.join(spec.head.operands)}))"
    body = f"{answer_of(spec, reading)} and not group({agrees})"
    others = [
        _differs(spec, etype, f"{klass} and {body}", found)
        for klass, found in differences.items()
        if found is not None
    ]
    yield from expanded(
        spec, etype, "readings by class", id=reading.id, word=reading.word, aspect=aspect, agrees=agrees,
        reads=answer_of(spec, reading), same=" or ".join(same), same_count=_classes(len(same)),
        other_count=_classes(len(others)), others=all_of(*others) if others else None,
    )  # fmt: skip


def _differs(spec: Spec, etype: ElementType, body: str, found: Difference) -> Expr:
    """That a reading differs in a class, at numbers."""
    texts = dict(zip(spec.head.operands, found.at, strict=True))
    texts["Y"] = texts.get(found.answer, found.answer)
    for name in reversed(texts):
        body = f"let({name}, _{name}, {body})"
    return group(condition(spec, etype, body, numbers(texts)))


def _classes(count: int) -> str:
    return "1 class" if count == 1 else f"{count} classes"
