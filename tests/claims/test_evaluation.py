"""Claims evaluated at samples: all hold, and what a person gets wrong in the YAML is told with numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Written
from sonnx_clip.claims.evaluation import check_claims, counterexample, is_evaluated, samples, truth
from sonnx_clip.language.tree import Not, Parentheses
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import check_spec, load_spec
from tests.meta.spec_bugs import ALL, YAML

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.claims.claim import Claim

SPEC = load_spec()


def negated(claim: Claim) -> Claim:
    assert not isinstance(claim.conclusion, Written)
    return replace(claim, conclusion=Not(Parentheses(claim.conclusion)))


def test_nine_tenths_of_the_claims_are_evaluated_and_hold() -> None:
    of_types = [c for etype in SPEC.element_types for c in claims_of(SPEC, etype.id)]
    assert sum(map(is_evaluated, of_types)) > 0.9 * len(of_types)
    check_claims(SPEC)


@pytest.mark.parametrize("id_", ["real", "int8", "uint64", "bfloat16"])
def test_no_claim_holds_with_its_negation(id_: str) -> None:
    """Some sample reaches the conclusion of each: none passes because nothing was compared."""
    etype = SPEC.element_type(id_)
    tried = 0
    for claim in filter(is_evaluated, claims_of(SPEC, id_)):
        assert counterexample(SPEC, etype, claim) is None
        holds = truth(SPEC, etype).truth_of(negated(claim))
        assert not all(map(holds, samples(SPEC, etype, claim))), claim.id
        tried += 1
    assert tried > 80


def test_a_claim_that_the_first_type_of_a_kind_has_not_is_asked_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: the example is said of float32, and float16 is the first type of floats."""
    name = "example_onnx_default_min"
    assert all(claim.name != name for claim in claims_of(SPEC, "float16"))
    right = claims_of(SPEC, "float32", "dialect examples")
    wrong = tuple(negated(claim) if claim.name == name else claim for claim in right)
    monkeypatch.setitem(SPEC.memo["claims", "float32"], "dialect examples", wrong)
    with pytest.raises(UserError, match=f"`float32.{name}` is false for X = "):
        check_claims(SPEC)


BUGS = {bug.name: bug for bug in ALL if bug.file == YAML and bug.told}
"""Those that show at a sample; only provers find the others."""


@pytest.mark.parametrize("name", BUGS)
def test_evaluation_finds_the_mistake(name: str, tmp_path: Path) -> None:
    """The claim that its message names is false at a sample; tests/spec/test_errors.py reads messages."""
    bug = BUGS[name]
    text = repo_file(YAML).read_text(encoding="utf-8")
    assert text.count(bug.old) == 1
    file = tmp_path / "clip.yaml"
    file.write_text(text.replace(bug.old, bug.new), encoding="utf-8")
    named = re.match(r"`(\w+)\.(\w+)` is false", bug.told)
    if named is None:
        with pytest.raises(UserError, match=re.escape(bug.told)):
            check_spec(load_spec(file))
        return
    spec = load_spec(file)
    (claim,) = (claim for claim in claims_of(spec, named[1]) if claim.name == named[2])
    assert counterexample(spec, spec.element_type(named[1]), claim) is not None
