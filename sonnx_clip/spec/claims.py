"""What the claim of a finding means at some numbers, by evaluation, and the names by which it speaks of
readings and dialects.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    head = spec.head
    every = (*head.operands, head.result)
    missing = {operand.onnx: (operand.id,) for operand in reversed(spec.operands) if operand.role == "scalar"}
    found = {r.predicate: Allowed(r.id, every) for r in spec.readings}
    for d in spec.dialects:
        found[f"{d.word}_returns"] = Allowed(d.reading, every, d.id)
        for what, without in {**missing, "bounds": head.scalars}.items() if d.missing else ():
            given = tuple(name for name in every if name not in without)
            found[f"{d.word}_without_{what}"] = Allowed(d.reading, given, d.id)
    return found


def types_of_claim(spec: Spec, part: Theorem) -> tuple[ElementType, ...]:
    """The element types that a theorem of a finding speaks of, in the order of the file."""
    families, types = part.families or (), part.types or ()
    return tuple(etype for etype in spec.element_types if etype.family in families or etype.id in types)


class ClaimEvaluator(Evaluator):
    """Evaluates the claims of findings in one element type."""

    def __init__(self, spec: Spec, etype: ElementType) -> None:
        super().__init__(spec, etype)
        self._names = claim_names(spec)
        self._plain = Evaluator(spec, etype)
        self._defaults: dict[str, tuple[Value, Value]] = {}
        self._known: dict[str, Callable[[Values], bool]] = {}  # by the name: what is allowed, remembered

    def _use(self, name: str, arguments: list[Function]) -> Function:
        if name in self._names:
            return self._of_reading(name, arguments)
        for entry in self.spec.properties:
            if entry.id == name:
                return self._entry_of(entry.claim)
        for constraint in self.spec.constraints:
            if constraint.id == name:
                return self._entry_of(constraint.holds)
        return super()._use(name, arguments)

    def _of_reading(self, name: str, arguments: list[Function]) -> Function:
        allows = partial(self._allows, self._names[name])
        known = self._known.setdefault(name, lru_cache(maxsize=KEYS)(allows))

        def allowed(env: Environment) -> bool:
            values = tuple([argument(env) for argument in arguments])
            return known(values)

        return allowed

    def _entry_of(self, claim: Expr) -> Function:
        def holds(env: Environment) -> bool:
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

    def _becomes(self, given: Value, number: Value) -> bool:
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
        return bool(self._plain(self.spec.reading(of.reading).returns, given))
