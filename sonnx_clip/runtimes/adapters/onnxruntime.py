"""ONNX Runtime on the CPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import onnxruntime

from sonnx_clip.runtimes.clip_model import function_of_model, parse_call
from sonnx_clip.runtimes.operator_node import CLIP_NODE
from sonnx_clip.runtimes.runtime import ClipFunction, ModelFunction, RunText, Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

_FATAL = 4  # the log repeats what the exception says


def _open_model(model: bytes, *, optimised: bool = True, threads: int = 1) -> ModelFunction:
    onnxruntime.set_default_logger_severity(_FATAL)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(inputs: Mapping[str, Any]) -> Any:
        return session.run(None, dict(inputs))[0]

    return run


def open_type(etype: str, *, threads: int = 1) -> ClipFunction:
    """A function (x, min, max); 0 threads are as many as ONNX Runtime takes by itself."""
    return function_of_model(partial(_open_model, threads=threads), etype)


def call_text(etype: str) -> str:
    """The Python text of a call, with as many threads as ONNX Runtime takes by itself."""
    model = f"{parse_call(etype)}.SerializeToString()"
    return f"onnxruntime.InferenceSession({model}).run(None, {CLIP_NODE.inputs})[0]"


def _run_model(optimised: bool) -> RunText:
    level = "ORT_ENABLE_ALL" if optimised else "ORT_DISABLE_ALL"
    set_up = (
        "o = onnxruntime.SessionOptions()",
        f"o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{level}",
        "s = onnxruntime.InferenceSession(p.SerializeToString(), o)",
    )
    return "; ".join(set_up), "s.run(None, d)[0]"


RUNTIME = Runtime(
    version=f"onnxruntime {onnxruntime.__version__}",
    open=open_type,
    imports="import onnx.parser, onnxruntime",
    call=call_text,
    open_model=_open_model,
    open_unoptimised=partial(_open_model, optimised=False),
    run_model=_run_model,
)
