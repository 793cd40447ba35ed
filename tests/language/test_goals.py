"""Each goal in WhyML reads back as its claim: binders, witnesses, premises and conclusion."""

from __future__ import annotations


import pytest

from sonnx_clip.backends.whyml_printer import element_printer, statement, tensor_printer
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.spec import load_spec
from tests.language.forms import Former
from tests.language.whyml_reader import read_formula


SPEC = load_spec()
TYPES = ("real", "int8", "float16", "float32")


def differing(type_id: str) -> tuple[int, list[str]]:
    """How many goals were compared, and the names of those that are not their claims."""
    etype = SPEC.element_type(type_id)
    wrong = []
    for claim in claims_of(SPEC, type_id):
        printer = tensor_printer(SPEC, etype) if claim.of_tensors else element_printer(SPEC, etype)
        try:
            found = read_formula(statement(claim, printer))
        except AssertionError:
            found = None
        if found != Former(etype, claim.of_tensors).claim(claim, read_formula):
            wrong.append(claim.name)
    return len(claims_of(SPEC, type_id)), wrong


@pytest.mark.parametrize("type_id", TYPES)
def test_each_goal_is_its_claim(type_id: str) -> None:
    compared, wrong = differing(type_id)
    assert not wrong
    assert compared > 80
