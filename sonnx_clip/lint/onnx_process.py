"""Call onnx's inliner, checker and shape inference in one child process, which may fail or hang."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from secrets import token_hex
from typing import TYPE_CHECKING

from onnx import ModelProto, TensorProto, checker, defs, inliner, shape_inference

from sonnx_clip.lint.functions import function_clips
from sonnx_clip.lint.model_file import all_tensors, bodies, subgraphs
from sonnx_clip.lint.operator_versions import is_clip_function, is_default_domain
from sonnx_clip.lint.safe_text import shown
from sonnx_clip.root.isolated import run_isolated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from onnx import GraphProto, ValueInfoProto

SECONDS = 60.0
MARK = f"sonnx-clip lint {token_hex(8)}: node of a function"
"""The key of the metadata by which an inlined Clip node refers to `function_clips`; no file can know it."""
# Larger tensors are emptied; inference reads only shapes, axes and sizes.
_KEPT_BYTES = 16_384
_DATA_FIELDS = [name for name in TensorProto.DESCRIPTOR.fields_by_name if name.endswith("_data")]
_DATA_FIELDS.remove("external_data")
_KIND = attrgetter("op_type", "domain", "overload")


@dataclass(frozen=True)
class OnnxAnswer:
    """What onnx finds in a model."""

    inlined: GraphProto  # without calls of functions; as it was where that failed
    inferred: GraphProto | None = None  # the same after shape inference
    # The same, where declarations of computed values were ignored.
    derived: GraphProto | None = None
    refusal: str | None = None  # by the checker
    failure: str | None = None  # why nothing was inferred


def ask_onnx(model: ModelProto) -> OnnxAnswer:
    """Check, inline and infer in a child process with a time limit."""
    done = run_isolated(_answer, model, seconds=SECONDS)
    if done.failure is not None:
        return OnnxAnswer(model.graph, failure=_one_line(done.failure))
    refusal, *models = TensorProto.FromString(done.result).string_data
    inlined, inferred, derived = map(_graph_of, models)
    # A model that the child left out is equal to one that is here.
    return OnnxAnswer(
        inlined=inlined or model.graph,
        inferred=inferred or derived,
        derived=derived,
        refusal=refusal.decode() or None,
    )


def _graph_of(data: bytes) -> GraphProto | None:
    """The graph of a model that the child process returns; None where it left the model out."""
    return ModelProto.FromString(data).graph if data else None


def _one_line(text: str) -> str:
    """A message of onnx on one line; it puts the node on the lines after the reason."""
    stripped = map(str.strip, text.splitlines())
    lines = list(filter(None, stripped))
    return shown(" ".join(lines[:3]))


# --- In the child process, whose copy of the model is changed in place --------------------------------------


def _answer(model: ModelProto) -> bytes:
    """The refusal and three models, the strings of a tensor: inlined, inferred, derived.

    The first is empty where there are no functions, the second where it is as the third.
    """
    # For the checker the emptied tensors have no entries: it would compare their dimensions with the data,
    # and look for external files.
    emptied = list(_empty_tensors(model))
    refusal = _refusal(model)
    for tensor, original in emptied:
        tensor.CopyFrom(original)

    inlined = b""
    inferred = b""
    if model.functions:
        model = _inline(model)
        inlined = model.SerializeToString()
    _remove_overridable(model.graph)

    declaring = model.SerializeToString()
    values = (*model.graph.value_info, *model.graph.output)
    declared = _types(values)
    graphs = list(bodies(model.graph))
    has_subgraphs = len(graphs) > 1
    _strip_declarations(model, graphs)
    derived = shape_inference.infer_shapes(model.SerializeToString())
    derived_values = (*derived.graph.value_info, *derived.graph.output)
    derived_types = _types(value for value in derived_values if value.name in declared)
    # Where inference alone finds all that is declared, a second one with the declarations finds the same.
    lost = any(derived_types.get(name) != kind for name, kind in declared.items())
    if has_subgraphs or lost:
        inferred = shape_inference.infer_shapes(declaring).SerializeToString()

    if not has_subgraphs:
        derived.graph.ClearField("node")  # only those with graphs in them are asked for
    parts = [(refusal or "").encode(), inlined, inferred, derived.SerializeToString()]
    return bytes(TensorProto(string_data=parts).SerializeToString())


def _remove_overridable(graph: GraphProto) -> None:
    """Remove stored tensors that are inputs too."""
    # A caller may override such a tensor, so nothing follows from its value.
    overridable = {value.name for value in graph.input}
    fixed = [tensor for tensor in graph.initializer if tensor.name not in overridable]
    if len(fixed) < len(graph.initializer):
        del graph.initializer[:]
        graph.initializer.extend(fixed)


def _empty_tensors(model: ModelProto) -> Iterator[tuple[TensorProto, TensorProto]]:
    """Empty large and external tensors; yields each with what to restore: its type, dimensions and place."""
    for tensor in all_tensors(model, sparse=False):
        is_external = tensor.data_location == TensorProto.EXTERNAL
        if not is_external and tensor.ByteSize() <= _KEPT_BYTES:
            continue
        for name in _DATA_FIELDS:
            tensor.ClearField(name)
        # Without the data, which nothing reads afterwards: a copy of large weights would take long.
        original = TensorProto()
        original.CopyFrom(tensor)

        tensor.dims[:] = [0]
        tensor.ClearField("data_location")
        tensor.ClearField("external_data")
        yield tensor, original


def _refusal(model: ModelProto) -> str | None:
    """The complaint of the checker about a model; None for an operator set newer than onnx."""
    newest = defs.onnx_opset_version()
    for imported in model.opset_import:
        if is_default_domain(imported.domain) and imported.version > newest:
            return None
    try:
        checker.check_model(model.SerializeToString())
    except checker.ValidationError as error:
        return _one_line(str(error))
    return None


def _inline(model: ModelProto) -> ModelProto:
    """The model without calls of functions; its Clip nodes that were in functions are marked."""
    for number, clip in enumerate(function_clips(model)):
        clip.node.metadata_props.add(key=MARK, value=str(number))
    # A function that is named as the operator would be inlined in place of the nodes to judge.
    kept = [function for function in model.functions if not is_clip_function(function)]
    del model.functions[:]
    model.functions.extend(kept)
    inlined: ModelProto = inliner.inline_local_functions(model)
    return inlined


def _types(values: Iterable[ValueInfoProto]) -> dict[str, bytes]:
    return {value.name: value.type.SerializeToString() for value in values}


def _strip_declarations(model: ModelProto, graphs: Sequence[GraphProto]) -> None:
    """Remove declared types of values that nodes compute.

    The outputs of operators that onnx does not know keep theirs: nothing else declares them.
    """
    # What a call computes follows from the body of its function, which inference enters.
    functions = {(f.name, f.domain, f.overload) for f in model.functions}
    for graph in graphs:
        # There are few kinds, where there may be 100,000 nodes.
        kinds = set(map(_KIND, graph.node)) - functions
        unknown = []
        for operator, domain, overload in kinds:
            if not _is_known(operator, domain):
                unknown.append((operator, domain, overload))
        foreign = set()
        if unknown:
            foreign = _outputs_of_kinds(graph, unknown)
        kept = [value for value in graph.value_info if value.name in foreign]
        del graph.value_info[:]
        graph.value_info.extend(kept)
        for value in graph.output:
            if value.name not in foreign:
                value.ClearField("type")
        if len(graphs) > 1:  # else no node carries a graph
            _strip_inner_inputs(graph)


def _outputs_of_kinds(graph: GraphProto, kinds: Collection[tuple[str, str, str]]) -> set[str]:
    """The names that nodes of these operators compute."""
    names: set[str] = set()
    for node in graph.node:
        if _KIND(node) in kinds:
            names.update(node.output)
    return names


def _strip_inner_inputs(graph: GraphProto) -> None:
    """Remove the types of the inputs of graphs that nodes carry, as far as onnx knows the operators."""
    for node in graph.node:
        if not _is_known(node.op_type, node.domain):
            continue
        for _, inner in subgraphs(node.attribute):
            for value in inner.input:
                value.ClearField("type")


def _is_known(operator: str, domain: str) -> bool:
    """Whether onnx has the schema of an operator, by which it infers what a node computes."""
    schema_domain = "" if is_default_domain(domain) else domain
    return bool(defs.has(operator, schema_domain))
