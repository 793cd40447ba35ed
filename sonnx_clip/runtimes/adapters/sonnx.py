"""The runtime `sonnx`: `sonnx_clip.clip`, by the kernels of NumPy, and by those of C where it uses them."""

from __future__ import annotations

from typing import Any

import sonnx_clip
from sonnx_clip.oracle import built
from sonnx_clip.oracle.strict import clip, clip_by_numpy
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.operator_node import CLIP_NODE
from sonnx_clip.runtimes.runtime import ClipFunction, Runtime


def both_kinds() -> ClipFunction:
    """What asks both kinds of kernels; AssertionError where they differ in a bit."""

    def clip_both(*operands: Any) -> Any:
        by_numpy, found = clip_by_numpy(*operands), clip(*operands)
        if (found.dtype, found.shape, found.tobytes()) != (
            by_numpy.dtype,
            by_numpy.shape,
            by_numpy.tobytes(),
        ):
            raise AssertionError("sonnx_clip.clip answers otherwise by the C kernels than by those of NumPy")
        return found

    return clip_both


def _both_are_there() -> bool:
    try:
        return built.kernels() is not None
    except UserError:
        return False  # every call says so


def __getattr__(name: str) -> Runtime:
    """`RUNTIME`: which kernels are there is looked up when it is wanted."""
    if name != "RUNTIME":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    both = _both_are_there()
    kernels = "of NumPy and of C" if both else "of NumPy; those of C are not built"
    function: ClipFunction = both_kinds() if both else clip
    return Runtime(
        version=f"sonnx-clip {sonnx_clip.__version__}, by the kernels {kernels}",
        open=lambda _: function,
        imports="import sonnx_clip",
        call=lambda _: f"sonnx_clip.clip({CLIP_NODE.call})",
    )
