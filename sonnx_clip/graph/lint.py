"""Lint: read a model, find its Clip nodes, judge each of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from onnx import ModelProto, defs

from sonnx_clip.errors import UserError
from sonnx_clip.graph.arguments import (
    ARGUMENTS,
    BOUNDS_ARE_INPUTS_SINCE,
    INPUTS,
    arguments,
    known_of,
    operator_types,
    operator_version,
)
from sonnx_clip.graph.declared import from_type, quoted, show_dims, shown, symbols
from sonnx_clip.graph.expand import expand
from sonnx_clip.graph.load import parse_model, read_without_weights
from sonnx_clip.graph.restrictions import Rules, judge
from sonnx_clip.graph.scope import is_default_domain
from sonnx_clip.graph.strip import drop_bulky_data
from sonnx_clip.graph.verdict import Findings, ModelReport, NodeReport, Verdict
from sonnx_clip.graph.walk import ClipNode, opsets, other_clips
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from pathlib import Path

    from sonnx_clip.graph.expand import Expansion
    from sonnx_clip.graph.scope import Scope


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
    model = parse_model(read_without_weights(path), path)
    drop_bulky_data(model)
    return lint_proto(model, path, accept_inferred=accept_inferred)


def lint_proto(model: ModelProto, path: Path, *, accept_inferred: bool = False) -> ModelReport:
    """Judge a model that `parse_model` accepted; `path` is for the report.

    Raises:
        UserError: a Clip node is malformed.
    """
    found = expand(model, path)
    return report_of(model, found, path, accept_inferred=accept_inferred)


def report_of(
    model: ModelProto, found: Expansion, path: Path, *, accept_inferred: bool = False
) -> ModelReport:
    """The judgement of Clip nodes that `expand` found."""
    imports = opsets(model.opset_import, path, "the model")
    types = [t.onnx for t in load_spec().element_types if t.onnx is not None]
    judged = _Judge(path, Rules(accept_inferred, types))
    nodes = tuple(map(judged.report, found.nodes))
    return ModelReport(
        path=path,
        ir_version=model.ir_version,
        opsets=tuple(imports.items()),
        accept_inferred=accept_inferred,
        nodes=nodes,
        notes=(*_notes(model, found.nodes), *_open_inputs(model, nodes), *found.notes),
        undecided=tuple(found.undecided),
    )


@dataclass
class _Judge:
    """Judges nodes; those that differ in names alone once."""

    path: Path
    rules: Rules
    known: dict[Hashable, Findings] = field(default_factory=dict)
    names: dict[tuple[int, str], Hashable] = field(default_factory=dict)

    def report(self, node: ClipNode) -> NodeReport:
        """The report of one node."""
        proto, scope = node.proto, node.scope
        inputs, outputs = list(proto.input), list(proto.output)
        here = id(scope)
        key = (
            node.opset,
            scope.in_function,
            len(outputs),
            *(attribute.SerializeToString() for attribute in proto.attribute),
            *(self._known(here, scope, name) if name else None for name in (*inputs, *outputs)),
        )
        findings = self.known.get(key)
        if findings is None:
            findings = self.known[key] = self._findings(node)
        names = [name or None for name in inputs] + [None] * (len(INPUTS) - len(inputs))
        tensors = tuple(zip(ARGUMENTS, (*names, outputs[0]), strict=True))
        if scope.in_function:  # where a call may leave inputs out
            tensors = tuple((one.role, one.name) for one in arguments(node, self.path))
        return NodeReport(
            name=proto.name or None,
            graph=scope.path,
            index=node.index,
            output=outputs[0],
            operator=f"Clip-{operator_version(node)}",
            tensors=tensors,
            findings=findings,
        )

    def _known(self, here: int, scope: Scope, name: str) -> Hashable:
        found = self.names.get((here, name))
        if found is None:
            found = self.names[here, name] = known_of(scope, name)
        return found

    def _findings(self, node: ClipNode) -> Findings:
        tensors = arguments(node, self.path)
        unnamed = [replace(one, name=None if one.name is None else one.role) for one in tensors]
        sizes = [
            (one.dims, one.derived.dims if one.derived else None) for one in tensors if one.name is not None
        ]
        is_open = any(all(dims is None or symbols(dims) for dims in both) for both in sizes)
        return Findings(judge(node, unnamed, self.rules), is_open)


def _open_inputs(model: ModelProto, nodes: Sequence[NodeReport]) -> list[str]:
    """The inputs whose sizes a caller chooses, once for all nodes, and the command that settles them."""
    count = sum(node.findings.open_sizes for node in nodes)
    notes = []
    for value in model.graph.input if count else ():
        info = from_type(value.type, "graph input")
        if info is not None and info.dims is not None and symbols(info.dims):
            sizes = ",".join("…" if isinstance(dim, str) else str(dim) for dim in info.dims)
            notes.append(
                f"input {quoted(value.name)} has open sizes, {show_dims(info.dims)}; {count} Clip node(s) "
                "have shapes that are not known in numbers. What follows from it is settled by: sonnx-clip "
                f"normalise MODEL.onnx -o OUT.onnx --input-shape {shown(value.name)}={sizes}"
            )
    return notes


# What the text of an older version that has inputs says otherwise than that on which the profile is based.
_BASED_ON = 13
_OTHERWISE = "does not say what min above max gives, which Clip-13 does (max)"


def _version_notes(nodes: Sequence[ClipNode]) -> list[str]:
    notes = []
    for version in sorted({operator_version(node) for node in nodes}):
        if BOUNDS_ARE_INPUTS_SINCE <= version < _BASED_ON:
            types = ", ".join(sorted(operator_types(version)))
            notes.append(
                f"the profile is based on Clip-{_BASED_ON}; Clip-{version} takes {types} alone and "
                f"{_OTHERWISE}. "
                f"sonnx-clip normalise --opset {_BASED_ON} raises it where no result changes"
            )
    return notes


def _notes(model: ModelProto, nodes: Sequence[ClipNode]) -> tuple[str, ...]:
    """What was not judged, or is judged with less than full knowledge, is said."""
    notes = [
        f"{count} node(s) named Clip of the domain {quoted(domain)} are another operator and were not judged"
        for domain, count in Counter(other_clips(model)).items()
    ]
    newest = defs.onnx_opset_version()
    notes += [
        f"opset {opset} is newer than the installed onnx knows; Clip is judged as of opset {newest}"
        for opset in sorted({node.opset for node in nodes if node.opset > newest})
    ]
    if nodes and any(is_default_domain(f.domain) and f.name == "Clip" for f in model.functions):
        notes.append(
            "a local function is also named Clip of ai.onnx; ONNX leaves it to the runtime which of the two "
            "a node means, and the nodes were judged as the operator"
        )
    if len(model.training_info) > 0:
        notes.append("the graphs of training_info are not run for inference and were not judged")
    return (*notes, *_version_notes(nodes))
