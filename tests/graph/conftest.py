"""Fixtures for the tests of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import checker, shape_inference

from sonnx_clip.graph import ask_onnx as infer_module

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.fixture
def quick_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shape inference in this process, for models that mean no harm, of which there are many."""

    def inferred(models: Sequence[onnx.ModelProto], **_: object) -> infer_module.Inference:
        try:
            found = [shape_inference.infer_shapes(model) for model in models]
        except (shape_inference.InferenceError, checker.ValidationError) as error:
            return infer_module.Inference((), f"shape inference failed: {error}")
        return infer_module.Inference(tuple(found), None)

    monkeypatch.setattr(infer_module, "infer", inferred)
