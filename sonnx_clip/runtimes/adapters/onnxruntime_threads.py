"""ONNX Runtime on the CPU with as many threads as it takes by itself; `onnxruntime` has one."""

from __future__ import annotations

from functools import partial

import onnxruntime

from sonnx_clip.runtimes.adapters.onnxruntime import call_text, open_type
from sonnx_clip.runtimes.runtime import Runtime

RUNTIME = Runtime(
    version=f"onnxruntime {onnxruntime.__version__}, threads as by default",
    open=partial(open_type, threads=0),
    imports="import onnx.parser, onnxruntime",
    call=call_text,
)
