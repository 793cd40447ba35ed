"""Which modules know Clip's operands, by name: the others take them from the head of the specification."""

from __future__ import annotations

from pathlib import Path

from tests.operands import knowing, knows

FOLDER = Path(__file__).parent.parent / "sonnx_clip"
# A name leaves this list when its module no longer knows them; none is added.
KNOWN = frozenset((
    # what spec/clip.yaml states of Clip alone: dialects, findings, readings, latitude, constraints, pages
    "spec/claim_checks", "spec/claim_names", "spec/coverage_alike", "spec/dialect_checks",
    "spec/dialect_examples", "spec/entries", "spec/finding_answers", "spec/finding_checks",
    "spec/finding_demands", "spec/findings", "spec/latitude_checks", "spec/meaning_checks",
    "spec/reading_classes", "spec/readings", "spec/sonnx_checks", "spec/sonnx_page", "spec/text_witnesses",
    "spec/wrong_checks",
    # what is claimed of it: of its bounds, of tensors, and beside what a person wrote
    "claims/clip_operands", "claims/dialect_claims", "claims/dialect_example_claims", "claims/example_claims",
    "claims/finding_claims", "claims/needed", "claims/restriction_claims", "claims/tensor_claims",
    "claims/written_claims",
    # the targets that Clip alone has
    "backends/acsl", "backends/coq_files", "backends/coqformats", "backends/coqparts",
    "backends/coqreadings", "backends/coqterm", "backends/dialect_theories", "backends/example_theories",
    "backends/finding_theories", "backends/numpy_kernels", "backends/reading_theories",
    "backends/restrictions_theory", "prove/in_numpy", "prove/proofs_table",
    # its runtimes: dialects, forms of a model, C, programs and frames; what explains a deviation of it
    "conform/check_report", "conform/dialects/asked", "conform/dialects/explanations",
    "conform/dialects/judge", "conform/dialects/other_bounds", "conform/dialects/refusals",
    "conform/dialects/witness", "conform/explanation", "conform/foreign/few_calls",
    "conform/foreign/frame_caller", "conform/foreign/frames",
    "conform/foreign/program", "conform/foreign/program_runtime",
    "conform/foreign/shared_library", "conform/histogram", "conform/model_forms/form_caller",
    "conform/model_forms/form_plan", "conform/model_forms/model_text", "conform/operand_orders",
    "conform/runtimes/every_way", "conform/runtimes/numpy", "conform/runtimes/onnx_reference",
    "conform/runtimes/onnxruntime", "conform/runtimes/sonnx", "conform/runtimes/sonnx_c",
    "conform/runtimes/adapter", "conform/runtimes/jax", "conform/runtimes/litert",
    "conform/runtimes/torch", "conform/runtimes/torch_numbers", "conform/triples",
    # models: the bounds of a node
    "graph/arguments", "graph/bounds", "graph/constants", "graph/edit", "graph/normalise",
    "graph/normalise_attributes", "graph/normalise_inputs", "graph/restrictions",
))  # fmt: skip
SHARED = (
    "language/scope", "language/parse", "spec/model", "spec/evaluate", "spec/resolve", "spec/references",
    "spec/answers", "claims/nodes", "claims/case_claims", "claims/property_claims", "claims/encoding_claims",
    "claims/reading_claims", "claims/reading_class_claims", "claims/evaluation", "claims/demanded",
    "backends/whyml_printer", "backends/why3", "backends/why3_claim", "backends/numpy_oracle",
    "backends/vectors", "backends/vectors_schema", "backends/targets", "backends/generate",
    "prove/prove_all", "prove/proof_coverage", "prove/counterexample", "conform/campaign",
    "conform/checked_operator", "conform/chosen_triples", "conform/random_triples", "conform/calls",
    "conform/guarded", "conform/session", "conform/worker", "conform/tally", "conform/compare",
    "conform/matching", "conform/describe", "conform/reproduce", "conform/runtimes/node_runtime",
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
