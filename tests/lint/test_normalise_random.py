"""Normalise on random models: no output changes, and a second run changes nothing."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import TensorProto, helper

from sonnx_clip.lint.normalise import NormaliseOptions, normalise
from tests.lint.build import FLOAT, value
from tests.lint.same_outputs import differences

if TYPE_CHECKING:
    from pathlib import Path


_NUMBERS = [0.0, -0.0, 1.0, -1.0, 6.0, math.inf, -math.inf, math.nan, 3.4028235e38, 1e-6]
_INTEGERS = [TensorProto.INT8, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8]


class Maker:
    """Chains of Clip and other nodes, with bounds in every form, in the main graph and in branches."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.opset = self.draw.choice([11, 12, 13, 17])
        self.type = self.draw.choice([FLOAT, *_INTEGERS]) if self.opset >= 12 else FLOAT
        self.shape: list[int] = self.draw.choice([[2, 3], [1, 3], [4], []])
        self.stored: list[TensorProto] = []

    def model(self) -> onnx.ModelProto:
        nodes, last = self.chain("x", "a", self.draw.randint(1, 4))
        inputs = [value("x", self.shape, self.type)]
        if self.draw.random() < 0.3:
            branches = {name: self.branch(last, name) for name in ("then_branch", "else_branch")}
            nodes.append(helper.make_node("If", ["c"], ["z"], **branches))
            inputs.append(value("c", [], TensorProto.BOOL))
            last = "z"
        shape: list[Any] = self.draw.choice([self.shape, ["N"] * len(self.shape)])
        main = helper.make_graph(nodes, "g", inputs, [value(last, shape, self.type)], self.stored)
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(main, opset_imports=imports, ir_version=8)

    def branch(self, last: str, name: str) -> onnx.GraphProto:
        nodes, end = self.chain(last, name, self.draw.randint(1, 2))
        return helper.make_graph(nodes, name, [], [value(end, self.shape, self.type)])

    def chain(self, last: str, prefix: str, count: int) -> tuple[list[onnx.NodeProto], str]:
        nodes: list[onnx.NodeProto] = []
        for number in range(count):
            out = f"{prefix}{number}"
            chance = self.draw.random()
            if chance < 0.25 and self.type == FLOAT:
                nodes.append(
                    helper.make_node(self.draw.choice(["Neg", "Abs", "Identity"]), [last], [out])
                )
            elif chance < 0.32 and self.type == FLOAT and self.shape:
                nodes.append(helper.make_node("Softmax", [last], [out], axis=len(self.shape) - 1))
            else:
                bounds = [self.bound(f"{out}_{role}", nodes) for role in ("min", "max")]
                nodes.append(helper.make_node("Clip", [last, *bounds], [out]))
            last = out
        return nodes, last

    def bound(self, name: str, nodes: list[onnx.NodeProto]) -> str:
        """A bound that is missing, stored, a Constant, computed, or one that another Clip has too."""
        number = self.draw.choice(_NUMBERS if self.type == FLOAT else [0, 1, 2, 5, 100])
        tensor = helper.make_tensor(name, self.type, self.draw.choice([[], [], [1]]), [number])
        form = self.draw.random()
        if form < 0.25:
            return ""
        if form < 0.35 and self.stored:
            return self.draw.choice(self.stored).name
        if form < 0.6:
            self.stored.append(tensor)
        elif form < 0.8:
            nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            tensor.name = f"{name}_given"
            self.stored.append(tensor)
            nodes.append(helper.make_node("Identity", [tensor.name], [name]))
        return name


def judged(folder: Path, seed: int) -> str:
    """Normalise one random model: whether it changed; fails where an output changed."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(Maker(seed).model().SerializeToString())
    options = NormaliseOptions(assume_finite=seed % 2 == 0, self_check=False)
    found = normalise(before, after, options)
    after.write_bytes(found.data)
    assert normalise(after, folder / "again.onnx", options).data == found.data, seed
    assert differences(before, after) == [], seed
    return "changed" if found.report.changed else "unchanged"


@pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(1000, 1500), marks=pytest.mark.nightly)]
)
def test_outputs_of_random_models_do_not_change(tmp_path: Path, seeds: range) -> None:
    counts = Counter(judged(tmp_path, seed) for seed in seeds)
    assert counts["changed"] > len(seeds) // 2
