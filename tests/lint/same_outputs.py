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
_SPECIAL = [
    np.nan,
    -np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1.0,
    -1.0,
    3.4e38,
    -3.4e38,
    1e-45,
    0.5,
    6.0,
    65504.0,
]


def _values(
    dtype: np.dtype[Any], shape: tuple[int, ...], source: np.random.Generator, special: bool
) -> Any:
    """Numbers of every size, or special values alone."""
    if dtype == np.bool_:
        return np.full(shape, special)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        edges = np.array([limits.min, limits.max, 0, 1, 2], dtype)
        drawn = source.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        return np.asarray(source.choice(edges, shape) if special else drawn, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = (
            source.choice(np.array(_SPECIAL), shape)
            if special
            else source.standard_normal(shape) * 4
        )
        return np.asarray(numbers, dtype)


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
            feed[value.name] = _values(dtype, shape, source, number % 2 == 1)
        found.append(feed)
    return found


def _bits(result: Any) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(result)
    return str(array.dtype), array.shape, array.tobytes()


def run(
    path: Path, given: list[Feed], level: str
) -> list[list[tuple[str, tuple[int, ...], bytes]]]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [[_bits(one) for one in session.run(None, feed)] for feed in given]


def differences(before: Path, after: Path, given: list[Feed] | None = None) -> list[str]:
    """Where two models differ in an output by onnxruntime; that there is no output is a difference too."""
    given = given or feeds(onnx.load(before, load_external_data=False))
    found = []
    for level in _LEVELS:
        answers = zip(run(before, given, level), run(after, given, level), strict=True)
        found += [
            f"{level}, input {n}" for n, (old, new) in enumerate(answers) if old != new or not old
        ]
    return found


def reference_differences(before: Path, after: Path) -> list[str]:
    """The same by onnx's ReferenceEvaluator, for element types that onnxruntime does not have."""
    models = [ReferenceEvaluator(str(path)) for path in (before, after)]
    found = []
    for number, feed in enumerate(feeds(onnx.load(before))):
        with np.errstate(all="ignore"):
            old, new = ([_bits(one) for one in model.run(None, feed)] for model in models)
        found += [f"input {number}"] if old != new or not old else []
    return found
