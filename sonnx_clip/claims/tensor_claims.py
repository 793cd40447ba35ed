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
    tensor,
    use,
    value,
)
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode
from sonnx_clip.language.walk import conjuncts
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import Spec, result_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.entries import Constraint

X, L, M, Y = map(tensor, "XLMY")
ALL_TENSORS = Binder(("X", "L", "M"), Kind.TENSOR)
_WITH_Y = Binder(("X", "L", "M", "Y"), Kind.TENSOR)
# What each constraint is called in why3/tensor.mlw, and what it speaks of there.
_BY_HAND = {"C1": (X, Y), "C2": (L, M, Y), "C3": (X, L, M, Y)}
_STEPS = (
    (
        "C2_when_inverted",
        "inverted bounds make every entry M",
        (
            "forall x l m: tensor, i: index [(clip_tensor x l m).entry i]."
            " lt (value m) (value l) -> eq ((clip_tensor x l m).entry i) (value m)"
        ),
    ),
    (
        "C2_when_ordered",
        "else every entry of numbers lies between the bounds",
        (
            "forall x l m: tensor, i: index [(clip_tensor x l m).entry i]."
            " not nan (x.entry i) -> not nan (value l) -> not nan (value m) ->"
            " not lt (value m) (value l) -> let y = clip_tensor x l m in"
            " le (value l) (y.entry i) /\\ le (y.entry i) (value m)"
        ),
    ),
)


def constraint_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """C1 to C3 on tensors of any shape, and their equivalence with the hand-written ones."""
    for c in spec.constraints:
        if etype.family not in c.families:
            continue
        if c.id not in _BY_HAND:
            what = f"the constraint {c.id} has no hand-written counterpart"
            raise UserError(what, "spec/clip.yaml", "add it to why3/tensor.mlw and to the claims on tensors")
        yield Claim(
            etype.id, named.written(c.id), "written", "equivalence", (c.id,),
            f"the {c.id} of the YAML is the hand-written one",
            iff(stated(c), use(c.id.lower(), *_BY_HAND[c.id])), binders=(_WITH_Y,),
        )  # fmt: skip
        yield from _constraint(etype, c)


def stated(c: Constraint) -> Expr:
    """A constraint as the YAML states it, of the tensors X, L, M and Y."""
    return use(f"{STATED}{c.id}", X, L, M, Y)


def of_tensors(body: Expr) -> Expr:
    """A condition on Y as one on the result of Clip on tensors."""
    return let("Y", call("clip_tensor", X, L, M, kind=Kind.TENSOR), body)


def _constraint(etype: ElementType, c: Constraint) -> Iterator[Claim]:
    if etype.family in c.refuted_for:
        yield from _steps(etype)
        yield Claim(
            etype.id, named.repaired(c.id), "repaired", "theorem", (c.id,), f"under its condition: {c.title}",
            of_tensors(stated(c)), premises=(group(c.repaired[etype.family]),), binders=(ALL_TENSORS,),
        )  # fmt: skip
        return
    if c.id == "C2":
        yield from _steps(etype)
    is_precondition = "precondition" in c.role.split()
    before = [part for part in conjuncts(c.holds) if is_precondition and "Y" not in free_names(part)]
    yield Claim(
        etype.id, c.id, "holds", "theorem", (c.id,), c.title,
        of_tensors(stated(c)), premises=tuple(before), binders=(ALL_TENSORS,),
    )  # fmt: skip
    if c.id == "C3":
        yield Claim(
            etype.id, "C3_of_the_entries", "holds", "theorem", (c.id,),
            f"where the tags of X, L and M say {etype.sonnx}, as their entries are, that of Y does",
            of_tensors(all_of(stated(c), call("typed", Y))),
            premises=tuple(call("typed", name) for name in (X, L, M)), binders=(ALL_TENSORS,),
        )  # fmt: skip


def _steps(etype: ElementType) -> Iterator[Claim]:
    for name, title, text in _STEPS:
        yield Claim(etype.id, name, "step", "theorem", ("C2",), title, Written(text))


def refutation_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The constraints that the page states and that are not so."""
    for c in spec.constraints:
        if etype.family not in c.refuted_for:
            continue
        witness = c.refuted_for[etype.family]
        texts = {"X": witness.X[0], "L": witness.L, "M": witness.M}
        entry = result_value(spec, etype, *(encode(text, etype) for text in texts.values()))
        yield Claim(
            etype.id, f"{c.id}_refuting_entry", "step", "theorem", (c.id,),
            f"the entry that refutes: {c.title}",
            Written(
                "(clip_tensor refuting_x refuting_l refuting_m).entry (At 0 Origin) = {entry}",
                {"entry": value(entry)},
            ),
            witness=numbers(texts),
        )  # fmt: skip
        yield Claim(
            etype.id, named.refuted(c.id), "refuted", "refutation", (c.id,), f"refuted: {c.title}",
            Written(
                "let y = clip_tensor refuting_x refuting_l refuting_m in "
                f"not stated_{c.id} refuting_x refuting_l refuting_m y",
            ),
            witness=numbers(texts),
        )  # fmt: skip
