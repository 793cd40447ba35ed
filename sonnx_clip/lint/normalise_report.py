"""The reports of normalise as text for people and as JSON for machines."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sonnx_clip.lint.report import NO_CLIP, cause_lines, error_objects, node_title, root_causes
from sonnx_clip.lint.safe_text import shown
from sonnx_clip.lint.verdict import BatchRun, Verdict, group_by, some
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.lint.changes import NormaliseStep
    from sonnx_clip.lint.normalise import NodeSteps, NormaliseReport

FORMAT = "sonnx-clip-normalise-4"


def normalise_text(report: NormaliseReport) -> str:
    """A headline, then node by node what was done and what is left; nodes with like steps once."""
    source = shown(str(report.source))
    target = "nothing is written" if report.target is None else shown(str(report.target))
    lines = [f"{source} -> {target}: {_summary(report)}"]
    lines += [f"  {note}" for note in report.notes]
    lines += cause_lines(report.after)
    for group in group_by(report.nodes, _key):
        lines += _group_lines(group)
    # The notes of lint come after the nodes, as in its own report.
    lines += [f"  note: {note}" for note in report.after.notes]
    checked = report.self_check
    if checked.outcome == "equal":
        lines.append(f"  self-check: equal bits by {checked.what}")
    elif checked.not_known:
        reason = f": {checked.what}" if checked.what else " (--no-self-check)"
        outcome = f"{checked.outcome}{reason}"
        lines.append(f"  self-check: {outcome}; unknown: {checked.not_known}")
    return "\n".join(lines)


def _group_lines(group: Sequence[NodeSteps]) -> Iterator[str]:
    """Nodes with like steps: their titles, then each step once."""
    titles = [node_title(node.operator, node.name, node.output, node.place) for node in group]
    for title in some(titles):
        yield f"  {title}"
    if not group[0].steps:
        yield "    in the profile, itself unchanged"
    # Nodes of a group have the same steps in the same order, which differ in names and shapes alone.
    steps_by_node = [node.steps for node in group]
    for same_step in zip(*steps_by_node, strict=True):
        yield from _step_lines(same_step)


def _summary(report: NormaliseReport) -> str:
    if not report.nodes:
        return f"{NO_CLIP}, so nothing was changed"
    changed = sum(node.is_changed for node in report.nodes)
    clean = report.after.counts[Verdict.MEETS]
    left = len(report.nodes) - clean
    nodes = counted(len(report.nodes), "Clip node")
    # No node may be changed and yet the file is, by --input-shape.
    unchanged = "" if report.changed else ", the file is the same byte for byte"
    return (
        f"{nodes}, {changed} changed, {clean} in the profile now, "
        f"{left} still with problems{unchanged}"
    )


def _key(node: NodeSteps) -> tuple[object, ...]:
    """Equal for nodes whose steps differ in names and shapes alone."""
    key: list[object] = [node.operator]
    for step in node.steps:
        key.append((step.rule, step.done, step.theorems))
    return tuple(key)


def _step_lines(steps: Sequence[NormaliseStep]) -> Iterator[str]:
    """The same step at several nodes."""
    first = steps[0]
    head = "" if first.done else f"left, {first.rule}: "
    # The head is part of each text, and not of the line "… and 2 more".
    changes = [head + step.what for step in steps]
    for change in some(changes):
        yield f"    {change}"
    reasons = [step.why for step in steps]
    for reason in some(reasons):
        yield f"      because {reason}"
    if first.theorems:
        yield f"      theorems: {', '.join(first.theorems)}"


def normalise_json(run: BatchRun[NormaliseReport]) -> str:
    """Several models as one JSON document; models that could not be normalised are under ``errors``."""
    document = {
        "format": FORMAT,
        "models": list(map(_model_object, run.reports)),
        "errors": error_objects(run),
    }
    return json.dumps(document, indent=2)


def _model_object(report: NormaliseReport) -> dict[str, Any]:
    done: Counter[str] = Counter()
    nodes = []
    for node in report.nodes:
        for step in node.steps:
            if step.done:
                done[step.rule] += 1
        node_object = node._asdict()
        node_object["steps"] = list(map(asdict, node.steps))
        nodes.append(node_object)
    self_check = asdict(report.self_check)
    self_check["not_known"] = report.self_check.not_known
    return {
        "source": str(report.source),
        "target": None if report.target is None else str(report.target),
        "changed": report.changed,
        "verdict_after": report.after.verdict or NO_CLIP,
        "steps_done": done,
        "nodes": nodes,
        "root_causes": root_causes(report.after),
        "undecided": report.after.undecided,
        "notes": [*report.notes, *report.after.notes],
        "self_check": self_check,
    }
