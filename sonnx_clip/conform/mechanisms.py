"""What a runtime may compute in the place of Clip: each candidate decides whether it gives an answer.

Candidates are the readings, orders of two comparisons, the mechanisms and the wrong operators of the
specification, and readings and orders of operands without subnormals. A candidate that explains deviations
must also give the right answers beside them: see `causes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.conform.conversions import (
    constant_array,
    converted,
    flushed,
    least_on_overflow,
    limited,
    saturated,
)
from sonnx_clip.conform.operand_orders import operand_orders
from sonnx_clip.language import tree
from sonnx_clip.language.show import show
from sonnx_clip.language.types import FloatBits
from sonnx_clip.oracle.evaluated import ArrayEvaluator
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sonnx_clip.conform.answers import Answers
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.spec.entries import Mechanism

    Allows: TypeAlias = Callable[[Answers], Array]
    Computed: TypeAlias = Callable[..., Array]
    Back: TypeAlias = Callable[[Array, np.dtype[Any]], Array]

_FLOAT_TYPES = ("float16", "bfloat16", "float32", "float64")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A possible cause of deviations.

    Args:
        words: what it is, as a report says it.
        allows: whether it gives each of some answers.
        reading: the id, if it is a reading.
        is_mechanism: whether it is a mechanism, of which two may share a class.
    """

    words: str
    allows: Allows
    reading: str = ""
    is_mechanism: bool = False


def candidates(
    operator: Operator, etype: ElementType, form: ModelForm | None = None
) -> Sequence[Candidate]:
    """The candidates for an element type, the likeliest first; in a form without a bound, more."""
    known = _candidates_of(operator, etype)
    if form is None or not form.missing_bounds:
        return known
    absent = _Candidates(operator, etype).of_absent_bounds(form)
    return [*absent, *known]


@cache
def _candidates_of(operator: Operator, etype: ElementType) -> tuple[Candidate, ...]:
    source = _Candidates(operator, etype)
    # Of several that give the same answers the first is named: the likeliest come first.
    return (
        *source.of_readings(),
        *source.of_mechanisms(),
        *source.of_orders(),
        *source.of_wrong_operators(),
        *source.without_subnormals(),
    )


def read_as(of: Operator, violations: Answers) -> Iterator[Candidate]:
    """A bound that is read as another number: the greatest or the least of some wrong answers."""
    is_clip_like = (of.tensors, of.scalars) == (1, 2)
    if not len(violations) or not is_clip_like:
        return
    results = violations.result
    with np.errstate(invalid="ignore"):  # NaNs, which are no numbers
        is_number = np.equal(results, results)
    if not is_number.any():
        return
    numbers = np.unique(results[is_number])
    # A Relu6 in the place of a Clip with min 0 (MNN issue 794) returns its own max: it is among the answers.
    for number in (numbers[0], numbers[-1]):
        bits = int(number.view(violations.got.dtype))
        shown = show(bits, violations.etype)
        for place, name in ((2, "max"), (1, "min")):
            operator = _with_operands(of, {place: number})
            yield Candidate(f"{name} is read as {shown}", _gives(operator), is_mechanism=True)


def _gives(operator: Computed) -> Allows:
    """Whether an operator gives answers, with any payload of a NaN."""

    def allows(answers: Answers) -> Array:
        with np.errstate(all="ignore"):  # NaNs are compared
            return answers.are(operator(*answers.values))

    return allows


def _with_operands(of: Operator, replaced: dict[int, Array]) -> Computed:
    """The operator with some operands replaced by numbers, by their places."""

    def operator(*operands: Array) -> Array:
        shape = operands[0].shape
        values = list(operands)
        for place, number in replaced.items():
            values[place] = np.broadcast_to(number, shape)
        return np.asarray(of.result(*values))

    return operator


