"""What is found about readings by evaluation is only a claim: where it is wrong, a proof fails."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.claims import reading_claims
from sonnx_clip.spec import reading_classes
from tests.meta.test_spec_bugs import SECONDS

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench


pytestmark = pytest.mark.nightly


def test_samples_that_miss_a_difference_in_a_class_are_caught(bench: Workbench) -> None:
    bench.render_anew()
    bench.monkeypatch.setitem(reading_classes.SAMPLES, "float", ("1",))
    bench.limit(SECONDS)
    bench.generate()
    id_ = "float32.onnx_body_same_bits_in_classes"
    ended = bench.prove("--only", id_)
    assert ended.status == 1
    assert f"not proved {id_}: in 22 classes onnx-body has the bits of the cases" in " ".join(
        ended.out.split()
    )


def test_readings_taken_for_the_same_are_caught(bench: Workbench) -> None:
    bench.render_anew()
    bench.monkeypatch.setattr(reading_claims, "differing", lambda *_, bitwise: None)
    bench.limit(SECONDS)
    bench.generate()
    ids = ("float32.formula_2008_and_numpy_same_bits", "float32.formula_2019_and_numpy_same_bits_back")
    ended = bench.prove(*(part for id_ in ids for part in ("--only", id_)))
    assert ended.status == 1
    assert all(f"not proved {id_}: " in ended.out for id_ in ids)


def test_a_difference_that_is_none_is_caught(bench: Workbench) -> None:
    numbers = (Fraction(1), Fraction(2), Fraction(3)), Fraction(2)
    planted = {"real": numbers, "int": ((1, 2, 3), 2), "float": ((1, 2, 3), 2)}
    bench.render_anew()
    bench.monkeypatch.setattr(
        reading_claims, "differing", lambda _, etype, *__, bitwise: planted[etype.family]
    )
    bench.limit(SECONDS)
    bench.generate()
    id_ = "int8.cases_and_onnx_body_other_bits"
    ended = bench.prove("--only", id_)
    assert ended.status == 1
    assert f"not proved {id_}: " in ended.out
