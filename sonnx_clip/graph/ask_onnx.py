"""Runs onnx's shape inference and checker in a process that may fail or hang, on models made ready for it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, TensorProto, checker, defs, onnx_cpp2py_export

from sonnx_clip.graph.clip_nodes import inner_graphs
from sonnx_clip.graph.declared_tensors import shown
from sonnx_clip.graph.functions import key
from sonnx_clip.graph.graph_names import Listings, is_default_domain
from sonnx_clip.graph.stored_tensors import DATA_FIELDS, KEPT_BYTES, all_tensors
from sonnx_clip.root.isolated import run_isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from onnx import FunctionProto, ValueInfoProto

    from sonnx_clip.graph.functions import Key


def drop_bulky_data(model: ModelProto, listings: Listings | None = None) -> None:
    """Take the content of large tensors out of a model; their types and dimensions stay."""
    for tensor in all_tensors(model, listings):
        if tensor.ByteSize() > KEPT_BYTES:
            for field in DATA_FIELDS:
                tensor.ClearField(field)


def without_callers_values(model: ModelProto) -> ModelProto:
    """The model without the stored tensors that a caller may override, which are inputs of the graph too.

    What is computed from such a value is the caller's, so nothing may be inferred from it.
    """
    given = {value.name for value in model.graph.input}
    stored = (tensor.name for tensor in model.graph.initializer)
    if given.isdisjoint(stored):
        return model
    stripped = deepcopy(model)
    kept = [tensor for tensor in stripped.graph.initializer if tensor.name not in given]
    del stripped.graph.initializer[:]
    stripped.graph.initializer.extend(kept)
    return stripped


def without_claims(model: ModelProto, listings: Listings | None = None) -> bytes:
    """The model without declared types and shapes of values that nodes compute, and without callers' values.

    Inputs of the main graph and stored tensors keep theirs, and so do the outputs of operators that onnx does
    not know: nothing else says what these give.

    The claims are taken out of the model and put back: to copy its nodes would take longer.

    Args:
        model: the same afterwards.
        listings: of its nodes, where somebody keeps them.

    Returns:
        It as protobuf.
    """
    model = without_callers_values(model)
    listings = listings or Listings()
    known = {key(function) for function in model.functions}
    inner = list(inner_graphs(model.graph.node, listings))
    holders: list[GraphProto | FunctionProto] = [
        model.graph,
        *(graph for _, graph in inner),
        *model.functions,
    ]
    kept = [_declarations(holder) for holder in holders]
    try:
        _strip(model.graph, known, listings)
        for node, graph in inner:
            _strip(graph, known, listings)
            for value in graph.input if _known(key(node), known) else ():
                value.ClearField("type")
        for function in model.functions:
            function.ClearField("value_info")
        written: bytes = model.SerializeToString()
    finally:
        for holder, values in zip(holders, kept, strict=True):
            for field, declared in values.items():
                holder.ClearField(field)
                getattr(holder, field).extend(declared)
    return written


def _declarations(holder: GraphProto | FunctionProto) -> dict[str, list[ValueInfoProto]]:
    """What a graph or function declares of its values, by field."""
    fields = ("value_info", "input", "output") if isinstance(holder, GraphProto) else ("value_info",)
    return {field: deepcopy(list(getattr(holder, field))) for field in fields}


def _known(kind: Key, functions: set[Key]) -> bool:
    domain, operator, _ = kind
    return kind in functions or defs.has(operator, domain)


def _strip(graph: GraphProto, functions: set[Key], listings: Listings) -> None:
    listing = listings.of(graph.node)
    strange = {
        (domain, operator, overload)
        for domain, operator, overload in set(listing.kinds)
        if not _known(("" if is_default_domain(domain) else domain, operator, overload), functions)
    }
    foreign: set[str] = set()
    if strange:
        for kind, results in zip(listing.kinds, listing.outputs, strict=True):
            if kind in strange:
                foreign.update(results)
    kept = [value for value in graph.value_info if value.name in foreign]
    graph.ClearField("value_info")
    graph.value_info.extend(kept)
    given = {value.name for value in graph.input} | foreign
    for value in graph.output:
        if value.name not in given:
            value.ClearField("type")


# --- Runs onnx's shape inference in a process that may fail or hang -----------------------------------------


INFERENCE_SECONDS = 60.0
_LENIENT = (False, False, False)  # no check of types, no strict mode, no propagation of data


@dataclass(frozen=True)
class Inference:
    """Models with inferred shapes, in the order given, or the reason why there are none."""

    models: tuple[ModelProto, ...]
    failure: str | None


def infer(
    models: Sequence[ModelProto | bytes],
    *,
    seconds: float = INFERENCE_SECONDS,
    work: Callable[[Sequence[ModelProto | bytes]], bytes] | None = None,
) -> Inference:
    """Shape inference of onnx on models or their protobuf, within one time limit for all of them.

    The process runs `work`, which answers as `infer_all` does; that itself, if none is given.
    """
    done = run_isolated(work or infer_all, models, seconds=seconds)
    if done.failure is not None:
        return Inference((), f"shape inference failed: {done.failure}")
    found = tuple(_models(done.result))
    if len(found) != len(models) or not all(model.HasField("graph") for model in found):
        return Inference((), "shape inference gave an unreadable model")
    return Inference(found, None)


def infer_all(models: Sequence[ModelProto | bytes]) -> bytes:
    """Each model with inferred shapes: eight bytes of length, the greatest first, and its protobuf.

    Without strictness: what cannot be inferred stays unknown.
    """
    parts: list[bytes] = []
    for model in models:
        written = model if isinstance(model, bytes) else model.SerializeToString()
        # The public function parses the answer and hands over an object, which would be written again.
        data = onnx_cpp2py_export.shape_inference.infer_shapes(written, *_LENIENT)
        parts += [len(data).to_bytes(8, "big"), data]
    return b"".join(parts)


def _models(data: bytes) -> Iterator[ModelProto]:
    start = 0
    while start < len(data):
        end = start + 8 + int.from_bytes(data[start : start + 8], "big")
        model = ModelProto()
        try:
            model.ParseFromString(data[start + 8 : end])
        except DecodeError:
            return
        yield model
        start = end


# --- Runs onnx's checker in a process that may fail or hang -------------------------------------------------


CHECKER_SECONDS = 120.0


def checker_problem(model: ModelProto, folder: Path, *, seconds: float = CHECKER_SECONDS) -> str | None:
    """What onnx's checker has against a model whose external data lies in `folder`; None where nothing.

    It has so many seconds where it may fail or hang.
    """
    external = any(tensor.data_location == TensorProto.EXTERNAL for tensor in all_tensors(model))
    if external or model.functions:
        failure = run_isolated(_check, model, seconds=seconds, folder=folder).failure
        return None if failure is None else _one_line(failure.removeprefix("ValidationError: "))
    try:  # without data to be found and functions to be followed, the checker ends soon and needs no process
        checker.check_model(model)
    except checker.ValidationError as error:
        return _one_line(str(error))
    return None


def _check(model: ModelProto) -> bytes:
    checker.check_model(model.SerializeToString())
    return b""


def _one_line(text: str) -> str:
    """A message of onnx on one line; it puts the node on the lines after the reason."""
    lines = [line.strip() for line in text.splitlines()]
    return shown(" ".join([line for line in lines if line][:3]))
