"""Inputs on which a model is run before and after: ordinary, special, and both mixed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper

from sonnx_clip.graph.declared_tensors import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx import ModelProto, ValueInfoProto

Array = np.ndarray[Any, Any]
Feed = dict[str, Array]

KINDS = ("ordinary", "special", "mixed", "small")
# What an open dimension is tried with, in this order, until the model runs.
SIZES = (2, 1, 3, 4, 8, 16, 32, 48, 64, 224)
_ENTRIES = 1 << 25
_SPECIAL = (
    *(np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 6.0, -6.0),
    *(3.4028234663852886e38, -3.4028234663852886e38, 1.401298464324817e-45, 65504.0, -65504.0, 127.0, 255.0),
)


class NoInputError(Exception):
    """The model takes what no input can be made for; the message says what."""


def inputs_of(model: ModelProto) -> list[ValueInfoProto]:
    """The inputs that a caller must give."""
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {sparse.values.name for sparse in model.graph.sparse_initializer}
    return [value for value in model.graph.input if value.name not in stored]


def is_open(model: ModelProto, sizes: Mapping[str, Sequence[int]]) -> bool:
    """A dimension of an input has no number yet."""
    return any(
        value.name not in sizes and any(dim.dim_value <= 0 for dim in value.type.tensor_type.shape.dim)
        for value in inputs_of(model)
    )


def feeds(model: ModelProto, size: int, sizes: Mapping[str, Sequence[int]]) -> list[tuple[str, Feed]]:
    """One input of each kind, with this size for open dimensions; the same for every run.

    Raises:
        NoInputError: an input is no tensor, has no shape, or is too large.
    """
    found: list[tuple[str, Feed]] = []
    for kind in KINDS:
        source = np.random.default_rng(KINDS.index(kind) + 1)
        feed = {
            value.name: _array(value, sizes.get(value.name), size, source, kind) for value in inputs_of(model)
        }
        found.append((kind, feed))
    return found


def _array(
    value: ValueInfoProto, shape: Sequence[int] | None, size: int, source: np.random.Generator, kind: str
) -> Array:
    name = f"input {quoted(value.name)}"
    if value.type.WhichOneof("value") != "tensor_type":
        raise NoInputError(f"{name} is no tensor")
    tensor = value.type.tensor_type
    if shape is None:
        if not tensor.HasField("shape"):
            raise NoInputError(f"{name} has no shape; --input-shape gives it one")
        shape = [dim.dim_value if dim.dim_value > 0 else size for dim in tensor.shape.dim]
    if math.prod(shape) > _ENTRIES:
        raise NoInputError(f"{name} has {math.prod(shape)} entries, too many to be tried")
    if tensor.elem_type == TensorProto.STRING:
        return source.choice(np.array(["", "a", "text"], object), tuple(shape))
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except KeyError:
        raise NoInputError(f"{name} has no element type") from None
    return _numbers(dtype, tuple(shape), source, kind)


def _numbers(dtype: np.dtype[Any], shape: tuple[int, ...], source: np.random.Generator, kind: str) -> Array:
    if dtype == np.bool_:
        return np.asarray(source.integers(0, 2, shape), bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        extremes = np.array([limits.min, limits.max, 0, 1, 2], dtype)
        if kind == "special":
            return np.asarray(source.choice(extremes, shape), dtype)
        if kind == "ordinary":
            return np.asarray(
                source.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True), dtype
            )
        # Small numbers, which an index or a size may be.
        return np.asarray(source.integers(0, 2, shape), dtype)
    with np.errstate(all="ignore"):
        special = source.choice(np.array(_SPECIAL), shape)
        if kind == "special":
            return np.asarray(special, dtype)
        drawn = source.standard_normal(shape) * (0.1 if kind == "small" else 4)
        if kind == "mixed":
            drawn = np.where(source.random(shape) < 0.1, special, drawn)
        return np.asarray(drawn, dtype)
