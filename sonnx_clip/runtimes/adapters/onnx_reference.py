"""The reference evaluator that ships with onnx."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from sonnx_clip.runtimes.clip_model import function_of_model, parse_call
from sonnx_clip.runtimes.operator_node import CLIP_NODE
from sonnx_clip.runtimes.runtime import ModelFunction, RunText, Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping


def _open_model(model: bytes) -> ModelFunction:
    evaluator = ReferenceEvaluator(onnx.load_from_string(model))

    @np.errstate(invalid="ignore", over="ignore")
    def run(inputs: Mapping[str, Any]) -> Any:
        (result,) = evaluator.run(None, dict(inputs))
        return result

    return run


def _call(etype: str) -> str:
    evaluator = f"onnx.reference.ReferenceEvaluator({parse_call(etype)})"
    return f"{evaluator}.run(None, {CLIP_NODE.inputs})[0]"


def _run_model(_: bool) -> RunText:
    return "", "onnx.reference.ReferenceEvaluator(p).run(None, d)[0]"


RUNTIME = Runtime(
    version=f"onnx {onnx.__version__}",
    open=partial(function_of_model, _open_model),
    imports="import onnx.parser, onnx.reference",
    call=_call,
    open_model=_open_model,
    run_model=_run_model,
)
