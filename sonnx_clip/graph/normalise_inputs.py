"""Clip from version 11 on, whose bounds are inputs: those that are not set are made explicit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.graph.arguments import scalars
from sonnx_clip.graph.clip_text import LIMITS, NEITHER_LIMITS
from sonnx_clip.graph.declared_tensors import quoted
from sonnx_clip.graph.profile import profile
from sonnx_clip.graph.schemas import type_problem
from sonnx_clip.graph.steps import Step, did, left_alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.edit import Editor
    from sonnx_clip.graph.profile import OnnxOperand


def missing_bounds(
    editor: Editor, place: int, tensors: Sequence[Argument], version: int, *, assume_finite: bool
) -> list[Step]:
    """Make the bounds that are not set explicit, where this changes no result.

    Args:
        editor: the model under change.
        place: of the node, in the order of `edit.clips`.
        tensors: the operands of the node and its result.
        version: of its operator.
        assume_finite: the user's word that neither the tensor nor the other bound is ever infinite.
    """
    x, bounds = tensors[0], scalars(tensors)
    missing = [bound.operand for bound in bounds if bound.name is None]
    element_type, node = x.known_type, editor.clips[place]
    problem = type_problem(node.op_type, version, element_type) if element_type is not None else None
    if problem is not None:
        return [_left(bound, problem) for bound in missing]
    neither = len(missing) == len(bounds)
    return [
        _missing(editor, place, x, bound, neither=neither, assume_finite=assume_finite) for bound in missing
    ]


def _left(bound: OnnxOperand, why: str, theorems: tuple[str, ...] = ()) -> Step:
    return left_alone(profile().rule("is_set", bound), f"{bound.onnx} is not set", why, theorems)


def _missing(
    editor: Editor, place: int, x: Argument, bound: OnnxOperand, *, neither: bool, assume_finite: bool
) -> Step:
    limit = LIMITS[bound.onnx]
    etype = profile().element_type(x.known_type)
    if etype is None:
        why = f"the element type of {x.id} is not known, so neither is its {limit.number} number"
        return _left(bound, why)
    says = NEITHER_LIMITS if neither else limit.limits_nothing
    if etype.family == "float" and not assume_finite:
        refuted = etype.shown_by(says, "refuted")
        why = (
            f"the text gives numeric_limits, which limits an infinite {x.id}; the function body of Clip-13 "
            f"does not, and runtimes differ ({refuted}). If no infinity reaches the node: --assume finite"
        )
        return _left(bound, why, (refuted,))
    tensor = editor.bound_before(place, bound, etype.onnx, limit.of(etype))
    editor.set_input(editor.clips[place], bound, tensor)
    what = f"{bound.onnx} was not set and is the {limit.number} {etype.onnx} now: input {quoted(tensor)}"
    if etype.family == "float":
        why = "with no infinity this bound is no bound, bit for bit (--assume finite)"
        return did("default_made_explicit", what, why, (etype.shown_by(says, "repaired"),))
    why = "this bound is no bound, bit for bit"
    return did("default_made_explicit", what, why, (etype.shown_by(says, "holds"),))
