"""Call onnx's inliner, checker and shape inference in one child process, which may fail or hang."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING

from onnx import ModelProto, TensorProto, checker, defs, inliner, onnx_cpp2py_export

from sonnx_clip.lint.load import all_graphs, all_nodes, all_tensors, subgraphs
from sonnx_clip.lint.operator_versions import is_default_domain
from sonnx_clip.lint.tensors import shown
from sonnx_clip.root.isolated import run_isolated

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx import FunctionProto, GraphProto, NodeProto

SECONDS = 60.0
CHECKER_SECONDS = 120.0
# Inlining copies a body for each call of each call; beyond so many nodes nothing is inlined.
MOST_NODES = 20_000
# What is not larger is kept for inference, which reads shapes, axes and sizes.
_KEPT_BYTES = 16_384
_SMALL = 1 << 24  # bytes of a model that is handed over as it is
_LENIENT = (False, False, False)  # no check of types, no strict mode, no propagation of data

_KIND = attrgetter("op_type", "domain", "overload")

Key = tuple[str, str, str]

DATA_FIELDS = (
    "raw_data",
    "float_data",
    "int32_data",
    "string_data",
    "int64_data",
    "double_data",
    "uint64_data",
)
"""The fields in which a TensorProto keeps its content."""


@dataclass(frozen=True)
class OnnxAnswer:
    """What onnx says of a model.

    Attributes:
        inlined: the model without calls of functions.
        inferred: its graph after shape inference.
        derived: the same without belief in declarations of values that nodes compute.
        refusal: what the checker has against the model, None where nothing.
        failure: why nothing was inferred, None where it was; the other fields then are the model itself.
    """

    inlined: ModelProto
    inferred: GraphProto | None = None
    derived: GraphProto | None = None
    refusal: str | None = None
    failure: str | None = None


def ask_onnx(model: ModelProto, *, seconds: float = SECONDS) -> OnnxAnswer:
    """Inline, check and infer in a child process; nothing changes `model`.

    Args:
        model: the data of large tensors may be missing.
        seconds: time limit.
    """
    count = _expanded(model)
    if count > MOST_NODES:
        return OnnxAnswer(model, failure=f"calls of functions multiply to {count} nodes")
    done = run_isolated(answer, model.SerializeToString(), seconds=seconds)
    if done.failure is not None:
        return OnnxAnswer(model, failure=one_line(done.failure))
    head, _, rest = done.result.partition(b"\n")
    *sizes, refusal = json.loads(head)
    ends = list(accumulate(sizes))
    parts = [rest[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    inlined, inferred, derived = (ModelProto.FromString(part) for part in parts)
    found = inferred.graph if sizes[1] else derived.graph
    return OnnxAnswer(inlined if sizes[0] else model, found, derived.graph, refusal)


def checker_problem(model: ModelProto, folder: Path, *, seconds: float = CHECKER_SECONDS) -> str | None:
    """What onnx's checker has against a model whose external data lies in `folder`; None where nothing."""
    failure = run_isolated(_check, model, seconds=seconds, folder=folder).failure
    return None if failure is None else one_line(failure.removeprefix("ValidationError: "))


def _check(model: ModelProto) -> bytes:
    checker.check_model(model.SerializeToString())
    return b""


def one_line(text: str) -> str:
    """A message of onnx on one line; it puts the node on the lines after the reason."""
    lines = [line.strip() for line in text.splitlines()]
    return shown(" ".join([line for line in lines if line][:3]))


def lean(model: ModelProto) -> ModelProto:
    """The model without the data of large tensors, whose types and dimensions stay, and free to be marked."""
    if not model.functions and model.ByteSize() < _SMALL:
        return model
    result = ModelProto()
    result.CopyFrom(model)
    for tensor in all_tensors(result):
        if tensor.ByteSize() > _KEPT_BYTES:
            for name in DATA_FIELDS:
                tensor.ClearField(name)
    return result


def function_key(item: FunctionProto | NodeProto) -> Key:
    """What a call and its function have in common: domain, name, overload."""
    name = item.op_type if hasattr(item, "op_type") else item.name
    return ("" if is_default_domain(item.domain) else item.domain, name, item.overload)


def _expanded(model: ModelProto) -> int:
    """How many nodes there are when every call of a function is replaced by its body."""
    if not model.functions:
        return 0
    calls = {function_key(f): [function_key(node) for node in all_nodes(f.node)] for f in model.functions}
    known: dict[Key, int] = {}

    def size(name: Key, depth: int) -> int:
        if name not in calls or depth > len(calls):  # a circle: the inliner refuses it
            return 1
        if name not in known:
            known[name] = sum(size(inner, depth + 1) for inner in calls[name])
        return known[name]

    return sum(size(function_key(node), 0) for node in all_nodes(model.graph.node))


