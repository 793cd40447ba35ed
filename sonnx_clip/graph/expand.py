"""The bodies in which a model runs Clip nodes: its graph, and each call of a local function."""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.graph import ask_onnx as inference
from sonnx_clip.graph.ask_onnx import without_callers_values, without_claims
from sonnx_clip.graph.clip_nodes import (
    ClipNode,
    Site,
    all_nodes,
    clip_nodes,
    function_title,
    inner_graphs,
    is_clip,
    opsets,
    sites,
)
from sonnx_clip.graph.declared_tensors import quoted, shown
from sonnx_clip.graph.functions import as_model, bound_body, holds_clip, key, leading_to_clip, passed
from sonnx_clip.graph.graph_names import FunctionCall, Listings, Passed, function_scope, graph_scope
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

    from sonnx_clip.graph.functions import Key

    Alike = tuple[Key, bytes, Hashable]

# Calls that differ in what they pass can multiply without end.
MAX_CALLS = 256
# onnx's shape inference looks into every call of every call.
MAX_EXPANDED = 20_000


@dataclass(frozen=True)
class Body:
    """A graph or one call of a function: `model` is it alone, `function` None for the main graph."""

    model: ModelProto
    title: str
    function: FunctionProto | None
    passed: Passed
    stack: tuple[Key, ...]
    call: FunctionCall | None = None


@dataclass
class Expansion:
    """What was found on the way: Clip nodes, and what could not be looked at."""

    nodes: list[ClipNode] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    judged: set[Key] = field(default_factory=set)
    alike: dict[Alike, int] = field(default_factory=dict)
    listings: Listings = field(default_factory=Listings)
    most_calls: int = MAX_CALLS
    calls: int = 0
    multiplied: bool = False
    failed: bool = False


def expand(
    model: ModelProto, path: Path, listings: Listings | None = None, *, most_calls: int = MAX_CALLS
) -> Expansion:
    """Every Clip node in the order of calls; a function is looked at once for all calls that pass the same.

    A function that no call reaches is looked at alone, by its own declarations.

    Args:
        model: not changed.
        path: its file.
        listings: of its nodes, where somebody keeps them.
        most_calls: of functions that are looked at; they can multiply without end.

    Raises:
        UserError: an import of an operator set, or a call, is malformed.
    """
    found = Expansion(listings=listings or Listings(), most_calls=most_calls)
    functions = leading_to_clip(model.functions)
    if not functions and not any(is_clip(node) for node in all_nodes(model.graph.node)):
        return found
    deadline = time.monotonic() + inference.INFERENCE_SECONDS
    if model.functions:
        count = _expanded(model.functions, model.graph.node)
        found.multiplied = count > MAX_EXPANDED
        if found.multiplied:
            found.notes.append(
                f"calls of functions multiply to {count} nodes, so nothing is inferred across calls"
            )
    level = [Body(model, f"graph {quoted(model.graph.name)}", None, Passed(), ())]
    while level:
        scopes = list(_sites(level, found, deadline, clips_alone=not functions))
        level = [
            inner
            for body, found_sites in zip(level, scopes, strict=True)
            for inner in _look(body, found_sites, functions, path, found)
        ]
    alone = [f for name, f in functions.items() if name not in found.judged and holds_clip(f)]
    bodies = [Body(as_model(f, Passed(), model), function_title(f), f, Passed(), (key(f),)) for f in alone]
    why = "no call reaches" if found.calls <= most_calls else "the calls were cut off before they reached"
    found.notes += [f"{why} {body.title}: judged by its own declarations" for body in bodies]
    more = sum(found.alike.values())
    if more:
        passing = f"{counted(more, 'call')} {'passes' if more == 1 else 'pass'} the same"
        found.notes.append(f"{passing} as others of the same function: judged together")
    for body, found_sites in zip(bodies, _sites(bodies, found, deadline), strict=True):
        _clips(body, found_sites, path, found)
    return found


def _sites(
    bodies: Sequence[Body], found: Expansion, deadline: float, *, clips_alone: bool = False
) -> Iterator[Iterable[Site]]:
    """The nodes of each body, in scopes that know what inference finds; Clip nodes alone are given once."""
    pairs = _inferred(bodies, found, deadline)
    for body, (known, sure) in zip(bodies, pairs, strict=True):
        if body.function is None:
            scope = graph_scope(body.model.graph, known, body.title, None, sure, found.listings)
        else:
            scope = function_scope(body.function, body.title, body.passed, known, sure, body.call)
        nodes = [graph.node if graph is not None else () for graph in (known, sure)]
        found_sites = sites(scope, *nodes, listings=found.listings, clips_alone=clips_alone)
        yield found_sites if clips_alone else list(found_sites)


