"""Bounds that a runtime refuses though their dialect takes them: for `explanations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.claims import goal_names as named
from sonnx_clip.conform.dialects.explanations import Rule
from sonnx_clip.conform.dialects.obligations import is_shown

if TYPE_CHECKING:
    from sonnx_clip.conform.dialects.asked import AskedForm
    from sonnx_clip.conform.dtypes import Array


def refusal(asked: AskedForm, served: Array, *, odd: bool) -> Rule:
    """What explains that some calls gave no result.

    Args:
        asked: the calls.
        served: which of them gave one, shape (p,).
        odd: whether there was a result of another shape or type, which no rule explains.
    """
    unordered = Rule(
        "refuses-unordered", "refusal",
        "refuses exactly the bounds for which min <= max is false, inverted ones and NaN; the text of the"
        " version takes them, and does not say which bound comes first",
        (named.nowhere_else(named.is_sonnx(asked.word)),),
    )  # fmt: skip
    if not odd and is_shown(unordered, asked.etype.id) and np.array_equal(served, _ordered(asked)):
        return unordered
    words = "gives no result of the shape and type of X for some bounds; no rule that was tried says which"
    return Rule("refused-unexplained", "unexplained", words, (named.is_sonnx(asked.word),))


def _ordered(asked: AskedForm) -> Array:
    """Where min <= max as they are given, or as they stand for missing ones before they are converted."""
    with np.errstate(invalid="ignore"):
        found: Array = np.less_equal(_as_given(asked, "min"), _as_given(asked, "max"))
    return found


def _as_given(asked: AskedForm, name: str) -> Array:
    if name in asked.given:
        return asked.given[name]
    row = asked.dialect.row
    if row["missing_of"] == "bound":
        bits = row["missing"][asked.etype.id][name == "max"]
        return np.full(len(asked.lower), bits, np.uint32).view(np.float32)
    return (asked.lower if name == "min" else asked.upper)[:, 0]
