"""Judge each Clip node of a model, and find the root causes of unknown facts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING

from onnx import ModelProto, defs

from sonnx_clip.lint.clip_nodes import ClipNode, FoundNodes, arguments, find_nodes, scalars
from sonnx_clip.lint.disguised import disguise_notes
from sonnx_clip.lint.model_file import bodies, parse_model, read_model
from sonnx_clip.lint.operator_versions import (
    BASED_ON,
    EXPORT_AGAIN,
    inputs_since,
    is_clip_function,
    is_default_domain,
    types_of,
)
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.restrictions import judge
from sonnx_clip.lint.safe_text import quoted
from sonnx_clip.lint.unknown_causes import causes_of
from sonnx_clip.lint.verdict import Findings, ModelReport, NodeReport
from sonnx_clip.root.collection import without_collection
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.lint.tensors import NodeTensor


@without_collection()
def lint_model(path: Path, *, accept_inferred: bool = False) -> ModelReport:
    """Judge every Clip node of a model by R1 to R5 and the untagged restrictions of the SONNX page.

    Args:
        path: a binary ONNX file.
        accept_inferred: shapes and types that onnx's shape inference finds count as declared.

    Raises:
        UserError: the file is no complete ONNX model, or a Clip node is malformed.
    """
    model = parse_model(read_model(path), path)
    return report_of(model, find_nodes(model, path), path, accept_inferred=accept_inferred)


def report_of(
    model: ModelProto,
    found: FoundNodes,
    path: Path,
    *,
    accept_inferred: bool = False,
) -> ModelReport:
    """The judgement of the Clip nodes of a model; UserError where one is malformed."""
    nodes = _node_reports(found.nodes, path, accept_inferred=accept_inferred)
    report = ModelReport(
        path=path,
        ir_version=model.ir_version,
        opsets=tuple(found.opsets.items()),
        accept_inferred=accept_inferred,
        nodes=tuple(nodes),
        notes=(*_notes(model, found.nodes), *found.notes),
        undecided=found.undecided,
    )
    # The search for root causes starts inference again, so it runs only where it can find some.
    if not report.open or not found.inferred:
        return report
    open_nodes = [index for index, node in enumerate(report.nodes) if node.findings.open]
    causes = causes_of(model, found, open_nodes, path)
    return replace(report, causes=causes)


def _node_reports(
    nodes: Sequence[ClipNode],
    path: Path,
    *,
    accept_inferred: bool,
) -> Iterator[NodeReport]:
    """The report of each node; nodes with equal facts are judged once."""
    memo: dict[Hashable, Findings] = {}
    for node in nodes:
        original = node.original
        inputs = tuple(node.proto.input)
        outputs = tuple(node.proto.output)
        # Equal facts are one object, see `GraphScope`. A node of a function has declarations there, too.
        facts = [id(node.scope[name]) for name in inputs + outputs]
        attributes = [attribute.SerializeToString() for attribute in node.proto.attribute]
        key = (node.opset, id(node.mark), len(inputs), *facts, *attributes)
        findings = memo.get(key)
        if findings is None:
            findings = _judged(node, path, accept_inferred=accept_inferred)
            memo[key] = findings
        *operands, result = findings.arguments
        # Inputs left out at the end have no name, as those with an empty one.
        names = {id_: name or None for id_, name in zip_longest(operands, inputs)}
        names[result] = outputs[0]
        yield NodeReport(
            original.node.name or None,
            original.graph,
            original.position,
            original.node.output[0],
            names,
            findings,
        )


def _judged(node: ClipNode, path: Path, *, accept_inferred: bool) -> Findings:
    """The problems of a node by every rule, and what the model stores of its bounds."""
    tensors = arguments(node, path)
    bounds = scalars(tensors)
    stored = []
    for bound in bounds:
        if bound.value is not None:
            stored.append((bound.id, bound.value_text))
    return Findings(
        operator=node.operator,
        rules=profile().rules,
        problems=judge(node, tensors, accept_inferred=accept_inferred),
        arguments=tuple(tensor.id for tensor in tensors),
        bounds=tuple(stored),
        note=_bounds_note(bounds),
    )


def _bounds_note(bounds: Sequence[NodeTensor]) -> str | None:
    """What stored bounds mean that a reader may not expect."""
    # Before the order of the bounds, because NaN is in no order with any number.
    for bound in bounds:
        if isinstance(bound.value, float) and math.isnan(bound.value):
            return f"the bound {bound.id} is NaN: it bounds nothing; the other bound still applies"
    by_name = {bound.operand.onnx: bound for bound in bounds}
    low = by_name.get("min")
    high = by_name.get("max")
    if low is None or low.value is None or high is None or high.value is None:
        return None
    if low.value <= high.value:
        return None
    lower = f"{low.id} = {low.value_text}"
    upper = f"{high.id} = {high.value_text}"
    return f"{lower} is above {upper}: every result is {high.id}"


# --- Notes on the whole model -------------------------------------------------------------------------------


def _notes(model: ModelProto, nodes: Sequence[ClipNode]) -> Iterator[str]:
    """What was not judged, or was judged with less than full knowledge."""
    # A map over a C getter, since a model may have 100,000 nodes and all of them are counted.
    kind_of = attrgetter("op_type", "domain")
    kinds: Counter[tuple[str, str]] = Counter()
    for body in bodies(model.graph, *model.functions):
        kinds.update(map(kind_of, body.node))
    yield from _foreign_clip_notes(kinds)
    yield from disguise_notes(model, kinds)

    newest = defs.onnx_opset_version()
    # Functions may import other operator sets than the model. One node stands for all of its set.
    node_by_opset = {node.opset: node for node in nodes}
    for opset in sorted(node_by_opset):
        if opset > newest:
            yield f"opset {opset} is newer than the installed onnx; Clip is judged as of opset {newest}"
    if nodes and any(map(is_clip_function, model.functions)):
        yield (
            "a local function is also named Clip of ai.onnx; the runtime chooses which of the two "
            "a node calls; the nodes were judged as the operator"
        )
    if len(model.training_info) > 0:
        yield "the graphs of training_info are not run for inference and were not judged"
    for version in sorted({node.version for node in node_by_opset.values()}):
        # Nodes of versions without inputs for the bounds already violate R1 and R2.
        if inputs_since() <= version < BASED_ON:
            yield _version_note(version)


def _foreign_clip_notes(kinds: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """A note for each other domain with an operator named Clip."""
    for (operator, domain), count in kinds.items():
        if operator == "Clip" and not is_default_domain(domain):
            verbs = "is another operator and was"
            if count > 1:
                verbs = "are another operator and were"
            title = f"{counted(count, 'node')} named Clip of the domain {quoted(domain)}"
            yield f"{title} {verbs} not judged"


def _version_note(version: int) -> str:
    """How a version before that of the profile differs from it."""
    types = ", ".join(sorted(types_of(profile().signature.op_type, version)))
    differs = f"leaves the result for min above max open; in Clip-{BASED_ON} it is max"
    takes = f"Clip-{version} takes only {types} and {differs}"
    return f"the profile is based on Clip-{BASED_ON}; {takes}: {EXPORT_AGAIN}"
