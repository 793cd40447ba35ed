"""PyTorch on the CPU: torch.clamp, with bounds that are numbers of Python."""

from __future__ import annotations

from typing import Any

import torch

from sonnx_clip.runtimes.adapters.torch import array, tensor
from sonnx_clip.runtimes.runtime import runtime_of_function


def clamp_by_numbers(x: Any, *bounds: Any) -> Any:
    """torch.clamp of an array; the bounds, arrays of shape (), become int or float."""
    return array(torch.clamp(tensor(x), *(bound.item() for bound in bounds)), x.dtype)


RUNTIME = runtime_of_function(clamp_by_numbers, f"torch {torch.__version__}, bounds as numbers")
