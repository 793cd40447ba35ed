"""Each goal in WhyML reads back as its claim: binders, witnesses, premises and conclusion."""

from __future__ import annotations

import pytest

from sonnx_clip.backends.whyml_printer import element_printer, statement, tensor_printer
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.spec import load_spec
from tests.language.forms import Former
from tests.language.whyml_reader import read_formula

SPEC = load_spec()


@pytest.mark.parametrize("type_id", ["real", "int8", "float16", "float32"])
def test_each_goal_is_its_claim(type_id: str) -> None:
    etype, claims = SPEC.element_type(type_id), claims_of(SPEC, type_id)
    assert len(claims) > 80
    for claim in claims:
        printer = tensor_printer(SPEC, etype) if claim.of_tensors else element_printer(SPEC, etype)
        found = read_formula(statement(claim, printer))
        assert found == Former(etype, claim.of_tensors).claim(claim, read_formula), claim.name
