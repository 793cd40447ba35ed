"""Names the rewrite of spec/rewrites.yaml that gives what a runtime gave.

A rewrite is named only if it gives every result of the graphs that are grouped under it, right ones included.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sonnx_clip.contexts.answer import Replacement, meaning_of_graphs
from sonnx_clip.contexts.context import X, scalar_of
from sonnx_clip.language import tree
from sonnx_clip.rewrites.critical_points import STRENGTHS, Strength
from sonnx_clip.rewrites.rewrite import Rewrite, RewriteTheorem, known_rewrites, known_theorems
from sonnx_clip.rewrites.terms import type_of_clip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.contexts.answer import GraphAnswer
    from sonnx_clip.contexts.blame import Wrong
    from sonnx_clip.contexts.context import Context
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.root.dtypes import Array


_STRENGTHS: Mapping[Strength, str] = {
    "bits": "bit for bit",
    "value": "by value",
    "numbers": "for numbers",
}
# What the theorems of spec/rewrites.yaml state by which a Clip in front of a function may go.
_CLIP_DROPPED = ("f(clip(X, A, B))", "f(X)")


@dataclass(frozen=True)
class Explanation:
    """A rewrite, and when it is legal: exact conditions by strength, or one in words."""

    id: str
    legal_when: Mapping[Strength, str]
    given: str = ""
    words: str = ""

    def told(self, *, only_zeros: bool, of_nan: bool) -> str:
        """When it is legal, in the weakest strength that the wrong result shows it not to be.

        Args:
            only_zeros: whether only the sign of a zero is wrong.
            of_nan: whether X is a NaN.
        """
        if self.words:
            return self.words
        # A condition "for numbers" says nothing of a NaN, nor one "by value" of the sign of a zero:
        # the reader would see a rewrite called legal beside a result that refutes it.
        weakest: Strength = "numbers"
        if only_zeros:
            weakest = "bits"
        elif of_nan:
            weakest = "value"
        place = STRENGTHS.index(weakest)
        # Not every rewrite states all strengths. A stronger one is stated in place of one that is
        # not: what is legal bit for bit is legal by value, too.
        for strength in reversed(STRENGTHS[: place + 1]):
            if strength in self.legal_when:
                condition = self._with_premise(self.legal_when[strength])
                return f"{_STRENGTHS[strength]} only if {condition}"
        return ""

    def _with_premise(self, condition: str) -> str:
        """A condition, with what the rewrite takes for given."""
        if not self.given:
            return condition
        if condition == "always":
            return self.given
        return f"{condition} (given {self.given})"


class ExplainedGraphs(NamedTuple):
    """Wrong results of graphs, with what gives all of them; None where nothing does."""

    explanation: Explanation | None
    wrong: Sequence[Wrong]


@dataclass(frozen=True)
class _Window:
    """Steps of a context that are one term, from `first` to before `end`."""

    term: Expr
    first: int
    end: int


def explained(
    context: Context,
    etype: str,
    deviating: Sequence[Wrong],
    right: Sequence[GraphAnswer],
) -> list[ExplainedGraphs]:
    """Graphs that deviate, by the rewrite that gives every result of theirs; None for those that none gives.

    The rewrite that gives the most graphs comes first, so that few explain all. One is not named if it would
    change as many other graphs, which are right, or if more graphs stay unexplained than it gives: then it
    gives these results by accident.

    Args:
        context: the context.
        etype: the element type of X.
        deviating: wrong results of graphs.
        right: graphs of the same form whose results are all right.
    """
    left = list(deviating)
    explanations: list[ExplainedGraphs] = []
    candidates = list(_candidates(context, etype))
    while left:
        best: list[Wrong] = []
        named: _Candidate | None = None
        for candidate in candidates:
            given = [wrong for wrong in left if candidate.explains(context, etype, wrong)]
            count = len(given)
            # Of candidates that give as many graphs, the first stays: rewrites are listed first.
            if count <= len(best):
                continue
            # Last, since it evaluates the graphs that are right, which are most.
            if not candidate.is_contradicted(context, etype, right, count):
                best, named = given, candidate
        if named is None:
            return _without_accidents(explanations, left)
        explanation = named.explanation(context, etype)
        explanations.append(ExplainedGraphs(explanation, best))
        # By identity: equality would compare arrays.
        explained_ids = {id(wrong) for wrong in best}
        left = [wrong for wrong in left if id(wrong) not in explained_ids]
    return explanations


def _without_accidents(
    explanations: Sequence[ExplainedGraphs], unexplained: Sequence[Wrong]
) -> list[ExplainedGraphs]:
    """The explanations of as many graphs as stay unexplained; then those, with the graphs of all others."""
    kept: list[ExplainedGraphs] = []
    without_explanation = list(unexplained)
    for group in explanations:
        if len(group.wrong) < len(unexplained):
            without_explanation += group.wrong
        else:
            kept.append(group)
    return [*kept, ExplainedGraphs(None, without_explanation)]


# --- What an optimiser may have made of the steps -----------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    """What may have taken the place of some steps.

    Args:
        window: the steps.
        after: the term in their place.
        rewrite: the rewrite or the theorem that it is; None for another change.
        words: what another change is: ``as if no Clip were there``.
        flushes: whether subnormal bounds are zeros.
    """

    window: _Window
    after: Expr
    rewrite: Rewrite | RewriteTheorem | None = None
    words: str = ""
    flushes: bool = False

    def is_contradicted(
        self,
        context: Context,
        etype: str,
        right: Sequence[GraphAnswer],
        most: int,
    ) -> bool:
        """Whether it would change so many graphs that are right.

        That is asked of rewrites alone: others have conditions that may fail.
        """
        if not isinstance(self.rewrite, Rewrite):
            return False
        # Ends as soon as it is decided, since most graphs are right.
        changed = 0
        for answer in right:
            gives = self._gives(context, etype, answer)
            if gives is not None and not gives.all():
                changed += 1
            if changed == most:
                return True
        return False

    def explains(self, context: Context, etype: str, wrong: Wrong) -> bool:
        """Whether it gives wrong results of a graph, and all that are right."""
        gives = self._gives(context, etype, wrong.answer)
        if gives is None:
            return False
        considered = gives[wrong.considered]
        return bool(considered.all())

    def _gives(self, context: Context, etype: str, answer: GraphAnswer) -> Array | None:
        """Which results of a graph it gives; None if it is not about the graph."""
        gives: Array | None = None
        # An absent bound has two readings, and the graph is given if one of them gives it.
        for bounds in answer.asked.bounds.readings():
            constants = self._constants(context, etype, bounds)
            if constants is None:
                continue
            replacement = Replacement(self.window.first, self.window.end, self.after, constants)
            meaning = meaning_of_graphs(context, etype, bounds, answer.meaning.x, replacement)
            allowed = meaning.right.allow(answer.got)
            gives = allowed if gives is None else gives | allowed
        return gives

    def _constants(
        self,
        context: Context,
        etype: str,
        bounds: Mapping[str, Array],
    ) -> Mapping[str, Array] | None:
        """The constants with which it is about a graph; None if it is not."""
        if self.flushes:
            flushed: dict[str, Array] = {}
            for name, value in bounds.items():
                flushed[name] = _flushed(value)
            return flushed
        rewrite = self.rewrite
        if not isinstance(rewrite, Rewrite):
            return bounds
        # Steps before the window may convert, so its type is not always that of X.
        stage = context.stages(etype)[self.window.first]
        type_in_window = stage.given.etype
        if not is_about(rewrite, type_in_window):
            return None
        return unified(rewrite.before, self.window.term, bounds, type_in_window)

    def explanation(self, context: Context, etype: str) -> Explanation:
        """Its id, and when it is legal."""
        rewrite = self.rewrite
        if rewrite is None:
            return Explanation("", {}, words=self.words)
        if isinstance(rewrite, RewriteTheorem):
            return Explanation(rewrite.id, {}, words=rewrite.holds)
        clip_type = context.clip_type(etype)
        family = type_of_clip(clip_type).family
        stated = rewrite.entry.legal_when.get(family, {})
        return Explanation(rewrite.id, stated, rewrite.entry.given)


def _candidates(context: Context, etype: str) -> Iterator[_Candidate]:
    """Rewrites and theorems first: the first of those that give as many graphs is named."""
    windows = list(_windows(context))
    for rewrite in known_rewrites():
        for window in windows:
            yield _Candidate(window, rewrite.after, rewrite)
    yield from _without_clip_before_quantising(context)
    yield from _without_any_bound(context)
    yield from _with_flushed_bounds(context, etype)
    yield from _without_a_bound(context, etype)
    yield from _without_a_step(context, etype)


def _without_clip_before_quantising(context: Context) -> Iterator[_Candidate]:
    """The theorems by which a Clip before a quantiser may go."""
    theorems: list[RewriteTheorem] = []
    for theorem in known_theorems():
        if (theorem.before, theorem.after) == _CLIP_DROPPED:
            theorems.append(theorem)
    for place, (step, reader) in enumerate(pairwise(context.steps)):
        if step.op_type == "Clip" and reader.quantises:
            window = _one_step(place)
            for theorem in theorems:
                yield _Candidate(window, X, theorem)


def _without_any_bound(context: Context) -> Iterator[_Candidate]:
    """No Clip, or one to finite numbers, where all Clips follow each other."""
    clips = [place for place, step in enumerate(context.steps) if step.op_type == "Clip"]
    if not clips:
        return
    first = clips[0]
    last = clips[-1]
    are_adjacent = last - first == len(clips) - 1
    if not are_adjacent:
        return
    window = _Window(X, first, last + 1)
    yield _Candidate(window, X, words="as if no Clip were there")
    # As by onnxscript, which takes bounds that are attributes for absent ones.
    finite = _clip(_number("lowest"), _number("highest"))
    yield _Candidate(window, finite, words="as if every Clip had lost its bounds")


def _with_flushed_bounds(context: Context, etype: str) -> Iterator[_Candidate]:
    """A Clip of a fused kernel that takes subnormal bounds for zeros."""
    # As tract's Gemm and MatMul do.
    for place, stage in enumerate(context.stages(etype)):
        step = stage.step
        if step.op_type != "Clip":
            continue
        if type_of_clip(stage.given.etype).family == "float":
            words = f"as if subnormal bounds of {step.id} were zeros"
            yield _Candidate(_one_step(place), step.call, words=words, flushes=True)


def _flushed(bound: Array) -> Array:
    """A bound, or the zero of its sign if it is subnormal."""
    dtype = bound.dtype
    zero = np.copysign(dtype.type(0), bound)
    is_small = np.abs(bound) < np.finfo(dtype).smallest_normal
    return np.where(is_small, zero, bound)


def _without_a_bound(context: Context, etype: str) -> Iterator[_Candidate]:
    """A Clip that has lost one of its bounds: the runtime may limit its result to finite numbers or not."""
    for place, stage in enumerate(context.stages(etype)):
        step = stage.step
        if step.op_type != "Clip":
            continue
        _, low, high = step.call.arguments
        is_float = type_of_clip(stage.given.etype).family == "float"
        highest = ("inf", "highest") if is_float else ("highest",)
        lowest = ("-inf", "lowest") if is_float else ("lowest",)
        without_high = [_clip(low, _number(end)) for end in highest]
        without_low = [_clip(_number(end), high) for end in lowest]
        window = _one_step(place)
        for after in without_high:
            words = f"as if the upper bound of {step.id} were absent"
            yield _Candidate(window, after, words=words)
        for after in without_low:
            words = f"as if the lower bound of {step.id} were absent"
            yield _Candidate(window, after, words=words)


def _one_step(place: int) -> _Window:
    """The window of one step, whose term does not matter."""
    return _Window(X, place, place + 1)


def _clip(low: Expr, high: Expr) -> Expr:
    return tree.Call("clip", (X, low, high), tree.Kind.ELEMENT)


def _number(text: str) -> Expr:
    return tree.Number(text, tree.Kind.ELEMENT)


def _without_a_step(context: Context, etype: str) -> Iterator[_Candidate]:
    """Arithmetic that is not there; that an operator of spec/ is dropped is a rewrite of the list."""
    for place, stage in enumerate(context.stages(etype)):
        step = stage.step
        if step.computes is not None:
            words = f"as if the step {step.id} were not there"
            yield _Candidate(_one_step(place), X, words=words)


def _windows(context: Context) -> Iterator[_Window]:
    """Every run of steps that are operators of spec/, as one term each, the longest first."""
    # Of windows that explain as many graphs, the first is named, and so the longest.
    count = len(context.steps)
    for length in range(count, 0, -1):
        for first in range(count - length + 1):
            end = first + length
            steps = context.steps[first:end]
            if not all(step.term for step in steps):
                continue
            term: Expr = steps[0].call
            for step in steps[1:]:
                term = _with_x(step.call, term)
            yield _Window(term, first, end)


def _with_x(outer: Expr, inner: Expr) -> Expr:
    """A call whose X is a term."""
    if outer == X:
        return inner
    if isinstance(outer, tree.Call):
        arguments = tuple(_with_x(part, inner) for part in outer.arguments)
        return type(outer)(outer.function, arguments, outer.kind)
    return outer


def is_about(rewrite: Rewrite, etype: str) -> bool:
    """Whether a rewrite is stated for an element type, and all of its operators have that."""
    family = type_of_clip(etype).family
    if not rewrite.fits(family):
        return False
    types = rewrite.element_types(family)
    return any(known.id == etype for known in types)


def unified(
    pattern: Expr,
    term: Expr,
    bounds: Mapping[str, Array],
    etype: str,
) -> dict[str, Array] | None:
    """The constants with which a pattern is a term of constants of shape (); None if it is not."""
    constants: dict[str, Array] = {}

    def fits(part: Expr, actual: Expr) -> bool:
        if isinstance(part, tree.Call) and isinstance(actual, tree.Call):
            if part.function != actual.function:
                return False
            if len(part.arguments) != len(actual.arguments):
                return False
            return all(map(fits, part.arguments, actual.arguments))
        if part == X:
            return actual == X
        value = _constant(actual, bounds, etype)
        if value is None:
            return False
        if isinstance(part, tree.Number):
            expected = scalar_of(part.text, etype)
        elif isinstance(part, tree.Name):
            # A name that occurs twice stands for one constant.
            expected = constants.setdefault(part.id, value)
        else:
            return False
        # By bits: a rewrite for one zero is none for the other, and a NaN equals itself.
        return expected.tobytes() == value.tobytes()

    return constants if fits(pattern, term) else None


def _constant(term: Expr, bounds: Mapping[str, Array], etype: str) -> Array | None:
    if isinstance(term, tree.Number):
        return scalar_of(term.text, etype)
    if isinstance(term, tree.Name) and term.id in bounds:
        return bounds[term.id]
    return None
