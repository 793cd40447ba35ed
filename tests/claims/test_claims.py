"""Claims: one list, from which names, titles and what is shown are read; each is an obligation."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.claims.all_claims import claims_of, every_claim
from sonnx_clip.claims.claim import Written
from sonnx_clip.claims.demanded import demanded, meeting, unmet
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.claims.claim import Claim

SPEC = load_spec()
CLAIMS = tuple(every_claim(SPEC))
OBLIGATIONS = {o.id: o for o in all_obligations(SPEC)}


def test_each_claim_is_an_obligation_with_its_name_kind_title_and_what_it_shows() -> None:
    assert len(CLAIMS) > 3000
    assert Counter(c.id for c in CLAIMS).most_common(1)[0][1] == 1
    for claim in CLAIMS:
        o = OBLIGATIONS[claim.id]
        assert (o.kind, o.title, o.shows, o.subject) == (claim.kind, claim.title, claim.shows, claim.subject)


def test_what_is_no_claim_is_written_by_hand_or_of_a_program() -> None:
    """Hand-written theories, kernels in NumPy and C, axioms of an ordered type, smoke tests: nothing else."""
    claimed = {c.id for c in CLAIMS}
    for o in OBLIGATIONS.values():
        if o.id not in claimed:
            assert o.kind in ("smoke", "instance", "refinement") or o.file.startswith("why3/"), o.id


def test_every_entry_has_the_claims_that_it_needs() -> None:
    assert unmet(SPEC, CLAIMS) == []
    assert len(list(demanded(SPEC))) > 2000


def _without(role: str, about: str, claims: Iterable[Claim]) -> list[Claim]:
    return [c for c in claims if not (c.role == role and about in c.shows)]


@pytest.mark.parametrize(
    ("role", "about", "says"),
    [
        ("inhabited", "inside", "int8: inside: no claim is inhabited"),
        ("disjoint", "low", "real: low and low_tie: no claim is disjoint"),
        ("refuted", "interval", "float32: interval: no claim is refuted"),
        ("repaired", "C2", "float16: C2: no claim is repaired"),
        ("holds", "monotone", "uint8: monotone: no claim is holds"),
        ("given", "zero-sign", "float64: zero-sign and onnx-body and formula-c and"),
        ("nowhere else", "onnx-body", "float32: onnx-body: no claim is nowhere else (bits)"),
        ("differs from", "numpy", "float32: cases and numpy: no claim is agrees with or differs from (bits)"),
        ("infinities", "onnx-12", "float16: onnx-12: no claim is infinities"),
        (
            "converts",
            "onnx-6",
            "float64: onnx-1 and onnx-6: fewer than 6 claims are converts",
        ),
        ("independent", "R5", "restrictions: R5: no claim is independent"),
        ("example", "int_1", "int8: int_1: no claim is example"),
        ("encoding", "uint16", "uint16: uint16: no claim is encoding"),
        ("encoding", "float32", "float32: float32: fewer than 17 claims are encoding"),
        ("worded", "R1", "restrictions: R1"),
        ("step", "C2", "int8: C2: fewer than 2 claims are step"),
    ],
)
def test_a_claim_that_nobody_makes_is_missed(role: str, about: str, says: str) -> None:
    left = _without(role, about, CLAIMS)
    assert len(left) < len(CLAIMS)
    found = [str(demand) for demand in unmet(SPEC, left)]
    assert any(line.startswith(says) for line in found), found


def test_each_single_claim_is_missed() -> None:
    """Where a demand is met by no more claims than it needs, none of these can be lost."""
    needed = {c.id for demand, found in meeting(SPEC, CLAIMS) if len(found) == demand.count for c in found}
    assert sorted({c.id for c in CLAIMS} - needed) == []


@pytest.mark.parametrize(
    "lost",
    [
        "float32.cases_complete",  # that of a case's classes is no substitute
        "float16.C2_refuted",  # nor is a property that is refuted and shows C2
        "int8.onnx_12_is_sonnx_nowhere_else",
        "float16.onnx_6_defaults_convert",
        "float64.encoding_lt",
        "float64.integer_route_turned",
        "float32.interval_repaired_inhabited",
        "restrictions.R5_is_written",
        "restrictions.is_set_is_stated",
        "real.cases_and_onnx_body_same_bits_back",
        "uint8.cast_lowers_min",
        "float16.scale_cast_costs_more",
        "int8.C3_of_the_entries",
        "float16.finding_c2_for_floats_nan_bound",
    ],
)
def test_a_single_claim_that_nobody_makes_is_missed(lost: str) -> None:
    left = [c for c in CLAIMS if c.id != lost]
    assert len(left) == len(CLAIMS) - 1
    assert [demand.subject for demand in unmet(SPEC, left)] == [lost.partition(".")[0]]


def test_a_claim_of_another_aspect_is_none() -> None:
    values = [replace(c, aspect="values") if c.role == "agrees" else c for c in CLAIMS]
    assert any(demand.aspect == "bits" for demand in unmet(SPEC, values))


def test_what_a_person_wrote_is_told_by_its_role() -> None:
    """docs/claims.md lists these: bits, conversions, ScaleBias, steps and what is there by hand."""
    by_hand = {c.role for c in CLAIMS if isinstance(c.conclusion, Written)}
    assert by_hand == {
        "encoding",
        "converts",
        "scales",
        "step",
        "refuted",
        "written",
        "worded",
        "printed default",
    }


def test_claims_of_a_subject_are_made_once() -> None:
    assert claims_of(SPEC, "int8") is claims_of(SPEC, "int8")
    assert claims_of(SPEC, "int8") != claims_of(SPEC, "uint8")
