"""The reports of lint as text for people and as JSON for machines."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from sonnx_clip.graph.declared import quoted, shown
from sonnx_clip.graph.grouping import grouped, some
from sonnx_clip.graph.verdict import Judgement, ModelReport, NodeReport, Verdict
from sonnx_clip.spec import Spec, load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.errors import UserError

FORMAT = "sonnx-clip-lint-1"
NO_CLIP = "no Clip node"


def to_text(report: ModelReport, spec: Spec | None = None) -> str:
    """One model: a headline, then per Clip node what it meets and each problem with its remedy."""
    spec = spec or load_spec()
    path = shown(str(report.path))
    opset = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in report.opsets)
    lines = [f"{path} (opset {shown(opset)}): {_summary(report)}"]
    for group in grouped(report.nodes, _key):
        lines += _group_lines(group, spec)
    lines += [f"  unknown: {text}" for text in report.undecided]
    lines += [f"  note: {note}" for note in report.notes]
    return "\n".join(lines)


def _summary(report: ModelReport) -> str:
    if not report.nodes:
        return f"{NO_CLIP}, so nothing was judged"
    counts = Counter(node.verdict for node in report.nodes)
    words = {
        Verdict.VIOLATES: "violate a restriction",
        Verdict.UNKNOWN: "cannot be decided",
        Verdict.MEETS: "meet every restriction",
    }
    parts = [f"{counts[verdict]} {text}" for verdict, text in words.items() if counts[verdict]]
    inferred = ", inferred shapes and types accepted" if report.accept_inferred else ""
    return f"{len(report.nodes)} Clip node(s), of which {', '.join(parts)}{inferred}"


def _key(node: NodeReport) -> tuple[object, ...]:
    """What nodes must have in common to be told together: the findings, but for names and remedies."""
    problems = [
        (judgement.id, problem.argument, problem.verdict, problem.message)
        for judgement in node.judgements
        for problem in judgement.problems
    ]
    met = [judgement.id for judgement in node.judgements if judgement.verdict is Verdict.MEETS]
    return (node.operator, *met, *problems)


def _group_lines(group: Sequence[NodeReport], spec: Spec) -> list[str]:
    lines = [f"  {title}" for title in some([_title(node) for node in group])]
    met = [judgement.id for judgement in group[0].judgements if judgement.verdict is Verdict.MEETS]
    if met:
        lines.append(f"    meets {', '.join(met)}")
    for column in zip(*(node.judgements for node in group), strict=True):
        if column[0].verdict is not Verdict.MEETS:
            lines += _judgement_lines(column, spec)
    return lines


def _title(node: NodeReport) -> str:
    name = quoted(node.name) if node.name else f"without a name, output {quoted(node.output)}"
    return f"{node.operator} {name}, node {node.index} of {node.graph}"


def _judgement_lines(column: Sequence[Judgement], spec: Spec) -> list[str]:
    """The same finding at several nodes."""
    lines = [f"    {column[0].verdict} {column[0].id}: {statement(column[0].id, spec)}"]
    for problems in zip(*(judgement.problems for judgement in column), strict=True):
        first = problems[0]
        names = ", ".join(
            some([quoted(problem.tensor) for problem in problems if problem.tensor is not None])
        )
        unknown = "unknown, " if first.verdict is Verdict.UNKNOWN else ""
        lines.append(f"      {first.argument}{' ' + names if names else ''}: {unknown}{first.message}")
        remedies = list(dict.fromkeys(problem.remedy for problem in problems))
        more = f" (others alike; --format json has each of the {len(remedies)})" if len(remedies) > 1 else ""
        lines.append(f"        remedy: {remedies[0]}{more}")
    return lines


def statement(identifier: str, spec: Spec) -> str:
    """The words of a restriction in spec/clip.yaml; those of `element_type` are its list of element types."""
    if identifier == "element_types":
        names = ", ".join(t.sonnx for t in spec.element_types if t.onnx is not None)
        return f"The element type is one of {names}"
    if identifier == "C1":
        return spec.constraint(identifier).statement
    return spec.restriction(identifier).statement


def to_json(
    reports: Sequence[ModelReport], errors: Sequence[tuple[Path, UserError]] = (), spec: Spec | None = None
) -> str:
    """Several models as one JSON document; models that could not be read stand under ``errors``."""
    spec = spec or load_spec()
    document = {
        "format": FORMAT,
        "models": [_model_object(report, spec) for report in reports],
        "errors": [{"model": str(path), "message": str(error)} for path, error in errors],
    }
    return json.dumps(document, indent=2)


def _model_object(report: ModelReport, spec: Spec) -> dict[str, Any]:
    return {
        "model": str(report.path),
        "verdict": str(report.verdict or NO_CLIP),
        "ir_version": report.ir_version,
        "opsets": {domain or "ai.onnx": version for domain, version in report.opsets},
        "accept_inferred": report.accept_inferred,
        "nodes": [_node_object(node, spec) for node in report.nodes],
        "notes": list(report.notes),
        "undecided": list(report.undecided),
    }


def _node_object(node: NodeReport, spec: Spec) -> dict[str, Any]:
    return {
        "name": node.name,
        "graph": node.graph,
        "index": node.index,
        "output": node.output,
        "operator": node.operator,
        "tensors": dict(node.tensors),
        "verdict": str(node.verdict),
        "restrictions": [
            {
                "id": judgement.id,
                "statement": statement(judgement.id, spec),
                "verdict": str(judgement.verdict),
                "problems": [
                    {
                        "argument": problem.argument,
                        "tensor": problem.tensor,
                        "verdict": str(problem.verdict),
                        "message": problem.message,
                        "remedy": problem.remedy,
                    }
                    for problem in judgement.problems
                ],
            }
            for judgement in node.judgements
        ],
    }
