"""The inputs for one operator set, element type and form of a model, with the expected results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import onnx
from onnx import helper

from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_process import ModelCalls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.language import ElementType
    from sonnx_clip.oracle.dialect import DialectOracle
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.spec import Spec


Way: TypeAlias = Literal["both", "no min", "no max", "none"]

_IR_VERSION = 8  # known to every runtime: what is refused is the operator set, not the file


@dataclass(frozen=True)
class BoundsForm:
    """How bounds are given.

    Args:
        id: its name in reports.
        way: which bounds there are.
        inputs: the inputs of the node after X; an empty name is a missing one.
        attributes: the attributes of the node.
    """

    id: str
    way: Way
    inputs: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The bounds that there are, by name."""
        return tuple(name for name in (*self.inputs, *self.attributes) if name)


_AS_ATTRIBUTES = (
    BoundsForm("both", "both", attributes=("min", "max")),
    BoundsForm("no min", "no min", attributes=("max",)),
    BoundsForm("no max", "no max", attributes=("min",)),
    BoundsForm("none", "none"),
)
_AS_INPUTS = (
    BoundsForm("both", "both", ("min", "max")),
    BoundsForm("no min", "no min", ("", "max")),
    BoundsForm("no max", "no max", ("min",)),
    BoundsForm("no max, empty name", "no max", ("min", "")),
    BoundsForm("none", "none"),
    BoundsForm("none, empty names", "none", ("", "")),
)


def forms_of(bounds: str) -> tuple[BoundsForm, ...]:
    """The forms of a dialect whose bounds are ``attributes`` or ``inputs``."""
    return _AS_ATTRIBUTES if bounds == "attributes" else _AS_INPUTS


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


def clip_model(opset: int, etype: str, form: BoundsForm, attributes: Mapping[str, float]) -> bytes:
    """A serialised model of one Clip node: X of one dimension, bounds that are inputs of none.

    Args:
        opset: the operator set.
        etype: the id of the element type.
        form: how bounds are given.
        attributes: the values of the form's attributes.
    """
    of = helper.np_dtype_to_tensor_dtype(numpy_type(etype))
    inputs = [helper.make_tensor_value_info("x", of, [None])]
    inputs += [helper.make_tensor_value_info(name, of, []) for name in form.inputs if name]
    node = helper.make_node("Clip", ["x", *form.inputs], ["y"])
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    graph = helper.make_graph([node], "clip", inputs, [helper.make_tensor_value_info("y", of, [None])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=_IR_VERSION)
    return bytes(model.SerializeToString())


# --- The inputs of a runtime for one operator set, element type and form, with the expected results ---------


# FLOATs at which attributes are tried: signs of zero, infinities, NaN, the limits, subnormals, what becomes
# an infinity, a zero or another number in float16. Every pair of them, so inverted ones too.
FLOATS = (
    "0", "-0", "1", "-1", "0.1", "10", "inf", "-inf", "nan", "highest", "lowest", "65504", "65520", "-65520",
    "0x1p-149", "-0x1p-149", "0x1p-25",
)  # fmt: skip
# For an operator set whose version of Clip was tried with all of them before.
FEW_FLOATS = ("0", "-0", "1", "-1", "nan", "inf", "highest", "65520", "-0x1p-149")
_ZEROS, _EVERY_THIRD = (
    2,
    3,
)  # of the special values then: those in front, which are zeros of a float, and a third


@dataclass(frozen=True)
class ComparedForm:
    """Calls of one form: every X under every pair of bounds.

    Args:
        opset: the operator set.
        dialect: the oracle of its Clip.
        etype: the element type.
        form: how bounds are given.
        x: the special values, shape (n,), of the element type.
        given: the bounds as they are given, by name, each of shape (p,): FLOATs where they are attributes,
            else of the element type; a missing one is not there.
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
        """The calls as a runtime's process is asked for them."""
        names = [name for name in self.form.inputs if name]
        attributes = self.form.attributes
        columns = [self.given[name].tolist() for name in attributes]
        rows = zip(*columns, strict=True) if columns else [()]
        models = tuple(
            clip_model(self.opset, self.etype.id, self.form, dict(zip(attributes, row, strict=True)))
            for row in rows
        )
        bits = bits_type(self.etype.id)
        bounds = {name: self.given[name].view(bits) for name in names}
        return ModelCalls(self.etype.id, models, self.x.view(bits), bounds, len(self.lower))

    @property
    def word(self) -> str:
        """The dialect in the names of obligations: ``onnx_13``."""
        return self.dialect.id.replace("-", "_")

    @property
    def without(self) -> str:
        """What is missing, in the names of obligations: ``min``, ``max`` or ``bounds``; else empty."""
        return {"both": "", "none": "bounds"}.get(self.form.way, self.form.way.removeprefix("no "))

    @property
    def due(self) -> Array:
        """What the oracle answers, shape (p, n)."""
        return self.dialect.answer(self.every_x, self.lower, self.upper)

    @property
    def every_x(self) -> Array:
        """X beside every pair of bounds, shape (p, n)."""
        return np.broadcast_to(self.x, (len(self.lower), len(self.x)))


def questions(
    spec: Spec, dialect: DialectOracle, opset: int, etype: ElementType, *, brief: bool
) -> Iterator[ComparedForm]:
    """The calls of each form.

    Args:
        spec: the specification.
        dialect: the oracle of the Clip of the operator set.
        opset: the operator set.
        etype: an element type that the dialect takes.
        brief: whether fewer bounds will do.
    """
    dtype = numpy_type(etype.id)
    x = np.array(special_patterns(etype), bits_type(etype.id)).view(dtype)
    axis = np.concatenate([x[:_ZEROS], x[_ZEROS::_EVERY_THIRD]]) if brief else x
    if dialect.row["bounds"] == "attributes":
        axis = _floats(spec, FEW_FLOATS if brief else FLOATS)
    for form in forms_of(dialect.row["bounds"]):
        places = _pairs(len(axis), form)
        given = {name: axis[where] for name, where in places.items()}
        lower, upper = _as_taken(dialect, dtype, axis)
        count = max(map(len, places.values()), default=1)
        yield ComparedForm(
            opset, dialect, etype, form, x, given,
            _column(lower, places.get("min"), count), _column(upper, places.get("max"), count),
        )  # fmt: skip


def _floats(spec: Spec, texts: Sequence[str]) -> Array:
    of = spec.element_type("float32")
    return np.array([int(encode(text, of)) for text in texts], np.uint32).view(np.float32)


def _pairs(count: int, form: BoundsForm) -> dict[str, Array]:
    """The index of each bound in each call: every pair of two, every one of a single bound."""
    if form.way == "both":
        return {"min": np.repeat(np.arange(count), count), "max": np.tile(np.arange(count), count)}
    return {name: np.arange(count) for name in form.given}


def _as_taken(dialect: DialectOracle, dtype: np.dtype[np.generic], axis: Array) -> tuple[Array, Array]:
    """Each value as min and as max in the element type; what stands for a missing one comes last."""
    tensors = dialect.row["bound_type"] == "tensor"
    values = [None, *(axis[i, ...] if tensors else axis[i] for i in range(len(axis)))]
    found = [dialect.bounds(dtype, value, value) for value in values]
    lower, upper = (np.stack([pair[side] for pair in found]) for side in (0, 1))  # payloads are kept
    return np.roll(lower, -1), np.roll(upper, -1)


def _column(values: Array, where: Array | None, count: int) -> Array:
    return values[np.full(count, -1) if where is None else where][:, None]
