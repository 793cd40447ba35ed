"""Two models compared by what they compute: onnxruntime, with and without graph optimisation, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

if TYPE_CHECKING:
    from pathlib import Path

Feed = dict[str, np.ndarray[Any, Any]]
_LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")
_SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 3.4e38, -3.4e38, 1e-45, 0.5, 6.0, 65504.0]


def _values(
    dtype: np.dtype[Any], shape: tuple[int, ...], source: np.random.Generator, *, special: bool
) -> Any:
    if dtype == np.bool_:
        return np.full(shape, special)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        drawn = source.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        if special:
            drawn = source.choice(np.array([limits.min, limits.max, 0, 1, 2], dtype), shape)
        return np.asarray(drawn, dtype)
    if special:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(source.choice(np.array(_SPECIAL), shape), dtype)
    return np.asarray(source.standard_normal(shape) * 4, dtype)


def feeds(model: onnx.ModelProto, count: int = 4, seed: int = 4) -> list[Feed]:
    """Inputs for a model, random and special in turn; a symbolic dimension is 2, one of -1 too."""
    source = np.random.default_rng(seed)
    stored = {tensor.name for tensor in model.graph.initializer}
    found: list[Feed] = []
    for number in range(count):
        feed: Feed = {}
        for value in model.graph.input:
            if value.name in stored:
                continue
            tensor = value.type.tensor_type
            dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
            shape = tuple(dim.dim_value if dim.dim_value > 0 else 2 for dim in tensor.shape.dim)
            feed[value.name] = _values(dtype, shape, source, special=number % 2 == 1)
        found.append(feed)
    return found


def _bits(result: Any) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(result)
    return str(array.dtype), array.shape, array.tobytes()


def run(path: Path, given: list[Feed], level: str) -> list[list[tuple[str, tuple[int, ...], bytes]]]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [[_bits(one) for one in session.run(None, feed)] for feed in given]


def differences(before: Path, after: Path, given: list[Feed] | None = None) -> list[str]:
    """Where two models differ in an output; an empty list of inputs or outputs is a difference too."""
    given = given or feeds(onnx.load(before, load_external_data=False))
    found = []
    for level in _LEVELS:
        for number, (old, new) in enumerate(
            zip(run(before, given, level), run(after, given, level), strict=True)
        ):
            if not old:
                found.append(f"{level}: nothing was compared")
            found += [
                f"{level}, input {number}, output {n}"
                for n, pair in enumerate(zip(old, new, strict=True))
                if pair[0] != pair[1]
            ]
    return found


def reference_differences(before: Path, after: Path) -> list[str]:
    """The same by onnx's ReferenceEvaluator, for element types that onnxruntime does not have."""
    given = feeds(onnx.load(before))
    old, new = (ReferenceEvaluator(str(path)) for path in (before, after))
    found = []
    for number, feed in enumerate(given):
        with np.errstate(all="ignore"):
            pairs = list(zip(old.run(None, feed), new.run(None, feed), strict=True))
        found += [] if pairs else ["nothing was compared"]
        found += [f"input {number}" for one, other in pairs if _bits(one) != _bits(other)]
    return found
