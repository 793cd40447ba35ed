"""An oracle that evaluates the parsed conditions of a specification on NumPy arrays.

It has the attributes of the generated oracle that the checker reads. No code is rendered, so no text of a
specification is executed: `check --operator FILE` is safe with any file.
"""

from __future__ import annotations

from functools import reduce
from operator import and_, eq, or_
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language import tree
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode, float_bits, quiet_bit, sign_bit
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import Array, bits_type, from_bits, numpy_type
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.manifest import rendered_from
from sonnx_clip.spec.entries import OUTSIDE_DOMAIN
from sonnx_clip.spec.evaluate import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.evaluate import Function

_CONNECTIVES: dict[str, Callable[[Any, Any], Any]] = {
    "and": and_,
    "or": or_,
    "iff": eq,
    "implies": lambda a, b: np.logical_not(a) | b,
}


def oracle_of(spec: Spec) -> ModuleType | SimpleNamespace:
    """The generated oracle where generated/ was rendered from this specification, else an evaluated one."""
    rendered = repo_file(rendered_from().file)
    if spec.path == rendered:
        return load_oracle()
    return evaluated_oracle(spec)


def evaluated_oracle(spec: Spec) -> SimpleNamespace:
    """The oracle of a specification that has been loaded and checked."""
    types = [etype for etype in spec.element_types if etype.numpy is not None]
    evaluators = {etype.id: ArrayEvaluator(spec, etype) for etype in types}

    # Functions of the oracle have no parameter for the type: it is that of their arrays.
    def evaluator_for(values: Sequence[Array]) -> ArrayEvaluator:
        dtype = np.asarray(values[0]).dtype
        return evaluators[dtype.name]

    def result(*values: Array) -> Any:
        return evaluator_for(values).result(*values)

    def holds(names: Sequence[str], *conditions: Expr) -> Callable[..., Any]:
        """A function of arrays: whether all conditions hold."""
        return lambda *values: evaluator_for(values).all_hold(conditions, names, values)

    # The variables of the conditions, in the order in which the checker gives their values.
    operands = spec.signature.ids
    with_result = (*operands, spec.signature.result.id)
    with_answer = (*with_result, "A")
    case_of = {case.id: case for case in spec.cases}

    always = [entry.id for entry in spec.latitude if entry.always]
    if spec.domain:
        always.append(OUTSIDE_DOMAIN)
    oracle = SimpleNamespace(
        SPEC_DIGEST=spec.digest,
        CASE_OF_CLASS={value_class.id: value_class.case for value_class in spec.classes},
        ALWAYS=tuple(always),
        CLASSES={},
        LATITUDE={},
        READINGS={},
    )
    setattr(oracle, spec.signature.function, result)
    for family in {etype.family for etype in spec.element_types}:
        classes = {}
        for value_class in spec.classes_of(family):
            in_case = case_of[value_class.case].when
            classes[value_class.id] = holds(operands, in_case, value_class.when)
        latitude = {}
        for entry in spec.latitude:
            latitude[entry.id] = holds(with_answer, entry.when, entry.accepts)
        domain = spec.domain_of(family)
        if domain:
            # Where the operator is not defined any answer is accepted.
            latitude[OUTSIDE_DOMAIN] = holds(with_answer, tree.Not(domain))
        readings = {}
        for reading in spec.readings:
            readings[reading.id] = holds(with_result, reading.returns)
        oracle.CLASSES[family] = classes
        oracle.LATITUDE[family] = latitude
        oracle.READINGS[family] = readings
    return oracle


