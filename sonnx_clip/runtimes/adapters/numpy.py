"""The runtime `numpy`: np.clip itself, and for other operators the ufunc that NumPy has for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.signature import CLIP_SIGNATURE, Signature
from sonnx_clip.runtimes.runtime import ClipFunction, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable

_FUNCTIONS: dict[str, tuple[str, Callable[..., object]]] = {
    "Clip": ("np.clip", np.clip),
    "Max": ("np.maximum", np.maximum),
    "Min": ("np.minimum", np.minimum),
    "Abs": ("np.absolute", np.absolute),
    "Neg": ("np.negative", np.negative),
}
"""The function of an operator in ONNX, with its name in reproducers."""


def _runtime_for(signature: Signature) -> Runtime:
    """The runtime of an operator; UserError if NumPy has no function for it."""
    if signature.op_type not in _FUNCTIONS:
        message = f"the runtime numpy has no function for {signature.op_type}"
        raise UserError(message, todo="choose onnxruntime or onnx-reference, or name a function")
    name, function = _FUNCTIONS[signature.op_type]

    def open_type(_: str) -> ClipFunction:
        # NumPy warns of a NaN in a 16-bit float; the judgement is on the values.
        return np.errstate(invalid="ignore")(function)

    return Runtime(
        version=f"numpy {np.__version__}",
        open=open_type,
        imports="",
        call=lambda _: f"{name}({signature.call})",
        signature=signature,
        of_operator=_runtime_for,
    )


RUNTIME = _runtime_for(CLIP_SIGNATURE)
