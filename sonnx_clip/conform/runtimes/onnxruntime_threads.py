"""ONNX Runtime on the CPU with as many threads as it takes by itself; `onnxruntime` has one."""

from __future__ import annotations

from functools import partial

import onnxruntime

from sonnx_clip.conform.runtimes import Runtime
from sonnx_clip.conform.runtimes.onnxruntime import call_text, open_type

RUNTIME = Runtime(
    version=f"onnxruntime {onnxruntime.__version__}, threads as by default",
    open=partial(open_type, threads=0),
    imports="import onnx.parser, onnxruntime",
    call=call_text,
)
