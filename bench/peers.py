"""The contestants that are not ours: NumPy, PyTorch, ONNX Runtime, and two copies as limits.

Each is a function of a case and of the array to write to. It returns a call without arguments that does the
work, or raises `NotThereError` where the package is missing or the element type is not supported.
"""

from __future__ import annotations

import importlib
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type

if TYPE_CHECKING:
    from types import ModuleType

    from bench.inputs import Case
    from bench.timing import Call


class NotThereError(Exception):
    """A contestant cannot take part; the message says why."""


def numpy_clip(case: Case, y: Array) -> Call:
    """np.clip with `out=`, so that nothing is allocated."""
    return partial(np.clip, case.x, case.lower, case.upper, out=y)


def numpy_minimum_maximum(case: Case, y: Array) -> Call:
    """np.minimum(np.maximum(x, l), m), in one buffer."""
    x, lower, upper, maximum, minimum = case.x, case.lower, case.upper, np.maximum, np.minimum

    def call() -> None:
        minimum(maximum(x, lower, out=y), upper, out=y)

    return call


def numpy_copy(case: Case, y: Array) -> Call:
    """np.copyto on the bits: a limit, since every element is read and written once."""
    bits = bits_type(case.etype)
    return partial(np.copyto, y.view(bits), case.x.view(bits))


def torch_clamp(case: Case, y: Array) -> Call:
    """torch.clamp with `out=`, on the memory of the NumPy arrays, with one thread."""
    torch = _module("torch")
    torch.set_num_threads(1)
    x, out = (_tensor(torch, array, case.etype) for array in (case.x, y))
    number = float if x.dtype.is_floating_point else int
    call = partial(torch.clamp, x, number(case.lower), number(case.upper), out=out)
    try:
        call()
    except RuntimeError as error:  # NotImplementedError among them
        raise NotThereError("torch has no clamp for this element type") from error
    return call


def onnxruntime_clip(case: Case, y: Array) -> Call:
    """A session of one Clip node with all buffers bound, with one thread."""
    runtime = _module("onnxruntime")
    from sonnx_clip.runtimes.clip_model import one_node_model

    runtime.set_default_logger_severity(4)  # the log repeats what the exception says
    model, options = one_node_model(case.etype), runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    element = model.graph.input[0].type.tensor_type.elem_type
    try:
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # its classes differ from version to version
        raise NotThereError("onnxruntime has no Clip for this element type") from error
    binding = session.io_binding()
    kept = {"x": case.x, "l": np.array(case.lower), "m": np.array(case.upper)}
    for name, array in kept.items():
        binding.bind_input(name, "cpu", 0, element, array.shape, array.ctypes.data)
    binding.bind_output("y", "cpu", 0, element, y.shape, y.ctypes.data)
    call = partial(session.run_with_iobinding, binding)
    return _Keeping(call, kept)


class _Keeping:
    """A call that keeps alive the memory which it was bound to."""

    def __init__(self, call: Call, kept: object) -> None:
        self.call = call
        self.kept = kept

    def __call__(self) -> object:
        return self.call()


def version(name: str) -> str:
    """The version of a package, or `not there`."""
    try:
        return str(_module(name).__version__)
    except NotThereError:
        return "not there"


def _module(name: str) -> Any:
    os.environ["OMP_NUM_THREADS"] = "1"  # read when the package is imported
    try:
        module: ModuleType = importlib.import_module(name)
    except ImportError as error:
        raise NotThereError(f"{name} is not installed") from error
    return module


def _tensor(torch: Any, array: Array, etype: str) -> Any:
    if etype == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
