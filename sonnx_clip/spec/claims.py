"""What the claim of a finding means at some numbers, by evaluation, and the names by which it speaks of
readings and dialects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from sonnx_clip.language.convert import convert
from sonnx_clip.language.values import is_nan
from sonnx_clip.spec.dialects import defaults
from sonnx_clip.spec.evaluate import KEYS, Evaluator, TensorValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.evaluate import Environment, Function
    from sonnx_clip.spec.findings import Theorem
    from sonnx_clip.spec.model import Spec

    Values = tuple[Value, ...]
    Answer = Callable[[str, Values, Value], bool | None]
    Result = Callable[[Values], Value | None]


@dataclass(frozen=True)
class Allowed:
    """What such a name stands for.

    Args:
        reading: the id of the reading that decides.
        parameters: the variables that are given, in their order.
        dialect: the id of the dialect; None for a reading.
    """

    reading: str
    parameters: tuple[str, ...]
    dialect: str | None = None


def claim_names(spec: Spec) -> Mapping[str, Allowed]:
    """All such names, with what each stands for."""
    found = {f"{r.word}_returns": Allowed(r.id, ("X", "L", "M", "Y")) for r in spec.readings}
    for d in spec.whole_dialects:
        found[f"{d.word}_returns"] = Allowed(d.reading, ("X", "L", "M", "Y"), d.id)
        if d.missing is not None:
            for what, given in (("max", ("X", "L", "Y")), ("min", ("X", "M", "Y")), ("bounds", ("X", "Y"))):
                found[f"{d.word}_without_{what}"] = Allowed(d.reading, given, d.id)
    return found


def types_of_claim(spec: Spec, part: Theorem) -> tuple[ElementType, ...]:
    """The element types that a theorem of a finding speaks of, in the order of the file."""
    families, types = part.families or (), part.types or ()
    return tuple(etype for etype in spec.element_types if etype.family in families or etype.id in types)


# --- What the claim of a finding means at some numbers, by evaluation, and what it would mean otherwise -----
#
# The second is how a claim is tried: were the answer that a finding speaks of another one, the claim must be
# false. A claim that stays true says nothing of it.


@dataclass(frozen=True)
class Pretence:
    """What is taken for true in place of what is; None where nothing is changed.

    Args:
        allows: whether a reading, for these values of the operands, allows this answer.
        result: the result of the cases.
        entries: constraints and properties, each with what it is taken for.
        becomes: whether a FLOAT becomes this number.
    """

    allows: Answer = lambda _reading, _triple, _answer: None
    result: Result = lambda _values: None
    entries: Mapping[str, bool] = field(default_factory=dict)
    becomes: Callable[[Value, Value], bool | None] = lambda _float, _number: None


NOTHING = Pretence()


class ClaimEvaluator(Evaluator):
    """Evaluates the claims of findings in one element type; `pretence` may be exchanged between two calls."""

    def __init__(self, spec: Spec, etype: ElementType) -> None:
        super().__init__(spec, etype)
        self.pretence = NOTHING
        self._names = claim_names(spec)
        self._plain = Evaluator(spec, etype)
        self._defaults: dict[str, tuple[Value, Value]] = {}
        self._known: dict[str, Callable[[Values], bool]] = {}  # by the name: what is allowed, remembered

    def at(self, claim: Expr, environment: Environment, pretence: Pretence) -> bool:
        """Whether a claim holds for the values of its variables, under a pretence."""
        self.pretence = pretence
        try:
            return bool(self(claim, environment))
        finally:
            self.pretence = NOTHING

    def _use(self, name: str, arguments: list[Function]) -> Function:
        if name in self._names:
            return self._of_reading(name, arguments)
        for entry in self.spec.properties:
            if entry.id == name:
                return self._entry_of(name, entry.claim)
        for constraint in self.spec.constraints:
            if constraint.id == name:
                return self._entry_of(name, constraint.holds)
        return super()._use(name, arguments)

    def _of_reading(self, name: str, arguments: list[Function]) -> Function:
        allows = partial(self._allows, self._names[name])
        known = self._known.setdefault(name, lru_cache(maxsize=KEYS)(allows))

        def allowed(env: Environment) -> bool:
            values = tuple([argument(env) for argument in arguments])
            return (known if self.pretence is NOTHING else allows)(values)

        return allowed

    def _entry_of(self, name: str, claim: Expr) -> Function:
        def holds(env: Environment) -> bool:
            pretended = self.pretence.entries.get(name)
            if pretended is not None:
                return pretended
            if isinstance(env[self._operands[0]], TensorValue):
                return bool(self._plain(claim, env))
            y = self._plain.result(*(env[name] for name in self._operands))
            return bool(self._plain(claim, {**env, self._head.result: y}))

        return holds

    def _call(self, name: str, arguments: list[Function], trees: tuple[Expr, ...]) -> Function:
        if name == "becomes":
            first, second = arguments
            return lambda env: self._becomes(first(env), second(env))
        return super()._call(name, arguments, trees)

    def _result_of(self, arguments: list[Function]) -> Function:
        return lambda env: self._pretended_result(*(argument(env) for argument in arguments))

    def _pretended_result(self, *values: Value) -> Value:
        pretended = None if self.pretence is NOTHING else self.pretence.result(values)
        return self._plain.result(*values) if pretended is None else pretended

    def _becomes(self, given: Value, number: Value) -> bool:
        pretended = self.pretence.becomes(given, number)
        if pretended is not None:
            return pretended
        found = convert(given, self.spec.element_type("float32"), self.etype)
        if found is None or self.etype.family != "float" or not is_nan(found, self.etype):
            return found == number
        return is_nan(number, self.etype)

    def _ends(self, dialect: str) -> tuple[Value, Value]:
        if dialect not in self._defaults:
            found = defaults(self.spec, self.spec.dialect(dialect), self.etype)
            assert found is not None
            self._defaults[dialect] = found
        return self._defaults[dialect]

    def _allows(self, of: Allowed, values: Values) -> bool:
        given = dict(zip(of.parameters, values, strict=True))
        if of.dialect is not None and len(given) <= len(self._operands):
            given = {**self.named((values[0], *self._ends(of.dialect))), **given}
        if self.pretence is not NOTHING:  # of most claims nothing is pretended
            operands = tuple(given[name] for name in self._operands)
            pretended = self.pretence.allows(of.reading, operands, given[self._head.result])
            if pretended is not None:
                return pretended
        return bool(self._plain(self.spec.reading(of.reading).returns, given))
