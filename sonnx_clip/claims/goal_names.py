"""Names of goals that several layers have to know: what renders a goal, what asks for it, what shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.reading_classes import ReadingInClass


def class_goal(reading: Reading, family: FamilyId, found: ReadingInClass, *, bitwise: bool) -> str:
    """The goal that shows whether a reading agrees with the cases in a class.

    A reading that agrees in all of its family has one goal for everything.
    """
    if family not in reading.regions(bitwise=bitwise):
        return f"{reading.word}_agrees{'_bitwise' if bitwise else ''}"
    same = found.difference(bitwise=bitwise) is None
    return f"{reading.word}_{'same' if same else 'other'}_{'bits' if bitwise else 'values'}_in_classes"