class ArrayEvaluator(Evaluator):
    """Evaluates conditions on elements, whose variables are arrays of one element type that broadcast."""

    def __init__(self, spec: Spec, etype: ElementType) -> None:
        super().__init__(spec, etype)
        # NumPy compares arrays of all types of the profile as the language does: NaN equals nothing.
        self._key = np.asarray
        self._functions |= {
            "identical": lambda a, b: _bits(a) == _bits(b),
            "is_nan": lambda value: np.not_equal(value, value),
            "is_signalling": self._is_signalling,
            "opposite": self._opposite,
        }

    def all_hold(
        self,
        conditions: Sequence[Expr],
        names: Sequence[str],
        values: Sequence[Array],
    ) -> Any:
        """Whether all of several conditions hold, entry by entry."""
        environment = dict(zip(names, values, strict=True))
        with np.errstate(invalid="ignore"):  # comparisons with NaN
            truths = [self(condition, environment) for condition in conditions]
            return reduce(and_, truths)

    def element(self, expr: Expr, *values: Array) -> Array:
        """The element that an expression of the operands is, for values of one shape."""
        environment = dict(zip(self.spec.signature.ids, values, strict=True))
        with np.errstate(invalid="ignore"):
            element = self(expr, environment)
        return np.broadcast_to(element, values[0].shape)

    def result(self, *values: Any) -> Any:
        """The result of the cases, bit for bit."""
        ids = self.spec.signature.ids
        shape = np.broadcast_shapes(*map(np.shape, values))
        environment = self.named(values)
        # By bits, so that every NaN keeps its payload.
        bits = np.zeros(shape, bits_type(self.etype.id))
        # Cases exclude each other, so their order does not matter.
        for case in self.spec.giving_cases(self.etype.family):
            result = self(case.result, environment)
            holds = self.all_hold((case.when,), ids, values)
            chosen = np.broadcast_to(holds, shape)
            bits_of_result = np.broadcast_to(_bits(result), shape)
            bits[chosen] = bits_of_result[chosen]
        return bits.view(numpy_type(self.etype.id))

    def _compile(self, expr: Expr) -> Function:
        match expr:
            case tree.Not(operand=operand):
                inner = self._compile(operand)
                return lambda env: np.logical_not(inner(env))
            case tree.If(condition=condition, then=then, otherwise=otherwise, kind=kind):
                test = self._compile(condition)
                yes = self._compile(then)
                no = self._compile(otherwise)
                if kind is not Kind.ELEMENT:
                    return lambda env: np.where(test(env), yes(env), no(env))

                # An element is chosen by its bits, as in `result`.
                dtype = numpy_type(self.etype.id)

                def choose(env: Any) -> Any:
                    bits = np.where(test(env), _bits(yes(env)), _bits(no(env)))
                    return bits.view(dtype)

                return choose
            case tree.Number(text=text):
                constant = self._constant(text)
                return lambda _: constant
        return super()._compile(expr)

    def _connect(self, word: str, left: Function, right: Function) -> Function:
        connect = _CONNECTIVES[word]
        return lambda env: connect(left(env), right(env))

    def _constant(self, text: str) -> Array:
        pattern = encode(text, self.etype)
        return from_bits(int(pattern), self.etype.id)

    def _opposite(self, value: Array) -> Array:
        """The sign bit of a float changed; an integer negated modulo 2^width."""
        bits = _bits(value)
        if self.etype.family == "float":
            sign = sign_bit(float_bits(self.etype))
            changed = bits ^ np.array(sign, bits.dtype)
        else:
            # Two's complement; a one of the same type, so that NumPy does not widen the sum.
            changed = ~bits + np.array(1, bits.dtype)
        opposite: Array = changed.astype(bits.dtype).view(numpy_type(self.etype.id))
        return opposite

    def _is_signalling(self, value: Array) -> Any:
        if self.etype.family != "float":
            return np.zeros(np.shape(value), bool)
        bits = _bits(value)
        quiet = quiet_bit(float_bits(self.etype))
        is_quiet = bits & np.array(quiet, bits.dtype) != 0
        is_nan = np.not_equal(value, value)
        return is_nan & ~is_quiet


def _bits(value: Array) -> Array:
    array = np.asarray(value)
    return array.view(bits_type(array.dtype.name))
