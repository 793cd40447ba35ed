"""Normalise on models that other people's tools wrote, and on onnx's own tests for Clip."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node
from onnx.defs import get_schema

from sonnx_clip.lint import lint_model
from sonnx_clip.lint.normalise import Normalised, NormaliseOptions, normalise
from sonnx_clip.lint.normalise_report import normalise_text
from sonnx_clip.lint.verdict import Verdict
from tests.lint.normalised import left, normalised, same
from tests.lint.same_outputs import Feed, differences, run

MODELS = Path(__file__).parent.parent / "models"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    # onnx computes its node tests as they are imported; those of the other operators take seconds.
    importlib.import_module("onnx.backend.test.case.node.clip")
NODE_TESTS = {case.name: case for case in node._NodeTestCases if case.name.startswith("test_clip")}


def headline(found: Normalised) -> str:
    return normalise_text(found.report).splitlines()[0].partition(": ")[2]


def closed(folder: Path, name: str, *, finite: bool = False) -> str:
    found = normalised(folder, onnx.load(MODELS / name), finite=finite)
    same(folder)
    return headline(found)


@pytest.mark.parametrize("opset", [11, 13, 17])
def test_relu6_with_inputs_needs_a_word_about_infinities(tmp_path: Path, opset: int) -> None:
    name = f"relu6_op{opset}.onnx"
    assert closed(tmp_path, name) == "5 Clip nodes, 4 changed, 3 in the profile now, 2 with something left"
    expected = "5 Clip nodes, 4 changed, 5 in the profile now, 0 with something left"
    assert closed(tmp_path, name, finite=True) == expected
    assert lint_model(tmp_path / "after.onnx").verdict == "meets"


def test_the_paddle_classifier_keeps_the_sizes_that_its_caller_chooses(tmp_path: Path) -> None:
    found = normalised(tmp_path, onnx.load(MODELS / "ch_ppocr_mobile_v2.0_cls_infer.onnx"))
    assert headline(found) == "18 Clip nodes, 18 changed, 0 in the profile now, 18 with something left"
    assert {step.rule for number in range(18) for step in left(found, number)} == {"R4"}
    assert len(normalise_text(found.report).splitlines()) < 40
    image = np.random.default_rng(1).standard_normal((2, 3, 48, 192)).astype(np.float32)
    assert differences(tmp_path / "before.onnx", tmp_path / "after.onnx", [{"x": image}]) == []


def test_onnx_has_its_24_tests() -> None:
    assert len(NODE_TESTS) == 24


@pytest.mark.parametrize("name", NODE_TESTS)
def test_the_node_tests_of_onnx(tmp_path: Path, name: str) -> None:
    case = NODE_TESTS[name]
    proto = case.model
    assert proto is not None
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    before.write_bytes(proto.SerializeToString())
    found = normalise(before, after, NormaliseOptions(assume_finite=True))
    after.write_bytes(found.data)
    if "expanded" in name:
        assert not found.report.changed
        assert headline(found) == "no Clip node, so nothing was changed"
        return
    assert found.report.after.verdict is Verdict.MEETS
    onnx.checker.check_model(str(after), full_check=True)
    assert get_schema("Clip", proto.opset_import[0].version, "").since_version == 13
    same(tmp_path)
    names = [value.name for value in proto.graph.input]
    given: list[Feed] = [
        {name: np.asarray(x) for name, x in zip(names, inputs, strict=True)}
        for inputs, _ in case.data_sets or []
    ]
    assert given
    assert run(before, given, "ORT_ENABLE_ALL") == run(after, given, "ORT_ENABLE_ALL")
