"""The reference evaluator that ships with onnx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from sonnx_clip.runtimes.models import runtime_of_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.runtimes.runtime import ModelFunction, RunText


def _open_model(model: bytes) -> ModelFunction:
    evaluator = ReferenceEvaluator(onnx.load_from_string(model))

    # It computes by NumPy, which warns of NaNs and of overflows; the judgement is on the values.
    @np.errstate(invalid="ignore", over="ignore")
    def run(inputs: Mapping[str, Any]) -> Any:
        results: Any = evaluator.run(None, dict(inputs))
        return results[0]

    return run


def _run_model(_: bool) -> RunText:
    return "", "onnx.reference.ReferenceEvaluator(p).run(None, d)[0]"


RUNTIME = runtime_of_models(
    _open_model, f"onnx {onnx.__version__}", "import onnx.reference", _run_model
)
