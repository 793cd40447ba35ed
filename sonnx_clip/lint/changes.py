"""The changes that normalise makes: missing bounds set, bounds of shape [1] made scalars, shapes declared.

Each is made only where it changes no result, and names the theorems that this rests on.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx import AttributeProto, TensorProto, helper

from sonnx_clip.lint.load import all_graphs
from sonnx_clip.lint.normalise_report import Step, did, left_alone
from sonnx_clip.lint.operands import scalars
from sonnx_clip.lint.operator_versions import LIMITS, NEITHER_LIMITS, is_default_domain, type_problem
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.scopes import is_clip
from sonnx_clip.lint.tensors import Dims, from_type, quoted, show_dims, shown, symbols
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import ModelProto, NodeProto

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


# --- Bounds of shape [1] made scalars: in the stored tensor where only Clip reads it, else by a Reshape -----


def one_entry_bounds(editor: Editor, nodes: Sequence[Node]) -> list[list[Step]]:
    """Make bounds of shape [1] scalars; returns for each node what was done and what was left."""
    in_place = _stored_for_clip_alone(editor.model, nodes)
    found = [
        [
            step
            for bound in scalars(tensors)
            if (step := _one_entry(editor, place, tensors, bound, in_place)) is not None
        ]
        for place, _, tensors in nodes
    ]
    _make_scalars(editor.model, in_place)
    return found


def _one_entry(
    editor: Editor, place: Place, tensors: Sequence[Argument], bound: Argument, in_place: set[str]
) -> Step | None:
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
    if bound.name in in_place:
        how = "its stored tensor has the shape [] now"
    else:
        how = f"the node reads {quoted(_reshape(editor, place, x, bound, bound.name))} now, its Reshape to []"
    etype = profile().element_type(x.known_type)
    theorems = (etype.shown_by("C1", "holds"), etype.shown_by("cases", "written")) if etype else ()
    why = f"the one entry keeps its bits, and {y.id} has the shape of {x.id} whatever that of the bound is"
    return did("bound_made_scalar", f"{title}: {how}", why, theorems)


def _reshape(editor: Editor, place: Place, x: Argument, bound: Argument, name: str) -> str:
    shape, scalar = editor.fresh(f"{name}_no_axes"), editor.fresh(f"{name}_scalar")
    editor.constant(place, helper.make_tensor(shape, TensorProto.INT64, [0], []))
    place.before.append(helper.make_node("Reshape", [name, shape], [scalar], name=scalar))
    editor.set_input(place, bound.operand, scalar)
    element_type = bound.known_type or x.known_type
    if element_type in _ELEMENT_TYPES and element_type is not None:
        editor.declare(place.graph, scalar, element_type, ())
    return scalar


def _stored_for_clip_alone(model: ModelProto, nodes: Sequence[Node]) -> set[str]:
    """The names that one stored tensor of shape [1] has and that nothing but such bounds of Clip reads."""
    bounds = [(bound, tensors[0]) for _, _, tensors in nodes for bound in scalars(tensors)]
    positions = {bound.operand.position for bound, _ in bounds}
    wanted = {bound.name for bound, x in bounds if bound.known_dims == _ONE and x.known_dims}
    used = {bound.name for bound, x in bounds if bound.known_dims != _ONE or not x.known_dims}
    stored: list[str] = []
    for graph in all_graphs(model.graph):
        used.update(value.name for value in (*graph.input, *graph.output))
        used.update(sparse.values.name for sparse in graph.sparse_initializer)
        stored += [tensor.name for tensor in graph.initializer]
        for node in graph.node:
            if _dense_constant(node):
                stored.append(node.output[0])
                continue
            used.update(node.output)
            read = enumerate(node.input)
            used.update(name for position, name in read if not (is_clip(node) and position in positions))
    once = {name for name, count in Counter(stored).items() if count == 1}
    return {name for name in once if name in wanted and name not in used}


def _dense_constant(node: NodeProto) -> bool:
    return (
        node.op_type == "Constant"
        and is_default_domain(node.domain)
        and len(node.output) == 1
        and len(node.attribute) == 1
        and node.attribute[0].name in ("value", "value_floats", "value_ints")
    )


def _make_scalars(model: ModelProto, names: set[str]) -> None:
    """Take the only axis from stored tensors."""
    for graph in all_graphs(model.graph) if names else ():
        for tensor in graph.initializer:
            if tensor.name in names:
                del tensor.dims[:]
        for node in graph.node:
            if _dense_constant(node) and node.output[0] in names:
                _constant_scalar(node.attribute[0])
        for value in [value for value in graph.value_info if value.name in names]:
            graph.value_info.remove(value)


def _constant_scalar(attribute: AttributeProto) -> None:
    if attribute.name == "value":
        del attribute.t.dims[:]
    elif attribute.name == "value_floats":
        attribute.CopyFrom(helper.make_attribute("value_float", attribute.floats[0]))
    else:
        attribute.CopyFrom(helper.make_attribute("value_int", attribute.ints[0]))
