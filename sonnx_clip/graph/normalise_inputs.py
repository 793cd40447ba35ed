"""Clip from version 11 on, whose bounds are inputs: those that are not set are made explicit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.graph.arguments import type_problem
from sonnx_clip.graph.constants import LIMIT, limit_bits, profile_type
from sonnx_clip.graph.declared_tensors import quoted
from sonnx_clip.graph.edit import NAME
from sonnx_clip.graph.steps import Step, did, left_alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.declared_tensors import Dims
    from sonnx_clip.graph.edit import Editor

_TAG = {"L": "R1", "M": "R2"}
NO_BOUND = {"L": "lowest_is_no_lower_bound", "M": "highest_is_no_upper_bound"}
WIDEST = "widest_bounds_are_no_bound"
"""What shows that the limits of a type limit nothing: properties of the specification."""


def one_type(tensor: Argument) -> str | None:
    """The element type on which all that is known of a tensor agrees."""
    derived = tensor.derived.element_type if tensor.derived else None
    found = {*tensor.element_types, *(name for name in (tensor.inferred_type, derived) if name)}
    return found.pop() if len(found) == 1 else None


def known_dims(tensor: Argument) -> Dims | None:
    """The declared shape, or else what inference finds; None where they contradict each other."""
    if tensor.contradiction:
        return None
    if tensor.dims is not None:
        return tensor.dims
    return tensor.derived.dims if tensor.derived and tensor.derived.dims is not None else tensor.inferred_dims


def missing_bounds(
    editor: Editor, place: int, tensors: Sequence[Argument], version: int, *, assume_finite: bool
) -> list[Step]:
    """Make the bounds that are not set explicit, where this changes no result.

    Args:
        editor: the model under change.
        place: of the node, in the order of `edit.clips`.
        tensors: X, L, M and Y of the node.
        version: of its operator.
        assume_finite: the user's word that neither X nor the other bound is ever infinite.
    """
    missing = [tensor.role for tensor in tensors[1:3] if tensor.name is None]
    element_type = one_type(tensors[0])
    problem = type_problem(version, element_type) if element_type is not None else None
    if problem is not None:
        return [left_alone(_TAG[role], f"{NAME[role]} is not set", problem) for role in missing]
    return [
        _missing(editor, place, tensors[0], role, both=len(missing) == 2, assume_finite=assume_finite)
        for role in missing
    ]


def _missing(editor: Editor, place: int, x: Argument, role: str, *, both: bool, assume_finite: bool) -> Step:
    name = NAME[role]
    etype = profile_type(one_type(x))
    if etype is None:
        why = f"the element type of X is not known, so neither is its {LIMIT[role]} number"
        return left_alone(_TAG[role], f"{name} is not set", why)
    says = WIDEST if both else NO_BOUND[role]
    if etype.family == "float" and not assume_finite:
        refuted = etype.shown_by(says, "refuted")
        why = (
            "the text gives numeric_limits, which limits an infinite X; the function body of Clip-13 does "
            f"not, and runtimes differ ({refuted}). If no infinity reaches the node: --assume finite"
        )
        return left_alone(_TAG[role], f"{name} is not set", why, (refuted,))
    node = editor.clips[place]
    tensor = editor.bound_before(place, role, etype.onnx, limit_bits(etype, role))
    editor.set_input(node, role, tensor)
    what = f"{name} was not set and is the {LIMIT[role]} {etype.onnx} now: input {quoted(tensor)}"
    if etype.family == "float":
        why = "with no infinity this bound is no bound, bit for bit (--assume finite)"
        return did("default_made_explicit", what, why, (etype.shown_by(says, "repaired"),))
    why = "this bound is no bound, bit for bit"
    return did("default_made_explicit", what, why, (etype.shown_by(says, "holds"),))
