"""tract on the CPU, by its bindings to Python."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import tract

from sonnx_clip.runtimes.models import runtime_of_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.runtimes.runtime import ModelFunction


def open_model(model: bytes) -> ModelFunction:
    """Make a serialised ONNX model ready to run, whose rank must be known; tract reads it from a file."""
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model)
        file.flush()
        runnable = tract.onnx().load(file.name).into_model().into_runnable()

    def run(inputs: Mapping[str, Any]) -> Any:
        arrays = [array.copy(order="C") for array in inputs.values()]
        outputs = runnable.run(arrays)
        return outputs[0].to_numpy()

    return run


RUNTIME = runtime_of_models(
    open_model, f"tract {tract.version()}", f"from {__name__} import open_model", "open_model", ranked=True,
    strides=False,
)  # fmt: skip
