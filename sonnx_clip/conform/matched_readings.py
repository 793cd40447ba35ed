"""The readings of Clip that allow every answer of a sample; or the one that allows the most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.causes import explains_all
from sonnx_clip.conform.check_report import ReadingMatch
from sonnx_clip.conform.conversions import constant_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.conform.answers import Answers
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.root.dtypes import Array

    Reading = Callable[..., Any]


def matched_readings(operator: Operator, answers: Answers) -> ReadingMatch | None:
    """The readings that fit a sample of answers; None without answers or readings."""
    readings = operator.oracle.READINGS[answers.etype.family]
    if not len(answers) or not readings:
        return None
    forbidden = {}
    for id_, reading in readings.items():
        forbidden[id_] = answers.where(~_allowed_by(reading, answers))
    allowing_all = tuple(id_ for id_, answers_of in forbidden.items() if not len(answers_of))
    if allowing_all:
        exact = tuple(id_ for id_ in allowing_all if not _allows_others(readings[id_], answers))
        return ReadingMatch(answers=len(answers), allowed_by=allowing_all, exactly=exact)

    # A reading may forbid right answers too: those that deviate decide, and are named.
    deviations = {id_: wrong.where(wrong.deviating) for id_, wrong in forbidden.items()}

    def distance(id_: str) -> tuple[int, int]:
        return len(deviations[id_]), len(forbidden[id_])

    nearest = min(forbidden, key=distance)
    left = deviations[nearest]
    ids = operator.class_ids(answers.etype.family)
    return ReadingMatch(
        answers=len(answers),
        allowed_by=(),
        exactly=(),
        nearest=nearest,
        left=len(left),
        left_in=tuple(ids[index] for index in left.known_classes),
        explained_by=explains_all(operator, answers),
    )


def _allowed_by(reading: Reading, answers: Answers) -> Array:
    with np.errstate(invalid="ignore"):  # NaNs are compared
        return np.broadcast_to(reading(*answers.values, answers.result), answers.got.shape)


def _allows_others(reading: Reading, answers: Answers) -> bool:
    """Whether a reading allows another answer for the same operands: another operand, or a NaN."""
    for other in _other_answers(answers):
        differs = other.view(answers.got.dtype) != answers.got
        with np.errstate(invalid="ignore"):
            allows = reading(*answers.values, other)
        if np.any(allows & differs):
            return True
    return False


def _other_answers(answers: Answers) -> Iterator[Array]:
    # A reading allows operands and NaNs only, so no other number is tried.
    yield from answers.values
    if answers.etype.family == "float":
        for text in ("nan", "-nan"):
            yield np.broadcast_to(constant_array(text, answers.etype), answers.got.shape).copy()
