"""The reports of lint as text for people and as JSON for machines."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from sonnx_clip.graph.declared_tensors import quoted, shown
from sonnx_clip.graph.profile import profile
from sonnx_clip.graph.verdict import NAMED, ModelReport, NodeReport, Verdict, some
from sonnx_clip.root.isolated import without_collection
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.graph.normalise_report import NodeSteps
    from sonnx_clip.graph.verdict import Cause, Findings
    from sonnx_clip.root.errors import UserError

_NAMES = attrgetter("names")
_quoted = json.encoder.encode_basestring_ascii
"""A string as JSON, as json.dumps has it: that takes ten times as long for a short one."""
FORMAT = "sonnx-clip-lint-1"
NO_CLIP = "no Clip node"


def to_text(report: ModelReport) -> str:
    """One model: a headline, then per Clip node what it meets and each problem with its remedy."""
    with without_collection():
        return _text(report)


def _text(report: ModelReport) -> str:
    path = shown(str(report.path))
    opset = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in report.opsets)
    lines = [f"{path} (opset {shown(opset)}): {_summary(report)}"]
    for group in report.alike:
        lines += _group_lines(group, report)
    lines += cause_lines(report)
    lines += [f"  unknown: {text}" for text in report.undecided]
    lines += [f"  note: {note}" for note in (*report.notes, *_interpretations(report))]
    return "\n".join(lines)


def _interpretations(report: ModelReport) -> Iterator[str]:
    """How a restriction is read that is not met and whose words we interpret."""
    open_ = {
        judgement.id
        for group in report.alike
        for judgement in group[0].findings.judgements
        if judgement.verdict is not Verdict.MEETS
    }
    for identifier, found in profile().interpretations.items():
        if identifier in open_:
            yield f"{identifier} is interpreted here: {found.ours}. It could also mean: {found.alternative}"


def _summary(report: ModelReport) -> str:
    if not report.nodes:
        return f"{NO_CLIP}, so nothing was judged"
    words = {
        Verdict.VIOLATES: ("violates a restriction", "violate a restriction"),
        Verdict.UNKNOWN: ("cannot be decided", "cannot be decided"),
        Verdict.MEETS: ("meets every restriction", "meet every restriction"),
    }
    counts = [(count, words[verdict]) for verdict in words if (count := report.counts.get(verdict, 0))]
    parts = [f"{count} {one if count == 1 else more}" for count, (one, more) in counts]
    inferred = ", inferred shapes and types accepted" if report.accept_inferred else ""
    return f"{counted(len(report.nodes), 'Clip node')}, of which {', '.join(parts)}{inferred}"


def cause_lines(report: ModelReport) -> list[str]:
    """Each root cause once, with what settles it."""
    return [
        line
        for cause in report.causes
        for line in (f"  root cause: {cause.message}", f"    remedy: {cause.remedy}")
    ]


def _group_lines(group: Sequence[NodeReport], report: ModelReport) -> list[str]:
    lines = [f"  {title}" for title in some([node_title(node) for node in _first(group)], len(group))]
    judgements = group[0].findings.judgements
    met = [judgement.id for judgement in judgements if judgement.verdict is Verdict.MEETS]
    if met:
        lines.append(f"    meets {', '.join(met)}")
    if len(met) < len(judgements):
        findings = list({id(node.findings): node.findings for node in group}.values())
        names = _Names(group)
        roots = [cause.title for cause in report.causes_at.get(id(group[0]), ())]
        for place, judgement in enumerate(judgements):
            if judgement.verdict is not Verdict.MEETS:
                lines += _judgement_lines(findings, names, roots, place)
    return lines


class _Names(dict[str, list[str]]):
    """The names that an argument has at some nodes, each once; read where a finding needs them."""

    def __init__(self, group: Sequence[NodeReport]) -> None:
        super().__init__()
        self._group = group

    def __missing__(self, argument: str) -> list[str]:
        column = map(itemgetter(self._group[0].findings.arguments.index(argument)), map(_NAMES, self._group))
        found = self[argument] = [name for name in dict.fromkeys(column) if name is not None]
        return found


def _first(group: Sequence[NodeReport]) -> Sequence[NodeReport]:
    """As many as are named, and one more."""
    return group[: NAMED + 1]


def node_title(node: NodeReport | NodeSteps) -> str:
    """A node for people, with its place."""
    name = quoted(node.name) if node.name else f"without a name, output {quoted(node.output)}"
    return f"{node.operator} {name}, {node.place}"


def _judgement_lines(
    findings: Sequence[Findings], named: _Names, roots: Sequence[str], place: int
) -> list[str]:
    """The same finding at several nodes, whose remedies and open shapes may differ; `roots` are of these."""
    judgement = findings[0].judgements[place]
    lines = [f"    {judgement.verdict} {judgement.id}: {profile().statement(judgement.id)}"]
    for number, first in enumerate(judgement.problems):
        tensors = named[first.argument] if first.tensor is not None else []
        names = ", ".join(some([quoted(name) for name in tensors[: NAMED + 1]], len(tensors)))
        unknown = "unknown, " if first.verdict is Verdict.UNKNOWN else ""
        same = [found.judgements[place].problems[number] for found in findings]
        messages = dict.fromkeys(problem.message for problem in same)
        text = first.message + (f" ({len(messages)} shapes, all open)" if len(messages) > 1 else "")
        lines.append(f"      {first.argument}{' ' + names if names else ''}: {unknown}{text}")
        if first.open and roots:
            lines.append(f"        follows from {', '.join(some(roots))}: see below")
            continue
        remedies = list(dict.fromkeys(problem.remedy for problem in same))
        more = f" (others alike; --format json has each of the {len(remedies)})" if len(remedies) > 1 else ""
        lines.append(f"        remedy: {remedies[0]}{more}")
    return lines


def to_json(reports: Sequence[ModelReport], errors: Sequence[tuple[Path, UserError]] = ()) -> str:
    """Several models as one JSON document; models that could not be read stand under ``errors``."""
    return "".join(json_parts(reports, errors))


def json_parts(
    reports: Sequence[ModelReport], errors: Sequence[tuple[Path, UserError]] = ()
) -> Iterator[str]:
    """The same in parts, since a large model has a large document."""
    document = {
        "format": FORMAT,
        "models": [_model_object(report) for report in reports],
        "errors": [{"model": str(path), "message": str(error)} for path, error in errors],
        "interpretations": {key: asdict(found) for key, found in profile().interpretations.items()},
    }
    nodes = (_node_parts(report.nodes) for report in reports)
    for text, slot in _template(document):
        yield text
        if slot is not None:
            yield from next(nodes)


def _model_object(report: ModelReport) -> dict[str, Any]:
    return {
        "model": str(report.path),
        "verdict": str(report.verdict or NO_CLIP),
        "ir_version": report.ir_version,
        "opsets": {domain or "ai.onnx": version for domain, version in report.opsets},
        "accept_inferred": report.accept_inferred,
        "nodes": _slot("nodes"),
        "root_causes": [cause_object(report, cause) for cause in report.causes],
        "notes": list(report.notes),
        "undecided": list(report.undecided),
    }


def cause_object(report: ModelReport, cause: Cause) -> dict[str, Any]:
    """A root cause for machines; its nodes by position among those of the model, and by path."""
    nodes = [{"position": number, "path": report.nodes[number].path} for number in cause.nodes]
    return {**asdict(cause), "nodes": nodes}


def _slot(name: str) -> str:
    """Stands for a value that is put in later; no text of a report holds this character."""
    return f"\0{name}\0"


_SLOT = re.compile(r'"\\u0000(\w+)\\u0000"')


def _template(value: object, indent: int = 0) -> list[tuple[str, str | None]]:
    """JSON text in parts, each with the name of the slot behind it; None behind the last."""
    text = json.dumps(value, indent=2).replace("\n", "\n" + " " * indent)
    parts: list[str | None] = [*_SLOT.split(text), None]
    return [(text or "", slot) for text, slot in zip(parts[::2], parts[1::2], strict=True)]


def _node_parts(nodes: Sequence[NodeReport]) -> Iterator[str]:
    if not nodes:
        yield "[]"
        return
    templates: dict[tuple[object, ...], list[tuple[str, str | None]]] = {}
    for number, node in enumerate(nodes):
        tensors = {role: name for role, name in node.tensors if name is not None}
        key = (id(node.findings), node.operator, *tensors)
        template = templates.get(key)
        if template is None:
            template = templates[key] = _template(_node_object(node, tensors), 8)
        values = {role: _quoted(name) for role, name in tensors.items()}
        values["name"] = "null" if node.name is None else _quoted(node.name)
        values["graph"], values["path"] = _quoted(node.graph), _quoted(node.path)
        values["index"], values["output"] = str(node.index), _quoted(node.output)
        parts = [text if slot is None else text + values[slot] for text, slot in template]
        yield (",\n        " if number else "[\n        ") + "".join(parts)
    yield "\n      ]"


def _node_object(node: NodeReport, tensors: Mapping[str, str]) -> dict[str, Any]:
    """A node with slots for what is its own."""
    return {
        "name": _slot("name"),
        "graph": _slot("graph"),
        "path": _slot("path"),
        "index": _slot("index"),
        "output": _slot("output"),
        "operator": node.operator,
        "tensors": {role: _slot(role) if role in tensors else None for role, _ in node.tensors},
        "verdict": str(node.verdict),
        "restrictions": [
            {
                "id": judgement.id,
                "statement": profile().statement(judgement.id),
                "verdict": str(judgement.verdict),
                "problems": [
                    {
                        "argument": problem.argument,
                        "tensor": None if problem.tensor is None else _slot(problem.argument),
                        "verdict": str(problem.verdict),
                        "message": problem.message,
                        "remedy": problem.remedy,
                    }
                    for problem in judgement.problems
                ],
            }
            for judgement in node.findings.judgements
        ],
    }
