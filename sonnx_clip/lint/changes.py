"""The changes that normalise makes: missing bounds set, bounds of shape [1] made scalars, shapes declared.

Each is made only where it changes no result, and names the theorems that this rests on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper

from sonnx_clip.lint.normalise_report import Step, did, left_alone
from sonnx_clip.lint.operands import scalars
from sonnx_clip.lint.operator_versions import LIMITS, NEITHER_LIMITS, type_problem
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.tensors import Dims, from_type, quoted, show_dims, shown, symbols
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import ModelProto

    from sonnx_clip.lint.edit import Editor, Place
    from sonnx_clip.lint.operands import Argument
    from sonnx_clip.lint.profile import OnnxOperand
    from sonnx_clip.lint.scopes import ClipNode, Scope

    Node = tuple[Place, ClipNode, Sequence[Argument]]
    """A Clip node in the model under change, the same as lint found it, and its tensors."""

_ONE: Dims = (1,)
_ELEMENT_TYPES = frozenset(TensorProto.DataType.keys())


# --- The sizes of inputs ------------------------------------------------------------------------------------


def set_shapes(model: ModelProto, shapes: Mapping[str, Sequence[int]], path: Path) -> tuple[str, ...]:
    """Give inputs of the main graph the sizes that the user chooses; returns what was changed.

    Raises:
        UserError: the model has no such input, or its declaration contradicts the sizes.
    """
    found: list[str] = []
    inputs = {value.name: value for value in model.graph.input}
    where = shown(str(path))
    for name, sizes in shapes.items():
        value = inputs.get(name)
        if value is None or value.type.WhichOneof("value") != "tensor_type":
            known = ", ".join(quoted(one) for one in inputs)
            what = f"the model has no input {quoted(name)} that is a tensor"
            raise UserError(what, where, f"its inputs are {known}")
        shape = value.type.tensor_type.shape
        ranked = value.type.tensor_type.HasField("shape")
        info = from_type(value.type, "graph input")
        before = show_dims(info.dims) if info and info.dims is not None else "no shape"
        after = show_dims(tuple(sizes))
        pairs = zip(shape.dim, sizes, strict=False)
        if ranked and (
            len(shape.dim) != len(sizes) or any(dim.dim_value > 0 and dim.dim_value != n for dim, n in pairs)
        ):
            raise UserError(
                f"input {quoted(name)} is declared with {before}; {after} does not fit",
                where,
                "--input-shape gives numbers to sizes that the model leaves open",
            )
        if ranked and [dim.dim_value for dim in shape.dim] == list(sizes):
            continue
        shape.SetInParent()
        for axis, size in enumerate(sizes):
            dim = shape.dim[axis] if axis < len(shape.dim) else shape.dim.add()
            dim.dim_value = size
        found.append(f"input {quoted(name)}: {before} became {after} (--input-shape)")
    return tuple(found)


# --- What shape inference finds, declared -------------------------------------------------------------------


def declare_inferred(editor: Editor, nodes: Sequence[Node]) -> list[list[Step]]:
    """Declare inferred element types and shapes of the tensors of Clip nodes.

    Only what nodes compute is declared, and only shapes that are numbers throughout: the inputs of a graph
    say what a caller may pass, and that is not changed. A bound that becomes a scalar is left to that change.
    """
    return [
        [
            step
            for tensor in tensors
            if tensor.name is not None
            and not (tensor.operand.role == "scalar" and tensor.known_dims == _ONE)
            and (step := _declare(editor, place, node, tensor, tensor.name)) is not None
        ]
        for place, node, tensors in nodes
    ]


def _declare(editor: Editor, place: Place, node: ClipNode, tensor: Argument, name: str) -> Step | None:
    if tensor.contradiction or tensor.not_tensor or tensor.sparse is not None:
        return None
    element_type, dims = tensor.known_type, _numbers(tensor)
    new_type = element_type is not None and not tensor.element_types
    new_dims = dims is not None and (tensor.dims is None or bool(symbols(tensor.dims)))
    if element_type is None or not (new_type or new_dims) or element_type not in _ELEMENT_TYPES:
        return None
    scope = node.scope.defining(name)
    if scope is None:
        return None
    graph = place.graphs[_depth(scope)]
    if name in {value.name for value in graph.input}:
        return None
    if not editor.declare(graph, name, element_type, dims if new_dims else None):
        return None
    shape = f" {show_dims(dims)}" if new_dims and dims is not None else ""
    etype = profile().element_type(element_type)
    is_result = tensor.operand.role == "result"
    theorems = (etype.shown_by("C1", "holds"), etype.shown_by("C3", "holds")) if etype and is_result else ()
    what = f"{tensor.id} {quoted(name)} is declared as {element_type}{shape} now"
    return did("shape_declared", what, "found by onnx's shape inference; it changes no value", theorems)


def _numbers(tensor: Argument) -> tuple[int, ...] | None:
    """A shape of numbers that inference finds."""
    for info in (tensor.derived, tensor.inferred):
        if info is not None and info.dims is not None:
            numbers = tuple(dim for dim in info.dims if isinstance(dim, int))
            if len(numbers) == len(info.dims):
                return numbers
    return None


def _depth(scope: Scope) -> int:
    return 0 if scope.outer is None else 1 + _depth(scope.outer)


# --- Bounds that are not set, made explicit -----------------------------------------------------------------


def missing_bounds(
    editor: Editor, place: Place, node: ClipNode, tensors: Sequence[Argument], *, assume_finite: bool
) -> list[Step]:
    """Make the bounds that are not set explicit, where this changes no result.

    Args:
        editor: the model under change.
        place: of the node.
        node: the same as lint found it; its version takes bounds as inputs.
        tensors: its operands and its result.
        assume_finite: the user's word that neither the tensor nor the other bound is ever infinite.
    """
    x, bounds = tensors[0], scalars(tensors)
    missing = [bound.operand for bound in bounds if bound.name is None]
    element_type = x.known_type
    problem = type_problem(place.node.op_type, node.version, element_type) if element_type else None
    if problem is not None:
        return [_not_set(bound, problem) for bound in missing]
    neither = len(missing) == len(bounds)
    return [
        _missing(editor, place, x, bound, neither=neither, assume_finite=assume_finite) for bound in missing
    ]


def _not_set(bound: OnnxOperand, why: str, theorems: tuple[str, ...] = ()) -> Step:
    return left_alone(profile().rule("is_set", bound), f"{bound.onnx} is not set", why, theorems)


def _missing(
    editor: Editor, place: Place, x: Argument, bound: OnnxOperand, *, neither: bool, assume_finite: bool
) -> Step:
    limit = LIMITS[bound.onnx]
    etype = profile().element_type(x.known_type)
    if etype is None:
        why = f"the element type of {x.id} is not known, so neither is its {limit.number} number"
        return _not_set(bound, why)
    limits_nothing = NEITHER_LIMITS if neither else limit.limits_nothing
    if etype.family == "float" and not assume_finite:
        refuted = etype.shown_by(limits_nothing, "refuted")
        why = (
            f"the text gives numeric_limits, which limits an infinite {x.id}; the function body of Clip-13 "
            f"does not, and runtimes differ ({refuted}). If no infinity reaches the node: --assume finite"
        )
        return _not_set(bound, why, (refuted,))
    tensor = editor.bound(place, bound, etype.onnx, limit.of(etype))
    editor.set_input(place, bound, tensor)
    what = f"{bound.onnx} was not set and is the {limit.number} {etype.onnx} now: input {quoted(tensor)}"
    if etype.family == "float":
        why = "with no infinity this bound is no bound, bit for bit (--assume finite)"
        return did("default_made_explicit", what, why, (etype.shown_by(limits_nothing, "repaired"),))
    why = "this bound is no bound, bit for bit"
    return did("default_made_explicit", what, why, (etype.shown_by(limits_nothing, "holds"),))


# --- Bounds of shape [1] made scalars: a stored one is copied, a computed one goes through a Reshape --------


def one_entry_bounds(editor: Editor, place: Place, tensors: Sequence[Argument]) -> list[Step]:
    """Make bounds of shape [1] scalars; returns what was done and what was left."""
    steps = (_one_entry(editor, place, tensors, bound) for bound in scalars(tensors))
    return [step for step in steps if step is not None]


def _one_entry(editor: Editor, place: Place, tensors: Sequence[Argument], bound: Argument) -> Step | None:
    x, y = tensors[0], tensors[-1]
    dims = bound.known_dims if bound.name is not None else None
    if not dims or bound.name is None:
        return None
    rule = profile().rule("is_scalar", bound.operand)
    title = f"{bound.operand.onnx} {quoted(bound.name)} has the shape {show_dims(dims)}"
    if dims != _ONE:
        why = "a runtime may refuse this shape or broadcast it; neither is Clip with a scalar"
        return left_alone(rule, title, why)
    if bound.sparse is not None:
        return left_alone(rule, title, "it is sparse (R3): store it as a dense scalar")
    if not x.known_dims:
        why = f"{x.id} may have rank 0; a runtime that broadcasts would then give {y.id} the shape [1]"
        return left_alone(rule, title, f"{why}, against C1")
    scalar = editor.scalar_copy(place, bound.name)
    how = f"the node reads the scalar {quoted(scalar)} with the same bits now" if scalar else ""
    if scalar is None:
        scalar = _reshape(editor, place, x, bound, bound.name)
        how = f"the node reads {quoted(scalar)} now, its Reshape to []"
    editor.set_input(place, bound.operand, scalar)
    etype = profile().element_type(x.known_type)
    theorems = (etype.shown_by("C1", "holds"), etype.shown_by("cases", "written")) if etype else ()
    why = f"the one entry keeps its bits, and {y.id} has the shape of {x.id} whatever that of the bound is"
    return did("bound_made_scalar", f"{title}: {how}", why, theorems)


def _reshape(editor: Editor, place: Place, x: Argument, bound: Argument, name: str) -> str:
    shape, scalar = editor.fresh(f"{name}_no_axes"), editor.fresh(f"{name}_scalar")
    editor.constant(place, helper.make_tensor(shape, TensorProto.INT64, [0], []))
    place.before.append(helper.make_node("Reshape", [name, shape], [scalar], name=scalar))
    element_type = bound.known_type or x.known_type
    if element_type in _ELEMENT_TYPES and element_type is not None:
        editor.declare(place.graph, scalar, element_type, ())
    return scalar
