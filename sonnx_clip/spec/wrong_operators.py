"""Wrong operators: every property must be false for the one that it names, else it is too weak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.special import sampled
from sonnx_clip.language.tree import Kind, Name, names_in, substituted
from sonnx_clip.spec.evaluate import Evaluator, UsedEntry, evaluator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Property, WrongOperator
    from sonnx_clip.spec.model import Spec


class WrongEvaluator(Evaluator):
    """Evaluates claims about a wrong operator, or with a wrong definition."""

    def __init__(self, spec: Spec, etype: ElementType, wrong: WrongOperator) -> None:
        super().__init__(spec, etype)
        self._wrong = wrong
        self._answer = evaluator(spec, etype).function(wrong.is_)

    def result(self, *values: Value) -> Value:
        """What the wrong operator returns."""
        # With a wrong definition, which `_entry` gives to the cases, these give the result.
        if self._wrong.of is not None:
            return super().result(*values)
        answer: Value = self._answer(self.named(values))
        return answer

    def _entry(self, name: str) -> UsedEntry:
        if name == self._wrong.of:
            return UsedEntry((), self._answer)
        return super()._entry(name)


def domain_of_names(spec: Spec, family: str, names: Iterable[str]) -> list[Expr]:
    """That operands are in the domain of the operator; and other entries of the first tensor, if named."""
    domain = spec.domain_of(family)
    if domain is None:
        return []
    if spec.signature.second not in names:
        return [domain]
    # The domain is stated of the operands: of the other entry it is the same in its place.
    first = spec.signature.ids[0]
    second = Name(spec.signature.second, Kind.ELEMENT)
    return [domain, substituted(domain, {first: second})]


def is_false_somewhere(spec: Spec, entry: Property, family: str) -> bool:
    """Whether a property is false of its wrong operator for some samples, where its condition holds."""
    etype = spec.types_of(family)[0]
    signature = spec.signature
    names = signature.ids
    if signature.second in names_in(entry.claim):
        names = (*names, signature.second)
    conditions = domain_of_names(spec, etype.family, names)
    if etype.family in entry.repaired:
        # Elsewhere the property is false of the operator as well.
        conditions.append(entry.repaired[etype.family])

    right = evaluator(spec, etype)
    wrong = WrongEvaluator(spec, etype, spec.wrong_operator(entry.false_for))
    for numbers in sampled(etype, len(names)):
        environment = dict(zip(names, numbers, strict=True))
        operands = numbers[: len(signature.ids)]
        environment[signature.result.id] = wrong.result(*operands)
        # Conditions are as they are; only the claim is about the wrong operator.
        applies = all(right(condition, environment) for condition in conditions)
        if applies and not wrong(entry.claim, environment):
            return True
    return False
