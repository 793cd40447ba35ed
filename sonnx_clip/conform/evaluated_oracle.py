"""An oracle that evaluates the parsed conditions of a specification on NumPy arrays.

It has the attributes of the generated oracle that the checker reads. No code is rendered, so no text of a
specification is executed: `check --spec FILE` is safe with any file.
"""

from __future__ import annotations

from functools import partial
from operator import and_, eq, ge, gt, invert, le, lt, or_
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language import tree
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode, float_bits, quiet_bit
from sonnx_clip.root.dtypes import Array, bits_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec

_OPERATORS: dict[str, Callable[..., Any]] = {
    "<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "iff": eq, "and": and_, "or": or_, "not": invert,
    "implies": lambda a, b: ~a | b,
}  # fmt: skip


def evaluated_oracle(spec: Spec) -> SimpleNamespace:
    """The oracle of a specification that has been loaded and checked."""
    found = SimpleNamespace(SPEC_DIGEST=spec.digest, CLASSES={}, LATITUDE={}, READINGS={})
    found.CASE_OF_CLASS = {c.id: c.case for c in spec.classes}
    found.ALWAYS = tuple(entry.id for entry in spec.latitude if entry.always)
    setattr(found, spec.head.function, _Family(spec, "").result)
    operands, result = spec.head.operands, spec.head.result
    for family in {etype.family for etype in spec.element_types}:
        of = _Family(spec, family)
        found.CLASSES[family] = {c.id: partial(of.use, c.id) for c in spec.classes_of(family)}
        found.LATITUDE[family] = {
            entry.id: partial(of.both, (entry.when, entry.accepts), (*operands, result, "A"))
            for entry in spec.latitude
        }
        found.READINGS[family] = {
            entry.id: partial(of.both, (entry.returns,), (*operands, result)) for entry in spec.readings
        }
    return found


class _Family:
    """Evaluates conditions in the element types of one family."""

    def __init__(self, spec: Spec, family: str) -> None:
        self._spec, self._family = spec, family
        self._definitions = {d.id: d for d in spec.definitions}
        self._conditions: dict[str, tuple[Expr, ...]] = {case.id: (case.when,) for case in spec.cases}
        for c in spec.classes:
            self._conditions[c.id] = (*self._conditions[c.case], c.when)

    def result(self, *values: Array) -> Array:
        """The result of the cases, bit for bit."""
        dtype = np.asarray(values[0]).dtype
        named = dict(zip(self._spec.head.operands, values, strict=True))
        of = _Family(self._spec, self._spec.element_type(dtype.name).family)
        shape = np.broadcast_shapes(*(np.shape(value) for value in values))
        found = np.zeros(shape, bits_type(dtype.name))
        for case in self._spec.cases:
            given = named[case.result] if case.result in named else self._constant(case.result, dtype)
            held = np.broadcast_to(of.use(case.id, *values), shape)
            found[held] = np.broadcast_to(_bits(given), shape)[held]
        return found.view(dtype)

    def use(self, id_: str, *values: Array) -> Any:
        """The value of a definition, case or class."""
        if id_ in self._conditions:
            return self.both(self._conditions[id_], self._spec.head.operands, *values)
        found = self._definitions[id_]
        if found.families is not None and self._family not in found.families:
            return np.zeros(np.broadcast_shapes(*(np.shape(value) for value in values)), bool)
        return self.both((found.is_,), found.parameters or self._spec.head.operands, *values)

    def both(self, expressions: Sequence[Expr], names: Sequence[str], *values: Array) -> Any:
        """The value of an expression, or whether all of several conditions hold."""
        variables = dict(zip(names, values, strict=True))
        with np.errstate(invalid="ignore"):  # comparisons with NaN
            first, *others = (self._value(expr, variables) for expr in expressions)
            for other in others:
                first = first & other
        return first

    def _value(self, expr: Expr, variables: Mapping[str, Array]) -> Any:
        match expr:
            case tree.Name(id=name):
                return variables[name]
            case tree.Number():
                return self._constant(unparse(expr), np.asarray(next(iter(variables.values()))).dtype)
        parts = [self._value(part, variables) for part in tree.parts_of(expr)]
        match expr:
            case tree.Use(id=name, of=of):
                return self.use(name, *parts, *(variables[operand] for operand in of))
            case tree.Call() | tree.If():
                return self._function(expr, parts)
            case tree.Not() | tree.Compare() | tree.Connective():
                return _OPERATORS["not" if isinstance(expr, tree.Not) else expr.operator](*parts)
        raise ValueError(f"`{unparse(expr)}` is not a condition on elements")

    def _function(self, expr: tree.Call | tree.If, parts: list[Any]) -> Any:
        if isinstance(expr, tree.CasesResult):
            return self.result(*parts)
        match expr:
            case tree.If(kind=Kind.ELEMENT):
                condition, first, second = parts
                return np.where(condition, _bits(first), _bits(second)).view(np.asarray(first).dtype)
            case tree.If():
                return np.where(*parts)
            case tree.Call(function="identical"):
                return _bits(parts[0]) == _bits(parts[1])
            case tree.Call(function="is_nan"):
                return np.not_equal(parts[0], parts[0])
            case tree.Call(function="is_signalling"):
                return self._is_signalling(np.asarray(parts[0]))
        raise ValueError(f"`{unparse(expr)}` is not a condition on elements")

    def _constant(self, text: str, dtype: np.dtype[Any]) -> Array:
        pattern = int(encode(text, self._spec.element_type(dtype.name)))
        return np.array(pattern, bits_type(dtype.name)).view(dtype)

    def _is_signalling(self, value: Array) -> Any:
        if self._family != "float":
            return np.zeros(value.shape, bool)
        quiet = quiet_bit(float_bits(self._spec.element_type(value.dtype.name)))
        return np.not_equal(value, value) & (_bits(value) & np.array(quiet, bits_type(value.dtype.name)) == 0)


def _bits(value: Array) -> Array:
    array = np.asarray(value)
    return array.view(bits_type(array.dtype.name))
