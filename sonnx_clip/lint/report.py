"""The reports of lint as text for people and as JSON for machines."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.tensors import quoted, shown
from sonnx_clip.lint.verdict import (
    NAMED,
    ModelReport,
    NodeReport,
    Verdict,
    grouped,
    more_than_some,
    some,
)
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.lint.verdict import Findings, Run

FORMAT = "sonnx-clip-lint-2"
NO_CLIP = "no Clip node"
_WORDS = {
    Verdict.VIOLATES: ("violates a restriction", "violate a restriction"),
    Verdict.UNKNOWN: ("cannot be decided", "cannot be decided"),
    Verdict.MEETS: ("meets every restriction", "meet every restriction"),
}


def to_text(report: ModelReport) -> str:
    """One model: a headline, root causes, then what each Clip node meets, and its problems with remedies."""
    path = shown(str(report.path))
    opset = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in report.opsets)
    lines = [f"{path} (opset {shown(opset)}): {_summary(report)}"]
    lines += cause_lines(report)
    for group in report.alike:
        lines += _group_lines(group, caused=bool(report.causes))
    lines += [f"  note: {note}" for note in report.notes]
    broken = {
        one.id for group in report.alike for one in group[0].findings.judgements if one.problems
    }
    lines += [
        f"  note: {rule} is interpreted here: {found['ours']}. It could also mean: {found['alternative']}"
        for rule, found in profile().interpretations.items()
        if rule in broken
    ]
    return "\n".join(lines)


def _summary(report: ModelReport) -> str:
    if not report.nodes:
        return f"{NO_CLIP}, so nothing was judged"
    counts = [(report.counts[verdict], *words) for verdict, words in _WORDS.items()]
    parts = [f"{count} {one if count == 1 else more}" for count, one, more in counts if count]
    inferred = ", inferred shapes and types accepted" if report.accept_inferred else ""
    return f"{counted(len(report.nodes), 'Clip node')}, of which {', '.join(parts)}{inferred}"


def cause_lines(report: ModelReport) -> list[str]:
    """What could not be analysed, each root cause once, and the command that carries out the remedies."""
    lines = [f"  unknown: {text}" for text in report.undecided]
    for cause in report.causes:
        lines += [f"  root cause: {cause.message}", f"    remedy: {cause.remedy}"]
    return lines + ([f"  to normalise: {report.command}"] if report.command else [])


def node_title(operator: str, name: str | None, output: str, place: str) -> str:
    """A node for people, with its place."""
    return f"{operator} {quoted(name) if name else f'without a name, output {quoted(output)}'}, {place}"


def _group_lines(group: Sequence[NodeReport], *, caused: bool) -> list[str]:
    """Nodes that differ in names, bounds and open shapes alone; `caused`: root causes explain open shapes."""
    titles = [
        node_title(one.findings.operator, one.name, one.output, one.place) for one in group[:NAMED]
    ]
    lines = [f"  {title}" for title in (*titles, *more_than_some(len(group)))]
    findings = list({id(node.findings): node.findings for node in group}.values())
    bounds = some(
        ", ".join(f"{id_} = {value}" for id_, value in one.bounds) for one in findings if one.bounds
    )
    lines += [f"    bounds: {'; '.join(bounds)}"] if bounds else []
    lines += [f"    note: {findings[0].note}"] if findings[0].note else []
    judgements = findings[0].judgements
    met = [judgement.id for judgement in judgements if not judgement.problems]
    lines += [f"    meets {', '.join(met)}"] if met else []
    for place, judgement in enumerate(judgements):
        if judgement.problems:
            lines.append(
                f"    {judgement.verdict} {judgement.id}: {profile().statement(judgement.id)}"
            )
            lines += _problem_lines(group, findings, place, caused=caused)
    return lines


def _problem_lines(
    group: Sequence[NodeReport], findings: Sequence[Findings], place: int, *, caused: bool
) -> list[str]:
    """The problems of one restriction at several nodes, tensors with the same problem in one line."""
    problems = enumerate(findings[0].judgements[place].problems)
    lines: list[str] = []
    for same in grouped(problems, lambda one: replace(one[1], argument="")):
        tensors = " and ".join(_tensors(group, problem.argument) for _, problem in same)
        first = same[0][1]
        if first.open and caused:
            lines.append(f"      {tensors}: not known as numbers, see the root cause")
            continue
        unknown = "unknown, " if first.verdict is Verdict.UNKNOWN else ""
        lines.append(f"      {tensors}: {unknown}{first.message}")
        remedies = {
            one.judgements[place].problems[number].remedy for one in findings for number, _ in same
        }
        more = (
            f" (and {len(remedies) - 1} similar; --format json lists all)"
            if len(remedies) > 1
            else ""
        )
        lines.append(f"        remedy: {first.remedy}{more}")
    return lines


def _tensors(group: Sequence[NodeReport], argument: str) -> str:
    """An argument with its names at several nodes."""
    names = some((name for node in group if (name := node.tensors[argument]) is not None), quoted)
    return " ".join([argument, ", ".join(names)]).strip()


# --- JSON ---------------------------------------------------------------------------------------------------


def json_parts(run: Run[ModelReport]) -> Iterator[str]:
    """One JSON document in parts, since a large model has a large one; models not read are ``errors``."""
    yield f'{{\n"format": "{FORMAT}",\n"models": ['
    for number, report in enumerate(run.reports):
        yield ",\n" if number else "\n"
        head = {
            "model": str(report.path),
            "verdict": report.verdict or NO_CLIP,
            "ir_version": report.ir_version,
            "opsets": {domain or "ai.onnx": version for domain, version in report.opsets},
            "accept_inferred": report.accept_inferred,
            "notes": report.notes,
            "undecided": report.undecided,
            "root_causes": root_causes(report),
            "command": report.command,
        }
        yield json.dumps(head, indent=1).removesuffix("\n}") + ',\n "nodes": ['
        for position, node in enumerate(report.nodes):
            yield (",\n  " if position else "\n  ") + json.dumps(_node_object(node))
        yield "\n ]\n}"
    errors, meanings = json.dumps(error_objects(run)), json.dumps(profile().interpretations)
    yield f'\n],\n"errors": {errors},\n"interpretations": {meanings}\n}}'


def error_objects(run: Run[Any]) -> list[dict[str, str]]:
    """The models that could not be read, for machines."""
    return [{"model": str(path), "message": str(error)} for path, error in run.errors]


def root_causes(report: ModelReport) -> list[dict[str, Any]]:
    """The root causes for machines, each with the nodes whose shapes are not known as numbers."""
    open_nodes = [
        {"position": number, "path": node.path}
        for number, node in enumerate(report.nodes)
        if node.findings.open
    ]
    return [{**asdict(cause), "nodes": open_nodes} for cause in report.causes]


def _node_object(node: NodeReport) -> dict[str, Any]:
    return {
        "name": node.name,
        "graph": node.graph,
        "path": node.path,
        "index": node.position,
        "output": node.output,
        "operator": node.findings.operator,
        "tensors": node.tensors,
        "bounds": dict(node.findings.bounds),
        "note": node.findings.note,
        "verdict": node.findings.verdict,
        "restrictions": [
            {
                "id": judgement.id,
                "statement": profile().statement(judgement.id),
                "verdict": judgement.verdict,
                "problems": [
                    {**vars(p), "tensor": node.tensors[p.argument]} for p in judgement.problems
                ],
            }
            for judgement in node.findings.judgements
        ],
    }
