"""What can explain an answer of a runtime that its dialect does not allow, with the obligations that it
names: for `comparison_judge`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sonnx_clip.claims import goal_names as named
from sonnx_clip.language.convert import convert
from sonnx_clip.language.values import encode, integer_range
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.conform.comparison_inputs import ComparedForm
    from sonnx_clip.language import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading


OBLIGATIONS = "generated/why3/obligations.json"


@cache
def known_obligations() -> frozenset[str]:
    """The ids of all obligations of the theories."""
    rows = json.loads(repo_file(OBLIGATIONS).read_text(encoding="utf-8"))["obligations"]
    return frozenset(row["id"] for row in rows)


def is_shown(rule: Rule, etype: str) -> bool:
    """Whether an obligation of an element type speaks of a rule."""
    return any(f"{etype}.{goal}" in known_obligations() for goal in rule.goals)


# --- What a runtime may take for a missing bound instead of what its dialect says ---------------------------


@dataclass(frozen=True)
class OtherBounds:
    """Other bounds for the calls of a form.

    Args:
        id: the name of the explanation.
        words: what the runtime does, after "the runtime".
        lower: min, shape (p, 1), of the element type.
        upper: max, likewise.
    """

    id: str
    words: str
    lower: Array
    upper: Array


def other_bounds(spec: Spec, asked: ComparedForm) -> Iterator[OtherBounds]:
    """No bound at all first, then the limits of other types; nothing where no bound is missing."""
    missing = [name for name in ("min", "max") if name not in asked.form.given]
    if not missing:
        return
    etype = asked.etype
    if etype.family == "float":
        none = int(encode("-inf", etype)), int(encode("inf", etype))
        yield _put(asked, missing, none, "no-bound", "takes a missing bound as no bound")
    for other in spec.element_types:
        if other.family == etype.family and other.id != etype.id and (ends := _limits(other, etype)):
            words = f"takes the limits of {other.id} for missing bounds"
            yield _put(asked, missing, ends, f"limits-of-{other.id}", words)


def _limits(other: ElementType, etype: ElementType) -> tuple[int, int] | None:
    """The limits of another type, if they are finite numbers of this one."""
    if etype.family == "int":
        (low, high), (least, most) = integer_range(other), integer_range(etype)
        fits = least <= low and high <= most
        return (low % (most - least + 1), high % (most - least + 1)) if fits else None
    limits = [convert(encode(text, other), other, etype) for text in ("lowest", "highest")]
    if limits[1] is None or limits[1] == encode("inf", etype):
        return None
    return int(limits[0] or 0), int(limits[1])


def _put(asked: ComparedForm, missing: list[str], ends: tuple[int, int], id_: str, words: str) -> OtherBounds:
    dtype, bits = numpy_type(asked.etype.id), bits_type(asked.etype.id)
    columns = [np.full(asked.lower.shape, end, bits).view(dtype) for end in ends]
    lower = columns[0] if "min" in missing else asked.lower
    upper = columns[1] if "max" in missing else asked.upper
    return OtherBounds(id_, words, lower, upper)


# --- What can explain an answer of a runtime that its dialect does not allow --------------------------------
#
# An explanation is another rule for all answers of a form: a reading of spec/clip.yaml, other bounds in place
# of the missing ones, or both; arithmetic in another type; another order of the numbers. It is taken only
# where it allows every answer of the form, those included that the dialect allows too. It names the
# obligations that tell the rule from the dialect, or that the answers contradict; a rule of which no
# obligation speaks explains nothing.


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


def explanations(spec: Spec, asked: ComparedForm, rows: Array) -> Iterator[Explanation]:
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


def _as_reading(spec: Spec, asked: ComparedForm, reading: Reading, rows: Array) -> Explanation:
    words = f"answers as the reading {reading.id} allows: {reading.title}"
    own = spec.reading(str(asked.dialect.row["reading"]))
    goals = (named.agrees(own.word), named.agrees(reading.word))
    allows = _Reading(reading.id, asked.every_x[rows], asked.lower[rows], asked.upper[rows])
    return Explanation(Rule(reading.id, "reading", words, goals), allows)


def _with_bounds(asked: ComparedForm, reading: str, bounds: OtherBounds, rows: Array) -> Explanation:
    goals = (named.infinities(asked.word), named.without(asked.word, asked.without))
    allows = _Reading(reading, asked.every_x[rows], bounds.lower[rows], bounds.upper[rows])
    return Explanation(Rule(bounds.id, "missing bound", bounds.words, goals), allows)


def in_float32(asked: ComparedForm, rows: Array) -> Explanation:
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


def low_halves(asked: ComparedForm, rows: Array) -> Explanation:
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


# --- Bounds that a runtime refuses though their dialect takes them ------------------------------------------


def refusal(asked: ComparedForm, served: Array, *, odd: bool) -> Rule:
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


def _ordered(asked: ComparedForm) -> Array:
    """Where min <= max as they are given, or as they stand for missing ones before they are converted."""
    with np.errstate(invalid="ignore"):
        found: Array = np.less_equal(_as_given(asked, "min"), _as_given(asked, "max"))
    return found


def _as_given(asked: ComparedForm, name: str) -> Array:
    if name in asked.given:
        return asked.given[name]
    row = asked.dialect.row
    if row["missing_of"] == "bound":
        bits = row["missing"][asked.etype.id][name == "max"]
        return np.full(len(asked.lower), bits, np.uint32).view(np.float32)
    return (asked.lower if name == "min" else asked.upper)[:, 0]
