"""The bodies in which a model runs Clip nodes: its graph, and each call of a local function."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.graph import infer as inference
from sonnx_clip.graph.declared import quoted, shown
from sonnx_clip.graph.functions import as_model, bound_body, holds_clip, key, leading_to_clip, passed
from sonnx_clip.graph.scope import Passed, function_scope, graph_scope
from sonnx_clip.graph.strip import without_callers_values, without_claims
from sonnx_clip.graph.walk import ClipNode, Site, all_nodes, clip_node, function_title, is_clip, opsets, sites

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx import FunctionProto, ModelProto

    from sonnx_clip.graph.functions import Key

    Alike = tuple[Key, bytes, Hashable]

# Calls that differ in what they pass can multiply without end.
MAX_CALLS = 256


@dataclass(frozen=True)
class Body:
    """A graph or one call of a function: `model` is it alone, `function` None for the main graph."""

    model: ModelProto
    title: str
    function: FunctionProto | None
    passed: Passed
    stack: tuple[Key, ...]


@dataclass
class Expansion:
    """What was found on the way: Clip nodes, and what could not be looked at."""

    nodes: list[ClipNode] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    judged: set[Key] = field(default_factory=set)
    alike: dict[Alike, int] = field(default_factory=dict)
    calls: int = 0
    failed: bool = False


def expand(model: ModelProto, path: Path) -> Expansion:
    """Every Clip node in the order of calls; a function is looked at once for all calls that pass the same.

    A function that no call reaches is looked at alone, by its own declarations.

    Raises:
        UserError: an import of an operator set, or a call, is malformed.
    """
    found = Expansion()
    functions = leading_to_clip(model.functions)
    if not functions and not any(is_clip(node) for node in all_nodes(model.graph.node)):
        return found
    deadline = time.monotonic() + inference.SECONDS
    level = [Body(model, f"graph {quoted(model.graph.name)}", None, Passed(), ())]
    while level:
        scopes = list(_sites(level, found, deadline))
        level = [
            inner
            for body, found_sites in zip(level, scopes, strict=True)
            for inner in _look(body, found_sites, functions, path, found)
        ]
    alone = [f for name, f in functions.items() if name not in found.judged and holds_clip(f)]
    bodies = [Body(as_model(f, Passed(), model), function_title(f), f, Passed(), (key(f),)) for f in alone]
    why = "no call reaches" if found.calls <= MAX_CALLS else "the calls were cut off before they reached"
    found.notes += [f"{why} {body.title}: judged by its own declarations" for body in bodies]
    more = sum(found.alike.values())
    if more:
        found.notes.append(f"{more} call(s) pass the same as others of the same function: judged together")
    for body, found_sites in zip(bodies, _sites(bodies, found, deadline), strict=True):
        _clips(body, found_sites, path, found)
    return found


def _sites(bodies: Sequence[Body], found: Expansion, deadline: float) -> Iterator[list[Site]]:
    """The nodes of each body, in scopes that know what inference finds."""
    models: tuple[ModelProto, ...] = ()
    if bodies and not found.failed:
        asked = [m for body in bodies for m in _both(body.model)]
        result = inference.infer(asked, seconds=max(0.1, deadline - time.monotonic()))
        models = result.models
        if result.failure:
            found.failed = True
            found.undecided.append(f"nothing was inferred: {shown(result.failure)}")
    for number, body in enumerate(bodies):
        known, sure = (models[2 * number].graph, models[2 * number + 1].graph) if models else (None, None)
        if body.function is None:
            scope = graph_scope(body.model.graph, known, body.title, None, sure)
        else:
            scope = function_scope(body.function, body.title, body.passed, known, sure)
        nodes = [graph.node if graph is not None else () for graph in (known, sure)]
        yield list(sites(scope, *nodes))


def _both(model: ModelProto) -> tuple[ModelProto, ModelProto]:
    return without_callers_values(model), without_claims(model)


def _clips(body: Body, found_sites: Sequence[Site], path: Path, found: Expansion) -> None:
    imports = opsets(body.model.opset_import, path, body.title if body.function else "the model")
    nodes = (clip_node(site, imports, path) for site in found_sites)
    found.nodes += [node for node in nodes if node is not None]


def _look(
    body: Body,
    found_sites: Sequence[Site],
    functions: Mapping[Key, FunctionProto],
    path: Path,
    found: Expansion,
) -> list[Body]:
    """Collect the Clip nodes of a body; return the bodies of the functions that it calls."""
    _clips(body, found_sites, path, found)
    if body.function is not None:
        found.judged.add(key(body.function))
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
    if found.calls > MAX_CALLS:
        _say_once(
            found,
            f"more than {MAX_CALLS} calls of functions that hold Clip nodes; the others were not judged",
        )
        return None
    title = f"{name} called by {site.place}"
    return Body(as_model(bound, call, body.model), title, bound, call, (*body.stack, key(function)))


def _say_once(found: Expansion, text: str) -> None:
    if text not in found.undecided:
        found.undecided.append(text)
