"""Names the rewrite of spec/rewrites.yaml that gives what a runtime gave.

A rewrite is named only if it gives every result of the graphs that are grouped under it, right ones included.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.contexts.answer import Replacement, meaning_of_graphs
from sonnx_clip.contexts.meaning import number
from sonnx_clip.language import tree
from sonnx_clip.rewrites.critical_points import STRENGTHS, Strength
from sonnx_clip.rewrites.rewrite import Rewrite, Theorem, known_rewrites, known_theorems
from sonnx_clip.rewrites.terms import ELEMENT, operators

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.contexts.answer import Answer
    from sonnx_clip.contexts.blame import Wrong
    from sonnx_clip.contexts.model import Context
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.root.dtypes import Array


_STRENGTHS: Mapping[Strength, str] = {
    "bits": "bit for bit",
    "value": "by value",
    "numbers": "for numbers",
}
_CLIP_DROPPED = ("f(clip(X, A, B))", "f(X)")
_X: Expr = tree.Name(ELEMENT, tree.Kind.ELEMENT)


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
        wanted: Strength = "bits" if only_zeros else "value" if of_nan else "numbers"
        stronger = [
            one for one in STRENGTHS[STRENGTHS.index(wanted) :: -1] if one in self.legal_when
        ]
        if not stronger:
            return ""
        strength = stronger[0]
        given = f" (given {self.given})" if self.given else ""
        return f"{_STRENGTHS[strength]} only if {self.legal_when[strength]}{given}"


@dataclass(frozen=True)
class _Window:
    """Steps of a context that are one term, from `first` to before `end`."""

    term: Expr
    first: int
    end: int


def explained(
    context: Context, etype: str, deviating: Sequence[Wrong], right: Sequence[Answer]
) -> list[tuple[Explanation | None, Sequence[Wrong]]]:
    """Graphs that deviate, by the rewrite that gives every result of theirs; None for those that none gives.

    The rewrite that gives the most graphs comes first, so that few explain all. One is not named if it would
    change as many other graphs, which are right: then it gives these results by accident.

    Args:
        context: the context.
        etype: the element type of X.
        deviating: wrong results of graphs.
        right: graphs of the same form whose results are all right.
    """
    left = list(deviating)
    found: list[tuple[Explanation | None, Sequence[Wrong]]] = []
    candidates = list(_candidates(context, etype))
    while left:
        best: list[Wrong] = []
        named = None
        for candidate in candidates:
            given = [one for one in left if candidate.explains(context, etype, one)]
            if len(given) <= len(best):
                continue
            if not candidate.is_contradicted(context, etype, right, len(given)):
                best, named = given, candidate
        if named is None:
            found.append((None, left))
            break
        found.append((named.explanation(context, etype), best))
        left = [one for one in left if not any(one is other for other in best)]
    return found


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
    rewrite: Rewrite | Theorem | None = None
    words: str = ""
    flushes: bool = False

    def is_contradicted(
        self, context: Context, etype: str, right: Sequence[Answer], most: int
    ) -> bool:
        """Whether it would change so many graphs that are right.

        That is asked of rewrites alone: others have conditions that may fail.
        """
        if not isinstance(self.rewrite, Rewrite):
            return False
        given = (self._gives(context, etype, answer) for answer in right)
        changed = (gives for gives in given if gives is not None and not gives.all())
        return sum(1 for _ in islice(changed, most)) == most

    def explains(self, context: Context, etype: str, wrong: Wrong) -> bool:
        """Whether it gives wrong results of a graph, and all that are right."""
        gives = self._gives(context, etype, wrong.answer)
        return gives is not None and bool(gives[wrong.considered].all())

    def _gives(self, context: Context, etype: str, answer: Answer) -> Array | None:
        """Which results of a graph it gives; None if it is not about the graph."""
        bounds = answer.asked.bounds.values
        constants = self._constants(context, etype, bounds)
        if constants is None:
            return None
        replacement = Replacement(self.window.first, self.window.end, self.after, constants)
        meaning = meaning_of_graphs(context, etype, bounds, answer.x, replacement)
        return meaning.right.allow(answer.got)

    def _constants(
        self, context: Context, etype: str, bounds: Mapping[str, Array]
    ) -> Mapping[str, Array] | None:
        """The constants with which it is about a graph; None if it is not."""
        if self.flushes:
            return {name: _flushed(value) for name, value in bounds.items()}
        if not isinstance(self.rewrite, Rewrite):
            return bounds
        type_ = context.stages(etype)[self.window.first].given.etype
        family = operators()["clip"].element_type(type_).family
        types = [known.id for known in self.rewrite.element_types(family)]
        if type_ not in types or not self.rewrite.fits(family):
            return None
        return unified(self.rewrite.before, self.window.term, bounds, type_)

    def explanation(self, context: Context, etype: str) -> Explanation:
        """Its id, and when it is legal."""
        if self.rewrite is None:
            return Explanation("", {}, words=self.words)
        if isinstance(self.rewrite, Theorem):
            return Explanation(self.rewrite.id, {}, words=self.rewrite.holds)
        family = operators()["clip"].element_type(context.clip_type(etype)).family
        stated = self.rewrite.entry.legal_when.get(family, {})
        return Explanation(self.rewrite.id, stated, self.rewrite.entry.given)


def _candidates(context: Context, etype: str) -> Iterator[_Candidate]:
    """Rewrites and theorems first: the first of those that give as many graphs is named."""
    for rewrite in known_rewrites():
        for window in _windows(context):
            yield _Candidate(window, rewrite.after, rewrite)
    clips = [place for place, step in enumerate(context.steps) if step.op_type == "Clip"]
    for place in clips:
        if place + 1 < len(context.steps) and context.steps[place + 1].quantises:
            for theorem in known_theorems():
                if (theorem.before, theorem.after) == _CLIP_DROPPED:
                    yield _Candidate(_Window(_X, place, place + 1), _X, theorem)
    if clips and clips[-1] - clips[0] == len(clips) - 1:
        window = _Window(_X, clips[0], clips[-1] + 1)
        yield _Candidate(window, _X, words="as if no Clip were there")
        finite = tree.Call("clip", (_X, _number("lowest"), _number("highest")), tree.Kind.ELEMENT)
        yield _Candidate(window, finite, words="as if every Clip had lost its bounds")
    yield from _with_flushed_bounds(context, etype)
    yield from _without_a_bound(context, etype)
    yield from _without_a_step(context, etype)


def _with_flushed_bounds(context: Context, etype: str) -> Iterator[_Candidate]:
    """A Clip of a fused kernel that takes subnormal bounds for zeros."""
    for place, stage in enumerate(context.stages(etype)):
        is_float = operators()["clip"].element_type(stage.given.etype).family == "float"
        if stage.step.op_type == "Clip" and is_float:
            words = f"as if subnormal bounds of {stage.step.id} were zeros"
            window = _Window(_X, place, place + 1)
            yield _Candidate(window, stage.step.call, words=words, flushes=True)


def _flushed(bound: Array) -> Array:
    """A bound, or the zero of its sign if it is subnormal."""
    smallest = np.finfo(bound.dtype).smallest_normal
    return np.where(np.abs(bound) < smallest, np.copysign(bound.dtype.type(0), bound), bound)


def _without_a_bound(context: Context, etype: str) -> Iterator[_Candidate]:
    """A Clip that has lost one of its bounds: the runtime may limit its result to finite numbers or not."""
    stages = context.stages(etype)
    for place, stage in enumerate(stages):
        if stage.step.op_type != "Clip":
            continue
        _, low, high = stage.step.call.arguments
        is_float = operators()["clip"].element_type(stage.given.etype).family == "float"
        for lost, ends in (("upper", ("inf", "highest")), ("lower", ("-inf", "lowest"))):
            for end in ends if is_float else ends[1:]:
                sides = (low, _number(end)) if lost == "upper" else (_number(end), high)
                after = tree.Call("clip", (_X, *sides), tree.Kind.ELEMENT)
                words = f"as if the {lost} bound of {stage.step.id} were absent"
                yield _Candidate(_Window(_X, place, place + 1), after, words=words)


def _number(text: str) -> Expr:
    return tree.Number(text, tree.Kind.ELEMENT)


def _without_a_step(context: Context, etype: str) -> Iterator[_Candidate]:
    """Arithmetic that is not there; that an operator of spec/ is dropped is a rewrite of the list."""
    for place, stage in enumerate(context.stages(etype)):
        step = stage.step
        if step.computes is not None:
            words = f"as if the step {step.id} were not there"
            yield _Candidate(_Window(_X, place, place + 1), _X, words=words)


def _windows(context: Context) -> Iterator[_Window]:
    """Every run of steps that are operators of spec/, as one term each, the longest first."""
    count = len(context.steps)
    for length in range(count, 0, -1):
        for first in range(count - length + 1):
            steps = context.steps[first : first + length]
            if all(step.term for step in steps):
                term: Expr = steps[0].call
                for step in steps[1:]:
                    term = _with_x(step.call, term)
                yield _Window(term, first, first + length)


def _with_x(outer: Expr, inner: Expr) -> Expr:
    """A call whose X is a term."""
    if isinstance(outer, tree.Name) and outer.id == ELEMENT:
        return inner
    if isinstance(outer, tree.Call):
        arguments = tuple(_with_x(part, inner) for part in outer.arguments)
        return type(outer)(outer.function, arguments, outer.kind)
    return outer


def unified(
    pattern: Expr, term: Expr, bounds: Mapping[str, Array], etype: str
) -> dict[str, Array] | None:
    """The constants with which a pattern is a term of constants of shape (); None if it is not."""
    found: dict[str, Array] = {}

    def fits(part: Expr, actual: Expr) -> bool:
        if isinstance(part, tree.Call) and isinstance(actual, tree.Call):
            same = part.function == actual.function and len(part.arguments) == len(actual.arguments)
            return same and all(map(fits, part.arguments, actual.arguments))
        if isinstance(part, tree.Name) and part.id == ELEMENT:
            return isinstance(actual, tree.Name) and actual.id == ELEMENT
        value = _constant(actual, bounds, etype)
        if value is None:
            return False
        if isinstance(part, tree.Number):
            return number(part.text, etype).tobytes() == value.tobytes()
        if isinstance(part, tree.Name):
            known = found.setdefault(part.id, value)
            return known.tobytes() == value.tobytes()
        return False

    return found if fits(pattern, term) else None


def _constant(term: Expr, bounds: Mapping[str, Array], etype: str) -> Array | None:
    if isinstance(term, tree.Number):
        return number(term.text, etype)
    if isinstance(term, tree.Name) and term.id in bounds:
        return bounds[term.id]
    return None
