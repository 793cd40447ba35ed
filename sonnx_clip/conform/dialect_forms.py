"""Calls of one Clip node as an operator set defines it, with the results that the dialect's oracle gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import helper

from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_process import ModelCalls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language import ElementType
    from sonnx_clip.oracle.dialect import DialectOracle
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.spec import Spec

_IR_VERSION = 8  # known to every runtime: what is refused is the operator set, not the file

FLOATS = (
    "0", "-0", "1", "-1", "0.1", "10", "inf", "-inf", "nan", "highest", "lowest", "65504", "65520", "-65520",
    "0x1p-149", "-0x1p-149", "0x1p-25",
)  # fmt: skip
"""The FLOATs that bounds are where they are attributes; some become infinite, zero or another float16."""


@dataclass(frozen=True)
class BoundsForm:
    """How bounds are given: inputs of the node after X, of which an empty name is missing, or attributes."""

    id: str
    inputs: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The bounds that there are, by name."""
        return tuple(name for name in (*self.inputs, *self.attributes) if name)

    @property
    def missing(self) -> tuple[str, ...]:
        """The bounds that there are not."""
        return tuple(name for name in ("min", "max") if name not in self.given)


_AS_ATTRIBUTES = (
    BoundsForm("both", attributes=("min", "max")),
    BoundsForm("no min", attributes=("max",)),
    BoundsForm("no max", attributes=("min",)),
    BoundsForm("none"),
)
_AS_INPUTS = (
    BoundsForm("both", ("min", "max")),
    BoundsForm("no min", ("", "max")),
    BoundsForm("no max", ("min",)),
    BoundsForm("no max, empty name", ("min", "")),
    BoundsForm("none"),
    BoundsForm("none, empty names", ("", "")),
)


def newest_opset() -> int:
    """The newest operator set that the installed onnx knows."""
    return int(onnx.defs.onnx_opset_version())


def clip_version(opset: int) -> int:
    """The version of Clip that an operator set means; UserError if onnx does not know the set."""
    if not 1 <= opset <= newest_opset():
        raise UserError(
            f"there is no operator set {opset}",
            todo=f"choose one from 1 to {newest_opset()}, the newest that onnx {onnx.__version__} knows",
        )
    return int(onnx.defs.get_schema("Clip", opset, "").since_version)


def opsets_of(version: int) -> tuple[int, ...]:
    """The first and the last operator set that mean a version of Clip."""
    every = [opset for opset in range(1, newest_opset() + 1) if clip_version(opset) == version]
    return tuple(dict.fromkeys((every[0], every[-1])))


