"""The runtime `sonnx`: `sonnx_clip.clip`, by the kernels of NumPy, and by those of C where it uses them."""

from __future__ import annotations

from typing import Any

import sonnx_clip
from sonnx_clip.oracle import built
from sonnx_clip.oracle.strict import clip, clip_by_numpy
from sonnx_clip.root.dtypes import same_bits
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.runtime import Runtime


def clip_both(*operands: Any) -> Any:
    """What both kinds of kernels return; AssertionError where they differ in a bit."""
    # A user gets one of both, by what is installed: a verdict holds only if they are the same.
    by_numpy, result = clip_by_numpy(*operands), clip(*operands)
    if (result.dtype, result.shape) != (by_numpy.dtype, by_numpy.shape) or not same_bits(
        result, by_numpy
    ):
        raise AssertionError("the C kernels and the NumPy kernels of sonnx_clip.clip disagree")
    return result


def _has_both() -> bool:
    try:
        return built.kernels() is not None
    except UserError:
        return False  # every call raises it again


_BOTH = _has_both()
RUNTIME = Runtime(
    version=f"sonnx-clip {sonnx_clip.__version__}, by the kernels "
    + ("of NumPy and of C" if _BOTH else "of NumPy; those of C are not built"),
    open=lambda _: clip_both if _BOTH else clip,
    imports="import sonnx_clip",
    call=lambda _: f"sonnx_clip.clip({CLIP_SIGNATURE.call})",
)
