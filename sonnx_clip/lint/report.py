"""The reports of lint as text for people and as JSON for machines."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.safe_text import quoted, shown
from sonnx_clip.lint.totals import lint_totals
from sonnx_clip.lint.verdict import (
    NAMED,
    ModelReport,
    NodeReport,
    Verdict,
    group_by,
    more_than_some,
    most_severe,
    some,
)
from sonnx_clip.root.terminal import colored, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.lint.totals import LintTotals
    from sonnx_clip.lint.verdict import BatchRun, Finding

FORMAT = "sonnx-clip-lint-2"
NO_CLIP = "no Clip node"
_DEFAULT_DOMAIN = "ai.onnx"  # of an operator set that names none
_WORDS = {
    Verdict.VIOLATES: ("violates a restriction", "violate a restriction"),
    Verdict.UNKNOWN: ("cannot be decided", "cannot be decided"),
    Verdict.MEETS: ("meets every restriction", "meet every restriction"),
}
_WHICH = {1: "which", 2: "which both"}  # by the number of nodes; of more: which all
_COLORS = {Verdict.VIOLATES: "red", Verdict.UNKNOWN: "yellow", Verdict.MEETS: "green"}


def to_text(report: ModelReport) -> str:
    """One model: a headline, root causes, then each Clip node with what is wrong, and the remedies once."""
    opsets = []
    for domain, version in report.opsets:
        opsets.append(f"{domain or _DEFAULT_DOMAIN} {version}")
    opset = shown(", ".join(opsets))  # domains are text from the model
    path = shown(str(report.path))
    lines = [f"{path} (opset {opset}): {_summary(report)}"]
    lines += cause_lines(report)
    has_causes = bool(report.causes)
    for group in report.alike:
        lines += _group_lines(group, caused=has_causes)
    lines += _remedy_lines(report)
    lines += [f"  note: {note}" for note in report.notes]
    return "\n".join(lines)


def footer_lines(run: BatchRun[ModelReport], ignored: Mapping[str, str]) -> list[str]:
    """The rules that were broken, in words; those not judged; totals of several models."""
    totals = lint_totals(run)
    lines = [f"  {_rule_text(row.rule)}" for row in totals.rules]
    # The command line gives no reason, as the settings of a project do.
    not_judged = []
    for rule, reason in ignored.items():
        if reason:
            not_judged.append(f"{rule} ({reason})")
        else:
            not_judged.append(rule)
    if not_judged:
        rules = ", ".join(not_judged)
        lines.append(f"  not judged: {rules}")
    model_count = len(run.reports) + len(run.errors)
    if model_count > 1:
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


def _total_lines(run: BatchRun[ModelReport], totals: LintTotals) -> list[str]:
    """Models, then nodes, by verdict."""
    is_complete = all(map(_is_complete, run.reports))
    models = _by_verdict(totals.models, is_complete=is_complete)
    # These have no verdict, and would be missing in the sum.
    if totals.without_clip:
        models.append(f"{totals.without_clip} without a Clip node")
    unread = len(run.errors)
    if unread:
        models.append(f"{unread} could not be read")
    model_count = counted(len(run.reports) + unread, "model")
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


def statistics_lines(run: BatchRun[ModelReport]) -> list[str]:
    """A table of the nodes and models that break each rule."""
    lines = [" violate  unknown   models  rule"]
    for row in lint_totals(run).rules:
        counts = f"{row.violates:>8} {row.unknown:>8} {row.models:>8}"
        lines.append(f"{counts}  {row.rule}")
    return lines


def _is_complete(report: ModelReport) -> bool:
    """Whether the nodes were judged by every rule."""
    # With --select or --ignore rules are left out, and "every restriction" would claim too much.
    rules = profile().rules
    return all(node.findings.rules == rules for node in report.nodes)


def _by_verdict(counts: Mapping[Verdict, int], *, is_complete: bool) -> list[str]:
    """The numbers of nodes or models with each verdict: ``2 violate a restriction``."""
    parts = []
    for verdict in _WORDS:
        count = counts.get(verdict, 0)
        if count:
            parts.append(f"{count} {_verb(verdict, count, is_complete=is_complete)}")
    return parts


def _verb(verdict: Verdict, count: int, *, is_complete: bool) -> str:
    """A verdict as a verb in the singular or the plural."""
    singular, plural = _WORDS[verdict]
    verb = singular if count == 1 else plural
    return verb if is_complete else verb.replace("every", "every judged")


def _summary(report: ModelReport) -> str:
    """The verdicts of a model: ``2 Clip nodes, which both violate a restriction``."""
    count = len(report.nodes)
    if not count:
        return f"{NO_CLIP}, so nothing was judged"
    is_complete = _is_complete(report)
    verdicts = [verdict for verdict in _WORDS if report.counts.get(verdict, 0)]
    if len(verdicts) == 1:
        which = _WHICH.get(count, "which all")
        verb = _verb(verdicts[0], count, is_complete=is_complete)
        text = f"{which} {verb}"
    else:
        parts = _by_verdict(report.counts, is_complete=is_complete)
        listed_parts = ", ".join(parts)
        text = f"of which {listed_parts}"
    inferred = ", inferred shapes and types accepted" if report.accept_inferred else ""
    return f"{counted(count, 'Clip node')}, {text}{inferred}"


def cause_lines(report: ModelReport) -> list[str]:
    """What could not be analysed, each root cause once, and the command that carries out the remedies."""
    lines = [f"  unknown: {text}" for text in report.undecided]
    for cause in report.causes:
        lines.append(f"  root cause: {cause.message}")
        lines.append(f"    remedy: {cause.remedy}")
    if report.command:
        lines.append(f"  to normalise: {report.command}")
    return lines


def node_title(
    operator: str,
    name: str | None,
    output: str,
    place: str,
) -> str:
    """A node for people, with its place."""
    if name:
        return f"{operator} {quoted(name)}, {place}"
    return f"{operator} without a name, output {quoted(output)}, {place}"


def _group_lines(group: Sequence[NodeReport], *, caused: bool) -> list[str]:
    """Nodes that differ in names, bounds and open shapes alone; `caused`: root causes explain open shapes."""
    lines = []
    for node in group[:NAMED]:
        title = node_title(node.findings.operator, node.name, node.output, node.place)
        lines.append(f"  {title}")
    lines += [f"  {more}" for more in more_than_some(len(group))]
    # Of one node in its own line; of several nodes the pairs would be taken for those of the last.
    bounds = _bounds_of(group)
    if bounds and len(group) == 1:
        lines[0] += f"; bounds: {bounds[0]}"
    elif bounds:
        lines.append(f"    bounds: {'; '.join(bounds)}")
    first = group[0].findings
    if first.note:
        lines.append(f"    note: {first.note}")
    if not first.findings:
        line = f"    meets {', '.join(first.rules)}"
        lines.append(colored(line, _COLORS[Verdict.MEETS]))
    # Findings of the group read alike, so each is printed once, with the names of several nodes.
    tensors = {}
    for argument in first.arguments:
        tensors[argument] = _tensors(group, argument)
    for finding in first.findings:
        color = _COLORS[finding.verdict]
        rules = colored(broken_rules(finding), color)
        line = f"    {rules}: {finding.sentence(tensors)}"
        has_open_size = any(problem.open for problem in finding.problems)
        if caused and has_open_size:
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
    parts = []
    for verdict, rules in finding.rules_by_verdict.items():
        parts.append(f"{verdict} {listed(rules)}")
    return ", ".join(parts)


def _remedy_lines(report: ModelReport) -> list[str]:
    """Each remedy once, with the rules that it settles; of remedies that differ in a shape, the first."""
    findings = []
    for node_findings in report.distinct_findings:
        for finding in node_findings.findings:
            # Root causes have remedies of their own.
            closed = finding.without_open() if report.causes else finding
            if closed is not None:
                findings.append(closed)
    lines = []
    # All missing declarations are one group: their remedies differ in the inferred shape alone.
    for same in group_by(findings, lambda finding: finding.is_undeclared or finding.remedy):
        remedies: dict[str, None] = {}
        rules: dict[str, None] = {}
        for finding in same:
            remedies[finding.remedy] = None
            rules |= dict.fromkeys(finding.rules)
        first, *others = remedies
        settled = listed([*rules])
        line = f"  remedy of {settled}: {first}"
        if others:
            line += f" (and {len(others)} similar; --json lists all)"
        lines.append(line)
    return lines


def _tensors(group: Sequence[NodeReport], argument: str) -> str:
    """An argument with its names at several nodes."""
    names = []
    for node in group:
        name = node.tensors[argument]
        if name is not None:
            names.append(name)
    shown_names = ", ".join(some(names, quoted))
    return f"{argument} {shown_names}".strip()


# --- JSON ---------------------------------------------------------------------------------------------------


def json_parts(
    run: BatchRun[ModelReport],
    ignored: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """One JSON document in parts, since a large model has a large one; models not read are ``errors``."""
    yield f'{{\n"format": "{FORMAT}",\n"models": ['
    for number, report in enumerate(run.reports):
        yield ",\n" if number else "\n"
        head = {
            "model": str(report.path),
            "verdict": report.verdict or NO_CLIP,
            "ir_version": report.ir_version,
            "opsets": {domain or _DEFAULT_DOMAIN: version for domain, version in report.opsets},
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
    errors = json.dumps(error_objects(run))
    meanings = json.dumps(profile().interpretations)
    not_judged = json.dumps(ignored or {})
    totals = json.dumps(lint_totals(run).as_json())
    yield f'\n],\n"errors": {errors},\n"interpretations": {meanings},\n'
    yield f'"ignored": {not_judged},\n"totals": {totals}\n}}'


def error_objects(run: BatchRun[Any]) -> list[dict[str, str]]:
    """The models that could not be read, for machines."""
    return [{"model": str(path), "message": str(error)} for path, error in run.errors]


def root_causes(report: ModelReport) -> list[dict[str, Any]]:
    """The root causes for machines, each with the nodes whose shapes are not known as numbers."""
    open_nodes = []
    for number, node in enumerate(report.nodes):
        if node.findings.open:
            open_nodes.append({"position": number, "path": node.path})
    return [{**asdict(cause), "nodes": open_nodes} for cause in report.causes]


def _node_object(node: NodeReport) -> dict[str, Any]:
    judged = node.findings
    return {
        "name": node.name,
        "graph": node.graph,
        "path": node.path,
        "index": node.position,
        "output": node.output,
        "operator": judged.operator,
        "tensors": node.tensors,
        "bounds": dict(judged.bounds),
        "note": judged.note,
        "verdict": judged.verdict,
        "findings": [_finding_object(node, finding) for finding in judged.findings],
        "restrictions": [_rule_object(node, rule) for rule in judged.rules],
    }


def _rule_object(node: NodeReport, rule: str) -> dict[str, Any]:
    problems = node.findings.problems_of(rule)
    shown_problems = []
    for problem in problems:
        fields = {**vars(problem), "tensor": node.tensors[problem.argument]}
        del fields["rule"]  # the object around it has it
        shown_problems.append(fields)
    return {
        "id": rule,
        "statement": profile().statement(rule),
        "verdict": most_severe(problem.verdict for problem in problems),
        "problems": shown_problems,
    }


def _finding_object(node: NodeReport, finding: Finding) -> dict[str, Any]:
    return {
        "rules": finding.rules,
        "verdict": finding.verdict,
        "message": finding.sentence(node.titles),
        "remedy": finding.remedy,
    }
