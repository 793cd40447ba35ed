"""Everything that the YAML states has its obligations; what has none is named and stops the proofs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import Generated, all_obligations, ids_of, render_theories
from sonnx_clip.prove.completeness import uncovered
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

SPEC = load_spec()
ALL = all_obligations(SPEC)


def test_nothing_is_left_out() -> None:
    assert uncovered(SPEC, ALL) == []


def test_ids_are_unique_and_show_what_exists() -> None:
    assert len({o.id for o in ALL}) == len(ALL)
    assert len({(o.file, o.theory, o.goal) for o in ALL}) == len(ALL)
    known = ids_of(SPEC) | {"smoke"}
    assert {id_ for o in ALL for id_ in o.shows} == known


def test_every_requirement_has_an_obligation_in_each_of_its_families() -> None:
    family_of = {e.id: e.family for e in SPEC.element_types}
    for section, requirement in SPEC.requirements():
        shown = {o.subject for o in ALL if requirement.id in o.shows}
        if section == "restrictions":
            assert {"restrictions"} <= shown <= {"restrictions", "profile"}
        else:
            families = getattr(requirement, "families", [family.id for family in SPEC.families])
            assert set(families) <= {family_of.get(subject) for subject in shown}


LOST = {
    "restrictions.R3_is_written": "R3 is stated, and no equivalence of this id shows it",
    "restrictions.R5_independent": "R5 is stated, and no theorem of this id shows it",
    "int8.extremes": "int8 is stated, and no theorem of this id shows it",
    "int8.total": "int8 is stated, and no instance of this id shows it",
    "float64.encoding_lt": "float64 is stated, and no equivalence of this id shows it",
    "float16.C2_refuted": "C2 is stated, and no refutation of this id shows it",
    "float32.interval_refuted": "interval is stated, and no refutation of this id shows it",
    "float32.idempotent_bitwise_repaired": "idempotent_bitwise is stated, and no theorem of this id shows it",
    "uint8.monotone": "monotone is stated, and no theorem of this id shows it",
    "real.C1_is_written": "C1 is stated, and no equivalence of this id shows it",
    "float64.zero_sign_inhabited": "zero-sign is stated, and no theorem of this id shows it",
    "int8.example_int_1": "int_1 is stated, and no theorem of this id shows it",
    "bfloat16.high_tie_inhabited": "high_tie is stated, and no theorem of this id shows it",
    "int8.finding_cast_of_no_number": "cast-of-no-number is stated, and no finding of this id shows it",
    "float32.finding_c2_for_floats_nan_bound": "c2-for-floats is stated, and no finding of this id shows it",
    "float32.integer_route_zeros": "float32 is stated, and no theorem of this id shows it",
}
SMOKES = {
    "clip.smoke_clip": "why3/clip.mlw ClipTheorems: no smoke test",
    "float16.smoke_numpy_kernels_in_place": "generated/why3/numpy_float16.mlw NumpyInPlace: no smoke test",
    "float64.smoke_tensor_findings": "generated/why3/findings_float64.mlw TensorFindings: no smoke test",
    "int8.smoke_findings": "generated/why3/findings_int8.mlw Findings: no smoke test",
    "float32.smoke_refutation": "generated/why3/float32.mlw Refutation: no smoke test",
}


@pytest.mark.parametrize("lost", LOST)
def test_a_lost_obligation_is_missed(lost: str) -> None:
    assert any(o.id == lost for o in ALL)
    assert uncovered(SPEC, [o for o in ALL if o.id != lost]) == [f"{lost}: {LOST[lost]}"]


@pytest.mark.parametrize("lost", SMOKES)
def test_a_lost_smoke_test_is_missed(lost: str) -> None:
    assert uncovered(SPEC, [o for o in ALL if o.id != lost]) == [SMOKES[lost]]


@pytest.mark.parametrize(
    "lost",
    [
        "float16.numpy_limit_across_zero_in_place",
        "int8.numpy_limit_out_of_place",
        "float64.numpy_ways_complete_in_place",
        "uint64.numpy_ways_inhabited_out_of_place",
    ],
)
def test_a_lost_obligation_of_a_numpy_kernel_is_missed(lost: str) -> None:
    etype = lost.partition(".")[0]
    assert any(o.id == lost for o in ALL)
    assert uncovered(SPEC, [o for o in ALL if o.id != lost]) == [
        f"{lost}: {etype} is stated, and no refinement of this id shows it"
    ]


def test_a_goal_that_shows_something_else_is_missed() -> None:
    wrong = [replace(o, shows=("nan_out",)) if o.id == "int8.monotone" else o for o in ALL]
    assert uncovered(SPEC, wrong) == ["int8.monotone: monotone is stated, and no theorem of this id shows it"]


@pytest.mark.parametrize("kind", ["theorem", "refutation", "instance", "equivalence", "smoke"])
def test_a_lost_kind_is_missed_in_every_type(kind: str) -> None:
    gaps = uncovered(SPEC, [o for o in ALL if o.kind != kind])
    types = [e for e in SPEC.element_types if kind != "refutation" or e.family == "float"]
    for etype in types:
        assert any(etype.id in gap for gap in gaps)


def test_a_gap_stops_the_proofs(real_bench: Workbench) -> None:
    whole = render_theories(load_spec())
    lost = Generated(whole.files, tuple(o for o in whole.obligations if o.id != "uint8.monotone"))
    for as_json in (False, True):
        ended = real_bench.prove_these(lost, only=["int8.monotone"], as_json=as_json)
        assert ended.status == 1
        assert "uint8.monotone: monotone is stated" in ended.out + ended.err
