"""Wrong operators: every property must be false for the one that it names, else it is too weak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.special import sampled
from sonnx_clip.language.tree import Name, subtrees
from sonnx_clip.spec.evaluate import Evaluator, Function, evaluator

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Property, WrongClip
    from sonnx_clip.spec.model import Spec


class WrongEvaluator(Evaluator):
    """Evaluates claims about a wrong operator, or with a wrong definition."""

    def __init__(self, spec: Spec, etype: ElementType, wrong: WrongClip) -> None:
        super().__init__(spec, etype)
        self._wrong = wrong
        self._answer = evaluator(spec, etype).function(wrong.is_)

    def result(self, *values: Value) -> Value:
        """What the wrong operator returns."""
        if self._wrong.of is not None:
            return super().result(*values)
        found: Value = self._answer(self.named(values))
        return found

    def _entry(self, name: str) -> tuple[tuple[str, ...], Function]:
        return ((), self._answer) if name == self._wrong.of else super()._entry(name)


def is_false_somewhere(spec: Spec, entry: Property, family: str) -> bool:
    """Whether a property is false of its wrong operator for some samples, where its condition holds."""
    etype, head = spec.types_of(family)[0], spec.head
    ask = WrongEvaluator(spec, etype, spec.wrong_clip(entry.false_for))
    second = any(
        isinstance(node, Name) and node.id == head.second for node in subtrees(entry.claim)
    )
    names = (*head.operands, head.second) if second else head.operands
    repaired = entry.repaired.get(etype.family)
    for numbers in sampled(etype, len(names)):
        environment = dict(zip(names, numbers, strict=True))
        environment[head.result] = ask.result(*numbers[: len(head.operands)])
        applies = repaired is None or evaluator(spec, etype)(repaired, environment)
        if applies and not ask(entry.claim, environment):
            return True
    return False
