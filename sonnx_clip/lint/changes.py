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
from sonnx_clip.lint.tensors import Argument, compatible, from_type, numbers
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.root.signature import Operand


@dataclass(frozen=True)
class Step:
    """One change of one Clip node, or one restriction that stays broken where it is not `done`."""

    rule: str  # default_made_explicit, bound_made_scalar or shape_declared; else the id of the restriction
    what: str  # what was done, or what is left
    why: str  # why that changes no result, or why it could not be shown
    theorems: tuple[str, ...] = ()  # the ids of the obligations that this rests on
    done: bool = True


def fitting_shapes(
    model: ModelProto, shapes: Mapping[str, Sequence[int]]
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
    model: ModelProto, shapes: Mapping[str, Sequence[int]], path: Path
) -> tuple[str, ...]:
    """Set the sizes that the user chooses for inputs of the main graph; returns what was changed.

    UserError if the model has no such input, or its declaration contradicts the sizes.
    """
    changes, where = [], shown(str(path))
    inputs = {value.name: value for value in model.graph.input}
    for name, sizes in shapes.items():
        value = inputs.get(name)
        after = tuple(sizes)
        if value is None or value.type.WhichOneof("value") != "tensor_type":
            message = f"the model has no tensor input {quoted(name)}"
            raise UserError(message, where, f"its inputs are {', '.join(map(quoted, inputs))}")
        before = from_type(value.type, "graph input").dims
        title = "no shape" if before is None else show_dims(before)
        if before is not None and not compatible(before, after):
            message = (
                f"input {quoted(name)} is declared with {title}; {show_dims(after)} does not fit"
            )
            raise UserError(message, where, "--input-shape sets only dynamic sizes")
        if before != after:
            set_dims(value, after)
            changes.append(
                f"input {quoted(name)}: {title} became {show_dims(after)} (--input-shape)"
            )
    return tuple(changes)


