"""Measuring as on a processor without AVX-512: each contestant is limited to AVX2 as far as it can be.

It is this processor with fewer instructions, and no other one: its caches, its clock and its vector units
stay what they are. ONNX Runtime has no such switch.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

from sonnx_clip.oracle import c, c_build
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROCESSORS = ("this", "avx2")

_DONE = "SONNX_CLIP_BENCH_PROCESSOR"
_NUMPY = "NPY_DISABLE_CPU_FEATURES"
_TORCH = "ATEN_CPU_CAPABILITY"
_C = "-march=x86-64-v3"


def limit(processor: str, arguments: Sequence[str]) -> Mapping[str, str]:
    """Limit all contestants; what reads its limit when it is loaded needs a new process, and gets one.

    Args:
        processor: one of `PROCESSORS`.
        arguments: what `bench.kernels` was called with.

    Returns:
        Contestant -> what it is limited to; empty for ``this``.

    Raises:
        UserError: one of them does not keep to the limit.
    """
    if processor == "this":
        return {}
    if os.environ.get(_DONE) != processor:
        environment = {**os.environ, _DONE: processor, _NUMPY: " ".join(_beyond()), _TORCH: "avx2"}
        os.execve(sys.executable, [sys.executable, "-m", "bench.kernels", *arguments], environment)
    c_build.THIS_PROCESSOR = _C
    return {
        "NumPy": _numpy(),
        "torch": _torch(),
        "C": _flags(),
        "onnxruntime": "all that the processor has: it has no switch",
    }


def _features() -> tuple[Mapping[str, bool], Sequence[str]]:
    """What NumPy uses of the processor, and what it chooses among when it runs."""
    try:
        found = importlib.import_module("numpy._core._multiarray_umath")
        features, dispatched = found.__cpu_features__, found.__cpu_dispatch__
    except (ImportError, AttributeError) as error:
        raise UserError("this NumPy does not say which instructions it uses", "--processor avx2") from error
    return features, dispatched


def _beyond() -> list[str]:
    """What NumPy would choose beyond AVX2."""
    features, dispatched = _features()
    if not features.get("AVX2"):
        raise UserError("this processor has no AVX2", "--processor avx2", "leave the option out")
    return [name for name in dispatched if name == "X86_V4" or name.startswith("AVX512")]


def _numpy() -> str:
    features, dispatched = _features()
    if used := [name for name in _beyond() if features.get(name)]:
        raise UserError(f"NumPy still uses {', '.join(used)}", _NUMPY, "this version cannot be limited")
    return ", ".join(name for name in dispatched if features.get(name)) + f" ({_NUMPY})"


def _torch() -> str:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return "not installed"
    found = str(torch.backends.cpu.get_cpu_capability())
    if found != "AVX2":
        raise UserError(f"torch still uses {found}", _TORCH, "this version cannot be limited")
    return f"{found} ({_TORCH})"


def _flags() -> str:
    try:
        flags = c.flags()
    except UserError as error:
        return error.what
    if _C not in flags:
        raise UserError(
            f"the C compiler refuses {_C}", "--processor avx2", "take GCC 11 or Clang 12, or newer"
        )
    return _C
