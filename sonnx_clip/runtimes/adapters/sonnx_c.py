"""The runtime `sonnx-c`: the verified C kernels, built by the system's compiler, or a UserError."""

from __future__ import annotations

import shlex

import sonnx_clip
from sonnx_clip.oracle import c
from sonnx_clip.oracle.built import find_compiler
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.runtime import Runtime

c.compiled_functions()  # what cannot be built is missing as a whole, and not unsupported in one type
_COMPILER = find_compiler()
_COMMAND = shlex.join([*_COMPILER.command, *_COMPILER.flags])
RUNTIME = Runtime(
    version=f"sonnx-clip {sonnx_clip.__version__} in C ({_COMMAND})",
    open=lambda _: c.clip,
    imports="from sonnx_clip.oracle import c",
    call=lambda _: f"c.clip({CLIP_SIGNATURE.call})",
)