@dataclass(frozen=True)
class NodeChange:
    """The changes of one node, each where it changes no result."""

    editor: Editor
    place: ClipNode  # in the model under change
    node: ClipNode  # the same as lint found it, where functions are inlined
    tensors: Sequence[Argument]  # its operands and its result
    assume_finite: (
        bool  # the user assures that neither the tensor nor the other bound is ever infinite
    )

    @property
    def x(self) -> Argument:
        """The first operand."""
        return self.tensors[0]

    def steps(self) -> list[Step]:
        """Change the node; what was done and what was left."""
        node = self.node
        bounds = scalars(self.tensors)
        missing = [bound.operand for bound in bounds if bound.name is None]
        known = self.x.known_type
        problem = type_problem(node.proto.op_type, node.version, known) if known else None
        if node.version < inputs_since(profile()):
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

    def _set_bound(self, bound: Operand, *, neither: bool) -> Step:
        """Set a bound to the numeric limit that the text defines; `neither` bound of the node is set."""
        limit = LIMITS[bound.onnx]
        x = self.x
        etype = profile().element_type(x.known_type)
        if etype is None:
            why = f"the element type of {x.id} is unknown, and so is its {limit.number} number"
            return _not_set(bound, why)
        limits_nothing = NEITHER_LIMITS if neither else limit.limits_nothing
        is_float = etype.family == "float"
        if is_float and not self.assume_finite:
            refuted = etype.shown_by(limits_nothing, "refuted")
            why = (
                f"the text gives numeric_limits, which limits an infinite {x.id}; the function body of "
                f"Clip-13 does not, and runtimes differ ({refuted}). "
                "If no infinity reaches the node: --assume finite"
            )
            return _not_set(bound, why, refuted)
        value = TensorProto(
            data_type=TensorProto.DataType.Value(etype.onnx), raw_data=limit.of(etype)
        )
        tensor = self.editor.constant(
            self.place, f"{self.place.proto.output[0]}_{bound.onnx}", value
        )
        self.editor.set_input(self.place, bound, tensor)
        what = f"{bound.onnx} was not set and is the {limit.number} {etype.onnx} now: input {quoted(tensor)}"
        why = "the result with this bound is the result without it, bit for bit"
        if is_float:
            why = f"with no infinity {why} (--assume finite)"
        theorem = etype.shown_by(limits_nothing, "repaired" if is_float else "holds")
        return Step("default_made_explicit", what, why, (theorem,))

    def _make_scalar(self, bound: Argument) -> Step | None:
        """Make a bound of shape [1] a scalar: a stored one is copied, a computed one reshaped."""
        editor = self.editor
        place = self.place
        x = self.x
        y = self.tensors[-1]
        name = bound.name
        dims = bound.known_dims
        if name is None or not dims:
            return None
        title = f"{bound.operand.onnx} {quoted(name)} has the shape {show_dims(dims)}"
        why = ""
        if dims != (1,):
            why = "a runtime may refuse this shape or broadcast it; both differ from Clip with a scalar"
        elif bound.sparse is not None:
            why = "it is sparse (R3): store it as a dense scalar"
        elif not x.known_dims:
            why = f"{x.id} may have rank 0; a runtime that broadcasts then gives {y.id} the shape [1] (C1)"
        if why:
            return Step(profile().rule("is_scalar", bound.operand), title, why, done=False)

        stored = place.scope.defining(name).defined.get(name)
        if stored is not None and stored.data_location == TensorProto.EXTERNAL:
            stored = None
        if stored is not None and list(stored.dims) == [1]:
            copy = TensorProto()
            copy.CopyFrom(stored)
            del copy.dims[:]
            scalar = editor.constant(place, f"{name}_scalar", copy)
            editor.replaced.add(name)
            how = f"the node reads the scalar {quoted(scalar)} with the same bits now"
        else:
            no_axes = helper.make_tensor("", TensorProto.INT64, [0], [])
            shape = editor.constant(place, f"{name}_no_axes", no_axes)
            scalar = editor.fresh(f"{name}_scalar")
            editor.add(place, helper.make_node("Reshape", [name, shape], [scalar], name=scalar))
            editor.declare(place, scalar, bound.known_type or x.known_type, ())
            how = f"the node reads {quoted(scalar)} now, its Reshape to []"
        editor.set_input(place, bound.operand, scalar)

        etype = profile().element_type(x.known_type)
        theorems: tuple[str, ...] = ()
        if etype is not None:
            theorems = (etype.shown_by("C1", "holds"), etype.shown_by("cases", "written"))
        why = f"the one entry keeps its bits, and {y.id} has the shape of {x.id} for any shape of the bound"
        return Step("bound_made_scalar", f"{title}: {how}", why, theorems)

    def _declare_inferred(self) -> Iterator[Step]:
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
            if tensor.contradiction or tensor.not_tensor or tensor.sparse:
                continue

            element_type = tensor.known_type
            dims = None
            if numbers(tensor.dims) is None:
                dims = numbers(tensor.derived.dims)
                if dims is None:
                    dims = numbers(tensor.inferred.dims)
            if tensor.element_types and dims is None:
                continue
            if self.editor.declare(self.place, name, element_type, dims):
                etype = profile().element_type(element_type) if role == "result" else None
                theorems: tuple[str, ...] = ()
                if etype is not None:
                    theorems = (etype.shown_by("C1", "holds"), etype.shown_by("C3", "holds"))
                shape = f" {show_dims(dims)}" if dims is not None else ""
                what = f"{tensor.id} {quoted(name)} is declared as {element_type}{shape} now"
                why = "found by onnx's shape inference; it changes no value"
                yield Step("shape_declared", what, why, theorems)


def _not_set(bound: Operand, why: str, *theorems: str, what: str = "is not set") -> Step:
    return Step(profile().rule("is_set", bound), f"{bound.onnx} {what}", why, theorems, done=False)
