"""Local functions: which call means which, what a call passes, and its body as a model of its own."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from sonnx_clip.graph.clip_nodes import Site, all_nodes, function_title, is_clip, subgraphs
from sonnx_clip.graph.graph_names import Passed, Resolved, is_default_domain, resolve
from sonnx_clip.graph.integrity import malformed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

Key = tuple[str, str, str]


def key(item: FunctionProto | NodeProto) -> Key:
    """What a call and the function it means have in common: domain, name, overload."""
    name = item.op_type if isinstance(item, NodeProto) else item.name
    return ("" if is_default_domain(item.domain) else item.domain, name, item.overload)


def holds_clip(function: FunctionProto) -> bool:
    """A Clip node stands in the body itself."""
    return any(is_clip(n) for n in all_nodes(function.node))


def leading_to_clip(functions: Iterable[FunctionProto]) -> dict[Key, FunctionProto]:
    """The functions with a Clip node in their body or in that of a function they call, at any depth."""
    bodies = {key(f): f for f in functions}
    calls = {name: {key(n) for n in all_nodes(f.node)} & bodies.keys() for name, f in bodies.items()}
    found = {name for name, f in bodies.items() if holds_clip(f)}
    while more := {name for name, called in calls.items() if called & found} - found:
        found |= more
    return {name: function for name, function in bodies.items() if name in found}


def passed(site: Site, function: FunctionProto, path: Path) -> Passed:
    """What a call hands over.

    Raises:
        UserError: the call has more inputs or outputs than the function.
    """
    actual_inputs, actual_outputs = list(site.proto.input), list(site.proto.output)
    if len(actual_inputs) > len(function.input) or len(actual_outputs) > len(function.output):
        what = f"the call has more inputs or outputs than {function_title(function)}"
        raise malformed(what, path, site.place)
    actual_inputs += [""] * (len(function.input) - len(actual_inputs))
    pairs = [
        *zip(function.input, actual_inputs, strict=True),
        *zip(function.output, actual_outputs, strict=False),
    ]
    found = {formal: resolve(site.scope, actual) for formal, actual in pairs if actual}
    left_out = {formal for formal, actual in zip(function.input, actual_inputs, strict=True) if not actual}
    left_out |= {formal for formal, actual in found.items() if actual.unset}
    return Passed(found, frozenset(left_out))


def bound_body(function: FunctionProto, call: NodeProto | None) -> FunctionProto:
    """The function with the attributes of a call, and its own defaults for the others, put in."""
    given = {
        attribute.name: attribute
        for attribute in (*function.attribute_proto, *(call.attribute if call else ()))
    }
    if not function.attribute and not function.attribute_proto:
        return function
    bound = deepcopy(function)
    for node in bound.node:
        _bind(node, given)
    return bound


def _bind(node: NodeProto, given: Mapping[str, AttributeProto]) -> None:
    for attribute in node.attribute:
        value = given.get(attribute.ref_attr_name) if attribute.ref_attr_name else None
        if value is not None:
            name = attribute.name
            attribute.CopyFrom(value)
            attribute.name = name
    for _, graph in subgraphs(node):
        for inner in graph.node:
            _bind(inner, given)


def as_model(body: FunctionProto, call: Passed, model: ModelProto) -> ModelProto:
    """A function body as a model for inference: its formal inputs have the types that the call passes."""
    declared = {value.name: value for value in body.value_info}
    inputs = [
        _typed(name, call.values.get(name)) or declared.get(name) or ValueInfoProto(name=name)
        for name in body.input
        if name not in call.unset
    ]
    result = ModelProto(
        ir_version=model.ir_version, opset_import=body.opset_import, functions=model.functions
    )
    result.graph.CopyFrom(helper.make_graph(body.node, body.name or "body", inputs, _outputs(body)))
    result.graph.value_info.extend(
        value for value in body.value_info if value.name not in (*body.input, *body.output)
    )
    for node in result.graph.node:
        _clear_unset(node, call.unset)
    return result


def _outputs(body: FunctionProto) -> Sequence[ValueInfoProto]:
    declared = {value.name: value for value in body.value_info}
    return [declared.get(name) or ValueInfoProto(name=name) for name in body.output]


def _clear_unset(node: NodeProto, unset: frozenset[str]) -> None:
    for position, name in enumerate(node.input):
        if name in unset:
            node.input[position] = ""


def _typed(name: str, actual: Resolved | None) -> ValueInfoProto | None:
    """The surest that is known of a passed tensor: derived before inferred before declared."""
    if actual is None:
        return None
    infos = [info for info in (actual.derived, actual.inferred, *actual.declared) if info is not None]
    known = set(TensorProto.DataType.keys())
    types = [info.element_type for info in infos if info.element_type in known]
    if not types or any(info.sparse or info.not_tensor for info in infos):
        return None
    dims = next((info.dims for info in infos if info.dims is not None), None)
    return helper.make_tensor_value_info(name, TensorProto.DataType.Value(types[0]), dims)
