"""The rendered readings: the goals that there are, and the NumPy functions beside the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

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
