"""Which modules know Clip's operands, by name: the others take them from the head of the specification."""

from __future__ import annotations

from pathlib import Path

from tests.operands import knowing, knows

FOLDER = Path(__file__).parent.parent / "sonnx_clip"
# A name leaves this list when its module no longer knows them; none is added.
KNOWN = frozenset((
    # what spec/clip.yaml states of Clip alone: dialects, findings, readings, latitude, constraints, pages
    "spec/claim_checks", "spec/claims", "spec/coverage_checks", "spec/dialect_checks",
    "spec/dialect_examples", "spec/entries", "spec/finding_answers", "spec/finding_checks",
    "spec/finding_demands", "spec/findings", "spec/meaning_checks",
    "spec/reading_classes", "spec/readings", "spec/sonnx_checks", "spec/sonnx_page", "spec/wrong_checks",
    # what is claimed of its dialects, what findings need, and what a person wrote of it in WhyML
    "claims/clip_operands", "claims/dialect_claims", "claims/example_claims", "claims/shown_by",
    "claims/written_claims",
    # its kernels, whose operations were recorded
    "backends/numpy_kernels", "prove/in_numpy",
    # its dialects as functions, and what explains a deviation of it; a way to ask every triple
    "conform/comparison_explanations", "conform/comparison_inputs", "conform/comparison_judge",
    "conform/likely_mistakes", "conform/triples",
    # models: what ONNX's texts say of a bound that is not set, and its schemas do not
    "graph/clip_text",
))  # fmt: skip
SHARED = (
    "language/scope", "language/parse", "spec/model", "spec/evaluate", "spec/resolve", "spec/references",
    "claims/nodes", "claims/meaning_claims", "claims/encoding_claims", "claims/reading_claims",
    "claims/evaluation", "claims/demanded", "backends/whyml_printer", "backends/why3",
    "backends/numpy_oracle", "backends/vectors", "backends/targets", "backends/generate",
    "prove/prove_all", "prove/completeness", "prove/counterexample", "runtimes/calls", "runtimes/guarded",
    "runtimes/worker", "runtimes/adapter", "conform/campaign", "conform/checked_operator",
    "conform/chosen_triples", "conform/session", "conform/tally", "conform/compare", "conform/matching",
    "conform/describe", "conform/reproduce",
)  # fmt: skip
"""What the toys of tests/toy go through."""


def test_no_other_module_knows_them() -> None:
    assert set(knowing(FOLDER)) == KNOWN


def test_what_every_operator_goes_through_does_not() -> None:
    assert all((FOLDER / f"{name}.py").is_file() for name in SHARED)
    assert not KNOWN & set(SHARED)


def test_each_way_of_knowing_is_seen() -> None:
    assert not knows('"""X, L and M: XLM."""\ndef of(x):\n    """L"""\n    return x.lower(), "X"\n')
    for text in (
        'a["L"]', 'zip("XLM", t)', 'f"cases x l m"', "def of(x, l, m): ...", "a.lower, a.upper",
        "from sonnx_clip.claims.clip_operands import ALL", "from a import L, M", "w.X, w.L, w.M",
    ):  # fmt: skip
        assert knows(text), text
    for text in ('LIMIT = {"min": 1}', 'a.get("max")', 'Judgement("R1", ())'):
        assert knows(text, of_models=True), text
        assert not knows(text), text
