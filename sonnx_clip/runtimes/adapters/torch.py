"""PyTorch on the CPU: torch.clamp, with bounds that are tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from sonnx_clip.runtimes.runtime import runtime_of_function


def tensor(array: Any) -> torch.Tensor:
    """A copy of an array; NumPy and PyTorch exchange bfloat16 as bits."""
    # X is read-only, and PyTorch has no tensors that are.
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def array(tensor: torch.Tensor, dtype: Any) -> Any:
    """A tensor as an array; `dtype` is read for bfloat16 alone."""
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(dtype)
    return tensor.numpy()


def clamp(*operands: Any) -> Any:
    """torch.clamp of arrays; bounds have shape ()."""
    tensors = [tensor(operand) for operand in operands]
    return array(torch.clamp(*tensors), operands[0].dtype)


RUNTIME = runtime_of_function(clamp, f"torch {torch.__version__}")
