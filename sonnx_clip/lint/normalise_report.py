"""The reports of normalise as text for people and as JSON for machines."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sonnx_clip.lint.report import NO_CLIP, cause_lines, error_objects, node_title, root_causes
from sonnx_clip.lint.safe_text import shown
from sonnx_clip.lint.verdict import Run, Verdict, grouped, some
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.lint.changes import Step
    from sonnx_clip.lint.normalise import NodeSteps, NormaliseReport

FORMAT = "sonnx-clip-normalise-4"


def normalise_text(report: NormaliseReport) -> str:
    """A headline, then node by node what was done and what is left; nodes with like steps once."""
    target = "nothing is written" if report.target is None else shown(str(report.target))
    lines = [f"{shown(str(report.source))} -> {target}: {_summary(report)}"]
    lines += [f"  {note}" for note in report.notes]
    lines += cause_lines(report.after)
    for group in grouped(report.nodes, _key):
        titles = some(
            node_title(node.operator, node.name, node.output, node.place) for node in group
        )
        lines += [f"  {title}" for title in titles]
        lines += [] if group[0].steps else ["    was in the profile, unchanged"]
        for column in zip(*(node.steps for node in group), strict=True):
            lines += _step_lines(column)
    lines += [f"  note: {note}" for note in report.after.notes]
    checked = report.self_check
    if checked.outcome == "equal":
        lines.append(f"  self-check: equal bits by {checked.what}")
    elif checked.not_known:
        reason = f": {checked.what}" if checked.what else " (--no-self-check)"
        lines.append(f"  self-check: {checked.outcome}{reason}; unknown: {checked.not_known}")
    return "\n".join(lines)


def _summary(report: NormaliseReport) -> str:
    if not report.nodes:
        return f"{NO_CLIP}, so nothing was changed"
    changed = sum(any(step.done for step in node.steps) for node in report.nodes)
    clean = report.after.counts[Verdict.MEETS]
    unchanged = "" if report.changed else ", the file is the same byte for byte"
    return (
        f"{counted(len(report.nodes), 'Clip node')}, {changed} changed, {clean} in the profile now, "
        f"{len(report.nodes) - clean} still with problems{unchanged}"
    )


def _key(node: NodeSteps) -> tuple[object, ...]:
    return (node.operator, *((step.rule, step.done, step.theorems) for step in node.steps))


def _step_lines(steps: Sequence[Step]) -> list[str]:
    """The same step at several nodes."""
    head = "" if steps[0].done else f"left, {steps[0].rule}: "
    lines = [f"    {what}" for what in some(head + step.what for step in steps)]
    lines += [f"      because {why}" for why in some(step.why for step in steps)]
    lines += [f"      theorems: {', '.join(steps[0].theorems)}"] if steps[0].theorems else []
    return lines


def normalise_json(run: Run[NormaliseReport]) -> str:
    """Several models as one JSON document; models that could not be normalised are under ``errors``."""
    models = [_model_object(report) for report in run.reports]
    return json.dumps({"format": FORMAT, "models": models, "errors": error_objects(run)}, indent=2)


def _model_object(report: NormaliseReport) -> dict[str, Any]:
    return {
        "source": str(report.source),
        "target": None if report.target is None else str(report.target),
        "changed": report.changed,
        "verdict_after": report.after.verdict or NO_CLIP,
        "steps_done": Counter(
            step.rule for node in report.nodes for step in node.steps if step.done
        ),
        "nodes": [
            {**n._asdict(), "steps": [asdict(step) for step in n.steps]} for n in report.nodes
        ],
        "root_causes": root_causes(report.after),
        "undecided": report.after.undecided,
        "notes": [*report.notes, *report.after.notes],
        "self_check": {**asdict(report.self_check), "not_known": report.self_check.not_known},
    }
