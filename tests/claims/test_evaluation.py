"""Claims evaluated at samples: all hold, and what a person gets wrong in the YAML is told with numbers."""

import re
from dataclasses import replace

import pytest

from sonnx_clip.claims import evaluation
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.evaluation import (
    check_claims,
    counterexample,
    evaluated_claims,
    is_evaluated,
    samples,
    truth,
)
from sonnx_clip.language.tree import Not, Parentheses
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import check_spec, load_spec
from tests.meta.spec_bugs import ALL, YAML

SPEC = load_spec()


def test_nine_tenths_of_the_claims_are_evaluated_and_hold():
    of_types = [c for etype in SPEC.element_types for c in claims_of(SPEC, etype.id)]
    assert sum(map(is_evaluated, of_types)) > 0.9 * len(of_types)
    check_claims(SPEC)


@pytest.mark.parametrize(
    "id_", ["real", "int8", pytest.param("bfloat16", marks=pytest.mark.nightly)]
)
def test_no_claim_holds_with_its_negation(id_):
    """Some sample reaches the conclusion of each: none passes because nothing was compared."""
    etype, tried = SPEC.element_type(id_), [*filter(is_evaluated, claims_of(SPEC, id_))]
    for claim in tried:
        holds = truth(SPEC, etype).truth_of(
            replace(claim, conclusion=Not(Parentheses(claim.conclusion)))
        )
        assert not all(map(holds, samples(SPEC, etype, claim))), claim.id
    assert len(tried) > 80


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("monotone", ["float16", "int8", "real", "uint8"]),
        ("example_onnx_default_min", ["float32"]),  # the first type of floats, float16, lacks it
    ],
)
def test_claim_is_evaluated_in_the_first_type_of_each_kind_that_has_it(name, types):
    assert (
        sorted(etype.id for etype, claim in evaluated_claims(SPEC) if claim.name == name) == types
    )


BUGS = {bug.name: bug for bug in ALL if bug.file == YAML and bug.told}
"""Those that show at a sample; only provers find the others."""
QUICK = {
    "results of low and high swapped", "< for <= in low", "<= for < in inverted",
    "low forgets that inverted comes first", "NaN out whenever NaN in", "condition forgets a NaN bound",
    "a latitude that accepts other numbers",
    "a latitude that leaves out the ties of both bounds", "a condition excludes more than it must",
    "the operands of Less swapped in the function body", "a signalling NaN is dropped as a quiet one",
    "IEEE 754-2019 with +0 before -0", "what a version widens is left out",
    "an entry that an example of ONNX does not expect",
    "a default that is dropped",
}  # fmt: skip
"""One for each kind of claim; `make nightly` plants the others."""

DECLARED = "  M: {type: float32, dims: []}"
MISTAKES = {
    "float16.prose_is_complete_refuted": ("{X: 1, L: nan, M: 2}", "{X: 1, L: 1, M: 2}"),
    "float16.nan_inverted_inhabited": (
        "{X: nan, L: 1, M: 0, A: nan}",
        "{X: nan, L: 1, M: 0, A: 0}",
    ),
    "float16.onnx_6_after_onnx_1_changed": ("changes: {float16: inf, f", "changes: {float16: 1, f"),
    "restrictions.consistent": (DECLARED, DECLARED.replace("[]", "[1]")),
    "restrictions.R3_independent": (
        "broken_alone_by: {X: {sparse: true}}",
        "broken_alone_by: {X: {sparse: false}}",
    ),
}
"""By the claim that is false: what refutes, shows a latitude or a change, or breaks a restriction."""


def planted(folder, old, new):
    text = repo_file(YAML).read_text(encoding="utf-8")
    assert old in text
    (folder / "clip.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder / "clip.yaml"


def is_false(file, subject, name):
    """Whether a claim of the specification in a file is false at a sample."""
    spec = load_spec(file)
    (claim,) = (claim for claim in claims_of(spec, subject) if claim.name == name)
    etype = spec.element_types[0] if subject == "restrictions" else spec.element_type(subject)
    return counterexample(spec, etype, claim) is not None


@pytest.mark.parametrize("id_", MISTAKES)
def test_mistake_in_a_witness_makes_its_claim_false(id_, tmp_path):
    assert is_false(planted(tmp_path, *MISTAKES[id_]), *id_.split("."))


def test_false_claim_on_restrictions_is_reported(tmp_path, monkeypatch):
    """Those of types, which come first and take longer, are left out: tests/spec/test_errors.py has them."""
    monkeypatch.setattr(evaluation, "evaluated_claims", lambda _: ())
    spec = load_spec(planted(tmp_path, *MISTAKES["restrictions.consistent"]))
    with pytest.raises(
        UserError, match=r"`restrictions\.consistent` is false: some node meets every restriction"
    ):
        check_claims(spec)


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in BUGS],
)
def test_evaluation_finds_the_mistake(name, tmp_path):
    """The claim that its message names is false at a sample; tests/spec/test_errors.py reads messages."""
    bug = BUGS[name]
    file = planted(tmp_path, bug.old, bug.new)
    if (named := re.match(r"`(\w+)\.(\w+)` is false", bug.told)) is not None:
        assert is_false(file, *named.groups())
    else:
        with pytest.raises(UserError, match=re.escape(bug.told)):
            check_spec(load_spec(file))
