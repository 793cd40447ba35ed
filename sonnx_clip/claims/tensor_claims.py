"""What is claimed of tensors in one element type: the constraints, of any shape, and what refutes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Binder, Claim, Written
from sonnx_clip.claims.nodes import (
    STATED,
    all_of,
    call,
    free_names,
    group,
    iff,
    let,
    numbers,
    operator_of,
    tensor,
    use,
    value,
)
from sonnx_clip.claims.written_claims import STEPS, WRITTEN_CONSTRAINTS, WRITTEN_ON_TENSORS
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode
from sonnx_clip.language.walk import conjuncts
from sonnx_clip.root.counts import listed
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import Spec, result_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.entries import Constraint


def constraint_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints on tensors of any shape, and their equivalence with the hand-written ones."""
    variables = spec.head.all
    for c in spec.constraints:
        if etype.family not in c.families:
            continue
        if c.id not in WRITTEN_CONSTRAINTS:
            what = f"the constraint {c.id} has no hand-written counterpart"
            raise UserError(what, "spec/clip.yaml", "add it to why3/tensor.mlw and to the claims on tensors")
        yield Claim(
            etype.id, named.written(c.id), "written", "equivalence", (c.id,),
            f"the {c.id} of the YAML is the hand-written one",
            iff(operator_of(spec).stated(c, Kind.TENSOR), use(c.id.lower(), *_spoken_of(c, variables))),
            binders=(Binder(variables, Kind.TENSOR),),
        )  # fmt: skip
        yield from _constraint(spec, etype, c)


def of_tensors(spec: Spec, body: Expr) -> Expr:
    """A condition on the result as one on that of the operator on tensors."""
    result = call(WRITTEN_ON_TENSORS, *map(tensor, spec.head.operands), kind=Kind.TENSOR)
    return let(spec.head.result, result, body)


def all_tensors(spec: Spec) -> Binder:
    """All values of the operands, as tensors."""
    return Binder(spec.head.operands, Kind.TENSOR)


def _spoken_of(c: Constraint, variables: Sequence[str]) -> Iterator[Expr]:
    """The variables that a constraint speaks of: the hand-written one has no others."""
    spoken_of = free_names(c.holds)
    return (tensor(name) for name in variables if name in spoken_of)


def _constraint(spec: Spec, etype: ElementType, c: Constraint) -> Iterator[Claim]:
    stated = operator_of(spec).stated(c, Kind.TENSOR)
    every = (all_tensors(spec),)
    if etype.family in c.refuted_for:
        yield from _steps(etype)
        yield Claim(
            etype.id, named.repaired(c.id), "repaired", "theorem", (c.id,), f"under its condition: {c.title}",
            of_tensors(spec, stated), premises=(group(c.repaired[etype.family]),), binders=every,
        )  # fmt: skip
        return
    if c.id == "C2":
        yield from _steps(etype)
    is_precondition = "precondition" in c.role.split()
    result = spec.head.result
    before = [part for part in conjuncts(c.holds) if is_precondition and result not in free_names(part)]
    yield Claim(
        etype.id, c.id, "holds", "theorem", (c.id,), c.title,
        of_tensors(spec, stated), premises=tuple(before), binders=every,
    )  # fmt: skip
    if c.id == "C3":
        yield Claim(
            etype.id, "C3_of_the_entries", "holds", "theorem", (c.id,),
            f"where the tags of {listed(spec.head.operands)} say {etype.sonnx}, as their entries are, "
            f"that of {result} does",
            of_tensors(spec, all_of(stated, call("typed", tensor(result)))),
            premises=tuple(call("typed", tensor(name)) for name in spec.head.operands), binders=every,
        )  # fmt: skip


def _steps(etype: ElementType) -> Iterator[Claim]:
    for name, title, text in STEPS:
        yield Claim(etype.id, name, "step", "theorem", ("C2",), title, Written(text))


def refutation_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are not so."""
    for c in spec.constraints:
        if etype.family not in c.refuted_for:
            continue
        witness = c.refuted_for[etype.family]
        texts, y = witness.texts(), spec.head.result.lower()
        operands = " ".join(f"refuting_{name.lower()}" for name in texts)
        entry = result_value(spec, etype, *(encode(text, etype) for text in texts.values()))
        yield Claim(
            etype.id, f"{c.id}_refuting_entry", "step", "theorem", (c.id,),
            f"the entry that refutes: {c.title}",
            Written(
                f"({WRITTEN_ON_TENSORS} {operands}).entry (At 0 Origin) = {{entry}}",
                {"entry": value(entry)},
            ),
            witness=numbers(texts),
        )  # fmt: skip
        yield Claim(
            etype.id, named.refuted(c.id), "refuted", "refutation", (c.id,), f"refuted: {c.title}",
            Written(
                f"let {y} = {WRITTEN_ON_TENSORS} {operands} in not {STATED}{c.id} {operands} {y}",
            ),
            witness=numbers(texts),
        )  # fmt: skip
