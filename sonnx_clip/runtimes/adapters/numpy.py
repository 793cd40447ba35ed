"""The runtime `numpy`: np.clip itself."""

from __future__ import annotations

import numpy as np

from sonnx_clip.runtimes.runtime import CLIP_NODE, ClipFunction, Runtime


def _open(_: str) -> ClipFunction:
    # NumPy warns of a NaN in a 16-bit float; the judgement is on the values.
    return np.errstate(invalid="ignore")(np.clip)


RUNTIME = Runtime(
    version=f"numpy {np.__version__}",
    open=_open,
    imports="",
    call=lambda _: f"np.clip({CLIP_NODE.call})",
)
