"""Wrong operators and broken nodes: every claim must be false of the one that it names, or it is vacuous."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from sonnx_clip.language.special import sampled
from sonnx_clip.language.tree import Name, subtrees
from sonnx_clip.spec.document import Diagnostic
from sonnx_clip.spec.evaluate import (
    Evaluator,
    TensorValue,
    as_tensors,
    changed_example,
    declared_example,
    evaluator,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Constraint, Property, WrongClip
    from sonnx_clip.spec.evaluate import DeclaredTensor, Function
    from sonnx_clip.spec.model import Spec


class WrongEvaluator(Evaluator):
    """Evaluates claims about a wrong operator, or with a wrong definition.

    Args:
        spec: the specification.
        etype: the element type.
        wrong: what replaces the operator or the definition.
    """

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


def check_restrictions(spec: Spec) -> Iterator[Diagnostic]:
    """The declared example meets every restriction, and each listed change breaks its own alone."""
    evaluate, example = evaluator(spec, spec.element_types[0]), declared_example(spec)
    for restriction in spec.restrictions:
        if not evaluate(restriction.holds, example):
            what = f"it does not meet {restriction.id}"
            yield Diagnostic(("declared_example",), what, "it must meet every restriction")
    for index, restriction in enumerate(spec.restrictions):
        broken = changed_example(spec, restriction.broken_alone_by)
        found = [other.id for other in spec.restrictions if not evaluate(other.holds, broken)]
        if found != [restriction.id]:
            what = f"this change breaks {', '.join(found) or 'nothing'}, it must break {restriction.id} alone"
            yield Diagnostic(("restrictions", index, "broken_alone_by"), what)


def check_wrong_operators(spec: Spec) -> Iterator[Diagnostic]:
    """Claims that hold for the wrong operator or the broken node that they name, too."""
    wrong = {w.id: w for w in spec.wrong_clips}
    for index, entry in enumerate(spec.properties):
        of = wrong[entry.false_for]
        if not any(is_false_somewhere(spec, entry, family, of) for family in entry.families):
            yield _vacuous(("properties", index, "claim"), entry.id, of.id)
    node, ask = declared_example(spec), evaluator(spec, spec.element_types[0])
    for index, constraint in enumerate(spec.constraints):
        way = ("constraints", index, "holds")
        if constraint.false_for is not None:
            if not _excludes(spec, constraint, wrong[constraint.false_for]):
                yield _vacuous(way, constraint.id, constraint.false_for)
            continue
        if not ask(constraint.holds, _zeros(node)):
            yield Diagnostic(way, f"`declared_example` does not meet {constraint.id}")
        if ask(constraint.holds, _zeros(changed_example(spec, constraint.broken_by))):
            what = f"{constraint.id} holds after this change too"
            yield Diagnostic((*way[:-1], "broken_by"), what, "name a change that it excludes")


def _vacuous(way: tuple[str | int, ...], id_: str, wrong: str) -> Diagnostic:
    what = f"`{id_}` holds for the wrong operator `{wrong}` too"
    return Diagnostic(way, what, "strengthen the claim, or name another wrong operator")


def is_false_somewhere(spec: Spec, entry: Property, family: str, wrong: WrongClip) -> bool:
    """Whether a claim is false of a wrong operator for some samples, under the condition that repairs it."""
    etype, head = spec.types_of(family)[0], spec.head
    ask = WrongEvaluator(spec, etype, wrong)
    second = any(isinstance(node, Name) and node.id == head.second for node in subtrees(entry.claim))
    names = (*head.operands, head.second) if second else head.operands
    repaired = entry.repaired.get(etype.family)
    for numbers in sampled(etype, len(names)):
        environment = dict(zip(names, numbers, strict=True))
        environment[head.result] = ask.result(*numbers[: len(head.operands)])
        applies = repaired is None or evaluator(spec, etype)(repaired, environment)
        if applies and not ask(entry.claim, environment):
            return True
    return False


def _excludes(spec: Spec, constraint: Constraint, wrong: WrongClip) -> bool:
    for etype in (spec.types_of(family)[0] for family in constraint.holds_for):
        ask = WrongEvaluator(spec, etype, wrong)
        for given in sampled(etype, len(spec.operands)):
            numbers = {**ask.named(given), spec.head.result: ask.result(*given)}
            if not ask(constraint.holds, as_tensors(spec, etype, numbers)):
                return True
    return False


def _zeros(declared: Mapping[str, DeclaredTensor | None]) -> dict[str, TensorValue]:
    """Tensors of zeros as they are declared."""
    found = {}
    for name, tensor in declared.items():
        if tensor is not None:
            dims = tuple(dim for dim in tensor.dims or () if isinstance(dim, int))
            found[name] = TensorValue(tensor.type, dims, (0,) * prod(dims))
    return found
