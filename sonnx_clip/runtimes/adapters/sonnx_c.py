"""The runtime `sonnx-c`: the verified C kernels, built by the system's compiler."""

from __future__ import annotations

import shlex

import sonnx_clip
from sonnx_clip.oracle import c
from sonnx_clip.oracle.built import find_compiler
from sonnx_clip.runtimes.operator_node import CLIP_NODE
from sonnx_clip.runtimes.runtime import Runtime


def __getattr__(name: str) -> Runtime:
    """Build the kernels when `RUNTIME` is asked for; UserError if they cannot be built."""
    if name != "RUNTIME":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    c.functions()  # what cannot be built is missing as a whole, and not unsupported in one type
    compiler = find_compiler()
    command = shlex.join([*compiler.command, *compiler.flags])
    return Runtime(
        version=f"sonnx-clip {sonnx_clip.__version__} in C ({command})",
        open=lambda _: c.clip,
        imports="from sonnx_clip.oracle import c",
        call=lambda _: f"c.clip({CLIP_NODE.call})",
    )
