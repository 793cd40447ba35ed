"""OpenVINO on the CPU, with the hint ACCURACY: it may compute float32 in bfloat16 otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import openvino

from sonnx_clip.runtimes.models import runtime_of_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.runtimes.runtime import ModelFunction

_CORE = openvino.Core()


def open_model(model: bytes) -> ModelFunction:
    """Compile a serialised ONNX model, which must have a known rank."""
    hints = {"EXECUTION_MODE_HINT": "ACCURACY"}
    compiled = _CORE.compile_model(_CORE.read_model(model), "CPU", hints)
    request = compiled.create_infer_request()

    def run(inputs: Mapping[str, Any]) -> Any:
        request.infer({name: _tensor(array) for name, array in inputs.items()})
        result = request.get_output_tensor()
        # A copy: the next call of the request writes its result into the same memory.
        entries = result.data.copy()
        if result.element_type == openvino.Type.bf16:
            return entries.view(ml_dtypes.bfloat16)
        return entries

    return run


def _tensor(array: Any) -> openvino.Tensor:
    kept = array.copy(order="C")
    if array.dtype.name == "bfloat16":
        # NumPy's bfloat16 is a type of ml_dtypes, which OpenVINO does not know: the bits are
        # passed.
        return openvino.Tensor(kept.view(np.uint16), list(kept.shape), openvino.Type.bf16)
    return openvino.Tensor(kept)


RUNTIME = runtime_of_models(
    open_model, f"openvino {openvino.__version__.partition('-')[0]}", f"from {__name__} import open_model",
    "open_model", ranked=True, strides=False,
)  # fmt: skip
