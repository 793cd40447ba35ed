"""Models normalised in tests, with what was done to them at hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from sonnx_clip.lint.normalise import Normalised, NormaliseOptions, normalise
from sonnx_clip.whyml.rendered_goals import rendered_obligations
from tests.lint.same_outputs import differences

if TYPE_CHECKING:
    from sonnx_clip.lint.changes import NormaliseStep

MODELS = Path(__file__).parent.parent / "models"


@cache
def known_obligations() -> frozenset[str]:
    return frozenset(obligation.id for obligation in rendered_obligations())


def normalised(folder: Path, proto: onnx.ModelProto, *, finite: bool = False) -> Normalised:
    """The result for a model, which lies beside it as after.onnx; a second run must change nothing."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(proto.SerializeToString())
    options = NormaliseOptions(assume_finite=finite, self_check=False)
    found = normalise(before, after, options)
    after.write_bytes(found.data)
    again = normalise(after, folder / "again.onnx", options)
    assert again.data == found.data
    assert not again.report.changed
    assert not any(step.done for node in again.report.nodes for step in node.steps)
    cited = {
        theorem for node in found.report.nodes for step in node.steps for theorem in step.theorems
    }
    assert cited <= known_obligations()
    return found


def assert_same_outputs(folder: Path) -> None:
    assert differences(folder / "before.onnx", folder / "after.onnx") == []


def done(found: Normalised, index: int = 0) -> list[str]:
    return [step.rule for step in found.report.nodes[index].steps if step.done]


def left(found: Normalised, index: int = 0) -> list[NormaliseStep]:
    return [step for step in found.report.nodes[index].steps if not step.done]


def result(found: Normalised) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(found.data)
