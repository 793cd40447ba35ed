"""The answers of one form, counted, and the disagreements with what explains them, gathered over all operator
sets, types and forms.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.claims import goal_names as named
from sonnx_clip.conform.comparison_explanations import (
    Rule,
    allowed_by,
    explanations,
    is_shown,
    known_obligations,
    refusal,
    same_or_nan,
)
from sonnx_clip.conform.comparison_record import AnswerNotAllowed, ComparisonCell, Group, Place
from sonnx_clip.language.show import show
from sonnx_clip.root.dtypes import bits_type, hex_bits
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.conform.comparison_explanations import Explanation
    from sonnx_clip.conform.comparison_inputs import ComparedForm
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Answer
    from sonnx_clip.spec import Spec


def witness(asked: ComparedForm, rows: Array, got: Array, where: Array) -> AnswerNotAllowed:
    """The first answer of some.

    Args:
        asked: the calls.
        rows: which of them were answered, shape (k,).
        got: their answers, shape (k, n).
        where: the answers to choose from, shape (k, n).
    """
    row, column = (int(index[0]) for index in np.nonzero(where))
    call = int(rows[row])
    bits = bits_type(asked.etype.id)
    x, answered, due = (
        int(part.view(bits)) for part in (asked.x[column], got[row, column], asked.due[call, column])
    )
    name = asked.etype.id
    shown = (
        f"X = {show(x, asked.etype)}, {_bounds_shown(asked, call)}: got {show(answered, asked.etype)},"
        f" expected {show(due, asked.etype)}"
    )
    return _made(
        asked, call, shown, x=hex_bits(x, name), got=hex_bits(answered, name), due=hex_bits(due, name)
    )


def failure_witness(asked: ComparedForm, call: int, words: str) -> AnswerNotAllowed:
    """A call without a result."""
    return _made(asked, call, f"{_bounds_shown(asked, call)}: no result", words=words)


def _made(
    asked: ComparedForm, call: int, shown: str, *,
    x: str | None = None, got: str | None = None, due: str | None = None, words: str | None = None,
) -> AnswerNotAllowed:  # fmt: skip
    kind = _bound_type(asked)
    lower, upper = (
        hex_bits(pattern, kind) if pattern is not None else None
        for pattern in (_given(asked, call, name) for name in ("min", "max"))
    )
    return AnswerNotAllowed(
        opset=asked.opset, type=asked.etype.id, form=asked.form.id, bound_type=kind,
        x=x, min=lower, max=upper, got=got, due=due, shown=shown, words=words,
    )  # fmt: skip


def _bound_type(asked: ComparedForm) -> str:
    return "float32" if asked.dialect.row["bounds"] == "attributes" else asked.etype.id


def _given(asked: ComparedForm, call: int, name: str) -> int | None:
    if name not in asked.given:
        return None
    return int(asked.given[name].view(bits_type(_bound_type(asked)))[call])


def _bounds_shown(asked: ComparedForm, call: int) -> str:
    of = load_spec().element_type(_bound_type(asked))
    texts = []
    for name in ("min", "max"):
        pattern = _given(asked, call, name)
        texts.append(f"no {name}" if pattern is None else f"{name} = {show(pattern, of)}")
    return ", ".join(texts)


# --- The answers of one form, counted, and the disagreements with what explains them ------------------------


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


def judge(spec: Spec, asked: ComparedForm, answer: Answer) -> Judged:
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


def _allowed(asked: ComparedForm, rows: Array, got: Array) -> Array:
    reading = str(asked.dialect.row["reading"])
    return allowed_by(reading, asked.every_x[rows], asked.lower[rows], asked.upper[rows], got)


def _refused(asked: ComparedForm, answer: Answer, served: Array) -> Iterator[RuleShare]:
    """Calls without a result, where others had one or where one had another shape or type."""
    odd = any(not failure.raised for failure in answer.failures.values())
    if not answer.failures or not (served.any() or odd):
        return
    calls = [call for call, failure in answer.failures.items() if not failure.raised] or [*answer.failures]
    shown = failure_witness(asked, calls[0], answer.failures[calls[0]].words)
    yield RuleShare(refusal(asked, served, odd=odd), len(answer.failures), shown)


def _choices(
    spec: Spec, asked: ComparedForm, rows: Array, got: Array, differing: Array
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
    asked: ComparedForm, rows: Array, got: Array, differing: Array, whole: Explanation
) -> Iterator[RuleShare]:
    left = differing
    for one in (*whole.parts, whole):
        here = left & one.allows(got)
        left = left & ~here
        if here.any():
            yield RuleShare(one.rule, int(here.sum()), witness(asked, rows, got, here))


def _unexplained(asked: ComparedForm, rows: Array, got: Array, differing: Array) -> Rule:
    """The theorems that the answers contradict are named all the same."""
    operands = (asked.every_x[rows], asked.lower[rows], asked.upper[rows])
    operand = np.any([same_or_nan(got, np.broadcast_to(part, got.shape)) for part in operands], axis=0)
    goals = [] if operand[differing].all() else [named.RESULT_IS_OPERAND]
    goals.append(named.of_contradiction(asked.word, asked.without))
    words = "answers what neither its dialect nor any rule that was tried allows"
    return Rule("unexplained", "unexplained", words, tuple(goals))


# --- Disagreements of all operator sets, types and forms, gathered by what explains them --------------------


class Groups:
    """Gathers what accounts for the disagreements of the forms of a runtime.

    Where several rules would do for a form, the one that does for most forms is taken.
    """

    def __init__(self) -> None:
        self._judged: list[Judged] = []

    def add(self, judged: Judged) -> None:
        """Add a form."""
        self._judged.append(judged)

    def all(self) -> tuple[Group, ...]:
        """The groups: those without an explanation first, then those that account for most."""
        fits = Counter(id_ for judged in self._judged for id_ in judged.choices)
        found: dict[str, list[tuple[Judged, RuleShare]]] = {}
        for judged in self._judged:
            chosen = max(judged.choices, key=lambda id_: fits[id_], default=None)
            for part in (*judged.refused, *(judged.choices[chosen] if chosen is not None else ())):
                found.setdefault(part.rule.id, []).append((judged, part))
        made = [self._group(parts) for parts in found.values()]
        return tuple(sorted(made, key=lambda group: (group.kind != "unexplained", -group.count)))

    def _group(self, parts: list[tuple[Judged, RuleShare]]) -> Group:
        known, first = known_obligations(), parts[0][1]
        named = [f"{judged.cell.type}.{goal}" for judged, part in parts for goal in part.rule.goals]
        return Group(
            id=first.rule.id,
            kind=first.rule.kind,
            words=first.rule.words,
            places=tuple(
                Place(opset=j.cell.opset, type=j.cell.type, form=j.cell.form, count=part.count)
                for j, part in parts
            ),
            witness=first.witness,
            obligations=tuple(id_ for id_ in dict.fromkeys(named) if id_ in known),
            fits_too=_fits_too(first.rule.id, [judged.choices for judged, _ in parts]),
        )


def _fits_too(id_: str, choices: list[Mapping[str, tuple[RuleShare, ...]]]) -> tuple[str, ...]:
    """The other rules that would do for all of these forms."""
    return tuple(
        other for other in choices[0] if other != id_ and all(id_ in c and other in c for c in choices)
    )
