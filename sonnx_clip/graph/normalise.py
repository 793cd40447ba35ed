"""Normalise: bring the Clip nodes of a model into the profile where that changes no result."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.graph.arguments import arguments, scalars
from sonnx_clip.graph.ask_onnx import checker_problem, drop_bulky_data
from sonnx_clip.graph.clip_text import EXPORT_AGAIN
from sonnx_clip.graph.declared_tensors import quoted, shown
from sonnx_clip.graph.edit import Editor, all_names
from sonnx_clip.graph.expand import expand
from sonnx_clip.graph.lint import lint_proto, report_of
from sonnx_clip.graph.load_model import parse_model, read_model
from sonnx_clip.graph.normalise_bounds import missing_bounds, one_entry_bounds
from sonnx_clip.graph.normalise_report import NodeSteps, NormaliseReport, Step, left_alone
from sonnx_clip.graph.normalise_shapes import declare_inferred, set_shapes
from sonnx_clip.graph.profile import profile
from sonnx_clip.graph.schemas import inputs_since
from sonnx_clip.graph.self_check import OFF, UNCHANGED, SelfCheckOutcome, self_check
from sonnx_clip.graph.verdict import Judgement, NodeReport, Verdict
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import ModelProto

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.clip_nodes import ClipNode
    from sonnx_clip.graph.expand import Expansion
    from sonnx_clip.graph.self_check import SelfCheck
    from sonnx_clip.graph.verdict import ModelReport

    Found = list[tuple[ClipNode, tuple[Argument, ...]]]


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


@dataclass(frozen=True)
class Wish:
    """What a user asks of normalise beside the model.

    Attributes:
        assume_finite: no infinity reaches a Clip node with a bound that is not set.
        shapes: the sizes of inputs that the model leaves open.
        self_check: run the model before and after.
    """

    assume_finite: bool = False
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    self_check: bool = True


def normalise(path: Path, target: Path | None, wish: Wish | None = None) -> Normalised:
    """Normalise a model; nothing is written.

    Args:
        path: a binary ONNX file.
        target: where the result will go, for the report.
        wish: what the user asks for.

    Raises:
        UserError: the file is no complete ONNX model, onnx's checker refuses it, or the self-check finds a
            difference between the model and the result.
    """
    wish = wish or Wish()
    data = read_model(path)
    before = parse_model(data, path)
    _check(before, path, "onnx's checker refuses the model", "correct the model first")
    model = deepcopy(before)
    notes = set_shapes(model, wish.shapes, path)
    shaped = deepcopy(model)
    expansion = _expansion(model, path)
    head = profile().head
    found = [(node, arguments(node, path, head)) for node in expansion.nodes]
    work = _Work(model, path, found, [[] for _ in found], notes=notes)
    if any(node.version < inputs_since(head) for node, _ in work.main):
        _add(work, [_attributes_left(node, tensors) for node, tensors in work.main])
    else:
        _inputs(work, assume_finite=wish.assume_finite)
    if work.changed:
        expansion = _expansion(work.model, path)
    nodes = [node for node in expansion.nodes if not node.scope.in_function]
    _add(work, declare_inferred(work.model, [(node, arguments(node, path, head)) for node in nodes]))
    shown_at = target or path
    if not work.changed:
        return Normalised(before, data, _report(work, report_of(model, expansion, shown_at), target))
    _check(
        work.model, path, "onnx's checker refuses the result", "nothing was written; please report this model"
    )
    after = lint_proto(_lean(work.model), shown_at)
    checked = OFF
    if wish.self_check:
        checked = self_check(shaped, work.model, path.parent, finite=wish.assume_finite)
        if checked.outcome is SelfCheckOutcome.DIFFERENT:
            raise UserError(
                f"the self-check refuses the result: {checked.what}",
                where=shown(str(path)),
                todo="nothing was written; leave the model as it is, and please report it",
            )
    return Normalised(work.model, work.model.SerializeToString(), _report(work, after, target, checked))


@dataclass
class _Work:
    """A model on its way: `steps` has an entry for each node of `before`."""

    model: ModelProto
    path: Path
    before: Found
    steps: list[list[Step]]
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Something was done."""
        return bool(self.notes) or any(step.done for steps in self.steps for step in steps)

    @property
    def main(self) -> Found:
        """The nodes outside local functions, in the order of `edit.clips`."""
        return [found for found in self.before if not found[0].scope.in_function]


def _check(model: ModelProto, path: Path, what: str, todo: str) -> None:
    problem = checker_problem(model, path.parent)
    if problem is not None:
        raise UserError(f"{what}: {problem}", where=shown(str(path)), todo=todo)


def _expansion(model: ModelProto, path: Path) -> Expansion:
    return expand(_lean(model), path)


def _lean(model: ModelProto) -> ModelProto:
    lean = deepcopy(model)
    drop_bulky_data(lean)
    return lean


def _add(work: _Work, steps: Sequence[Sequence[Step]]) -> None:
    """Add steps of the nodes outside functions, one entry for each of these."""
    places = [n for n, (node, _) in enumerate(work.before) if not node.scope.in_function]
    for place, more in zip(places, steps, strict=True):
        work.steps[place] += more


def _inputs(work: _Work, *, assume_finite: bool) -> None:
    editor = Editor(work.model, all_names(work.model))
    tensors = [found for _, found in work.main]
    assert len(editor.clips) == len(tensors)
    _add(
        work,
        [
            missing_bounds(editor, n, found, node.version, assume_finite=assume_finite)
            for n, (node, found) in enumerate(work.main)
        ],
    )
    _add(work, one_entry_bounds(editor, tensors))
    editor.insert()


def _attributes_left(node: ClipNode, tensors: Sequence[Argument]) -> list[Step]:
    """The bounds of a node of Clip-1 or Clip-6, which are attributes: reported, not converted."""
    return [
        left_alone(
            profile().rule("is_set", bound.operand),
            f"{bound.operand.onnx} is no input of {node.operator}",
            EXPORT_AGAIN,
        )
        for bound in scalars(tensors)
    ]


def _report(
    work: _Work, after: ModelReport, target: Path | None, checked: SelfCheck = UNCHANGED
) -> NormaliseReport:
    nodes = [
        NodeSteps(
            node.operator,
            node.proto.name or None,
            f"node {node.index} of {node.scope.path}",
            node.proto.output[0],
            (*(step for step in steps if step.done), *_still(judged, steps)),
        )
        for (node, _), steps, judged in zip(work.before, work.steps, after.nodes, strict=True)
    ]
    return NormaliseReport(
        source=work.path,
        target=target,
        changed=work.changed,
        nodes=tuple(nodes),
        after=after,
        notes=work.notes,
        self_check=checked,
    )


def _still(judged: NodeReport, steps: Sequence[Step]) -> list[Step]:
    """What lint still has against a node, with the reason of the rule that left it where there is one."""
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
