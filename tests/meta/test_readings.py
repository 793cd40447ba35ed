"""What is found about readings by evaluation is only a claim: where it is wrong, a proof fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
