"""Claims evaluated at numbers, before any prover is asked: most mistakes in a YAML show here at once.

What holds at all samples may still be false. What a person wrote in WhyML is not evaluated, nor what says
that the YAML and something written by hand are the same: `is_evaluated` says which claims are.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Written
from sonnx_clip.claims.nodes import STATED, names_used
from sonnx_clip.claims.tensor_claims import SUBJECT
from sonnx_clip.language.show import show
from sonnx_clip.language.special import sampled, special_patterns
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode, identical
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of
from sonnx_clip.spec.document import read_document
from sonnx_clip.spec.entries import is_number
from sonnx_clip.spec.evaluate import Evaluator, TensorValue, as_tensors, declared_example
from sonnx_clip.spec.model import entries_with
from sonnx_clip.spec.readings import same_value
from sonnx_clip.spec.wrong_operators import is_false_somewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.evaluate import Function

_CHECKED = ("claims are checked", "")  # of a specification's memo
_FLOATS = ("nan", "-inf", "-1", "-0", "0", "0.5", "1", "300", "inf")


class ClaimTruth(Evaluator):
    """Evaluates claims in one element type."""

    def _call(self, name: str, arguments: list[Function], trees: tuple[Expr, ...]) -> Function:
        match name, arguments:
            case "written_clip", _:
                return self._result_of(arguments)
            case "distinct", (first, second):
                return lambda env: not identical(first(env), second(env))
            case "same_value", (first, second):
                return lambda env: same_value(first(env), second(env), self.etype)
            case "clip_tensor", _:
                return lambda env: self._of_tensors(*(argument(env) for argument in arguments))
            case "typed", (tensor,):
                return lambda env: tensor(env).type == self.etype.id
            case _:
                return super()._call(name, arguments, trees)

    def _use(self, name: str, arguments: list[Function]) -> Function:
        return super()._use(name.removeprefix(STATED), arguments)

    def _of_tensors(self, *operands: TensorValue) -> TensorValue:
        """The result entry by entry; the entry of a scalar stands for all."""
        first, tensors = operands[0], self._head.tensors
        rows = (
            operand.entries if name in tensors else operand.entries * len(first.entries)
            for name, operand in zip(self._operands, operands, strict=True)
        )
        return TensorValue(first.type, first.shape, tuple(map(self.result, *rows)))

    def truth_of(self, claim: Claim) -> Callable[[Mapping[str, Any]], bool]:
        """Whether a claim holds, as a function of its variables; where a premise fails, it does.

        Args:
            claim: one of which `is_evaluated` is true.
        """
        assert not isinstance(claim.conclusion, Written)
        witness = [(name, self.function(expr)) for name, expr in claim.witness.items()]
        premises = [self.function(part) for part in claim.premises]
        conclusion = self.function(claim.conclusion)

        def holds(numbers: Mapping[str, Any]) -> bool:
            environment = {**numbers, **{name: value(numbers) for name, value in witness}}
            of_tensors = isinstance(environment.get(self._operands[0]), TensorValue)
            if claim.of_result or of_tensors:
                result = self._of_tensors if of_tensors else self.result
                given = (environment[name] for name in self._operands)
                environment[self._head.result] = result(*given)
            return not all(premise(environment) for premise in premises) or bool(conclusion(environment))

        return holds


def is_evaluated(claim: Claim) -> bool:
    """Whether a claim can be evaluated: it is said in the language alone."""
    return not (isinstance(claim.conclusion, Written) or (_of_tensors(claim) and claim.role == "written"))


def _of_tensors(claim: Claim) -> bool:
    return any(binder.sort is Kind.TENSOR for binder in claim.binders)


def bound_names(spec: Spec, claim: Claim) -> list[str]:
    """The variables for whose values a claim is said, but for those that it does not speak of."""
    used = names_used(claim, spec.head)
    return [name for binder in claim.binders for name in binder.names if name in used]


def samples(spec: Spec, etype: ElementType, claim: Claim) -> Sequence[Mapping[str, Any]]:
    """Values for the variables that a claim binds: special ones, and answers that an operator may give.

    A claim on restrictions speaks of the one node that is declared.
    """
    if claim.subject == SUBJECT:
        return [declared_example(spec)]
    bound, of_tensors = tuple(bound_names(spec, claim)), _of_tensors(claim)
    known = spec.memo.setdefault(("samples of claims", etype.id), {})
    if (bound, of_tensors) not in known:
        found = {tuple(numbers.values()): numbers for numbers in _samples(spec, etype, bound)}.values()
        known[bound, of_tensors] = [as_tensors(spec, etype, of) if of_tensors else of for of in found]
    made: Sequence[Mapping[str, Any]] = known[bound, of_tensors]
    return made


def _samples(spec: Spec, etype: ElementType, bound: tuple[str, ...]) -> Iterator[dict[str, Value]]:
    """The same, some of them more than once where an operand is not bound."""
    operands = spec.head.operands
    if len(bound) <= 2 and etype.bits is not None and set(bound) <= set(operands):
        for patterns in product(special_patterns(etype), repeat=len(bound)):
            yield dict(zip(bound, patterns, strict=True))
    further_answers = [encode(text, etype) for text in ("nan", "-nan") if etype.family == "float"]
    further_answers += [encode(c.result, etype) for c in spec.cases if is_number(c.result)]
    floats = [encode(text, spec.element_type("float32")) for text in _FLOATS if "F" in bound]
    further = [name for name in bound if name not in operands]
    for given in sampled(etype, len(operands)):
        at = {name: value for name, value in zip(operands, given, strict=True) if name in bound}
        answers = tuple(dict.fromkeys((*given, *further_answers)))
        for values in product(*(floats if name == "F" else answers for name in further)):
            yield {**at, **dict(zip(further, values, strict=True))}


def counterexample(spec: Spec, etype: ElementType, claim: Claim) -> dict[str, Any] | None:
    """Values among the samples for which a claim is false; None if it holds for all of them."""
    holds = truth(spec, etype).truth_of(claim)
    return next((dict(at) for at in samples(spec, etype, claim) if not holds(at)), None)


def check_claims(spec: Spec) -> None:
    """Raise the UserError for the first claim that is false for some samples, or true of a wrong operator.

    Each is asked of the first type of a kind that has it; a kind is a family, signed or unsigned. A
    specification is asked once.
    """
    if spec.memo.get(_CHECKED):
        return
    asked: dict[object, set[str]] = {}
    for etype in spec.element_types:
        of_kind = asked.setdefault((etype.family, getattr(etype.bits, "signed", None)), set())
        for claim in claims_of(spec, etype.id):
            if claim.name not in of_kind and is_evaluated(claim):
                numbers = counterexample(spec, etype, claim)
                if numbers is not None:
                    evaluate = truth(spec, etype)
                    at = {name: evaluate(expr, {}) for name, expr in claim.witness.items()} | numbers
                    shown = (f"{name} = {_shown(spec, etype, name, of)}" for name, of in at.items())
                    raise _false(spec, claim, ", ".join(shown))
            of_kind.add(claim.name)
    for claim in filter(is_evaluated, claims_of(spec, SUBJECT)):
        if counterexample(spec, spec.element_types[0], claim) is not None:
            raise _false(spec, claim)
    for p in spec.properties:
        if not any(is_false_somewhere(spec, p, family) for family in p.families):
            what = f"`{p.id}` holds for the wrong operator `{p.false_for}` too"
            raise UserError(what, _place(spec, p.id), "strengthen the claim, or name another wrong operator")
    spec.memo[_CHECKED] = True


def _false(spec: Spec, claim: Claim, at: str = "") -> UserError:
    what = f"`{claim.id}` is false{f' for {at}' if at else ''}: {claim.title}"
    todo = f"correct what is stated of {' and '.join(claim.shows)}; no prover was asked"
    return UserError(what, _place(spec, claim.shows[0]), todo)


def _place(spec: Spec, id_: str) -> str:
    """Where an entry stands, with its line if the file is still what was read."""
    ways = [(name, index) for name, index, entry in entries_with(spec, "id") if entry.id == id_]
    if ways and spec.path.is_file():
        document, content = read_document(spec.path)
        if digest_of(content) == spec.digest:
            return document.error(ways[0], "", "").where or spec.file
    return f"{spec.file} ({id_})"


def _shown(spec: Spec, etype: ElementType, name: str, of: Value | TensorValue) -> str:
    if isinstance(of, TensorValue):
        return f"[{show(of.entries[0], etype)}]" if of.shape else show(of.entries[0], etype)
    return show(of, spec.element_type("float32") if name == "F" else etype)


def truth(spec: Spec, etype: ElementType) -> ClaimTruth:
    """The evaluator of claims of an element type, made once for a specification."""
    known = spec.memo.setdefault(("claim truth", ""), {})
    if etype.id not in known:
        known[etype.id] = ClaimTruth(spec, etype)
    found: ClaimTruth = known[etype.id]
    return found