class _Candidates:
    """The candidates for one element type."""

    def __init__(self, operator: Operator, etype: ElementType) -> None:
        self._of = operator
        self._etype = etype
        self._spec = operator.spec
        self._names = operator.signature.ids
        self._evaluator = ArrayEvaluator(operator.spec, etype)

    # --- Readings, orders of two comparisons, wrong operators

    def of_readings(self) -> Iterator[Candidate]:
        """The readings."""
        readings = self._of.oracle.READINGS[self._etype.family]
        for id_, reading in readings.items():
            yield Candidate(f"the reading {id_}", _allowed_by(reading), reading=id_)

    def of_orders(self) -> Iterator[Candidate]:
        """The orders of a maximum and a minimum, of an operator with a tensor and two bounds."""
        # For other operators there is nothing that could be done in two orders.
        roles = [operand.role for operand in self._spec.signature.operands]
        if roles != ["tensor", "scalar", "scalar"]:
            return
        for words, operator in operand_orders(self._etype):
            yield Candidate(words, _gives(operator))

    def of_wrong_operators(self) -> Iterator[Candidate]:
        """The wrong operators of the specification that are no variant of a definition."""
        for wrong in self._spec.wrong_operators:
            if wrong.of is None:
                words = f"the wrong operator {wrong.id}: {wrong.title}"
                operator = self._expressed(wrong.is_)
                yield Candidate(words, _gives(operator))

    def without_subnormals(self) -> Iterator[Candidate]:
        """Readings and orders whose operands lose their subnormals, as on processors that flush them."""
        if not isinstance(self._etype.bits, FloatBits):
            return
        for candidate in (*self.of_readings(), *self.of_orders()):
            if candidate.reading != "cases":  # which is a mechanism
                words = f"as if subnormals were zeros, with {candidate.words}"
                yield Candidate(words, self._of_flushed(candidate.allows))

    def _of_flushed(self, allows: Allows) -> Allows:
        def allows_flushed(answers: Answers) -> Array:
            bits: list[Array] = []
            for operand in answers.values:
                normal = flushed(operand, self._etype)
                bits.append(normal.view(answers.got.dtype))
            return allows(replace(answers, operands=tuple(bits)))

        return allows_flushed

    def _expressed(self, expr: Expr) -> Computed:
        """The operator that an expression of the operands is."""
        return lambda *operands: self._evaluator.element(expr, *operands)

    # --- Mechanisms

    def of_mechanisms(self) -> Iterator[Candidate]:
        """The mechanisms of the family, but for those of absent bounds."""
        for mechanism in self._spec.mechanisms:
            # In a form that lacks a bound, `of_absent_bounds` has those of absent ones.
            if not mechanism.is_for(self._etype.family) or mechanism.absent is not None:
                continue
            for allows in self._ways_of(mechanism):
                yield Candidate(mechanism.title, allows, is_mechanism=True)

    def _ways_of(self, mechanism: Mechanism) -> Iterator[Allows]:
        """Ways to compute a mechanism: several where a conversion back may overflow in several ways."""
        if mechanism.is_ is not None:
            yield _gives(self._expressed(mechanism.is_))
        elif mechanism.returns is not None:
            yield self._fulfils(mechanism.returns)
        elif mechanism.bounds is not None:
            yield _gives(self._with_limited_bounds(mechanism.bounds))
        elif mechanism.compares is not None:
            yield _gives(self._compared_as(mechanism.compares))
        elif mechanism.computes in _FLOAT_TYPES:
            # A float may be greater than every integer: Arm and x86 convert it in different ways.
            other = self._spec.element_type(mechanism.computes)
            for back in (saturated, least_on_overflow):
                yield _gives(self._computed_in(other, back))
        elif mechanism.computes is not None:
            yield _gives(self._computed_on(mechanism.computes))

    def _fulfils(self, returns: Expr) -> Allows:
        """A property of operands and result, which leaves open which result it is."""
        names = self._spec.signature.all_ids

        def allows(answers: Answers) -> Array:
            values = (*answers.values, answers.result)
            fulfilled = self._evaluator.all_hold((returns,), names, values)
            return np.broadcast_to(fulfilled, answers.got.shape)

        return allows

    def _with_limited_bounds(self, limitation: str) -> Computed:
        def operator(*operands: Array) -> Array:
            tensors = operands[: self._of.tensors]
            bounds = operands[self._of.tensors :]
            nearest: list[Array] = []
            for bound in bounds:
                nearest.append(limited(self._spec, self._etype, limitation, bound))
            return np.asarray(self._of.result(*tensors, *nearest))

        return operator

    def _computed_on(self, conversion: str) -> Computed:
        """The result of converted operands of the same element type."""

        def operator(*operands: Array) -> Array:
            values = []
            for operand in operands:
                _, value = converted(self._spec, self._etype, conversion, operand)
                values.append(value)
            return np.asarray(self._of.result(*values))

        return operator

    def _computed_in(self, other: ElementType, back: Back) -> Computed:
        """The result of operands in another element type, converted back."""
        dtype = numpy_type(other.id)

        def operator(*operands: Array) -> Array:
            with np.errstate(all="ignore"):  # overflow, and NaNs
                values = [operand.astype(dtype) for operand in operands]
                result = np.asarray(self._of.result(*values))
                return back(result, operands[0].dtype)

        return operator

    def _compared_as(self, conversion: str) -> Computed:
        """The operand that the cases select for converted operands, as it was before."""
        selections = []
        for case in self._spec.cases:
            if isinstance(case.result, tree.Name):
                place = self._names.index(case.result.id)
                selections.append((case.when, place))

        def operator(*operands: Array) -> Array:
            other = self._etype
            values = []
            for operand in operands:
                other, value = converted(self._spec, self._etype, conversion, operand)
                values.append(value)
            # In the converted type, whose comparisons decide which case applies.
            evaluator = ArrayEvaluator(self._spec, other)
            # The conversion is for the comparison alone: what is returned has all bits of the operand.
            chosen = np.zeros(operands[0].shape, bits_type(self._etype.id))
            for when, place in selections:
                held = evaluator.all_hold((when,), self._names, values)
                np.copyto(chosen, operands[place].view(chosen.dtype), where=held)
            return chosen.view(operands[0].dtype)

        return operator

    # --- Absent bounds

    def of_absent_bounds(self, form: ModelForm) -> Iterator[Candidate]:
        """What an absent bound may be read as, with the comparisons of the dialect."""
        called = {operand.id: operand.onnx for operand in self._spec.signature.operands}
        for mechanism in self._spec.mechanisms:
            read = self._absent_read(mechanism, form)
            if not read or not mechanism.is_for(self._etype.family):
                continue
            numbers = {}
            for scalar, text in read.items():
                place = self._names.index(scalar)
                numbers[place] = constant_array(text, self._etype)
            # Reports name bounds as ONNX does: "an absent min and an absent max".
            names = " and an absent ".join(called[scalar] for scalar in read)
            words = mechanism.title.replace("an absent bound", f"an absent {names}")
            operator = _with_operands(self._of, numbers)
            yield Candidate(words, _gives(operator), is_mechanism=True)

    def _absent_read(self, mechanism: Mechanism, form: ModelForm) -> dict[str, str]:
        """What the bounds that a form lacks are read as, by operand."""
        # Forms name the bounds as Clip does, whatever the scalars of the operator are called.
        scalars = zip(self._spec.signature.scalars, ("l", "m"), strict=True)
        absent = [scalar for scalar, name in scalars if name in form.missing_bounds]
        read = mechanism.absent or {}
        return {scalar: text for scalar, text in read.items() if scalar in absent}


def _allowed_by(reading: Callable[..., Any]) -> Allows:
    def allows(answers: Answers) -> Array:
        with np.errstate(all="ignore"):  # NaNs are compared
            allowed = reading(*answers.values, answers.result)
        # A reading that does not look at every operand gives a smaller shape.
        return np.broadcast_to(allowed, answers.got.shape)

    return allows
