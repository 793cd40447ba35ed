"""Ours: `sonnx_clip.clip`."""

from __future__ import annotations

import sonnx_clip
from sonnx_clip.conform.runtimes import Runtime

RUNTIME = Runtime(
    version=f"sonnx-clip {sonnx_clip.__version__}",
    open=lambda _: sonnx_clip.clip,
    imports="import sonnx_clip",
    call=lambda _: "sonnx_clip.clip(x, l, m)",
)
