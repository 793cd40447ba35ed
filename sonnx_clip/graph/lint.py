"""Lint: read a model, find its Clip nodes, judge each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import ModelProto, defs

from sonnx_clip.graph.ask_onnx import drop_bulky_data
from sonnx_clip.graph.causes import causes_of
from sonnx_clip.graph.clip_nodes import ClipNode, opsets, other_clips
from sonnx_clip.graph.clip_text import BASED_ON, EXPORT_AGAIN, OTHERWISE
from sonnx_clip.graph.declared_tensors import quoted
from sonnx_clip.graph.expand import expand
from sonnx_clip.graph.graph_names import Listings, is_default_domain
from sonnx_clip.graph.judge_alike import Judge
from sonnx_clip.graph.load_model import parse_model, read_model
from sonnx_clip.graph.profile import profile
from sonnx_clip.graph.restrictions import Rules
from sonnx_clip.graph.schemas import inputs_since, types_of
from sonnx_clip.graph.verdict import ModelReport, Verdict
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.isolated import without_collection
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.graph.expand import Expansion


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
        listings = Listings()
        model = parse_model(read_model(path), path, listings)
        drop_bulky_data(model, listings)
        return lint_proto(model, path, listings, accept_inferred=accept_inferred)


def lint_proto(
    model: ModelProto, path: Path, listings: Listings | None = None, *, accept_inferred: bool = False
) -> ModelReport:
    """Judge a model that `parse_model` accepted; `path` is for the report.

    Raises:
        UserError: a Clip node is malformed.
    """
    found = expand(model, path, listings)
    return report_of(model, found, path, accept_inferred=accept_inferred)


def report_of(
    model: ModelProto, found: Expansion, path: Path, *, accept_inferred: bool = False
) -> ModelReport:
    """The judgement of Clip nodes that `expand` found."""
    imports = opsets(model.opset_import, path, "the model")
    judged = Judge(path, Rules(accept_inferred, profile()))
    nodes = tuple(judged.reports(found.nodes))
    return ModelReport(
        path=path,
        ir_version=model.ir_version,
        opsets=tuple(imports.items()),
        accept_inferred=accept_inferred,
        nodes=nodes,
        notes=(*_notes(model, found.nodes, found.listings), *found.notes),
        undecided=tuple(found.undecided),
        causes=causes_of(found.nodes, nodes) if judged.open and not found.failed else (),
    )


def _version_notes(nodes: Sequence[ClipNode]) -> list[str]:
    head, notes = profile().head, []
    for version in sorted({node.version for node in nodes}):
        if inputs_since(head) <= version < BASED_ON:
            types = ", ".join(sorted(types_of(head.operator, version)))
            notes.append(
                f"the profile is based on Clip-{BASED_ON}; Clip-{version} takes {types} alone and "
                f"{OTHERWISE}: {EXPORT_AGAIN}"
            )
    return notes


def _notes(model: ModelProto, nodes: Sequence[ClipNode], listings: Listings) -> tuple[str, ...]:
    """What was not judged, or is judged with less than full knowledge, is said."""
    imported = sorted({node.opset for node in nodes})
    notes = [
        f"{counted(count, 'node')} named Clip of the domain {quoted(domain)} "
        f"{'is' if count == 1 else 'are'} another operator and {'was' if count == 1 else 'were'} not judged"
        for domain, count in other_clips(model, listings).items()
    ]
    newest = defs.onnx_opset_version()
    notes += [
        f"opset {opset} is newer than the installed onnx knows; Clip is judged as of opset {newest}"
        for opset in imported
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