def _inferred(
    bodies: Sequence[Body], found: Expansion, deadline: float
) -> list[tuple[GraphProto | None, GraphProto | None]]:
    """Each body after shape inference, with and without belief in what it declares of computed values."""
    sure = _ask([without_claims(_alone(body, found), found.listings) for body in bodies], found, deadline)
    if not sure:
        return [(None, None)] * len(bodies)
    more = [
        number
        for number, body in enumerate(bodies)
        if not _declares_nothing_new(body.model, sure[number], found.listings)
    ]
    known = _ask([without_callers_values(_alone(bodies[number], found)) for number in more], found, deadline)
    if more and not known:
        return [(None, None)] * len(bodies)
    believed = dict(zip(more, known, strict=True))
    return [(believed.get(number, graph), graph) for number, graph in enumerate(sure)]


def _alone(body: Body, found: Expansion) -> ModelProto:
    """A body as inference gets it: without the functions that it calls where these multiply."""
    if not found.multiplied:
        return body.model
    alone = deepcopy(body.model)
    del alone.functions[:]
    return alone


def _ask(models: Sequence[ModelProto | bytes], found: Expansion, deadline: float) -> list[GraphProto]:
    if not models or found.failed:
        return []
    result = inference.infer(models, seconds=max(0.1, deadline - time.monotonic()))
    if result.failure:
        found.failed = True
        found.undecided.append(f"nothing was inferred: {shown(result.failure)}")
    return [model.graph for model in result.models]


def _declares_nothing_new(model: ModelProto, sure: GraphProto, listings: Listings) -> bool:
    """All that the model declares of computed values is what inference finds without it."""
    if any(True for _ in inner_graphs(model.graph.node, listings)):
        return False
    types = {value.name: value.type for value in sure.output}
    if len(model.graph.value_info) > 0:
        types = {value.name: value.type for value in sure.value_info} | types
    claims = (*model.graph.value_info, *model.graph.output)
    return all(value.name in types and types[value.name] == value.type for value in claims)


def _expanded(functions: Iterable[FunctionProto], nodes: Iterable[NodeProto]) -> int:
    """How many nodes there are where every call of a function is replaced by its body."""
    calls = {key(f): [key(node) for node in all_nodes(f.node)] for f in functions}
    known: dict[Key, int] = {}

    def size(name: Key, depth: int) -> int:
        if name not in calls or depth > len(calls):  # a circle is refused elsewhere
            return 1
        if name not in known:
            known[name] = sum(size(inner, depth + 1) for inner in calls[name])
        return known[name]

    return sum(size(key(node), 0) for node in all_nodes(nodes))


def _clips(body: Body, found_sites: Iterable[Site], path: Path, found: Expansion) -> None:
    imports = opsets(body.model.opset_import, path, body.title if body.function else "the model")
    found.nodes += clip_nodes(found_sites, imports, path)


def _look(
    body: Body,
    found_sites: Iterable[Site],
    functions: Mapping[Key, FunctionProto],
    path: Path,
    found: Expansion,
) -> list[Body]:
    """Collect the Clip nodes of a body; return the bodies of the functions that it calls."""
    _clips(body, found_sites, path, found)
    if body.function is not None:
        found.judged.add(key(body.function))
    if not functions:
        return []
    return [
        inner
        for site in found_sites
        if (function := functions.get(key(site.proto))) is not None
        and (inner := _called(body, site, function, path, found)) is not None
    ]


def _called(body: Body, site: Site, function: FunctionProto, path: Path, found: Expansion) -> Body | None:
    name = function_title(function)
    if key(function) in body.stack:
        _say_once(found, f"{name} calls itself; what it computes then was not judged")
        return None
    call = passed(site, function, path)
    bound = bound_body(function, site.proto)
    alike = (key(function), bound.SerializeToString(deterministic=True), call.signature())
    if alike in found.alike:
        found.alike[alike] += 1
        return None
    found.alike[alike] = 0
    found.calls += 1
    if found.calls > found.most_calls:
        cut = f"more than {found.most_calls} calls of functions that hold Clip nodes"
        _say_once(found, f"{cut}; the others were not judged")
        return None
    title = f"{name} called by {site.place}"
    formal = dict(zip(function.input, site.proto.input, strict=False))
    stack = (*body.stack, key(function))
    return Body(
        as_model(bound, call, body.model), title, bound, call, stack, FunctionCall(site.scope, formal)
    )


def _say_once(found: Expansion, text: str) -> None:
    if text not in found.undecided:
        found.undecided.append(text)
