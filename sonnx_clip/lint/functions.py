"""The local functions of a model: their Clip nodes, their default graphs, and who calls them."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from onnx import AttributeProto, FunctionProto

from sonnx_clip.lint.model_file import attributes_of, bodies, bodies_in, copy_of
from sonnx_clip.lint.operator_versions import is_clip, is_default_domain
from sonnx_clip.lint.safe_text import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import GraphProto, ModelProto, NodeProto

FunctionKey: TypeAlias = "tuple[str, str, str]"
"""Domain, name and overload: by them a node calls a function."""


class FunctionClip(NamedTuple):
    """A Clip node of a function, at the position of the node or of the one that carries it in a subgraph."""

    function: FunctionProto
    position: int
    node: NodeProto

    @property
    def title(self) -> str:
        """The function, for people."""
        return function_title(self.function)


def function_title(function: FunctionProto) -> str:
    """A function, for people."""
    title = f"function {quoted(f'{function.domain}::{function.name}')}"
    if function.overload:
        title += f" overload {quoted(function.overload)}"
    return title


def function_clips(model: ModelProto) -> Iterator[FunctionClip]:
    """The Clip nodes of a model's functions, in an order by which they can be numbered."""
    for function in model.functions:
        for index, outer in enumerate(function.node):
            for node in _with_inner_nodes(outer):
                if is_clip(node):
                    yield FunctionClip(function, index, node)


def _with_inner_nodes(node: NodeProto) -> Iterator[NodeProto]:
    yield node
    for body in bodies_in(node.attribute):
        yield from body.node


def functions_by_key(model: ModelProto) -> dict[FunctionKey, FunctionProto]:
    """The functions of a model, by what a node names to call them."""
    return {_key(function): function for function in model.functions}


def _key(named: FunctionProto | NodeProto) -> FunctionKey:
    name = named.name if isinstance(named, FunctionProto) else named.op_type
    domain = "" if is_default_domain(named.domain) else named.domain
    return (domain, name, named.overload)


def called_functions(
    graph: GraphProto,
    functions: Mapping[FunctionKey, FunctionProto],
) -> set[FunctionKey]:
    """The functions that nodes of a graph call, at any depth and by way of other functions."""
    called: set[FunctionKey] = set()
    waiting: list[GraphProto | FunctionProto] = [graph]
    while waiting:
        for body in bodies(waiting.pop()):
            keys = set(map(_key, body.node))
            # A function that is known to be called is not entered again: calls may be circular.
            new = (keys & functions.keys()) - called
            called |= new
            waiting += [functions[key] for key in new]
    return called


# --- Graphs that a function takes as attributes ---


def with_default_graphs(model: ModelProto) -> tuple[ModelProto, list[str]]:
    """The model with the default graphs of its functions put where their nodes refer to them.

    onnx's inliner drops these graphs. A runtime runs them, unless a call gives another graph.

    Returns:
        The model itself if there are none, else a copy; and what cannot be judged: graphs that calls give.
    """
    if not any(_graph_defaults(function) for function in model.functions):
        return model, []
    copy = copy_of(model)
    functions = functions_by_key(copy)
    set_by_calls = _attributes_set_by_calls(copy, functions)
    undecided: list[str] = []
    for key, function in functions.items():
        defaults = _graph_defaults(function)
        title = function_title(function)
        if any(_refers(default, defaults) for default in defaults.values()):
            # Put in place, the graph could hold itself.
            undecided.append(f"a default graph of {title} refers to another: it was not judged")
            continue
        # The default is judged all the same: calls that set nothing run it.
        for name in defaults.keys() & set_by_calls.get(key, set()):
            attribute_title = f"its attribute {quoted(name)}"
            undecided.append(
                f"calls of {title} give the graph of {attribute_title}: what runs there was not judged"
            )
        _put_in(function, defaults)
    return copy, undecided


def _put_in(function: FunctionProto, defaults: Mapping[str, AttributeProto]) -> None:
    """Replace each reference to a default graph by that graph."""
    # `bodies` walks while graphs are put in, so that these are looked through too.
    for body in bodies(function):
        for attribute in attributes_of(body):
            default = defaults.get(attribute.ref_attr_name)
            if default is not None:
                # The node knows its attribute by its own name, which need not be that of the function.
                own_name = attribute.name
                attribute.CopyFrom(default)
                attribute.name = own_name


def _refers(default: AttributeProto, defaults: Mapping[str, AttributeProto]) -> bool:
    """Whether a default graph refers to a default graph."""
    for body in bodies_in([default]):
        for attribute in attributes_of(body):
            if attribute.ref_attr_name in defaults:
                return True
    return False


def _graph_defaults(function: FunctionProto) -> dict[str, AttributeProto]:
    """The attributes of a function with a graph or graphs as default, by name."""
    defaults = {}
    for attribute in function.attribute_proto:
        if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            defaults[attribute.name] = attribute
    return defaults


def _attributes_set_by_calls(
    model: ModelProto,
    functions: Mapping[FunctionKey, FunctionProto],
) -> dict[FunctionKey, set[str]]:
    """The names of the attributes that calls of each function set."""
    attributes: dict[FunctionKey, set[str]] = {}
    for body in bodies(model.graph, *model.functions):
        for node in body.node:
            key = _key(node)
            if key in functions:
                names = map(attrgetter("name"), node.attribute)
                attributes.setdefault(key, set()).update(names)
    return attributes
