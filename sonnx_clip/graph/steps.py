"""What normalise did to a model and what it left, as plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.graph.self_check import UNCHANGED

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.graph.operator_steps import OperatorStep
    from sonnx_clip.graph.self_check import SelfCheck
    from sonnx_clip.graph.verdict import ModelReport


@dataclass(frozen=True)
class Step:
    """One thing done to one Clip node, or left as it is.

    Attributes:
        rule: attribute_to_input, default_made_explicit, bound_made_scalar or shape_declared for what was
            done; the id of the restriction that stays broken for what was left.
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
        opsets: the version of the operator set ai.onnx before and after.
        raised: how that version was raised, None where it was not.
        rows: how many nodes followed which row of the table of operators.
        nodes: one entry per Clip node, in the order of the model.
        after: what lint says of the result.
        notes: what concerns the whole model.
        self_check: whether runtimes give equal results before and after.
    """

    source: Path
    target: Path | None
    changed: bool
    opsets: tuple[int | None, int | None]
    raised: str | None
    nodes: tuple[NodeSteps, ...]
    after: ModelReport
    notes: tuple[str, ...] = ()
    rows: tuple[tuple[OperatorStep, int], ...] = ()
    self_check: SelfCheck = UNCHANGED
