"""Claims evaluated at the values of language/special.py, before any prover runs: it finds most mistakes.

A claim that holds at all samples may still be false. Formulas in WhyML are not evaluated, nor claims that
the YAML and a hand-written theory are the same: `is_evaluated` selects the claims that are.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.nodes import STATED, names_used
from sonnx_clip.claims.templates import SUBJECT
from sonnx_clip.language.show import show
from sonnx_clip.language.special import sampled, special_patterns
from sonnx_clip.language.values import Value, encode, identical
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.evaluate import (
    Evaluator,
    Function,
    TensorValue,
    as_tensors,
    declared_example,
    evaluator,
)
from sonnx_clip.spec.model import entries_with, yaml_place
from sonnx_clip.spec.readings import possible_answers, same_value
from sonnx_clip.spec.wrong_operators import is_false_somewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

# Bounds that are converted: not finite, negative, fractional, and beyond integers of 8 bits.
_FLOATS = ("nan", "-inf", "-1", "-0", "0", "0.5", "1", "300", "inf")


class ClaimTruth(Evaluator):
    """Evaluates claims in one element type: beside the language, functions that claims alone have."""

    def _call(
        self,
        name: str,
        arguments: list[Function],
        trees: tuple[Expr, ...],
    ) -> Function:
        match name, arguments:
            # That the hand-written Clip is the cases is itself a claim, which is evaluated as true.
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
        # The prefix keeps the YAML's statement apart from the hand-written one in theories alone.
        return super()._use(name.removeprefix(STATED), arguments)

    def _of_tensors(self, *operands: TensorValue) -> TensorValue:
        """The result for operands of one entry, as samples are."""
        entries = [operand.entries[0] for operand in operands]
        first = operands[0]
        return TensorValue(first.type, first.shape, (self.result(*entries),))

    def truth_of(self, claim: Claim) -> Callable[[Mapping[str, Any]], bool]:
        """Whether a claim for which `is_evaluated` holds is true, as a function of its variables."""
        assert not isinstance(claim.conclusion, Written)
        witness = {name: self.function(expr) for name, expr in claim.witness.items()}
        premises = [self.function(part) for part in claim.premises]
        conclusion = self.function(claim.conclusion)

        def holds(values: Mapping[str, Any]) -> bool:
            environment = dict(values)
            for name, value_of in witness.items():
                environment[name] = value_of(values)

            # One by one, as the provers get them: a claim says nothing where a premise is false.
            for premise in premises:
                if not premise(environment):
                    return True
            return bool(conclusion(environment))

        return holds


def is_evaluated(claim: Claim) -> bool:
    """Whether a claim can be evaluated: it is stated in the language alone."""
    if isinstance(claim.conclusion, Written):
        return False
    # It says that a constraint is the one that is written in why3/, which is not evaluated.
    is_hand_written = claim.of_tensors and claim.role == "written"
    return not is_hand_written


def evaluated_claims(spec: Spec) -> Iterator[tuple[ElementType, Claim]]:
    """The claims that can be evaluated, each in the first type of a kind that has it."""
    names_by_kind: dict[object, set[str]] = defaultdict(set)
    for etype in spec.element_types:
        names_of_kind = names_by_kind[kind_of_type(etype)]
        claims = claims_of(spec, etype.id)
        for claim in claims:
            if claim.name not in names_of_kind and is_evaluated(claim):
                yield etype, claim
        names_of_kind.update(claim.name for claim in claims)


def kind_of_type(etype: ElementType) -> object:
    """Family, and signed or unsigned: types of one kind have the same claims, but for a few."""
    return etype.family, getattr(etype.bits, "signed", None)


def bound_names(claim: Claim) -> list[str]:
    """The quantified variables that a claim uses."""
    used = names_used(claim)
    names = [variable.id for variable in claim.variables]
    return [name for name in names if name in used]


def samples(spec: Spec, etype: ElementType, claim: Claim) -> Sequence[Mapping[str, Any]]:
    """Values for the variables of a claim: special ones, and answers that an operator may give.

    A claim on restrictions has one sample, the declared node.
    """
    if claim.subject == SUBJECT:
        return [declared_example(spec)]

    # Claims on the same variables share their samples.
    known: dict[object, Sequence[Mapping[str, Any]]]
    known = spec.memo.setdefault(("samples of claims", etype.id), {})
    bound = tuple(bound_names(claim))
    key = (bound, claim.of_tensors)
    if key not in known:
        elements = _distinct(_samples(spec, etype, bound))
        if claim.of_tensors:
            known[key] = [as_tensors(spec, etype, sample) for sample in elements]
        else:
            known[key] = elements
    return known[key]


def _distinct(samples: Iterator[dict[str, Value]]) -> list[dict[str, Value]]:
    """Samples of the same variables, each once."""
    by_items: dict[tuple[tuple[str, Value], ...], dict[str, Value]] = {}
    for sample in samples:
        by_items.setdefault(tuple(sample.items()), sample)
    return list(by_items.values())


def _samples(spec: Spec, etype: ElementType, bound: tuple[str, ...]) -> Iterator[dict[str, Value]]:
    """Values for some variables; several times the same where an operand is not among them."""
    operands = spec.signature.ids

    # All special values are affordable for two variables, not for three.
    few_operands = len(bound) <= 2 and set(bound) <= set(operands)
    if few_operands and etype.bits is not None:
        special = special_patterns(etype)
        for patterns in product(special, repeat=len(bound)):
            yield dict(zip(bound, patterns, strict=True))

    # A variable that is no operand stands for an answer, or for a float that is converted (F).
    further = [name for name in bound if name not in operands]
    floats: list[Value] = []
    if "F" in bound:
        # Only then: an operator without conversions may lack float32.
        float32 = spec.element_type("float32")
        floats = [encode(text, float32) for text in _FLOATS]

    for sample in sampled(etype, len(operands)):
        # Answers depend on all operands, also on those that the claim does not mention.
        answers = possible_answers(spec, etype, sample)
        of_operands = zip(operands, sample, strict=True)
        mentioned = {name: value for name, value in of_operands if name in bound}
        choices = [floats if name == "F" else answers for name in further]
        for values in product(*choices):
            of_further = dict(zip(further, values, strict=True))
            yield mentioned | of_further


def counterexample(spec: Spec, etype: ElementType, claim: Claim) -> Mapping[str, Any] | None:
    """The first sample for which a claim is false; None if it holds for all of them."""
    holds = truth(spec, etype).truth_of(claim)
    for sample in samples(spec, etype, claim):
        if not holds(sample):
            return sample
    return None


def truth(spec: Spec, etype: ElementType) -> ClaimTruth:
    """The evaluator of claims of an element type, made once for a specification."""
    key = ("claim truth", etype.id)
    if key not in spec.memo:
        spec.memo[key] = ClaimTruth(spec, etype)
    shared: ClaimTruth = spec.memo[key]
    return shared


def check_claims(spec: Spec) -> None:
    """Raise the UserError for the first claim that is false for some sample, or true of a wrong operator."""
    for etype, claim in evaluated_claims(spec):
        _require_true(spec, etype, claim)
    first_type = spec.element_types[0]  # restrictions do not depend on it
    for claim in claims_of(spec, SUBJECT):
        if is_evaluated(claim):
            _require_true(spec, first_type, claim)

    # A property that no operator could break says nothing: each names one that breaks it.
    for p in spec.properties:
        is_broken = any(is_false_somewhere(spec, p, family) for family in p.families)
        if is_broken:
            continue
        raise UserError(
            f"`{p.id}` holds for the wrong operator `{p.false_for}` too",
            _place(spec, p.id),
            "strengthen the claim, or name another wrong operator",
        )


def _require_true(spec: Spec, etype: ElementType, claim: Claim) -> None:
    """UserError if a claim is false for some sample."""
    sample = counterexample(spec, etype, claim)
    if sample is None:
        return
    # For a worked example the message names the wrong entry instead of the claim's values.
    _refuse_example(spec, etype, claim)
    where = _where(spec, etype, claim, sample)
    entries = " and ".join(claim.shows)
    raise UserError(
        f"`{claim.id}` is false{where}: {claim.title}",
        _place(spec, claim.shows[0]),
        f"correct the claim of {entries}; no prover was run",
    )


def _where(
    spec: Spec,
    etype: ElementType,
    claim: Claim,
    sample: Mapping[str, Any],
) -> str:
    """The values for which a claim is false; those of restrictions are of no use to a reader."""
    if claim.subject == SUBJECT:
        return ""
    evaluate = truth(spec, etype)
    values = {name: evaluate(expr, sample) for name, expr in claim.witness.items()}
    values |= sample
    numbers = []
    for name, value in values.items():
        numbers.append(_shown(spec, etype, name, value))
    return f" for {', '.join(numbers)}"


def _refuse_example(spec: Spec, etype: ElementType, claim: Claim) -> None:
    """Raise the UserError for the first wrong entry of a worked example, if a false claim is one."""
    evaluate = evaluator(spec, etype)
    signature = spec.signature
    for index, example in enumerate(spec.examples):
        if example.id not in claim.shows:
            continue
        for row, texts in enumerate(example.given):
            expected = example.Y[row]
            operands = [encode(text, etype) for text in texts]
            result = evaluate.result(*operands)
            if identical(result, encode(expected, etype)):
                continue
            call = f"{signature.function}({', '.join(texts)})"
            raise UserError(
                f"`{claim.id}` is false: {call} is {show(result, etype)}, not {expected}",
                yaml_place(spec, ("examples", index, signature.result.id, row)),
                "correct the entry, or the cases; no prover was run",
            )


def _place(spec: Spec, id_: str) -> str:
    """The position of an entry."""
    for section, index, entry in entries_with(spec, "id"):
        if entry.id == id_:
            return yaml_place(spec, (section, index))
    return f"{spec.file} ({id_})"


def _shown(
    spec: Spec,
    etype: ElementType,
    name: str,
    value: Value | TensorValue,
) -> str:
    if isinstance(value, TensorValue):
        entry = show(value.entries[0], etype)  # a sample has one
        return f"{name} = [{entry}]" if value.shape else f"{name} = {entry}"
    type_of_value = spec.element_type("float32") if name == "F" else etype
    return f"{name} = {show(value, type_of_value)}"
