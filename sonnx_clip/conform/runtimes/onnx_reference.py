"""The reference evaluator that ships with onnx."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from sonnx_clip.conform.runtimes import ClipFunction, Runtime
from sonnx_clip.conform.runtimes.model import one_node_model, parse_call


def _open(etype: str) -> ClipFunction:
    evaluator = ReferenceEvaluator(one_node_model(etype))

    @np.errstate(invalid="ignore")
    def clip(x: Any, l: Any, m: Any) -> Any:
        (result,) = evaluator.run(None, {"x": x, "l": l, "m": m})
        return result

    return clip


def _call(etype: str) -> str:
    evaluator = f"onnx.reference.ReferenceEvaluator({parse_call(etype)})"
    return f"{evaluator}.run(None, dict(x=x, l=l, m=m))[0]"


RUNTIME = Runtime(
    version=f"onnx {onnx.__version__}",
    open=_open,
    imports="import onnx.parser, onnx.reference",
    call=lambda etype: (
        f"onnx.reference.ReferenceEvaluator({parse_call(etype)}).run(None, dict(x=x, l=l, m=m))[0]"
    ),
)
