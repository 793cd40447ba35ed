"""ONNX Runtime on the CPU."""

from __future__ import annotations

from typing import Any

import onnxruntime

from sonnx_clip.conform.runtimes import ClipFunction, Runtime
from sonnx_clip.conform.runtimes.model import one_node_model, parse_call

_FATAL = 4  # the log repeats what the exception says


def _open(etype: str) -> ClipFunction:
    onnxruntime.set_default_logger_severity(_FATAL)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        one_node_model(etype).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def clip(x: Any, l: Any, m: Any) -> Any:
        return session.run(None, {"x": x, "l": l, "m": m})[0]

    return clip


def _call(etype: str) -> str:
    model = f"{parse_call(etype)}.SerializeToString()"
    return f"onnxruntime.InferenceSession({model}).run(None, dict(x=x, l=l, m=m))[0]"


RUNTIME = Runtime(
    version=f"onnxruntime {onnxruntime.__version__}",
    open=_open,
    imports="import onnx.parser, onnxruntime",
    call=_call,
)
