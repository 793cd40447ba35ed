"""ONNX Runtime on the CPU with its default number of threads; `onnxruntime` uses one."""

from __future__ import annotations

from functools import partial

import onnxruntime

from sonnx_clip.runtimes.adapters.onnxruntime import open_model, run_text
from sonnx_clip.runtimes.models import runtime_of_models

RUNTIME = runtime_of_models(
    partial(open_model, threads=0), f"onnxruntime {onnxruntime.__version__}, threads as by default",
    "import onnxruntime", run_text,
)  # fmt: skip
