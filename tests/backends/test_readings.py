"""The rendered readings: the goals that there are, and the NumPy functions beside the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.language.special import sampled, special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import evaluator, load_spec

SPEC = load_spec()
MACHINE = [etype for etype in SPEC.element_types if etype.numpy is not None]


@pytest.mark.parametrize("etype", MACHINE, ids=lambda etype: etype.id)
def test_the_oracle_allows_what_the_evaluator_allows(etype):
    dtype, ask = bits_type(etype.id), evaluator(SPEC, etype)
    few = special_patterns(etype)[:: max(1, len(special_patterns(etype)) // 8)]
    answers = [*few, *(y for triple in list(sampled(etype, 3))[:3] for y in triple)]
    quadruples = [(*triple, y) for triple in sampled(etype, 3) for y in dict.fromkeys([*triple, *answers])]
    columns = [np.array(part, dtype).view(numpy_type(etype.id)) for part in zip(*quadruples, strict=True)]
    for reading in SPEC.readings:
        found = load_oracle().READINGS[etype.family][reading.id](*columns)
        due = [ask(reading.returns, dict(zip("XLMY", q, strict=True))) for q in quadruples]
        assert found.dtype == bool
        assert found.tolist() == due
        assert any(due)
        assert not all(due)


def test_each_reading_has_its_goals():
    names = [claim.name for claim in claims_of(SPEC, "float32", "readings", "contrasts")]
    assert len(names) == len(set(names)) == 12 + 12 + 3 + 12 + 11 * 3 + 9  # 9 pairs that findings contrast
    for part in ("answers", "agrees", "agrees_bitwise", "agrees_bitwise_nowhere_else", "differs_bitwise"):
        assert f"formula_2019_{part}" in names
    assert "cases_agrees_bitwise_nowhere_else" not in names
    assert "formula_c_and_formula_cpp_other_values" in names
    of_ints = [claim.name for claim in claims_of(SPEC, "int32", "readings", "contrasts")]
    assert [name for name in of_ints if "_and_" in name] == [
        "onnx_words_and_onnx_13_words_other_values",
        "onnx_13_words_and_directml_other_values",
    ]
