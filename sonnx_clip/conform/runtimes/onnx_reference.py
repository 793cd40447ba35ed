"""The reference evaluator that ships with onnx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from sonnx_clip.conform.runtimes import ClipFunction, ModelFunction, RunText, Runtime
from sonnx_clip.conform.runtimes.clip_model import one_node_model, parse_call

if TYPE_CHECKING:
    from collections.abc import Mapping


def _open_model(model: bytes) -> ModelFunction:
    evaluator = ReferenceEvaluator(onnx.load_from_string(model))

    @np.errstate(invalid="ignore", over="ignore")
    def run(inputs: Mapping[str, Any]) -> Any:
        (result,) = evaluator.run(None, dict(inputs))
        return result

    return run


def _open(etype: str) -> ClipFunction:
    run = _open_model(one_node_model(etype).SerializeToString())

    def clip(x: Any, l: Any, m: Any) -> Any:
        return run({"x": x, "l": l, "m": m})

    return clip


def _call(etype: str) -> str:
    evaluator = f"onnx.reference.ReferenceEvaluator({parse_call(etype)})"
    return f"{evaluator}.run(None, dict(x=x, l=l, m=m))[0]"


def _run_model(_: bool) -> RunText:
    return "", "onnx.reference.ReferenceEvaluator(p).run(None, d)[0]"


RUNTIME = Runtime(
    version=f"onnx {onnx.__version__}",
    open=_open,
    imports="import onnx.parser, onnx.reference",
    call=_call,
    open_model=_open_model,
    run_model=_run_model,
)
