"""Normalise: bring the Clip nodes of a model into the profile where that changes no result."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from onnx import ModelProto, defs

from sonnx_clip.lint.changes import NodeChange, NormaliseStep, fitting_shapes, set_shapes
from sonnx_clip.lint.clip_nodes import FoundNodes, arguments, clip_nodes, find_nodes
from sonnx_clip.lint.edit import Editor
from sonnx_clip.lint.graph_scope import GraphScope
from sonnx_clip.lint.lint import report_of
from sonnx_clip.lint.model_file import copy_of, external_files, parse_model, read_model
from sonnx_clip.lint.safe_text import quoted, shown
from sonnx_clip.lint.self_check import OFF, UNCHANGED, SelfCheck, self_check
from sonnx_clip.root.collection import without_collection
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.lint.clip_nodes import ClipNode
    from sonnx_clip.lint.verdict import ModelReport, NodeReport


@dataclass(frozen=True)
class NormaliseOptions:
    """Options beside the model."""

    assume_finite: bool = False  # no infinity reaches a Clip node with a bound that is not set
    # Of inputs that the model leaves open; an error where it has no such input.
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    # Of inputs by these names, where a model has one and leaves it open.
    usual_shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    self_check: bool = True  # run the model before and after


class NodeSteps(NamedTuple):
    """One Clip node, named as in the model that was read, and what happened to it."""

    operator: str
    name: str | None
    place: str
    output: str
    steps: tuple[NormaliseStep, ...]

    @property
    def is_changed(self) -> bool:
        """Whether a step was done, and not only left."""
        return any(step.done for step in self.steps)


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
    path: Path,
    target: Path | None,
    options: NormaliseOptions = NormaliseOptions(),
) -> Normalised:
    """Normalise the model of a binary ONNX file; nothing is written, `target` is for the report.

    Raises:
        UserError: the file is no complete ONNX model, onnx's checker refuses it, or the self-check finds a
            difference between the model and the result.
    """
    data = read_model(path)
    model = parse_model(data, path)
    shapes = {**fitting_shapes(model, options.usual_shapes), **options.shapes}
    # With other shapes onnxruntime may refuse the model as such, which the self-check has to tell apart
    # from a wrong result.
    as_read = copy_of(model) if shapes else None
    notes = set_shapes(model, shapes, path)
    before = copy_of(model)
    found = find_nodes(model, path)
    _check(model, found, path, "", "correct the model first")

    finite = options.assume_finite
    steps = _change(model, found, path, finite=finite)
    # A size that the user sets is a change too, even where no node needs one.
    changed = bool(notes) or any(step.done for step in chain.from_iterable(steps))
    checked = UNCHANGED
    nodes_after = found
    if changed:
        todo = "nothing was written; please report this model"
        # The nodes are looked for anew, since facts about tensors are those of the model before.
        nodes_after = find_nodes(model, path)
        _check(model, nodes_after, path, "the result: ", todo)
        checked = OFF
        if options.self_check:
            checked = self_check(before, model, path.parent, finite=finite, as_read=as_read)
        where = shown(str(path))
        # A result that one runtime does not load may be what another one needs; a difference never is.
        if checked.outcome == "rejected":
            todo = "nothing was written; --no-self-check writes the result for another runtime"
            raise UserError(checked.what, where, todo)
        if checked.outcome == "different":
            raise UserError(f"the self-check rejects the result: {checked.what}", where, todo)

    after = report_of(model, nodes_after, target or path)
    nodes = []
    # Changes insert nodes before the Clip nodes and keep these in their order.
    for node, node_steps, judged in zip(found.nodes, steps, after.nodes, strict=True):
        nodes.append(_steps_of(node, node_steps, judged))
    report = NormaliseReport(path, target, changed, tuple(nodes), after, notes, checked)
    # Protobuf need not write the bytes that it read, so an unchanged model is the file as it was.
    return Normalised(model, model.SerializeToString() if changed else data, report)


def _steps_of(
    node: ClipNode,
    steps: Sequence[NormaliseStep],
    judged: NodeReport,
) -> NodeSteps:
    """What was done to a node, and what is left."""
    original = node.original
    done = [step for step in steps if step.done]
    return NodeSteps(
        operator=node.operator,
        name=original.node.name or None,
        place=f"node {original.position} of {original.graph}",
        output=original.node.output[0],
        steps=(*done, *_left(judged, steps)),
    )


def _change(
    model: ModelProto,
    found: FoundNodes,
    path: Path,
    *,
    finite: bool,
) -> list[list[NormaliseStep]]:
    """Change the nodes of a model, those of functions excepted; the steps of each node."""
    editor = Editor(model)
    # `found` has the nodes of the inlined model; these are the same in the model under change.
    places = clip_nodes(GraphScope(model.graph, ""), found.opsets.get(""), path)
    steps: list[list[NormaliseStep]] = []
    for node in found.nodes:
        if node.in_function:
            # It was judged for one call, and a change would be one for every call of the function.
            steps.append([])
            continue
        tensors = arguments(node, path)
        change = NodeChange(editor, next(places), node, tensors, finite)
        steps.append(change.steps())
    editor.insert()  # at the end, since `places` has the indices of the model as it was
    return steps


def _check(
    model: ModelProto,
    found: FoundNodes,
    path: Path,
    title: str,
    todo: str,
) -> None:
    """Refuse what onnx refuses, or cannot check."""
    problem = next(_problems(model, found, path), None)
    if problem is not None:
        raise UserError(f"{title}{problem}", shown(str(path)), todo)


def _problems(model: ModelProto, found: FoundNodes, path: Path) -> Iterator[str]:
    """Why a model cannot be changed, or its result cannot be checked."""
    yield from found.undecided
    for name in external_files(model):
        if not (path.parent / name).is_file():
            yield f"the external data {quoted(name)} is missing"
    newest = defs.onnx_opset_version()
    for node in found.nodes:
        if node.opset > newest:
            reason = "is newer than the installed onnx, which cannot check the model"
            yield f"opset {node.opset} {reason}"


def _left(judged: NodeReport, steps: Sequence[NormaliseStep]) -> Iterator[NormaliseStep]:
    """What lint still has against a node, with the reason of the change that left it where there is one."""
    for rule in judged.findings.broken_rules:
        reasons = [step for step in steps if not step.done and step.rule == rule]
        # A step says why normalise left it, which the remedy of lint does not.
        if reasons:
            yield from reasons
            continue
        for problem in judged.findings.problems_of(rule):
            title = judged.titles[problem.argument]
            yield NormaliseStep(
                rule,
                f"{title}: {problem.message}",
                problem.remedy,
                done=False,
            )
