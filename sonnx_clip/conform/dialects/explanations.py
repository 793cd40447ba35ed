"""What can explain an answer of a runtime that its dialect does not allow: for `judge`.

An explanation is another rule for all answers of a form: a reading of spec/clip.yaml, other bounds in place
of the missing ones, or both; arithmetic in another type; another order of the numbers. It is taken only where
it allows every answer of the form, those included that the dialect allows too. It names the obligations that
tell the rule from the dialect, or that the answers contradict; a rule of which no obligation speaks explains
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sonnx_clip.claims import goal_names as named
from sonnx_clip.conform.dialects.other_bounds import OtherBounds, other_bounds
from sonnx_clip.conform.dtypes import bits_type, numpy_type
from sonnx_clip.oracle import load_oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.conform.dialects.asked import AskedForm
    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading

ExplanationKind: TypeAlias = Literal[
    "reading", "missing bound", "other type", "other order", "refusal", "unexplained"
]

NARROW = ("float16", "bfloat16")


@dataclass(frozen=True)
class Rule:
    """A rule that may be the runtime's.

    Args:
        id: its name.
        kind: what kind of rule.
        words: the rule in words, after "the runtime".
        goals: names of obligations, without the element type.
    """

    id: str
    kind: ExplanationKind
    words: str
    goals: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """A rule with the answers that it allows.

    Args:
        rule: the rule.
        allows: answers, shape (p, n) -> whether the rule allows each.
        parts: simpler ones; an answer that one of them allows is counted as that one's.
    """

    rule: Rule
    allows: Callable[[Array], Array]
    parts: tuple[Explanation, ...] = ()


def explanations(spec: Spec, asked: AskedForm, rows: Array) -> Iterator[Explanation]:
    """The rules that are tried, in this order: simple ones first.

    Args:
        spec: the specification.
        asked: the calls.
        rows: which of them were answered, shape (k,): the answers that a rule is given are theirs.
    """
    own = str(asked.dialect.row["reading"])
    others = tuple(other_bounds(spec, asked))
    missing = [_with_bounds(asked, own, bounds, rows) for bounds in others]
    yield from missing
    if asked.etype.id in NARROW:
        yield in_float32(asked, rows)
    if asked.etype.family == "int" and asked.etype.width == 64:
        yield low_halves(asked, rows)
    read = [_as_reading(spec, asked, reading, rows) for reading in spec.readings if reading.id != own]
    yield from read
    for reading in read:
        for bounds, simple in zip(others, missing, strict=True):
            one, two = reading.rule, simple.rule
            both = Rule(
                f"{one.id}, {two.id}", "reading", f"{one.words}; and it {two.words}", one.goals + two.goals
            )
            allows = _Reading(one.id, asked.every_x[rows], bounds.lower[rows], bounds.upper[rows])
            yield Explanation(both, allows, (simple, reading))


@dataclass(frozen=True)
class _Reading:
    """Whether a reading allows answers under bounds; of a NaN any payload will do."""

    reading: str
    x: Array
    lower: Array
    upper: Array

    def __call__(self, answers: Array) -> Array:
        return allowed_by(self.reading, self.x, self.lower, self.upper, answers)


@np.errstate(invalid="ignore")
def allowed_by(reading: str, x: Array, lower: Array, upper: Array, answers: Array) -> Array:
    """Whether a reading allows each answer, or another payload of a NaN; all shapes broadcast."""
    oracle = load_oracle()
    family = oracle.FAMILY_OF[x.dtype.name]
    allows = oracle.READINGS[family][reading]
    found: Array = np.asarray(allows(x, lower, upper, answers))
    if family == "float":
        for operand in (x, lower, upper):
            nan = np.broadcast_to(np.not_equal(operand, operand), answers.shape)
            same = np.ascontiguousarray(np.broadcast_to(operand, answers.shape))
            found = found | nan & np.not_equal(answers, answers) & allows(x, lower, upper, same)
    return found


def _apart(spec: Spec, one: str, other: str) -> tuple[str, ...]:
    """The obligations that show two readings to differ, by value and by bits."""
    first, second = (r.word for r in spec.readings if r.id in (one, other))
    return named.apart(first, second, "values"), named.apart(first, second, "bits")


def _as_reading(spec: Spec, asked: AskedForm, reading: Reading, rows: Array) -> Explanation:
    words = f"answers as the reading {reading.id} allows: {reading.title}"
    goals = _apart(spec, str(asked.dialect.row["reading"]), reading.id)
    allows = _Reading(reading.id, asked.every_x[rows], asked.lower[rows], asked.upper[rows])
    return Explanation(Rule(reading.id, "reading", words, goals), allows)


def _with_bounds(asked: AskedForm, reading: str, bounds: OtherBounds, rows: Array) -> Explanation:
    goals = (named.infinities(asked.word), named.without(asked.word, asked.without))
    allows = _Reading(reading, asked.every_x[rows], bounds.lower[rows], bounds.upper[rows])
    return Explanation(Rule(bounds.id, "missing bound", bounds.words, goals), allows)


def in_float32(asked: AskedForm, rows: Array) -> Explanation:
    """All of a 16-bit float's arithmetic in float32, with float32's limits for missing bounds."""
    oracle, dtype = load_oracle(), numpy_type(asked.etype.id)
    bits = oracle.DIALECTS["onnx-13"]["missing"]["float32"]
    ends = dict(zip(("min", "max"), (np.array(b, np.uint32).view(np.float32) for b in bits), strict=True))
    count = len(asked.lower)
    with np.errstate(invalid="ignore"):
        wide = [
            asked.given[name].astype(np.float32) if name in asked.given else np.full(count, end)
            for name, end in ends.items()
        ]
        x = asked.every_x[rows].astype(np.float32)
    result = asked.dialect.answer(x, wide[0][rows, None], wide[1][rows, None])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = result.astype(dtype)
    goals = named.SCALAR_CASTS if asked.form.attributes else (named.infinities(asked.word),)
    words = "clips in float32, bounds unconverted and missing ones by its limits, and converts the result"
    rule = Rule("in-float32", "other type", words, goals)
    return Explanation(rule, lambda answers: same_or_nan(answers, narrow))


def low_halves(asked: AskedForm, rows: Array) -> Explanation:
    """Comparison of 64-bit integers by halves of which the low one is taken as signed, too.

    So a comparison of two numbers with one high half is right but for the top bit of the low half: it is that
    of the numbers with this bit turned over. What is compared one by one may be right.
    """
    top = np.array(1 << 31, bits_type(asked.etype.id)).view(asked.x.dtype)
    turned = [part ^ top for part in (asked.every_x[rows], asked.lower[rows], asked.upper[rows])]
    result, due = asked.dialect.answer(*turned) ^ top, asked.due[rows]
    goal = named.of_contradiction(asked.word, asked.without)
    words = "is wrong: it compares the low halves of numbers with equal high halves as if they were signed"
    rule = Rule("signed-low-halves", "other order", words, (goal,))
    return Explanation(rule, lambda answers: (answers == result) | (answers == due))


@np.errstate(invalid="ignore")
def same_or_nan(one: Array, other: Array) -> Array:
    """Where two arrays have the same bits, or both a NaN."""
    bits: Any = f"u{one.dtype.itemsize}"
    same = np.ascontiguousarray(one).view(bits) == np.ascontiguousarray(other).view(bits)
    found: Array = same | np.not_equal(one, one) & np.not_equal(other, other)
    return found
