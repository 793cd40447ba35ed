"""Who takes part, under which name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import sonnx_clip
from bench import native, peers
from bench.inputs import Case
from bench.timing import Call
from sonnx_clip.oracle.strict import clip_by_numpy
from sonnx_clip.root.dtypes import Array

Contestant: TypeAlias = Callable[[Case, Array], Call]

OURS, OURS_C = "sonnx_clip.clip", "C kernel"
OURS_NUMPY = "without C"
NUMPY, MINIMUM_MAXIMUM = "np.clip", "np.minimum(np.maximum)"
TORCH, ONNXRUNTIME = "torch.clamp", "onnxruntime"
NUMPY_COPY, C_COPY = "np.copyto", "C copy"


def sonnx(case: Case, y: Array) -> Call:
    """What users call from Python, with the C kernels where there is a compiler."""
    native.let_clip_use_c()
    return partial(sonnx_clip.clip, case.x, case.lower, case.upper, out=y)


def sonnx_numpy(case: Case, y: Array) -> Call:
    """The same where the C kernels are not built."""
    return partial(clip_by_numpy, case.x, case.lower, case.upper, out=y)


CONTESTANTS: Mapping[str, Contestant] = {
    OURS: sonnx,
    OURS_NUMPY: sonnx_numpy,
    OURS_C: native.sonnx_c,
    NUMPY: peers.numpy_clip,
    MINIMUM_MAXIMUM: peers.numpy_minimum_maximum,
    TORCH: peers.torch_clamp,
    ONNXRUNTIME: peers.onnxruntime_clip,
    NUMPY_COPY: peers.numpy_copy,
    C_COPY: native.c_copy,
}
"""All contestants: ours, the peers, and two copies as limits."""

EXACT = (OURS, OURS_NUMPY, OURS_C)
"""These must answer with the bits of the cases; the peers deviate in NaN bounds and in zeros."""

COPIES = (NUMPY_COPY, C_COPY)
"""These do not clip."""
