"""Checks that no statement is empty: each is false of the wrong Clip, or of the tensors, that it names.

A claim that holds of a wrong Clip too says nothing about Clip. The file names for each property and
constraint what it excludes; here that is evaluated. Restrictions have `broken_alone_by`: see
`meaning_checks`.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from sonnx_clip.language.tree import Name, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.spec.document import Diagnostic, unknown
from sonnx_clip.spec.evaluate import Evaluator, TensorValue, changed_example, declared_example, evaluator
from sonnx_clip.spec.readings import SAMPLES, triples
from sonnx_clip.spec.sections import entries_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Constraint, Property, WrongClip
    from sonnx_clip.spec.evaluate import DeclaredTensor, Function
    from sonnx_clip.spec.model import Spec


class WrongEvaluator(Evaluator):
    """Evaluates claims about a wrong Clip, or with a wrong definition.

    Args:
        spec: the specification.
        etype: the element type.
        wrong: what stands in the place of Clip or of the definition.
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
        if name == self._wrong.of:
            return (), self._answer
        return super()._entry(name)


def check_wrong_names(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about wrong Clips that are named and not there, or there and not named."""
    ids = [wrong.id for wrong in spec.wrong_clips]
    named = set()
    for section, index, entry in entries_with(spec, "false_for"):
        if entry.false_for is not None:
            named.add(entry.false_for)
            yield from unknown((section, index, "false_for"), entry.false_for, ids, "wrong Clip")
    for index, constraint in enumerate(spec.constraints):
        if (constraint.false_for is None) == (not constraint.broken_by):
            what = f"`{constraint.id}` names no one thing of which it is false"
            yield Diagnostic(("constraints", index, "id"), what, "give one of `false_for` and `broken_by`")
    definitions = {d.id: d for d in spec.definitions}
    for index, wrong in enumerate(spec.wrong_clips):
        if wrong.id not in named:
            yield Diagnostic(
                ("wrong_clips", index, "id"), f"nothing is false of `{wrong.id}`", "take it away"
            )
        if wrong.of is not None and (wrong.of not in definitions or definitions[wrong.of].parameters):
            what = f"there is no definition `{wrong.of}` without parameters"
            yield Diagnostic(("wrong_clips", index, "of"), what)


def check_not_empty(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about claims that do not exclude what they should, and about roles that are not so."""
    wrong = {w.id: w for w in spec.wrong_clips}
    for index, entry in enumerate(spec.properties):
        if not any(
            is_false_somewhere(spec, entry, family, wrong[entry.false_for]) for family in entry.families
        ):
            what = f"`{entry.id}` is true of the wrong Clip `{entry.false_for}` too"
            yield Diagnostic(("properties", index, "claim"), what, "it must exclude the one that it names")
    for index, constraint in enumerate(spec.constraints):
        yield from _constraint(spec, index, constraint, wrong)
        yield from _role(spec, index, constraint)


def is_false_somewhere(spec: Spec, entry: Property, family: str, wrong: WrongClip) -> bool:
    """Whether a claim is false of a wrong Clip for some samples, under the condition that repairs it."""
    etype = spec.types_of(family)[0]
    ask = WrongEvaluator(spec, etype, wrong)
    values = [encode(text, etype) for text in SAMPLES[etype.family]]
    operands = spec.head.operands
    second = any(isinstance(node, Name) and node.id == spec.head.second for node in subtrees(entry.claim))
    names = (*operands, spec.head.second) if second else operands
    claim, repaired = ask.function(entry.claim), entry.repaired.get(etype.family)
    premise = evaluator(spec, etype).function(repaired) if repaired is not None else None
    for numbers in product(values, repeat=len(names)):
        environment = dict(zip(names, numbers, strict=True))
        environment[spec.head.result] = ask.result(*numbers[: len(operands)])
        if (premise is None or premise(environment)) and not claim(environment):
            return True
    return False


def _constraint(
    spec: Spec, index: int, constraint: Constraint, wrong: Mapping[str, WrongClip]
) -> Iterator[Diagnostic]:
    """A constraint is false of the tensors that it names, or of what the wrong Clip makes of some."""
    if constraint.broken_by:
        assert spec.declared_example is not None
        right, changed = declared_example(spec), changed_example(spec, constraint.broken_by)
        etype = spec.element_type(spec.declared_example.X.type)
        ask = evaluator(spec, etype)
        if not ask(constraint.holds, _values(right)):
            what = f"`declared_example` does not meet {constraint.id}"
            yield Diagnostic(("constraints", index, "holds"), what)
        if ask(constraint.holds, _values(changed)):
            what = f"{constraint.id} holds after this change too"
            yield Diagnostic(("constraints", index, "broken_by"), what, "name a change that it excludes")
        return
    assert constraint.false_for is not None
    for family in constraint.holds_for:
        etype = spec.types_of(family)[0]
        ask = WrongEvaluator(spec, etype, wrong[constraint.false_for])
        for x, l, m in triples(etype):
            tensors = {
                "X": TensorValue(etype.id, (1,), (x,)),
                "L": TensorValue(etype.id, (), (l,)),
                "M": TensorValue(etype.id, (), (m,)),
                "Y": TensorValue(etype.id, (1,), (ask.result(x, l, m),)),
            }
            if not ask(constraint.holds, tensors):
                return
    what = f"`{constraint.id}` is true of the wrong Clip `{constraint.false_for}` too"
    yield Diagnostic(("constraints", index, "holds"), what, "it must exclude the one that it names")


def _values(declared: Mapping[str, DeclaredTensor | None]) -> dict[str, TensorValue]:
    """Tensors of zeros as they are declared."""
    found = {}
    for name, tensor in declared.items():
        if tensor is not None:
            dims = tuple(dim for dim in tensor.dims or () if isinstance(dim, int))
            found[name] = TensorValue(tensor.type, dims, (0,) * prod(dims))
    return found


def _role(spec: Spec, index: int, constraint: Constraint) -> Iterator[Diagnostic]:
    """A precondition can fail whatever Y is; a postcondition tells one Y from another."""
    family = next((f for f in constraint.holds_for if len(spec.types_of(f)) > 1), constraint.holds_for[0])
    etype = spec.types_of(family)[0]
    types = [t.id for t in spec.types_of(family)[:2]]
    ask = evaluator(spec, etype).function(constraint.holds)
    zero, one, two = (encode(text, etype) for text in ("0", "1", "2"))
    xs = [TensorValue(t, shape, (zero,) * shape[0]) for t in types for shape in ((1,), (2,))]
    ls, ms = ([TensorValue(t, (), (v,)) for t in types] for v in (zero, one))
    ys = [
        TensorValue(t, shape, (v,) * shape[0])
        for t in types for shape in ((1,), (2,)) for v in (zero, one, two)
    ]  # fmt: skip
    before = after = False
    for x, l, m in product(xs, ls, ms):
        held = {bool(ask({"X": x, "L": l, "M": m, "Y": y})) for y in ys}
        before |= held == {False}
        after |= held == {True, False}
    words = [word for word, met in (("precondition", before), ("postcondition", after)) if met]
    if constraint.role != " and ".join(words):
        what = f"`{constraint.id}` is a {' and '.join(words) or 'statement of nothing'} by what it says"
        todo = "a precondition can fail whatever Y is, a postcondition tells one Y from another"
        yield Diagnostic(("constraints", index, "role"), what, todo)
