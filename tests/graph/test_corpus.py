"""A corpus made from the table of operators: each model normalises with equal bits, or is left alone by name.

Operator × version × attributes × where the Clip stands: before it, behind it, within a branch behind it.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from sonnx_clip.graph.normalise import Wish, normalise
from sonnx_clip.graph.operator_table import operator_steps
from sonnx_clip.graph.schemas import version_of
from tests.graph.build import scalar
from tests.graph.operator_cases import models_of
from tests.graph.same_outputs import answers, feeds, reference_answers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("quick_inference")

OPSETS = (7, 8, 9, 10)
OPERATORS = sorted({row.operator for row in operator_steps().values()} - {"Clip"})
FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
# Scan-8 has another signature (see test_wrong_before), and Upsample is deprecated from 10 on.
NOT_HERE = {("Scan", 8), ("Upsample", 10)}
# onnx's ReferenceEvaluator interpolates in Resize-11 even for `nearest`: an infinity times zero is NaN.
INTERPOLATES = {"Upsample"}
POSITIONS = ("before", "behind", "branch")


def with_clip(model: onnx.ModelProto, position: str) -> onnx.ModelProto | None:
    """The model with a Clip-6 at the first float input or output of its node, None where there is none."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    if position == "before":
        value = next((v for v in graph.input if v.type.tensor_type.elem_type in FLOATS), None)
        if value is None:
            return None
        for node in graph.node:
            node.input[:] = ["clipped" if name == value.name else name for name in node.input]
        graph.node.insert(
            0, helper.make_node("Clip", [value.name], ["clipped"], name="clip", min=-1.5, max=6.0)
        )
        return result
    value = next((v for v in graph.output if v.type.tensor_type.elem_type in FLOATS), None)
    if value is None:
        return None
    raw = f"{value.name}_raw"
    for node in graph.node:
        node.output[:] = [raw if name == value.name else name for name in node.output]
    if position == "behind":
        graph.node.append(helper.make_node("Clip", [raw], [value.name], name="clip", min=-1.5, max=6.0))
        return result
    branches = {}
    for branch, top in (("then_branch", 6.0), ("else_branch", 2.5)):
        inner = onnx.ValueInfoProto()
        inner.CopyFrom(value)
        inner.name = f"{branch}_out"
        clip = helper.make_node("Clip", [raw], [inner.name], name=branch, min=-1.5, max=top)
        branches[branch] = helper.make_graph([clip], branch, [], [inner])
    graph.initializer.append(scalar("which", 1, TensorProto.BOOL))
    graph.node.append(helper.make_node("If", ["which"], [value.name], **branches))
    return result


def corpus() -> Iterator[tuple[str, int, str, str, onnx.ModelProto]]:
    """Each operator in each of its versions once, in every case that this version has, at each place."""
    for operator in OPERATORS:
        versions = {version_of(operator, opset): opset for opset in OPSETS}
        for version, opset in versions.items():
            if version is None or (operator, version) in NOT_HERE:
                continue
            for name, model in models_of(operator, opset):
                for position in POSITIONS:
                    made = with_clip(model, position)
                    if made is not None:
                        yield operator, opset, position, name, made


@pytest.fixture(scope="module")
def models() -> list[tuple[str, int, str, str, onnx.ModelProto]]:
    return list(corpus())


def test_the_corpus_is_large(models: list[tuple[str, int, str, str, onnx.ModelProto]]) -> None:
    assert len(models) >= 300
    assert len({operator for operator, *_ in models}) >= 70
    assert {position for _, _, position, *_ in models} == set(POSITIONS)


def outcome(folder: Path, operator: str, model: onnx.ModelProto) -> str:
    """`equal` or `left alone`; a difference, or a model that nothing ran, is a failure."""
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    done = normalise(path, None, Wish(self_check=False))
    found, result = done.report, onnx.ModelProto.FromString(done.data)
    given = feeds(model, count=2)
    ran = 0
    for runs in (answers,) if operator in INTERPOLATES else (answers, reference_answers):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old, new = runs(model, given), runs(result, given)
        if isinstance(old, str) or (runs is reference_answers and isinstance(new, str)):
            continue
        assert old == new
        assert old
        ran += 1
    if found.raised is None:
        reasons = {step.why for node in found.nodes for step in node.steps if not step.done}
        named = ("is the same only if", "the element type of X is not known")
        assert any(text in why for why in reasons for text in named), reasons
        return "left alone"
    assert ran
    return "equal"


@pytest.mark.parametrize("part", range(8))
def test_equal_bits_or_left_alone(
    tmp_path: Path, models: list[tuple[str, int, str, str, onnx.ModelProto]], part: int
) -> None:
    found: dict[str, int] = {}
    for operator, opset, position, name, model in models[part::8]:
        try:
            result = outcome(tmp_path, operator, model)
        except AssertionError as error:
            raise AssertionError(f"{operator} in opset {opset}, Clip {position}, {name}: {error}") from error
        found[result] = found.get(result, 0) + 1
    assert found["equal"] > 20
