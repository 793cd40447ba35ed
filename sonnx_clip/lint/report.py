"""The reports of lint as text for people and as JSON for machines."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.safe_text import quoted, shown
from sonnx_clip.lint.totals import totals_of
from sonnx_clip.lint.verdict import (
    NAMED,
    ModelReport,
    NodeReport,
    Verdict,
    grouped,
    more_than_some,
    some,
)
from sonnx_clip.root.terminal import colored, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.lint.totals import Totals
    from sonnx_clip.lint.verdict import Finding, Run

FORMAT = "sonnx-clip-lint-2"
NO_CLIP = "no Clip node"
_WORDS = {
    Verdict.VIOLATES: ("violates a restriction", "violate a restriction"),
    Verdict.UNKNOWN: ("cannot be decided", "cannot be decided"),
    Verdict.MEETS: ("meets every restriction", "meet every restriction"),
}


_COLORS = {Verdict.VIOLATES: "red", Verdict.UNKNOWN: "yellow", Verdict.MEETS: "green"}


def to_text(report: ModelReport) -> str:
    """One model: a headline, root causes, then each Clip node with what is wrong, and the remedies once."""
    path = shown(str(report.path))
    opset = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in report.opsets)
    lines = [f"{path} (opset {shown(opset)}): {_summary(report)}"]
    lines += cause_lines(report)
    for group in report.alike:
        lines += _group_lines(group, caused=bool(report.causes))
    lines += _remedy_lines(report)
    lines += [f"  note: {note}" for note in report.notes]
    return "\n".join(lines)


def closing_lines(run: Run[ModelReport], ignored: Mapping[str, str]) -> list[str]:
    """The rules that were broken, in words; those not judged; totals of several models."""
    totals = totals_of(run)
    lines = [f"  {_rule_text(row.rule)}" for row in totals.rules]
    if ignored:
        reasons = [f"{rule} ({why})" if why else rule for rule, why in ignored.items()]
        lines.append(f"  not judged: {', '.join(reasons)}")
    if len(run.reports) + len(run.errors) > 1:
        lines += _total_lines(run, totals)
    return lines


def _rule_text(rule: str) -> str:
    meaning = profile().interpretations.get(rule)
    text = f"{rule}: {profile().statement(rule)}"
    if meaning is None:
        return text
    return (
        f"{text}; interpreted here: {meaning['ours']}. It could also mean: {meaning['alternative']}"
    )


def _total_lines(run: Run[ModelReport], totals: Totals) -> list[str]:
    """Models, then nodes, by verdict."""
    is_complete = all(map(_is_complete, run.reports))
    models = _by_verdict(totals.models, is_complete=is_complete)
    if totals.without_clip:
        models.append(f"{totals.without_clip} without a Clip node")
    if run.errors:
        models.append(f"{len(run.errors)} could not be read")
    model_count = counted(len(run.reports) + len(run.errors), "model")
    lines = [f"{model_count}: {', '.join(models)}"]
    if totals.nodes:
        nodes = _by_verdict(totals.nodes, is_complete=is_complete)
        node_count = counted(totals.nodes.total(), "Clip node")
        lines.append(f"{node_count}: {', '.join(nodes)}")
    if totals.undeclared:
        lacks = "lacks" if totals.undeclared == 1 else "lack"
        lines.append(
            f"{totals.undeclared} of these {lacks} nothing but declared shapes or element types"
        )
    return lines


def statistics_lines(run: Run[ModelReport]) -> list[str]:
    """A table of the nodes and models that break each rule."""
    rows = [
        f"{row.violates:>8} {row.unknown:>8} {row.models:>8}  {row.rule}"
        for row in totals_of(run).rules
    ]
    return [f"{'violate':>8} {'unknown':>8} {'models':>8}  rule", *rows]


def _is_complete(report: ModelReport) -> bool:
    """Whether the nodes were judged by every rule."""
    rules = len(profile().rules)
    return all(len(node.findings.judgements) == rules for node in report.nodes)


def _by_verdict(counts: Mapping[Verdict, int], *, is_complete: bool) -> list[str]:
    parts = []
    for verdict, (singular, plural) in _WORDS.items():
        count = counts.get(verdict, 0)
        words = singular if count == 1 else plural
        if not is_complete:
            words = words.replace("every", "every judged")
        if count:
            parts.append(f"{count} {words}")
    return parts


def _summary(report: ModelReport) -> str:
    if not report.nodes:
        return f"{NO_CLIP}, so nothing was judged"
    inferred = ", inferred shapes and types accepted" if report.accept_inferred else ""
    verdicts = ", ".join(_by_verdict(report.counts, is_complete=_is_complete(report)))
    return f"{counted(len(report.nodes), 'Clip node')}, of which {verdicts}{inferred}"


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
    bounds = _bounds_of(group)
    if bounds and len(group) == 1:
        lines[0] += f"; bounds: {bounds[0]}"
    elif bounds:
        lines.append(f"    bounds: {'; '.join(bounds)}")
    first = group[0].findings
    if first.note:
        lines.append(f"    note: {first.note}")
    if not first.findings:
        rules = ", ".join(judgement.id for judgement in first.judgements)
        lines.append(colored(f"    meets {rules}", _COLORS[Verdict.MEETS]))
    tensors = {argument: _tensors(group, argument) for argument in first.arguments}
    for finding in first.findings:
        rules = colored(broken_rules(finding), _COLORS[finding.verdict])
        line = f"    {rules}: {finding.sentence(tensors)}"
        if caused and any(problem.open for problem in finding.problems):
            line += "; sizes: see the root cause"
        lines.append(line)
    return lines


def _bounds_of(group: Sequence[NodeReport]) -> list[str]:
    """The stored bounds of nodes, each pair once."""
    texts = []
    for node in group:
        bounds = [f"{id_} = {value}" for id_, value in node.findings.bounds]
        if bounds:
            texts.append(", ".join(bounds))
    return some(texts)


def broken_rules(finding: Finding) -> str:
    """The rules of a finding with their verdicts: ``violates R4, unknown R5 and element_types``."""
    rules = finding.rules_by_verdict.items()
    return ", ".join(f"{verdict} {listed(ids)}" for verdict, ids in rules)


def _remedy_lines(report: ModelReport) -> list[str]:
    """Each remedy once, with the rules that it settles; of remedies that differ in a shape, the first."""
    unlike_nodes = {id(node.findings): node.findings for node in report.nodes}.values()
    findings = []
    for node in unlike_nodes:
        for finding in node.findings:
            # Root causes have remedies of their own.
            closed = finding.without_open() if report.causes else finding
            if closed is not None:
                findings.append(closed)
    lines = []
    for same in grouped(findings, lambda finding: finding.is_undeclared or finding.remedy):
        remedies: dict[str, None] = {}
        rules: dict[str, None] = {}
        for finding in same:
            remedies[finding.remedy] = None
            rules |= dict.fromkeys(finding.rules)
        first, *others = remedies
        line = f"  remedy of {listed([*rules])}: {first}"
        if others:
            line += f" (and {len(others)} similar; --json lists all)"
        lines.append(line)
    return lines


def _tensors(group: Sequence[NodeReport], argument: str) -> str:
    """An argument with its names at several nodes."""
    names = some((name for node in group if (name := node.tensors[argument]) is not None), quoted)
    return " ".join([argument, ", ".join(names)]).strip()


# --- JSON ---------------------------------------------------------------------------------------------------


def json_parts(run: Run[ModelReport], ignored: Mapping[str, str] | None = None) -> Iterator[str]:
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
    totals, not_judged = json.dumps(totals_of(run).as_json()), json.dumps(ignored or {})
    yield f'\n],\n"errors": {errors},\n"interpretations": {meanings},\n'
    yield f'"ignored": {not_judged},\n"totals": {totals}\n}}'


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
        "findings": [_finding_object(node, finding) for finding in node.findings.findings],
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


def _finding_object(node: NodeReport, finding: Finding) -> dict[str, Any]:
    named = {id_: f"{id_} {quoted(name)}" if name else id_ for id_, name in node.tensors.items()}
    return {
        "rules": list(dict.fromkeys(finding.rules)),
        "verdict": finding.verdict,
        "message": finding.sentence(named),
        "remedy": finding.remedy,
    }