# --- In the child process -----------------------------------------------------------------------------------


def answer(data: bytes) -> bytes:
    """Inline, check and infer a model.

    Returns:
        A line of JSON, then three models as protobuf: inlined, inferred, derived; one that is as another is
        empty. The line has the number of bytes of each, and what the checker has against the model.
    """
    model = ModelProto.FromString(data)
    refusal = _refusal(model)
    inlined = b""
    if model.functions:
        kept = [f for f in model.functions if not (is_default_domain(f.domain) and f.name == "Clip")]
        del model.functions[:]
        model.functions.extend(kept)
        model = inliner.inline_local_functions(model)
        inlined = model.SerializeToString()
    _without_callers_values(model)
    believing = model.SerializeToString()
    declared = {value.name: value.type for value in (*model.graph.value_info, *model.graph.output)}
    graphs = list(all_graphs(model.graph))
    _strip_claims(model, graphs)
    derived = onnx_cpp2py_export.shape_inference.infer_shapes(model.SerializeToString(), *_LENIENT)
    inferred = b""
    if len(graphs) > 1 or _says_more(declared, derived):
        inferred = onnx_cpp2py_export.shape_inference.infer_shapes(believing, *_LENIENT)
    parts = (inlined, inferred, derived)
    return b"".join((json.dumps([*map(len, parts), refusal]).encode("ascii"), b"\n", *parts))


def _refusal(model: ModelProto) -> str | None:
    """What the checker says of the model; nothing of a newer one than it knows."""
    newest = {"": defs.onnx_opset_version()}
    versions = {("" if is_default_domain(e.domain) else e.domain): e.version for e in model.opset_import}
    if any(versions.get(domain, 0) > version for domain, version in newest.items()):
        return None
    if any(map(_has_no_data, all_tensors(model))):
        copy = ModelProto()
        copy.CopyFrom(model)
        model = copy
        for tensor in filter(_has_no_data, all_tensors(model)):
            tensor.ClearField("data_location")
            del tensor.external_data[:]
            tensor.dims[:] = [0]
    try:
        checker.check_model(model.SerializeToString())
    except checker.ValidationError as error:
        return one_line(str(error))
    return None


def _has_no_data(tensor: TensorProto) -> bool:
    if tensor.data_location == TensorProto.EXTERNAL:
        return True
    return math.prod(tensor.dims) > 0 and not any(len(getattr(tensor, name)) for name in DATA_FIELDS)


def _without_callers_values(model: ModelProto) -> None:
    """Remove stored tensors that are inputs too: a caller may override them, so nothing follows from them."""
    given = {value.name for value in model.graph.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name not in given]
    if len(kept) < len(model.graph.initializer):
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept)


def _strip_claims(model: ModelProto, graphs: Sequence[GraphProto]) -> None:
    """Remove declared types of values that nodes compute.

    The outputs of operators that onnx does not know keep theirs: nothing else declares them.
    """
    known = {(f.name, f.domain, f.overload) for f in model.functions}
    for graph in graphs:
        unknown = {kind for kind in set(map(_KIND, graph.node)) - known if not _is_known(*kind[:2])}
        strange = [node for node in graph.node if _KIND(node) in unknown] if unknown else []
        foreign = {name for node in strange for name in node.output}
        kept = [value for value in graph.value_info if value.name in foreign]
        del graph.value_info[:]
        graph.value_info.extend(kept)
        for value in graph.output:
            if value.name not in foreign:
                value.ClearField("type")
        carriers = [node for node in graph.node if node.attribute]
        carried = [
            one for node in carriers for one in subgraphs(node) if _is_known(node.op_type, node.domain)
        ]
        for value in (value for _, inner in carried for value in inner.input):
            value.ClearField("type")


def _is_known(operator: str, domain: str) -> bool:
    return bool(defs.has(operator, "" if is_default_domain(domain) else domain))


def _says_more(declared: dict[str, object], derived: bytes) -> bool:
    """A declaration of a computed value says something that inference does not find by itself."""
    graph = ModelProto.FromString(derived).graph
    found = {v.name: v.type for v in (*graph.value_info, *graph.output) if v.name in declared}
    return any(name not in found or found[name] != kind for name, kind in declared.items())
