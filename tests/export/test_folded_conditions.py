"""Conditions that pages show of a family hold for the same operands as the cases of the YAML."""

import itertools

import pytest

from sonnx_clip.export.folded_conditions import folded
from sonnx_clip.export.latex import written_out
from sonnx_clip.language.special import sampled
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.operators import known_operators, specification

MOST = 2000


def differences(spec, etype, family):
    """The operands for which a case folded for a family and the case itself differ in an element type."""
    evaluate = evaluator(spec, etype)
    found = []
    for case in spec.cases:
        condition = folded(written_out(spec, case.when), family)
        for values in itertools.islice(sampled(etype, len(spec.signature.operands)), MOST):
            named = dict(zip(spec.signature.ids, values, strict=True))
            shown = condition if isinstance(condition, bool) else evaluate(condition, named)
            if shown != evaluate(case.when, named):
                found.append((case.id, values))
    return found


@pytest.mark.parametrize("name", known_operators())
def test_folded_cases_hold_where_the_cases_do(name):
    spec = specification(name)
    for family in spec.families:
        for etype in spec.types_of(family.id)[:2]:
            assert differences(spec, etype, family.id) == []


def test_cases_folded_for_integers_are_wrong_for_floats():
    spec = specification("max")
    assert differences(spec, spec.element_type("float32"), "int")
