"""Causes of deviations: what a runtime computes instead, for which bounds, and in which places of a call.

A cause explains an element type or a class as a whole, or is not named: it gives every answer that was kept,
the right ones included. Where no candidate does, conditions on the bounds and places in a call are tried, in
which one does; and then two candidates together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.bounds_conditions import bounds_conditions
from sonnx_clip.conform.mechanisms import Candidate, candidates, read_as
from sonnx_clip.conform.places import call_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sonnx_clip.conform.answers import Answers
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.conform.places import CallPlace, Extremes
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_forms import ModelForm

_NAMED = 2  # readings that a cause names


@dataclass(frozen=True)
class Cause:
    """What explains the deviations in a class.

    Args:
        words: as a report says it.
        readings: the readings that allow every answer, if the cause is a reading.
    """

    words: str
    readings: tuple[str, ...] = ()


def causes(
    operator: Operator,
    answers: Answers,
    extremes: Mapping[int, Extremes],
    form: ModelForm | None = None,
) -> dict[int, Cause]:
    """The cause of the violations in each class; classes without a known cause are left out.

    Args:
        operator: the operator.
        answers: a sample of all answers in an element type.
        extremes: by class, the places of all deviations that no latitude accepts.
        form: of the models that were called, if models were.
    """
    search = _Search(operator, answers, form)
    named: dict[int, Cause] = {}
    # The likeliest first: what explains all classes together comes before what explains each by itself.
    for look in (
        search.by_one_for_all,
        partial(search.by_place_for_all, extremes=extremes),
        search.by_bounds,
        search.by_candidates,
        partial(search.by_place, extremes=extremes),
        search.by_two,
    ):
        left = [index for index in search.violating if index not in named]
        if left:
            named |= look(left)
    return named


def accepted_causes(
    operator: Operator, answers: Answers, form: ModelForm | None = None
) -> dict[int, Cause]:
    """The cause of the deviations in each class that a latitude accepts, as `causes`.

    What gives every answer of the element type explains them as it explains the violations.
    """
    accepted = answers.where(~answers.violating)
    cause = _Search(operator, answers, form).gives_every_answer()
    if cause is not None:
        deviating = accepted.where(accepted.deviating)
        return dict.fromkeys(deviating.known_classes, cause)
    # Without the violations, which may have another cause.
    return _Search(operator, accepted, form).by_candidates_of_accepted()


def explains_all(operator: Operator, answers: Answers) -> str | None:
    """What gives every answer of an element type, if it is no reading; None if nothing does."""
    deviations = answers.where(answers.deviating)
    for candidate in candidates(operator, answers.etype):
        if candidate.reading:
            continue
        # Deviations are few, and most candidates fail there.
        if _gives_all(candidate, deviations) and _gives_all(candidate, answers):
            return candidate.words
    return None


class _Search:
    """The search for causes in the answers of an element type."""

    def __init__(self, operator: Operator, answers: Answers, form: ModelForm | None) -> None:
        self._of = operator
        self._answers = answers
        self._violations = answers.where(answers.violating)
        self.violating: list[int] = np.unique(self._violations.classes).tolist()
        fitted = read_as(operator, self._violations)
        self._candidates = (*candidates(operator, answers.etype, form), *fitted)

    def _in(self, classes: Iterable[int]) -> Answers:
        is_in_classes = np.isin(self._answers.classes, list(classes))
        return self._answers.where(is_in_classes)

    def _allowing(self, violations: Answers) -> list[Candidate]:
        """The candidates that give each of some wrong answers, the likeliest first."""
        return [candidate for candidate in self._candidates if _gives_all(candidate, violations)]

    # --- Candidates alone

    def by_one_for_all(self, classes: Sequence[int]) -> dict[int, Cause]:
        """The candidates that give every answer in all of some classes."""
        fitting = self._allowing(self._violations)
        # What gives every answer of the type is likelier than what gives those in some classes alone.
        for test in (_gives_all, _agrees_with_all):
            for answers in (self._answers, self._in(classes)):
                explaining = [candidate for candidate in fitting if test(candidate, answers)]
                if explaining:
                    cause = _cause(explaining[0], explaining)
                    return dict.fromkeys(classes, cause)
        return {}

    def gives_every_answer(self) -> Cause | None:
        """The candidates that give every answer, if there are violations and any does."""
        if not self.violating:
            return None
        explaining: list[Candidate] = []
        for candidate in self._allowing(self._violations):
            if _gives_all(candidate, self._answers):
                explaining.append(candidate)
        if not explaining:
            return None
        return _cause(explaining[0], explaining)

    def by_candidates(self, classes: Sequence[int]) -> dict[int, Cause]:
        """The cause of each class by itself; candidates that explain the most classes come first."""
        named: dict[int, Cause] = {}
        for test in (_gives_all, _agrees_with_all):
            left = [index for index in classes if index not in named]
            named |= self._most_explaining(test, left, self._violations)
        return named

    def by_candidates_of_accepted(self) -> dict[int, Cause]:
        """The cause of the deviations in each class that a latitude accepts."""
        deviations = self._answers.where(self._answers.deviating)
        classes = np.unique(deviations.classes).tolist()
        return self._most_explaining(_gives_all, classes, deviations)

    def _most_explaining(
        self,
        test: Callable[[Candidate, Answers], bool],
        classes: Sequence[int],
        deviations: Answers,
    ) -> dict[int, Cause]:
        """The candidates that explain the most classes, each for those that none before it explains."""
        explained = self._explained_classes(test, classes, deviations)
        named: dict[int, Cause] = {}
        while left := set(classes) - named.keys():
            best = self._candidates[0]
            reached: set[int] = set()
            for candidate in self._candidates:
                # Of several candidates that explain as much, the first is the likeliest.
                of_candidate = explained[candidate] & left
                if len(of_candidate) > len(reached):
                    best, reached = candidate, of_candidate
            if not reached:
                break
            alike = [candidate for candidate in self._candidates if explained[candidate] >= reached]
            cause = _cause(best, alike)
            named |= dict.fromkeys(reached, cause)
        return named

    def _explained_classes(
        self,
        test: Callable[[Candidate, Answers], bool],
        classes: Sequence[int],
        deviations: Answers,
    ) -> dict[Candidate, set[int]]:
        """The classes whose answers each candidate explains."""
        answers_of = {index: self._in([index]) for index in classes}
        explained: dict[Candidate, set[int]] = {}
        for candidate in self._candidates:
            # Deviations are few: most candidates fail there, before all answers are looked at.
            is_forbidden = ~candidate.allows(deviations)
            failing = np.unique(deviations.classes[is_forbidden]).tolist()
            explained[candidate] = set()
            for index in set(classes).difference(failing):
                if test(candidate, answers_of[index]):
                    explained[candidate].add(index)
        return explained

    # --- Under a condition on the bounds

    def by_bounds(self, classes: Sequence[int]) -> dict[int, Cause]:
        """The cause of some classes, together or one by one, under a condition on the bounds."""
        if not self._of.scalars or not self._of.spec.conditions_on_bounds:
            return {}
        is_in_classes = np.isin(self._violations.classes, classes)
        violations = self._violations.where(is_in_classes)
        # As in `by_one_for_all`: what explains all answers is likelier than what explains a part.
        for answers in (self._answers, self._in(classes)):
            words = self._under_condition(answers, violations)
            if words is not None:
                return dict.fromkeys(classes, Cause(words))

        named: dict[int, Cause] = {}
        for index in classes:
            is_in_class = self._violations.classes == index
            violations = self._violations.where(is_in_class)
            words = self._under_condition(self._in([index]), violations)
            if words is not None:
                named[index] = Cause(words)
        return named

    def _under_condition(self, answers: Answers, violations: Answers) -> str | None:
        """A condition that all violations meet, and a candidate that gives every answer under it."""
        fitting = self._allowing(violations)
        if not fitting:
            return None
        first_scalar = self._of.tensors
        bounds = answers.operands[first_scalar:]
        bounds_of_violations = violations.operands[first_scalar:]
        for condition in bounds_conditions(self._of.spec, answers.etype, bounds_of_violations):
            if not condition.holds(bounds_of_violations).all():
                continue
            # A condition that all answers meet says nothing of when the runtime is wrong.
            held = condition.holds(bounds)
            if held.all():
                continue
            inside = answers.where(held)
            for candidate in fitting:
                if _agrees_with_all(candidate, inside):
                    return f"where {condition.text}: {candidate.words}"
        return None

    # --- In a place of a call

    def by_place_for_all(
        self, classes: Sequence[int], extremes: Mapping[int, Extremes]
    ) -> dict[int, Cause]:
        """The place of all deviations; one that is not exact only if each class shows it by itself."""
        place = self._place(classes, extremes)
        if place is None:
            return {}
        if not place.is_exact:
            for index in classes:
                if not self._place([index], extremes):
                    return {}
        words = self._words_there(place, classes)
        return dict.fromkeys(classes, Cause(words))

    def by_place(
        self, classes: Sequence[int], extremes: Mapping[int, Extremes]
    ) -> dict[int, Cause]:
        """The place of the deviations in each class by itself, and the cause there."""
        named = {}
        for index in classes:
            place = self._place([index], extremes)
            if place is not None:
                named[index] = Cause(self._words_there(place, [index]))
        return named

    def _place(self, classes: Sequence[int], extremes: Mapping[int, Extremes]) -> CallPlace | None:
        of_all = extremes[classes[0]]
        for index in classes[1:]:
            of_all = of_all.joined(extremes[index])
        return call_place(self._in(classes), of_all)

    def _words_there(self, place: CallPlace, classes: Sequence[int]) -> str:
        """A place, with the candidate that gives every answer there if there is one."""
        if not place.is_exact:
            return place.words
        answers = self._in(classes)
        violations = answers.where(answers.violating)
        inside = answers.where(place.holds(answers))
        for candidate in self._allowing(violations):
            if _agrees_with_all(candidate, inside):
                return f"{place.words}: there, {candidate.words}"
        return place.words

    # --- Two candidates together

    def by_two(self, classes: Sequence[int]) -> dict[int, Cause]:
        """Two mechanisms for each class of which one or the other gives each answer."""
        named = {}
        for index in classes:
            words = self._two_of(self._in([index]))
            if words is not None:
                named[index] = Cause(words)
        return named

    def _two_of(self, answers: Answers) -> str | None:
        violations = answers.where(answers.violating)
        allowed: dict[Candidate, Array] = {}
        for candidate in self._candidates:
            # One that gives none of the violations is no part of their cause.
            if candidate.is_mechanism and candidate.allows(violations).any():
                allowed[candidate] = candidate.allows(answers)
        for first, second in combinations(allowed, 2):
            by_either = allowed[first] | allowed[second]
            if by_either.all():
                return f"{first.words}; or {second.words}"
        return None


def _gives_all(candidate: Candidate, answers: Answers) -> bool:
    """Whether a candidate gives every answer."""
    return bool(candidate.allows(answers).all())


def _agrees_with_all(candidate: Candidate, answers: Answers) -> bool:
    """Whether a candidate gives every answer, or the expected result where a latitude accepts the answer."""
    gives = candidate.allows(answers)
    other = answers.where(~gives)
    if other.violating.any():
        return False
    # Where a latitude accepts the answer, such as the other zero, the candidate has to be right itself.
    as_expected = replace(other, got=other.expected)
    return _gives_all(candidate, as_expected)


def _cause(best: Candidate, alike: Sequence[Candidate]) -> Cause:
    """What explains some classes: all readings that do, if the best candidate is one."""
    if not best.reading:
        return Cause(best.words)
    readings = tuple(candidate.reading for candidate in alike if candidate.reading)
    if len(readings) == 1:
        return Cause(f"allowed by the reading {best.reading}", readings)
    names = readings[:_NAMED]
    unnamed = len(readings) - _NAMED
    text = " and ".join(names)
    if unnamed > 0:
        text = f"{', '.join(names)} and {unnamed} more"
    return Cause(f"allowed by the readings {text}", readings)
