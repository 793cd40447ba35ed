"""The bounds of a Clip node made what the profile asks for: all set, each a scalar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import AttributeProto, TensorProto, helper

from sonnx_clip.graph.arguments import scalars
from sonnx_clip.graph.clip_nodes import is_clip
from sonnx_clip.graph.clip_text import LIMITS, NEITHER_LIMITS
from sonnx_clip.graph.declared_tensors import Dims, quoted, show_dims
from sonnx_clip.graph.edit import graphs
from sonnx_clip.graph.graph_names import is_default_domain
from sonnx_clip.graph.normalise_report import Step, did, left_alone
from sonnx_clip.graph.profile import profile
from sonnx_clip.graph.schemas import type_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import ModelProto, NodeProto

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.edit import Editor
    from sonnx_clip.graph.profile import OnnxOperand


# --- Clip from version 11 on, whose bounds are inputs: those that are not set are made explicit -------------


def missing_bounds(
    editor: Editor, place: int, tensors: Sequence[Argument], version: int, *, assume_finite: bool
) -> list[Step]:
    """Make the bounds that are not set explicit, where this changes no result.

    Args:
        editor: the model under change.
        place: of the node, in the order of `edit.clips`.
        tensors: the operands of the node and its result.
        version: of its operator.
        assume_finite: the user's word that neither the tensor nor the other bound is ever infinite.
    """
    x, bounds = tensors[0], scalars(tensors)
    missing = [bound.operand for bound in bounds if bound.name is None]
    element_type, node = x.known_type, editor.clips[place]
    problem = type_problem(node.op_type, version, element_type) if element_type is not None else None
    if problem is not None:
        return [_left(bound, problem) for bound in missing]
    neither = len(missing) == len(bounds)
    return [
        _missing(editor, place, x, bound, neither=neither, assume_finite=assume_finite) for bound in missing
    ]


def _left(bound: OnnxOperand, why: str, theorems: tuple[str, ...] = ()) -> Step:
    return left_alone(profile().rule("is_set", bound), f"{bound.onnx} is not set", why, theorems)


def _missing(
    editor: Editor, place: int, x: Argument, bound: OnnxOperand, *, neither: bool, assume_finite: bool
) -> Step:
    limit = LIMITS[bound.onnx]
    etype = profile().element_type(x.known_type)
    if etype is None:
        why = f"the element type of {x.id} is not known, so neither is its {limit.number} number"
        return _left(bound, why)
    says = NEITHER_LIMITS if neither else limit.limits_nothing
    if etype.family == "float" and not assume_finite:
        refuted = etype.shown_by(says, "refuted")
        why = (
            f"the text gives numeric_limits, which limits an infinite {x.id}; the function body of Clip-13 "
            f"does not, and runtimes differ ({refuted}). If no infinity reaches the node: --assume finite"
        )
        return _left(bound, why, (refuted,))
    tensor = editor.bound_before(place, bound, etype.onnx, limit.of(etype))
    editor.set_input(editor.clips[place], bound, tensor)
    what = f"{bound.onnx} was not set and is the {limit.number} {etype.onnx} now: input {quoted(tensor)}"
    if etype.family == "float":
        why = "with no infinity this bound is no bound, bit for bit (--assume finite)"
        return did("default_made_explicit", what, why, (etype.shown_by(says, "repaired"),))
    why = "this bound is no bound, bit for bit"
    return did("default_made_explicit", what, why, (etype.shown_by(says, "holds"),))


# --- Bounds of shape [1] made scalars: in the stored tensor where only Clip reads it, else by a Reshape -----


_ONE: Dims = (1,)


def one_entry_bounds(editor: Editor, nodes: Sequence[Sequence[Argument]]) -> list[list[Step]]:
    """Make bounds of shape [1] scalars.

    Args:
        editor: the model under change.
        nodes: the operands and the result of each Clip node, in the order of `edit.clips`.

    Returns:
        For each node what was done and what was left.
    """
    in_place = _stored_for_clip_alone(editor.model, nodes)
    return [
        [
            step
            for one in scalars(tensors)
            if (step := _one(editor, place, tensors, one, in_place)) is not None
        ]
        for place, tensors in enumerate(nodes)
    ]


def _one(
    editor: Editor, place: int, tensors: Sequence[Argument], bound: Argument, in_place: set[str]
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
    if any(info.sparse for info in bound.declared):
        return left_alone(rule, title, "it is sparse (R3): store it as a dense scalar")
    if not x.known_dims:
        why = f"{x.id} may have rank 0; a runtime that broadcasts would then give {y.id} the shape [1]"
        why += ", against C1"
        return left_alone(rule, title, why)
    if bound.name in in_place:
        _make_scalar(editor.model, bound.name)
        how = "its stored tensor has the shape [] now"
    else:
        reshaped = _reshape(editor, place, bound.operand, bound.name)
        how = f"the node reads {quoted(reshaped)} now, its Reshape to []"
    etype = profile().element_type(x.known_type)
    theorems = (etype.shown_by("C1", "holds"), etype.shown_by("cases", "written")) if etype else ()
    why = f"the one entry keeps its bits, and {y.id} has the shape of {x.id} whatever that of the bound is"
    return did("bound_made_scalar", f"{title}: {how}", why, theorems)


def _reshape(editor: Editor, place: int, operand: OnnxOperand, name: str) -> str:
    node = editor.clips[place]
    shape = editor.fresh(f"{name}_no_axes")
    scalar = editor.fresh(f"{name}_scalar")
    editor.constant_before(place, helper.make_tensor(shape, TensorProto.INT64, [0], []))
    editor.put_before(place, helper.make_node("Reshape", [name, shape], [scalar], name=scalar))
    editor.set_input(node, operand, scalar)
    return scalar


def _stored_for_clip_alone(model: ModelProto, nodes: Sequence[Sequence[Argument]]) -> set[str]:
    """The names that one stored tensor of shape [1] has and that nothing but such bounds of Clip reads."""
    bounds = [(bound, tensors[0]) for tensors in nodes for bound in scalars(tensors)]
    positions = {bound.operand.position for bound, _ in bounds}
    wanted = {bound.name for bound, x in bounds if bound.known_dims == _ONE and x.known_dims}
    used = {bound.name for bound, x in bounds if bound.known_dims != _ONE or not x.known_dims}
    stored: list[str] = []
    for _, graph in graphs(model.graph, ""):
        used.update(value.name for value in (*graph.input, *graph.output))
        used.update(sparse.values.name for sparse in graph.sparse_initializer)
        stored += [tensor.name for tensor in graph.initializer]
        stored += [node.output[0] for node in graph.node if _dense_constant(node)]
        for node in graph.node:
            if not _dense_constant(node):
                used.update(node.output)
            read = enumerate(node.input)
            used.update(name for position, name in read if not (is_clip(node) and position in positions))
    return {name for name in stored if name in wanted and name not in used and stored.count(name) == 1}


def _dense_constant(node: NodeProto) -> bool:
    return (
        node.op_type == "Constant"
        and is_default_domain(node.domain)
        and len(node.output) == 1
        and len(node.attribute) == 1
        and node.attribute[0].name in ("value", "value_floats", "value_ints")
    )


def _make_scalar(model: ModelProto, name: str) -> None:
    """Take the only axis from a stored tensor; said twice for one that two nodes share, it does nothing."""
    for _, graph in graphs(model.graph, ""):
        for tensor in graph.initializer:
            if tensor.name == name:
                del tensor.dims[:]
        for node in graph.node:
            if _dense_constant(node) and node.output[0] == name:
                _constant_scalar(node.attribute[0])
        declared = [value for value in graph.value_info if value.name == name]
        for value in declared:
            graph.value_info.remove(value)


def _constant_scalar(attribute: AttributeProto) -> None:
    if attribute.name == "value":
        del attribute.t.dims[:]
    elif attribute.name == "value_floats":
        attribute.CopyFrom(helper.make_attribute("value_float", attribute.floats[0]))
    else:
        attribute.CopyFrom(helper.make_attribute("value_int", attribute.ints[0]))
