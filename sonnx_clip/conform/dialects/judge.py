"""The answers of one form, counted, and the disagreements with what explains them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.claims import goal_names as named
from sonnx_clip.conform.dialects.comparison_record import ComparisonCell
from sonnx_clip.conform.dialects.explanations import (
    Rule,
    allowed_by,
    explanations,
    same_or_nan,
)
from sonnx_clip.conform.dialects.obligations import is_shown
from sonnx_clip.conform.dialects.refusals import refusal
from sonnx_clip.conform.dialects.witness import failure_witness, witness
from sonnx_clip.conform.dtypes import bits_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.conform.calls import Answer
    from sonnx_clip.conform.dialects.asked import AskedForm
    from sonnx_clip.conform.dialects.comparison_record import AnswerNotAllowed
    from sonnx_clip.conform.dialects.explanations import Explanation
    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.spec import Spec


@dataclass(frozen=True)
class RuleShare:
    """What one rule accounts for in a form.

    Args:
        rule: the rule.
        count: how many answers, or calls without any.
        witness: one of them.
    """

    rule: Rule
    count: int
    witness: AnswerNotAllowed


@dataclass(frozen=True)
class Judged:
    """A form with its disagreements.

    Args:
        cell: its counts.
        refused: what accounts for calls without a result.
        choices: by the id of each rule that allows every answer, what it and its parts account for.
    """

    cell: ComparisonCell
    refused: tuple[RuleShare, ...] = ()
    choices: Mapping[str, tuple[RuleShare, ...]] = field(default_factory=dict)


def judge(spec: Spec, asked: AskedForm, answer: Answer) -> Judged:
    """The counts of a form, and what may explain its disagreements."""
    served = np.array([call not in answer.failures for call in range(len(asked.lower))])
    rows = np.flatnonzero(served)
    got = answer.bits[rows].view(asked.x.dtype)
    due = asked.due[rows]
    bits = bits_type(asked.etype.id)
    same = got.view(bits) == due.view(bits)
    payload = same_or_nan(got, due) & ~same
    allowed = _allowed(asked, rows, got) & ~same & ~payload
    differing = ~(same | payload | allowed)
    refused = tuple(_refused(asked, answer, served))
    choices = _choices(spec, asked, rows, got, differing) if differing.any() else {}
    parts = (*refused, *next(iter(choices.values()), ()))
    cell = ComparisonCell(
        opset=asked.opset, dialect=asked.dialect.id, type=asked.etype.id, form=asked.form.id,
        calls=len(served), refused=int((~served).sum()), compared=got.size, same=int(same.sum()),
        payload=int(payload.sum()), allowed=int(allowed.sum()), differing=int(differing.sum()),
        unexplained=sum(part.count for part in parts if part.rule.kind == "unexplained"),
        words=next((f.words for f in answer.failures.values()), None),
    )  # fmt: skip
    return Judged(cell, refused, choices)


def _allowed(asked: AskedForm, rows: Array, got: Array) -> Array:
    reading = str(asked.dialect.row["reading"])
    return allowed_by(reading, asked.every_x[rows], asked.lower[rows], asked.upper[rows], got)


def _refused(asked: AskedForm, answer: Answer, served: Array) -> Iterator[RuleShare]:
    """Calls without a result, where others had one or where one had another shape or type."""
    odd = any(not failure.raised for failure in answer.failures.values())
    if not answer.failures or not (served.any() or odd):
        return
    calls = [call for call, failure in answer.failures.items() if not failure.raised] or [*answer.failures]
    shown = failure_witness(asked, calls[0], answer.failures[calls[0]].words)
    yield RuleShare(refusal(asked, served, odd=odd), len(answer.failures), shown)


def _choices(
    spec: Spec, asked: AskedForm, rows: Array, got: Array, differing: Array
) -> dict[str, tuple[RuleShare, ...]]:
    """Each rule that allows every answer; of two rules together only where no single one does."""
    found: dict[str, tuple[RuleShare, ...]] = {}
    for one in explanations(spec, asked, rows):
        if found and one.parts:
            break
        if is_shown(one.rule, asked.etype.id) and one.allows(got).all():
            found[one.rule.id] = tuple(_parts(asked, rows, got, differing, one))
    if not found:
        rule = _unexplained(asked, rows, got, differing)
        found[rule.id] = (RuleShare(rule, int(differing.sum()), witness(asked, rows, got, differing)),)
    return found


def _parts(
    asked: AskedForm, rows: Array, got: Array, differing: Array, whole: Explanation
) -> Iterator[RuleShare]:
    left = differing
    for one in (*whole.parts, whole):
        here = left & one.allows(got)
        left = left & ~here
        if here.any():
            yield RuleShare(one.rule, int(here.sum()), witness(asked, rows, got, here))


def _unexplained(asked: AskedForm, rows: Array, got: Array, differing: Array) -> Rule:
    """The theorems that the answers contradict are named all the same."""
    operands = (asked.every_x[rows], asked.lower[rows], asked.upper[rows])
    operand = np.any([same_or_nan(got, np.broadcast_to(part, got.shape)) for part in operands], axis=0)
    goals = [] if operand[differing].all() else [named.RESULT_IS_OPERAND]
    goals.append(named.of_contradiction(asked.word, asked.without))
    words = "answers what neither its dialect nor any rule that was tried allows"
    return Rule("unexplained", "unexplained", words, tuple(goals))
