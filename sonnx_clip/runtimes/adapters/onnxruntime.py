"""ONNX Runtime on the CPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import onnxruntime

from sonnx_clip.runtimes.models import runtime_of_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.runtimes.runtime import ModelFunction, RunText

_FATAL = 4  # the log repeats the text of the exception


def open_model(model: bytes, *, optimised: bool = True, threads: int = 1) -> ModelFunction:
    """Open a serialised model; 0 threads are as many as ONNX Runtime takes by itself."""
    onnxruntime.set_default_logger_severity(_FATAL)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(inputs: Mapping[str, Any]) -> Any:
        return session.run(None, dict(inputs))[0]

    return run


def run_text(optimised: bool) -> RunText:
    """The text that runs a model, with as many threads as ONNX Runtime takes by itself."""
    session = "s = onnxruntime.InferenceSession(p.SerializeToString(){})"
    if optimised:
        return session.format(""), "s.run(None, d)[0]"
    off = "o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL"
    return f"o = onnxruntime.SessionOptions(); {off}; {session.format(', o')}", "s.run(None, d)[0]"


RUNTIME = runtime_of_models(
    open_model, f"onnxruntime {onnxruntime.__version__}", "import onnxruntime", run_text,
    open_unoptimised=partial(open_model, optimised=False),
)  # fmt: skip
