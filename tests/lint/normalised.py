"""Models normalised in tests, with what was done to them at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper, numpy_helper

from sonnx_clip.lint.normalise import Normalised, NormaliseOptions, normalise
from tests.lint.build import clip, graph, model, value
from tests.lint.same_outputs import differences

if TYPE_CHECKING:
    from sonnx_clip.lint.changes import Step

ROOT = Path(__file__).parents[2]
INT8 = TensorProto.INT8


def normalised(
    folder: Path, proto: onnx.ModelProto, *, finite: bool = False, check: bool = False
) -> Normalised:
    """The result for a model, which lies beside it as after.onnx; a second run must change nothing."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(proto.SerializeToString())
    found = normalise(before, after, NormaliseOptions(assume_finite=finite, self_check=check))
    after.write_bytes(found.data)
    again = normalise(after, folder / "again.onnx", NormaliseOptions(assume_finite=finite))
    assert again.data == found.data
    assert not again.report.changed
    assert not any(step.done for node in again.report.nodes for step in node.steps)
    known = {
        entry["id"]
        for entry in json.loads((ROOT / "generated/why3/obligations.json").read_text())["obligations"]
    }
    cited = {theorem for node in found.report.nodes for step in node.steps for theorem in step.theorems}
    assert cited <= known
    return found


def same(folder: Path) -> None:
    assert differences(folder / "before.onnx", folder / "after.onnx") == []


def done(found: Normalised, index: int = 0) -> list[str]:
    return [step.rule for step in found.report.nodes[index].steps if step.done]


def left(found: Normalised, index: int = 0) -> list[Step]:
    return [step for step in found.report.nodes[index].steps if not step.done]


def result(found: Normalised) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(found.data)


def stored(found: Normalised) -> list[object]:
    """The values of the Constant nodes."""
    nodes = [node for node in result(found).graph.node if node.op_type == "Constant"]
    return [numpy_helper.to_array(node.attribute[0].t) for node in nodes]


def attributes(opset: int = 6, code: int = 1, **given: float) -> onnx.ModelProto:
    main = graph(
        clip("X", **given), inputs=[value("X", [2, 3], code)], outputs=[value("Y", [2, 3], code)], stored=[]
    )
    return model(main, opset=opset)


def one_entry(name: str, number: float) -> TensorProto:
    return helper.make_tensor(name, 1, [1], [number])
