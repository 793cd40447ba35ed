"""Normalise: bring the Clip nodes of a model into the profile where that changes no result."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from onnx import ModelProto, defs

from sonnx_clip.lint.changes import NodeChange, Step, fitting_shapes, set_shapes
from sonnx_clip.lint.clip_nodes import FoundNodes, arguments, clip_nodes, find_nodes
from sonnx_clip.lint.edit import Editor
from sonnx_clip.lint.graph_scope import Scope
from sonnx_clip.lint.lint import report_of
from sonnx_clip.lint.model_file import external_files, parse_model, read_model
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.safe_text import quoted, shown
from sonnx_clip.lint.self_check import OFF, UNCHANGED, SelfCheck, self_check
from sonnx_clip.root.collection import without_collection
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.lint.verdict import ModelReport, NodeReport


@dataclass(frozen=True)
class NormaliseOptions:
    """Options beside the model."""

    assume_finite: bool = False  # no infinity reaches a Clip node with a bound that is not set
    shapes: Mapping[str, Sequence[int]] = field(
        default_factory=dict
    )  # of inputs that the model leaves open
    usual_shapes: Mapping[str, Sequence[int]] = field(
        default_factory=dict
    )  # of inputs by these names, where a model has one and leaves it open
    self_check: bool = True  # run the model before and after


class NodeSteps(NamedTuple):
    """One Clip node, named as in the model that was read, and what happened to it."""

    operator: str
    name: str | None
    place: str
    output: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class NormaliseReport:
    """One model before and after."""

    source: Path
    target: Path | None  # where the result goes, None where it goes nowhere or to standard output
    changed: bool  # False where the result is the same file, byte for byte
    nodes: tuple[NodeSteps, ...]  # in the order of the model
    after: ModelReport  # of lint on the result
    notes: tuple[str, ...] = ()
    self_check: SelfCheck = UNCHANGED

    @property
    def exit_status(self) -> int:
        """0 where the result is in the profile, 1 where something is left or the self-check was not run."""
        return self.after.exit_status if self.self_check.outcome != "not run" else 1


@dataclass(frozen=True)
class Normalised:
    """The result, its bytes (of the file that was read where nothing was changed), and the report."""

    model: ModelProto
    data: bytes
    report: NormaliseReport


@without_collection()
def normalise(
    path: Path, target: Path | None, options: NormaliseOptions = NormaliseOptions()
) -> Normalised:
    """Normalise the model of a binary ONNX file; nothing is written, `target` is for the report.

    Raises:
        UserError: the file is no complete ONNX model, onnx's checker refuses it, or the self-check finds a
            difference between the model and the result.
    """
    data = read_model(path)
    model = parse_model(data, path)
    as_read = None
    shapes = {**fitting_shapes(model, options.usual_shapes), **options.shapes}
    if shapes:
        as_read = ModelProto()
        as_read.CopyFrom(model)
    notes = set_shapes(model, shapes, path)
    before = ModelProto()
    before.CopyFrom(model)
    found = find_nodes(model, path)
    _check(model, found, path, "", "correct the model first")

    finite = options.assume_finite
    steps = _change(model, found, path, finite=finite)
    changed = bool(notes) or any(step.done for step in chain.from_iterable(steps))
    checked = UNCHANGED
    again = found
    if changed:
        todo = "nothing was written; please report this model"
        again = find_nodes(model, path)
        _check(model, again, path, "the result: ", todo)
        checked = OFF
        if options.self_check:
            checked = self_check(before, model, path.parent, finite=finite, as_read=as_read)
        where = shown(str(path))
        if checked.outcome == "rejected":
            todo = "nothing was written; --no-self-check writes the result for another runtime"
            raise UserError(checked.what, where, todo)
        if checked.outcome == "different":
            raise UserError(f"the self-check rejects the result: {checked.what}", where, todo)

    after = report_of(model, again, target or path)
    nodes = []
    for node, mine, judged in zip(found.nodes, steps, after.nodes, strict=True):
        proto, position, graph = node.original
        done = [step for step in mine if step.done]
        nodes.append(
            NodeSteps(
                operator=node.operator,
                name=proto.name or None,
                place=f"node {position} of {graph}",
                output=proto.output[0],
                steps=(*done, *_left(judged, mine)),
            )
        )
    report = NormaliseReport(path, target, changed, tuple(nodes), after, notes, checked)
    return Normalised(model, model.SerializeToString() if changed else data, report)


def _change(model: ModelProto, found: FoundNodes, path: Path, *, finite: bool) -> list[list[Step]]:
    """Change the nodes of a model, those of functions excepted; the steps of each node."""
    editor = Editor(model)
    # `found` has the nodes of the inlined model; these are the same in the model under change.
    places = clip_nodes(Scope(model.graph, ""), found.opsets.get(""), path)
    steps: list[list[Step]] = []
    for node in found.nodes:
        if node.in_function:
            steps.append([])
        else:
            tensors = arguments(node, path, profile())
            steps.append(NodeChange(editor, next(places), node, tensors, finite).steps())
    editor.insert()
    return steps


def _check(model: ModelProto, found: FoundNodes, path: Path, title: str, todo: str) -> None:
    """Refuse what onnx refuses, or cannot check."""
    problems = list(found.undecided)
    missing = [name for name in external_files(model) if not (path.parent / name).is_file()]
    problems += [f"the external data {quoted(name)} is missing" for name in missing]
    newest = defs.onnx_opset_version()
    for opset in dict.fromkeys(node.opset for node in found.nodes):
        if opset > newest:
            problems.append(
                f"opset {opset} is newer than the installed onnx, which cannot check the model"
            )
    if problems:
        raise UserError(f"{title}{problems[0]}", shown(str(path)), todo)


def _left(judged: NodeReport, steps: Sequence[Step]) -> Iterator[Step]:
    """What lint still has against a node, with the reason of the change that left it where there is one."""
    for judgement in judged.findings.judgements:
        known = [step for step in steps if not step.done and step.rule == judgement.id]
        if judgement.problems and known:
            yield from known
            continue
        for problem in judgement.problems:
            name = judged.tensors[problem.argument]
            title = problem.argument if name is None else f"{problem.argument} {quoted(name)}"
            yield Step(judgement.id, f"{title}: {problem.message}", problem.remedy, done=False)
