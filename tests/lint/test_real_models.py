"""What lint reports of models that other people's tools wrote, exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from sonnx_clip.lint import lint_model
from tests.lint.build import DECLARES, problems, verdicts

MODELS = Path(__file__).parent.parent / "models"
NAMES = ["/r/Clip", "/h/Clip", "/Clip", "/Clip_1", "/Clip_2"]
NO_TYPES = {"R4": "violates", "R5": "unknown", "element_types": "unknown"}


@pytest.mark.parametrize("opset", [11, 13, 17])
def test_relu6_with_bounds_as_inputs(opset: int) -> None:
    report = lint_model(MODELS / f"relu6_op{opset}.onnx")
    assert [node.name for node in report.nodes] == NAMES
    assert {node.findings.operator for node in report.nodes} == {"Clip-11" if opset == 11 else "Clip-13"}
    expected = [NO_TYPES, NO_TYPES, {"R2": "violates"} | NO_TYPES, {"R1": "violates"} | NO_TYPES, NO_TYPES]
    assert [verdicts(report, i) for i in range(5)] == expected
    declare = f"{DECLARES} shape [1, 4, 6, 6]; or pass --accept-inferred"
    assert problems(report, "R4") == [
        ("X", "known only by inference", declare),
        ("Y", "known only by inference", declare),
    ]
    assert [argument for argument, _, _ in problems(report, "R4", 4)] == ["X"]  # Y is the graph's output


@pytest.mark.parametrize("opset", [9, 10])
def test_relu6_with_bounds_as_attributes_breaks_r1_and_r2_everywhere(opset: int) -> None:
    report = lint_model(MODELS / f"relu6_op{opset}.onnx", accept_inferred=True)
    assert [node.name for node in report.nodes] == NAMES
    assert {node.findings.operator for node in report.nodes} == {"Clip-6"}
    assert all(verdicts(report, i) == {"R1": "violates", "R2": "violates"} for i in range(5))
    values = [(problems(report, "R1", i)[0][1], problems(report, "R2", i)[0][1]) for i in range(5)]
    bound = "Clip-6 has no input {}; the bound is the attribute {} = {}".format
    default = "Clip-6 has no input {}; its attribute {} is not set either, so its default {} applies".format
    assert values == [
        (bound("L", "min", "0"), bound("M", "max", "6")),
        (bound("L", "min", "-1"), bound("M", "max", "1")),
        (bound("L", "min", "9.99999997e-07"), default("M", "max", "3.40282347e+38")),
        (default("L", "min", "-3.40282347e+38"), bound("M", "max", "3")),
        (bound("L", "min", "-0.5"), bound("M", "max", "0.5")),
    ]


def test_paddle_classifier_declares_no_shape_that_inference_could_make_explicit() -> None:
    path = MODELS / "ch_ppocr_mobile_v2.0_cls_infer.onnx"
    report = lint_model(path)
    assert [node.name for node in report.nodes] == [f"Clip@{i}" for i in range(18)]
    assert all(verdicts(report, i) == NO_TYPES for i in range(18))
    argument, message, remedy = problems(report, "R4")[0]
    assert (argument, message) == ("X", "no shape")
    assert remedy.startswith("inference finds no more than [-1, 8, ")
    accepted = lint_model(path, accept_inferred=True)
    assert all(verdicts(accepted, i) == {"R4": "violates"} for i in range(18))
