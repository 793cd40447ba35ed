"""Lint: read a model, find its Clip nodes, judge each of them."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onnx import ModelProto, defs

from sonnx_clip.lint.load import all_nodes, parse_model, read_model
from sonnx_clip.lint.onnx_process import OnnxAnswer, ask_onnx, lean
from sonnx_clip.lint.operands import Argument, arguments, scalars
from sonnx_clip.lint.operator_versions import (
    BASED_ON,
    EXPORT_AGAIN,
    OTHERWISE,
    inputs_since,
    is_default_domain,
    types_of,
)
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.restrictions import Rules, judge
from sonnx_clip.lint.scopes import ClipNode, FunctionMarks, Scope, clip_nodes, function_title, is_clip, opsets
from sonnx_clip.lint.tensors import from_type, quoted, show_dims, show_number, symbols
from sonnx_clip.lint.verdict import NORMALISE, Cause, Findings, ModelReport, NodeReport, Verdict
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.isolated import without_collection
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from pathlib import Path

    from sonnx_clip.lint.tensors import Dims


@dataclass(frozen=True)
class LintRun:
    """Several models: the reports of those that could be read, the errors of the others."""

    reports: tuple[ModelReport, ...]
    errors: tuple[tuple[Path, UserError], ...]

    @property
    def exit_status(self) -> int:
        """2 where a model could not be read, 1 where something is violated or unknown, else 0."""
        if self.errors:
            return 2
        return 0 if all(report.verdict in (None, Verdict.MEETS) for report in self.reports) else 1


def lint_models(paths: Sequence[Path], *, accept_inferred: bool = False) -> LintRun:
    """Judge several models; one that cannot be read does not hide the others."""
    reports: list[ModelReport] = []
    errors: list[tuple[Path, UserError]] = []
    for path in paths:
        try:
            reports.append(lint_model(path, accept_inferred=accept_inferred))
        except UserError as error:
            errors.append((path, error))
    return LintRun(tuple(reports), tuple(errors))


def lint_model(path: Path, *, accept_inferred: bool = False) -> ModelReport:
    """Judge every Clip node of a model by R1 to R5 and the untagged restrictions of the SONNX page.

    Args:
        path: a binary ONNX file.
        accept_inferred: shapes and types that onnx's shape inference finds count as declared.

    Raises:
        UserError: the file is no complete ONNX model, or a Clip node is malformed.
    """
    with without_collection():
        model = parse_model(read_model(path), path)
        found = find_nodes(model, path)
        return report_of(model, found, path, accept_inferred=accept_inferred)


# --- The Clip nodes of a model ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundNodes:
    """The Clip nodes of a model, after onnx has inlined its functions and inferred shapes.

    Attributes:
        nodes: in the order of the model; those of functions that are not inlined at the end.
        notes: which functions are judged by their own declarations.
        undecided: what could not be looked at.
        inferred: shapes were inferred.
    """

    nodes: tuple[ClipNode, ...] = ()
    notes: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    inferred: bool = False


def find_nodes(model: ModelProto, path: Path) -> FoundNodes:
    """Every Clip node of a model: in its graph, in subgraphs at any depth, and in functions.

    Raises:
        UserError: an import of an operator set is malformed.
    """
    imports = opsets(model.opset_import, path, "the model")
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    if not any(is_clip(node) for body in bodies for node in all_nodes(body)):
        return FoundNodes()
    prepared = lean(model)
    marks = FunctionMarks()
    marks.mark(prepared)
    answer = ask_onnx(prepared)
    title = f"graph {quoted(model.graph.name)}"
    scope = Scope(answer.inlined.graph, title, answer.inferred, answer.derived)
    nodes = list(clip_nodes(scope, imports.get(""), path, marks))
    notes = []
    for function in marks.not_inlined(node.mark for node in nodes if node.mark is not None):
        body = function_title(function)
        own = opsets(function.opset_import, path, body)
        nodes += clip_nodes(Scope(function, body), own.get(""), path, FunctionMarks())
        notes.append(f"no call of {body} could be inlined: it is judged by its own declarations")
    return FoundNodes(tuple(nodes), tuple(notes), _undecided(answer), inferred=answer.failure is None)


def _undecided(answer: OnnxAnswer) -> tuple[str, ...]:
    found = [f"nothing was inferred: {answer.failure}"] if answer.failure is not None else []
    found += [f"onnx's checker refuses the model: {answer.refusal}"] if answer.refusal is not None else []
    return tuple(found)


# --- Their judgement ----------------------------------------------------------------------------------------


def report_of(
    model: ModelProto, found: FoundNodes, path: Path, *, accept_inferred: bool = False
) -> ModelReport:
    """The judgement of the Clip nodes of a model.

    Raises:
        UserError: a Clip node is malformed.
    """
    judged = Judge(path, Rules(accept_inferred, profile()))
    report = ModelReport(
        path=path,
        ir_version=model.ir_version,
        opsets=tuple(opsets(model.opset_import, path, "the model").items()),
        accept_inferred=accept_inferred,
        nodes=tuple(map(judged.report, found.nodes)),
        notes=(*_notes(model, found.nodes), *found.notes),
        undecided=found.undecided,
    )
    if not report.open or not found.inferred:
        return report
    return replace(report, causes=_causes(model, len(report.open)))


class Judge:
    """Judges Clip nodes; those of which the same is known once."""

    def __init__(self, path: Path, rules: Rules) -> None:
        self._path, self._rules = path, rules
        self._judged: dict[Hashable, Findings] = {}
        self._operators: dict[int, str] = {}

    def report(self, node: ClipNode) -> NodeReport:
        """The report of one node."""
        proto = node.proto
        read, made = list(proto.input), list(proto.output)
        look_up = node.scope.known
        known = [id(look_up(name)) if name else None for name in (*read, *made)]
        key: Hashable = (
            node.opset,
            len(read),
            id(node.mark),
            *known,
            *([one.SerializeToString() for one in proto.attribute] if proto.attribute else ()),
        )
        findings = self._judged.get(key)
        if findings is None:
            findings = self._judged[key] = self._findings(node)
        unset = len(findings.arguments) - 1 - len(read)
        names = (*[name or None for name in read], *([None] * unset), made[0])
        operator = self._operators.get(node.opset)
        if operator is None:
            operator = self._operators[node.opset] = node.operator
        if node.mark is None:
            path = node.scope.path
            return NodeReport(proto.name or None, path, node.index, made[0], operator, names, findings)
        original, position, path = node.named
        return NodeReport(
            original.name or None, path, position, original.output[0], operator, names, findings
        )

    def _findings(self, node: ClipNode) -> Findings:
        tensors = arguments(node, self._path, self._rules.profile.head)
        unnamed = [replace(one, name=None if one.name is None else one.id) for one in tensors]
        ids = tuple(one.id for one in tensors)
        values = [(one.id, one.value) for one in scalars(tensors)]
        bounds = tuple((id_, show_number(value)) for id_, value in values if value is not None)
        return Findings(judge(node, unnamed, self._rules), ids, bounds, _bounds_note(scalars(tensors)))


def _bounds_note(bounds: Sequence[Argument]) -> str | None:
    """What stored bounds mean that a reader may not expect."""
    by_name = {bound.operand.onnx: bound for bound in bounds}
    for bound in bounds:
        if isinstance(bound.value, float) and math.isnan(bound.value):
            return f"the bound {bound.id} is NaN: it bounds nothing, and other bounds still do"
    low, high = by_name.get("min"), by_name.get("max")
    if low is None or high is None or low.value is None or high.value is None or low.value <= high.value:
        return None
    return (
        f"{low.id} = {show_number(low.value)} is above {high.id} = {show_number(high.value)}: "
        f"every result is {high.id}"
    )


# --- Notes on the whole model -------------------------------------------------------------------------------


def _notes(model: ModelProto, nodes: Sequence[ClipNode]) -> tuple[str, ...]:
    """What was not judged, or was judged with less than full knowledge."""
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    others = Counter(
        node.domain
        for body in bodies
        for node in all_nodes(body)
        if node.op_type == "Clip" and not is_default_domain(node.domain)
    )
    notes = [
        f"{counted(count, 'node')} named Clip of the domain {quoted(domain)} "
        f"{'is' if count == 1 else 'are'} another operator and {'was' if count == 1 else 'were'} not judged"
        for domain, count in others.items()
    ]
    newest = defs.onnx_opset_version()
    notes += [
        f"opset {opset} is newer than the installed onnx knows; Clip is judged as of opset {newest}"
        for opset in sorted({node.opset for node in nodes})
        if opset > newest
    ]
    if nodes and any(is_default_domain(f.domain) and f.name == "Clip" for f in model.functions):
        notes.append(
            "a local function is also named Clip of ai.onnx; ONNX leaves it to the runtime which of the two "
            "a node means, and the nodes were judged as the operator"
        )
    if len(model.training_info) > 0:
        notes.append("the graphs of training_info are not run for inference and were not judged")
    return (*notes, *_version_notes(nodes))


def _version_notes(nodes: Iterable[ClipNode]) -> list[str]:
    head = profile().head
    return [
        f"the profile is based on Clip-{BASED_ON}; Clip-{version} takes "
        f"{', '.join(sorted(types_of(head.operator, version)))} alone and {OTHERWISE}: {EXPORT_AGAIN}"
        for version in sorted({one.version for one in {node.opset: node for node in nodes}.values()})
        if inputs_since(head) <= version < BASED_ON
    ]


def _causes(model: ModelProto, count: int) -> tuple[Cause, ...]:
    """Why the shapes of so many Clip nodes are not known in numbers: one cause for each open input."""
    stored = {tensor.name for tensor in model.graph.initializer}
    infos = [(value.name, from_type(value.type, "graph input")) for value in model.graph.input]
    dims_of = [
        (name, info.dims) for name, info in infos if name not in stored and info and not info.not_tensor
    ]
    open_inputs = [(name, dims) for name, dims in dims_of if dims is None or symbols(dims)]
    follow = f"the shapes of {counted(count, 'Clip node')} are not known in numbers"
    if not open_inputs:
        return (
            Cause(
                None,
                f"inference goes no further than the nodes before Clip: {follow}",
                "declare the shapes (value_info), or let them follow from constants",
            ),
        )
    return tuple(_cause(name, dims, follow) for name, dims in open_inputs)


def _cause(name: str, dims: Dims | None, follow: str) -> Cause:
    if dims is None:
        return Cause(name, f"input {quoted(name)} has no shape: {follow}", "declare its shape")
    sizes = shlex.quote(f"{name}={_sizes(dims)}")
    message = f"input {quoted(name)} is dynamic, {show_dims(dims)}: {follow}"
    return Cause(
        name, message, f"{NORMALISE} --input-shape gives it the sizes that you need", f"--input-shape {sizes}"
    )


def _sizes(dims: Dims) -> str:
    """Sizes to begin with: one image of 224 by 224, or a batch of one."""
    usual = (1, 3, 224, 224) if len(dims) == 4 else (1, *([16] * len(dims)))
    return ",".join(str(usual[axis] if isinstance(dim, str) else dim) for axis, dim in enumerate(dims))
