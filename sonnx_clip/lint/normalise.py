"""Normalise: bring the Clip nodes of a model into the profile where that changes no result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx import ModelProto

from sonnx_clip.lint.changes import declare_inferred, missing_bounds, one_entry_bounds, set_shapes
from sonnx_clip.lint.edit import Editor
from sonnx_clip.lint.lint import find_nodes, report_of
from sonnx_clip.lint.load import parse_model, read_model
from sonnx_clip.lint.normalise_report import NodeSteps, NormaliseReport, Step, left_alone
from sonnx_clip.lint.onnx_process import checker_problem
from sonnx_clip.lint.operands import arguments, scalars
from sonnx_clip.lint.operator_versions import EXPORT_AGAIN, inputs_since
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.self_check import OFF, UNCHANGED, SelfCheckOutcome, self_check
from sonnx_clip.lint.tensors import quoted, shown
from sonnx_clip.lint.verdict import Judgement, NodeReport, Verdict
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.isolated import without_collection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.lint.changes import Node


@dataclass(frozen=True)
class NormaliseOptions:
    """What a user asks for beside the model.

    Attributes:
        assume_finite: no infinity reaches a Clip node with a bound that is not set.
        shapes: the sizes of inputs that the model leaves open.
        self_check: run the model before and after.
    """

    assume_finite: bool = False
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    self_check: bool = True


@dataclass(frozen=True)
class Normalised:
    """The result, and what was done and left.

    Attributes:
        model: the result.
        data: its bytes; those of the file that was read where nothing was changed.
        report: what was done and left.
    """

    model: ModelProto
    data: bytes
    report: NormaliseReport


def normalise(path: Path, target: Path | None, options: NormaliseOptions | None = None) -> Normalised:
    """Normalise a model; nothing is written.

    Args:
        path: a binary ONNX file.
        target: where the result will go, for the report.
        options: what the user asks for.

    Raises:
        UserError: the file is no complete ONNX model, onnx's checker refuses it, or the self-check finds a
            difference between the model and the result.
    """
    with without_collection():
        return _normalise(path, target, options or NormaliseOptions())


def _normalise(path: Path, target: Path | None, options: NormaliseOptions) -> Normalised:
    data = read_model(path)
    model = parse_model(data, path)
    _check(model, path, "onnx's checker refuses the model", "correct the model first")
    notes = set_shapes(model, options.shapes, path)
    before = _copy(model)
    found = find_nodes(model, path)
    steps: list[list[Step]] = [[] for _ in found.nodes]
    editor = Editor(model)
    head = profile().head
    own = [
        number for number, node in enumerate(found.nodes) if node.mark is None and not node.scope.in_function
    ]
    tensors = {number: arguments(found.nodes[number], path, head) for number in own}
    nodes: list[Node] = [
        (place, found.nodes[number], tensors[number])
        for place, number in zip(editor.places, own, strict=True)
    ]
    for number, more in zip(own, _changes(editor, nodes, options), strict=True):
        steps[number] += more
    editor.insert()
    shown_at = target or path
    changed = bool(notes) or any(step.done for one in steps for step in one)
    after = report_of(model, find_nodes(model, path) if changed else found, shown_at)
    checked = UNCHANGED
    if changed:
        _check(
            model, path, "onnx's checker refuses the result", "nothing was written; please report this model"
        )
        checked = (
            self_check(before, model, path.parent, finite=options.assume_finite)
            if options.self_check
            else OFF
        )
    if checked.outcome is SelfCheckOutcome.DIFFERENT:
        raise UserError(
            f"the self-check refuses the result: {checked.what}",
            where=shown(str(path)),
            todo="nothing was written; leave the model as it is, and please report it",
        )
    named = [(node.operator, *node.named) for node in found.nodes]
    report = NormaliseReport(
        source=path,
        target=target,
        changed=changed,
        nodes=tuple(
            NodeSteps(
                operator,
                proto.name or None,
                f"node {index} of {graph}",
                proto.output[0],
                (*(step for step in mine if step.done), *_still(judged, mine)),
            )
            for (operator, proto, index, graph), mine, judged in zip(named, steps, after.nodes, strict=True)
        ),
        after=after,
        notes=notes,
        self_check=checked,
    )
    return Normalised(model, model.SerializeToString() if changed else data, report)


def _changes(editor: Editor, nodes: Sequence[Node], options: NormaliseOptions) -> list[list[Step]]:
    """Change the nodes of a model; returns for each what was done and what was left."""
    since = inputs_since(profile().head)
    declared = declare_inferred(editor, nodes)
    set_ = [
        missing_bounds(editor, *node, assume_finite=options.assume_finite)
        if node[1].version >= since
        else _attributes_left(node)
        for node in nodes
    ]
    scalar = [one_entry_bounds(editor, place, tensors) for place, _, tensors in nodes]
    return [a + b + c for a, b, c in zip(set_, scalar, declared, strict=True)]


def _attributes_left(node: Node) -> list[Step]:
    """The bounds of a node of Clip-1 or Clip-6, which are attributes: reported, not converted."""
    _, found, tensors = node
    return [
        left_alone(
            profile().rule("is_set", bound.operand),
            f"{bound.operand.onnx} is no input of {found.operator}",
            EXPORT_AGAIN,
        )
        for bound in scalars(tensors)
    ]


def _copy(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def _check(model: ModelProto, path: Path, what: str, todo: str) -> None:
    problem = checker_problem(model, path.parent)
    if problem is not None:
        raise UserError(f"{what}: {problem}", where=shown(str(path)), todo=todo)


def _still(judged: NodeReport, steps: Iterable[Step]) -> list[Step]:
    """What lint still has against a node, with the reason of the change that left it where there is one."""
    found: list[Step] = []
    for judgement in judged.judgements:
        if judgement.verdict is not Verdict.MEETS:
            known = [step for step in steps if not step.done and step.rule == judgement.id]
            found += known or _from_lint(judgement)
    return found


def _from_lint(judgement: Judgement) -> list[Step]:
    return [
        left_alone(
            judgement.id,
            " ".join([problem.argument, *([quoted(problem.tensor)] if problem.tensor is not None else [])])
            + f": {problem.message}",
            problem.remedy,
        )
        for problem in judgement.problems
    ]
