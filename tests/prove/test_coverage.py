"""Everything that the YAML states has its obligations; what has none is named and stops the proofs."""

from dataclasses import replace

from sonnx_clip.backends.generate import ids_of
from sonnx_clip.backends.theory import Generated
from sonnx_clip.prove.completeness import uncovered
from sonnx_clip.rewrites.rewrite import known_rewrites
from sonnx_clip.spec import load_spec
from tests.obligations import obligations, theories

SPEC = load_spec()
REWRITES = {rewrite.id for rewrite in known_rewrites()}


def test_nothing_is_left_out_and_ids_are_unique_and_show_what_exists():
    every = obligations()
    assert uncovered(SPEC, every) == []
    assert (
        len({o.id for o in every}) == len({(o.file, o.theory, o.goal) for o in every}) == len(every)
    )
    assert {id_ for o in every for id_ in o.shows} == ids_of(SPEC) | REWRITES | {"smoke"}


LOST = {
    "restrictions.R3_is_written": "R3 is stated, and no equivalence of this id shows it",
    "restrictions.R5_independent": "R5 is stated, and no theorem of this id shows it",
    "float64.encoding_lt": "float64 is stated, and no equivalence of this id shows it",
    "float16.C2_refuted": "C2 is stated, and no refutation of this id shows it",
    "float32.idempotent_bitwise_repaired": "idempotent_bitwise is stated, and no theorem of this id shows it",
    "float64.zero_sign_inhabited": "zero-sign is stated, and no theorem of this id shows it",
    "int8.example_int_1": "int_1 is stated, and no theorem of this id shows it",
    "bfloat16.high_tie_inhabited": "high_tie is stated, and no theorem of this id shows it",
    "int8.finding_cast_of_no_number": "cast-of-no-number is stated, and no finding of this id shows it",
    "float32.integer_route_zeros": "float32 is stated, and no theorem of this id shows it",
}
SMOKES = {
    "clip.smoke_clip": "why3/clip.mlw ClipTheorems: no smoke test",
    "float16.smoke_numpy_kernels_in_place": "generated/why3/numpy_float16.mlw NumpyInPlace: no smoke test",
    "float64.smoke_tensor_findings": "generated/why3/findings_float64.mlw TensorFindings: no smoke test",
    "float32.smoke_refutation": "generated/why3/float32.mlw Refutation: no smoke test",
}


def test_each_lost_obligation_is_reported():
    left = [o for o in obligations() if o.id not in {*LOST, *SMOKES}]
    named = [f"{id_}: {gap}" for id_, gap in LOST.items()]
    assert sorted(uncovered(SPEC, left)) == sorted([*named, *SMOKES.values()])


def test_goal_that_shows_something_else_is_reported():
    wrong = [
        replace(o, shows=("nan_out",)) if o.id == "int8.monotone" else o for o in obligations()
    ]
    assert uncovered(SPEC, wrong) == [
        "int8.monotone: monotone is stated, and no theorem of this id shows it"
    ]


def test_a_gap_stops_the_proofs(real_bench):
    lost = Generated(theories().files, tuple(o for o in obligations() if o.id != "uint8.monotone"))
    ended = real_bench.prove_these(lost, only=["clip.monotone"], as_json=True)
    assert ended.status == 1
    assert "uint8.monotone: monotone is stated" in ended.err
