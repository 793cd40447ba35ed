"""The changes that normalise makes to a Clip node, each only where it changes no result.

Missing bounds are set, bounds of shape [1] become scalars, and inferred shapes are declared. Each step names
the theorems that it rests on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import ModelProto, TensorProto, helper

from sonnx_clip.lint.clip_nodes import ClipNode, scalars
from sonnx_clip.lint.edit import Editor, set_dims
from sonnx_clip.lint.operator_versions import (
    EXPORT_AGAIN,
    LIMITS,
    NEITHER_LIMITS,
    inputs_since,
    type_problem,
)
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.safe_text import quoted, show_dims, shown
from sonnx_clip.lint.tensors import NodeTensor, compatible, from_type, static_dims
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.lint.tensors import Dims
    from sonnx_clip.root.signature import Operand


@dataclass(frozen=True)
class NormaliseStep:
    """One change of one Clip node, or one restriction that stays broken where it is not `done`."""

    rule: str  # default_made_explicit, bound_made_scalar or shape_declared; else the id of the restriction
    what: str  # what was done, or what is left
    why: str  # why that changes no result, or why it could not be shown
    theorems: tuple[str, ...] = ()  # the ids of the obligations that this rests on
    done: bool = True


def fitting_shapes(
    model: ModelProto,
    shapes: Mapping[str, Sequence[int]],
) -> dict[str, Sequence[int]]:
    """The shapes of inputs that the model has and leaves open: others are for other models."""
    fitting: dict[str, Sequence[int]] = {}
    for value in model.graph.input:
        sizes = shapes.get(value.name)
        if sizes is None or value.type.WhichOneof("value") != "tensor_type":
            continue
        declared = from_type(value.type, "graph input").dims
        if declared is None or compatible(declared, tuple(sizes)):
            fitting[value.name] = sizes
    return fitting


def set_shapes(
    model: ModelProto,
    shapes: Mapping[str, Sequence[int]],
    path: Path,
) -> tuple[str, ...]:
    """Set the sizes that the user chooses for inputs of the main graph; returns what was changed.

    UserError if the model has no such input, or its declaration contradicts the sizes.
    """
    changes = []
    where = shown(str(path))
    inputs = {value.name: value for value in model.graph.input}
    for name, sizes in shapes.items():
        title = f"input {quoted(name)}"
        value = inputs.get(name)
        if value is None or value.type.WhichOneof("value") != "tensor_type":
            message = f"the model has no tensor {title}"
            input_names = ", ".join(map(quoted, inputs))
            raise UserError(message, where, f"its inputs are {input_names}")
        before = from_type(value.type, "graph input").dims
        after = tuple(sizes)
        before_text = "no shape" if before is None else show_dims(before)
        after_text = show_dims(after)
        # A number that the model declares is a promise to its callers: only symbols may become numbers.
        if before is not None and not compatible(before, after):
            message = f"{title} is declared with {before_text}; {after_text} does not fit"
            raise UserError(message, where, "--input-shape sets only dynamic sizes")
        if before != after:
            set_dims(value, after)
            changes.append(f"{title}: {before_text} became {after_text} (--input-shape)")
    return tuple(changes)


@dataclass(frozen=True)
class NodeChange:
    """The changes of one node, each where it changes no result."""

    editor: Editor
    place: ClipNode  # in the model under change
    node: ClipNode  # the same as lint found it, where functions are inlined
    tensors: Sequence[NodeTensor]  # its operands and its result
    # The user assures that neither the tensor nor the other bound is ever infinite.
    assume_finite: bool

    @property
    def x(self) -> NodeTensor:
        """The first operand."""
        return self.tensors[0]

    def steps(self) -> list[NormaliseStep]:
        """Change the node; what was done and what was left."""
        node = self.node
        bounds = scalars(self.tensors)
        missing = [bound.operand for bound in bounds if bound.name is None]
        x_type = self.x.known_type
        problem = None
        if x_type is not None:
            problem = type_problem(node.proto.op_type, node.version, x_type)
        if node.version < inputs_since():
            # Attributes could become inputs only with another operator set for the whole model, where other
            # operators have other meanings.
            what = f"is no input of {node.operator}"
            steps = [_not_set(bound.operand, EXPORT_AGAIN, what=what) for bound in bounds]
        elif problem is not None:
            steps = [_not_set(bound, problem) for bound in missing]
        else:
            neither = len(missing) == len(bounds)
            steps = [self._set_bound(bound, neither=neither) for bound in missing]
        for bound in bounds:
            step = self._make_scalar(bound)
            if step is not None:
                steps.append(step)
        steps += self._declare_inferred()
        return steps

    def _set_bound(self, bound: Operand, *, neither: bool) -> NormaliseStep:
        """Set a bound to the numeric limit that the text defines; `neither` bound of the node is set."""
        limit = LIMITS[bound.onnx]
        x = self.x
        etype = profile().element_type(x.known_type)
        if etype is None:
            why = f"the element type of {x.id} is unknown, and so is its {limit.number} number"
            return _not_set(bound, why)
        limits_nothing = NEITHER_LIMITS if neither else limit.limits_nothing
        is_float = etype.family == "float"
        # The largest finite number does limit an infinity, which an integer type does not have. The prover
        # refutes the property for floats, and shows its repaired form: without infinities.
        if is_float and not self.assume_finite:
            refuted = etype.shown_by(limits_nothing, "refuted")
            why = (
                f"the text gives numeric_limits, which limits an infinite {x.id}; the function body of "
                f"Clip-13 does not, and runtimes differ ({refuted}). "
                "If no infinity reaches the node: --assume finite"
            )
            return _not_set(bound, why, refuted)
        # As raw data, which has one form for every element type.
        data_type = TensorProto.DataType.Value(etype.onnx)
        value = TensorProto(data_type=data_type, raw_data=limit.of(etype))
        wanted_name = f"{self.place.proto.output[0]}_{bound.onnx}"
        name = self.editor.constant(self.place, wanted_name, value)
        self.editor.set_input(self.place, bound, name)
        number = f"the {limit.number} {etype.onnx}"
        what = f"{bound.onnx} was not set and is {number} now: input {quoted(name)}"
        why = "the result with this bound is the result without it, bit for bit"
        if is_float:
            why = f"with no infinity {why} (--assume finite)"
        theorem = etype.shown_by(limits_nothing, "repaired" if is_float else "holds")
        return NormaliseStep("default_made_explicit", what, why, (theorem,))

    def _make_scalar(self, bound: NodeTensor) -> NormaliseStep | None:
        """Make a bound of shape [1] a scalar: a stored one is copied, a computed one reshaped."""
        x = self.x
        y = self.tensors[-1]
        name = bound.name
        dims = bound.known_dims
        if name is None or not dims:
            return None
        title = f"{bound.operand.onnx} {quoted(name)} has the shape {show_dims(dims)}"
        obstacle = self._obstacle_to_scalar(bound, dims)
        if obstacle is not None:
            rule = profile().rule("is_scalar", bound.operand)
            return NormaliseStep(rule, title, obstacle, done=False)

        # Weights outside the model are never loaded, so a stored copy can be made only of data in it.
        stored = self.place.scope.defining(name).defined.get(name)
        if (
            stored is not None
            and stored.data_location != TensorProto.EXTERNAL
            and list(stored.dims) == [1]
        ):
            scalar = self._scalar_copy(name, stored)
            how = f"the node reads the scalar {quoted(scalar)} with the same bits now"
        else:
            scalar = self._reshaped(name, bound.known_type or x.known_type)
            how = f"the node reads {quoted(scalar)} now, its Reshape to []"
        self.editor.set_input(self.place, bound.operand, scalar)

        # A type that the profile does not have, or that is not known, has no theorems.
        etype = profile().element_type(x.known_type)
        theorems: tuple[str, ...] = ()
        if etype is not None:
            shape_theorem = etype.shown_by("C1", "holds")
            theorems = (shape_theorem, etype.shown_by("cases", "written"))
        why = f"the one entry keeps its bits, and {y.id} has the shape of {x.id} for any shape of the bound"
        return NormaliseStep("bound_made_scalar", f"{title}: {how}", why, theorems)

    def _obstacle_to_scalar(self, bound: NodeTensor, dims: Dims) -> str | None:
        """Why a bound of this shape stays as it is; None where a scalar changes no result."""
        x, y = self.x.id, self.tensors[-1].id
        if dims != (1,):
            return "a runtime may refuse this shape or broadcast it; both differ from Clip with a scalar"
        if bound.sparse is not None:
            return "it is sparse (R3): store it as a dense scalar"
        if not self.x.known_dims:
            return (
                f"{x} may have rank 0; a runtime that broadcasts then gives {y} the shape [1] (C1)"
            )
        return None

    def _scalar_copy(self, name: str, stored: TensorProto) -> str:
        """The name of a new constant: a stored tensor of shape [1] without its axis."""
        copy = TensorProto()
        copy.CopyFrom(stored)
        del copy.dims[:]
        self.editor.replaced.add(name)
        return self.editor.constant(self.place, f"{name}_scalar", copy)

    def _reshaped(self, name: str, element_type: str | None) -> str:
        """The name of the result of a new Reshape of a tensor to no axes."""
        editor = self.editor
        no_axes = helper.make_tensor("", TensorProto.INT64, [0], [])
        shape = editor.constant(self.place, f"{name}_no_axes", no_axes)
        scalar = editor.fresh(f"{name}_scalar")
        reshape = helper.make_node("Reshape", [name, shape], [scalar], name=scalar)
        editor.add(self.place, reshape)
        editor.declare(self.place, scalar, element_type, ())
        return scalar

    def _declare_inferred(self) -> Iterator[NormaliseStep]:
        """Declare inferred element types and shapes of numbers of what nodes compute.

        The inputs of a graph are what a caller may pass, and that is not changed. A bound that becomes a
        scalar is left to that change.
        """
        for tensor in self.tensors:
            name = tensor.name
            role = tensor.operand.role
            becomes_scalar = role == "scalar" and tensor.known_dims == (1,)
            if name is None or becomes_scalar:
                continue
            # Lint reports these as violated, and a declaration remedies none of them.
            if tensor.contradiction or tensor.not_tensor or tensor.sparse:
                continue

            element_type = tensor.known_type
            dims = None
            if static_dims(tensor.dims) is None:
                # Facts that rest on no other declaration of the model come first.
                dims = static_dims(tensor.derived.dims)
                if dims is None:
                    dims = static_dims(tensor.inferred.dims)
            # Then the type is declared, and no shape of numbers is known that the declaration lacks.
            if tensor.element_types and dims is None:
                continue
            if not self.editor.declare(self.place, name, element_type, dims):
                continue
            # Of the result the theorems say shape and type; an operand has what its own node computes.
            etype = profile().element_type(element_type) if role == "result" else None
            theorems: tuple[str, ...] = ()
            if etype is not None:
                theorems = (etype.shown_by("C1", "holds"), etype.shown_by("C3", "holds"))
            shape = f" {show_dims(dims)}" if dims is not None else ""
            what = f"{tensor.id} {quoted(name)} is declared as {element_type}{shape} now"
            why = "found by onnx's shape inference; it changes no value"
            yield NormaliseStep("shape_declared", what, why, theorems)


def _not_set(
    bound: Operand,
    why: str,
    *theorems: str,
    what: str = "is not set",
) -> NormaliseStep:
    """The step of a bound that stays unset."""
    rule = profile().rule("is_set", bound)
    return NormaliseStep(rule, f"{bound.onnx} {what}", why, theorems, done=False)