@dataclass(frozen=True)
class DialectForm:
    """Calls of one form: every special value of X under every pair of bounds.

    Args:
        opset: the operator set.
        dialect: the oracle of its Clip.
        etype: the element type.
        form: how bounds are given.
        x: the special values, shape (n,), of the element type.
        given: the bounds as they are given, by name, each of shape (p,): FLOATs where they are attributes,
            else of the element type.
        lower: min as the dialect takes it, shape (p, 1), of the element type.
        upper: max, likewise.
    """

    opset: int
    dialect: DialectOracle
    etype: ElementType
    form: BoundsForm
    x: Array
    given: dict[str, Array]
    lower: Array
    upper: Array

    @property
    def calls(self) -> ModelCalls:
        """The calls as the process of a runtime makes them."""
        columns = [self.given[name].tolist() for name in self.form.attributes]
        rows = zip(*columns, strict=True) if columns else [()]
        models = tuple(self._model(dict(zip(self.form.attributes, row, strict=True))) for row in rows)
        bits = bits_type(self.etype.id)
        bounds = {name: self.given[name].view(bits) for name in self.form.inputs if name}
        return ModelCalls(self.etype.id, models, self.x.view(bits), bounds, len(self.lower))

    def _model(self, attributes: Mapping[str, float]) -> bytes:
        """A model of one Clip node: X of one dimension, bounds that are inputs of none."""
        of = helper.np_dtype_to_tensor_dtype(numpy_type(self.etype.id))
        inputs = [helper.make_tensor_value_info("x", of, [None])]
        inputs += [helper.make_tensor_value_info(name, of, []) for name in self.form.inputs if name]
        node = helper.make_node("Clip", ["x", *self.form.inputs], ["y"])
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        graph = helper.make_graph([node], "clip", inputs, [helper.make_tensor_value_info("y", of, [None])])
        opset = helper.make_opsetid("", self.opset)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
        return bytes(model.SerializeToString())

    @property
    def bound_type(self) -> str:
        """The element type of the bounds as they are given."""
        return "float32" if self.dialect.row["bounds"] == "attributes" else self.etype.id

    @cached_property
    def every_x(self) -> Array:
        """X beside every pair of bounds, shape (p, n)."""
        return np.broadcast_to(self.x, (len(self.lower), len(self.x)))

    @cached_property
    def due(self) -> Array:
        """What the oracle answers, shape (p, n)."""
        return self.dialect.answer(self.every_x, self.lower, self.upper)

    def unbounded(self) -> tuple[Array, Array]:
        """Min and max with no bound at all in the place of a missing one; the same if none is missing."""
        family = load_oracle().FAMILY_OF[self.etype.id]
        texts = ("-inf", "inf") if family == "float" else ("lowest", "highest")
        found = []
        for name, text, bound in zip(("min", "max"), texts, (self.lower, self.upper), strict=True):
            end = np.array(int(encode(text, self.etype)), bits_type(self.etype.id)).view(self.x.dtype)
            found.append(np.full_like(bound, end) if name in self.form.missing else bound)
        return found[0], found[1]


def dialect_forms(
    spec: Spec, dialect: DialectOracle, opset: int, etype: ElementType
) -> Iterator[DialectForm]:
    """The calls of each form in which an operator set takes bounds.

    Args:
        spec: the specification.
        dialect: the oracle of the Clip of the operator set.
        opset: the operator set.
        etype: an element type that the dialect takes.
    """
    dtype = numpy_type(etype.id)
    x = np.array(special_patterns(etype), bits_type(etype.id)).view(dtype)
    attributes = dialect.row["bounds"] == "attributes"
    axis = x
    if attributes:
        of = spec.element_type("float32")
        axis = np.array([int(encode(text, of)) for text in FLOATS], np.uint32).view(np.float32)
    lower, upper = _as_taken(dialect, dtype, axis)
    for form in _AS_ATTRIBUTES if attributes else _AS_INPUTS:
        places = _pairs(len(axis), form)
        given = {name: axis[where] for name, where in places.items()}
        count = max(map(len, places.values()), default=1)
        columns = (
            values[places.get(name, np.full(count, -1))][:, None]
            for name, values in (("min", lower), ("max", upper))
        )
        yield DialectForm(opset, dialect, etype, form, x, given, *columns)


def _pairs(count: int, form: BoundsForm) -> dict[str, Array]:
    """The index of each bound in each call: every pair of two, every one of a single bound."""
    if not form.missing:
        return {"min": np.repeat(np.arange(count), count), "max": np.tile(np.arange(count), count)}
    return {name: np.arange(count) for name in form.given}


def _as_taken(dialect: DialectOracle, dtype: np.dtype[np.generic], axis: Array) -> tuple[Array, Array]:
    """Each value as min and as max in the element type; what stands for a missing one comes last."""
    tensors = dialect.row["bound_type"] == "tensor"
    values = [None, *(axis[i, ...] if tensors else axis[i] for i in range(len(axis)))]
    found = [dialect.bounds(dtype, value, value) for value in values]
    lower, upper = (np.stack([pair[side] for pair in found]) for side in (0, 1))  # payloads are kept
    return np.roll(lower, -1), np.roll(upper, -1)
