"""What normalise did to a model and what it left, as plain frozen data, as text for people and as JSON for
machines.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.lint.report import cause_lines, node_title, root_causes
from sonnx_clip.lint.self_check import NOT_KNOWN, UNCHANGED, SelfCheckOutcome
from sonnx_clip.lint.tensors import shown
from sonnx_clip.lint.verdict import MORE, Verdict, grouped, some
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.lint.self_check import SelfCheck
    from sonnx_clip.lint.verdict import ModelReport
    from sonnx_clip.root.errors import UserError


@dataclass(frozen=True)
class Step:
    """One thing done to one Clip node, or left as it is.

    Attributes:
        rule: default_made_explicit, bound_made_scalar or shape_declared for what was done; the id of the
            restriction that stays broken for what was left.
        done: False where the model was left alone.
        what: what was done, or what is left.
        why: why that changes no result, or why it could not be shown.
        theorems: the ids of the obligations that this rests on; empty where the words of a version suffice.
    """

    rule: str
    done: bool
    what: str
    why: str
    theorems: tuple[str, ...] = ()


def did(rule: str, what: str, why: str, theorems: tuple[str, ...] = ()) -> Step:
    """A step that changed the model."""
    return Step(rule, done=True, what=what, why=why, theorems=theorems)


def left_alone(rule: str, what: str, why: str, theorems: tuple[str, ...] = ()) -> Step:
    """A restriction that stays broken."""
    return Step(rule, done=False, what=what, why=why, theorems=theorems)


@dataclass(frozen=True)
class NodeSteps:
    """One Clip node, named as in the model that was read, and what happened to it."""

    operator: str
    name: str | None
    place: str
    output: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class NormaliseReport:
    """One model before and after.

    Attributes:
        source: the model that was read.
        target: where the result goes, None where it goes nowhere or to standard output.
        changed: False where the result is the same file, byte for byte.
        nodes: one entry per Clip node, in the order of the model.
        after: what lint says of the result.
        notes: what concerns the whole model.
        self_check: whether runtimes give equal results before and after.
    """

    source: Path
    target: Path | None
    changed: bool
    nodes: tuple[NodeSteps, ...]
    after: ModelReport
    notes: tuple[str, ...] = ()
    self_check: SelfCheck = UNCHANGED


# --- What normalise did, as text for people and as JSON for machines ----------------------------------------


FORMAT = "sonnx-clip-normalise-4"


def normalise_text(report: NormaliseReport) -> str:
    """A headline, then node by node what was done and what is left; nodes with like steps once."""
    target = "nothing is written" if report.target is None else shown(str(report.target))
    lines = [f"{shown(str(report.source))} -> {target}: {closing(report)}"]
    lines += [f"  {note}" for note in report.notes]
    lines += [f"  unknown: {text}" for text in report.after.undecided]
    lines += cause_lines(report.after)
    for group in grouped(report.nodes, _key):
        lines += _group_lines(group)
    lines += [f"  note: {note}" for note in report.after.notes]
    lines += [f"  {line}" for line in report.self_check.lines()]
    return "\n".join(lines)


def closing(report: NormaliseReport) -> str:
    """The result in one line."""
    if not report.nodes:
        return "no Clip node, so nothing was changed"
    changed = sum(any(step.done for step in node.steps) for node in report.nodes)
    clean = sum(node.verdict is Verdict.MEETS for node in report.after.nodes)
    unchanged = "" if report.changed else ", the file is the same byte for byte"
    return (
        f"{counted(len(report.nodes), 'Clip node')}, {changed} changed, {clean} in the profile now, "
        f"{len(report.nodes) - clean} with something left{unchanged}"
    )


def _key(node: NodeSteps) -> tuple[object, ...]:
    return (node.operator, *((step.rule, step.done, step.theorems) for step in node.steps))


def _group_lines(group: Sequence[NodeSteps]) -> list[str]:
    titles = some(node_title(node.operator, node.name, node.output, node.place) for node in group)
    lines = [f"  {title}" for title in titles]
    if not group[0].steps:
        lines.append("    was in the profile, unchanged")
    for column in zip(*(node.steps for node in group), strict=True):
        lines += _step_lines(column)
    return lines


def _step_lines(steps: Sequence[Step]) -> list[str]:
    """The same step at several nodes."""
    head = "" if steps[0].done else f"left, {steps[0].rule}: "
    lines = [
        f"    {what if what.startswith(MORE) else head + what}"
        for what in some([step.what for step in steps])
    ]
    lines += [f"      because {why}" for why in some([step.why for step in steps])]
    if steps[0].theorems:
        lines.append(f"      theorems: {', '.join(steps[0].theorems)}")
    return lines


def normalise_json(reports: Sequence[NormaliseReport], errors: Sequence[tuple[Path, UserError]] = ()) -> str:
    """Several models as one JSON document; models that did not go through stand under ``errors``."""
    document = {
        "format": FORMAT,
        "models": [_model_object(report) for report in reports],
        "errors": [{"model": str(path), "message": str(error)} for path, error in errors],
    }
    return json.dumps(document, indent=2)


def _model_object(report: NormaliseReport) -> dict[str, Any]:
    after = report.after.verdict
    return {
        "source": str(report.source),
        "target": None if report.target is None else str(report.target),
        "changed": report.changed,
        "verdict_after": "no Clip node" if after is None else str(after),
        "steps_done": dict(Counter(step.rule for node in report.nodes for step in node.steps if step.done)),
        "nodes": [asdict(node) for node in report.nodes],
        "root_causes": root_causes(report.after),
        "undecided": list(report.after.undecided),
        "notes": [*report.notes, *report.after.notes],
        "self_check": {**asdict(report.self_check), "not_known": None if _known(report) else NOT_KNOWN},
    }


def _known(report: NormaliseReport) -> bool:
    return report.self_check.outcome in (SelfCheckOutcome.EQUAL, SelfCheckOutcome.UNCHANGED)


def exit_status(report: NormaliseReport) -> int:
    """0 where the result is in the profile, 1 where something is left or the self-check decided nothing."""
    clean = report.after.verdict in (None, Verdict.MEETS)
    return 0 if clean and report.self_check.decided else 1
