"""Renders the restrictions: their equivalence with the hand-written ones, consistency and independence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import declare, header, obligations_of, smoke
from sonnx_clip.backends.why3_claim import goal
from sonnx_clip.backends.whyml_printer import APPLY, ATOM, WhymlPrinter
from sonnx_clip.claims.restriction_claims import SUBJECT, restriction_claims
from sonnx_clip.language.tree import Kind, Value
from sonnx_clip.spec.tensors import declared_example

if TYPE_CHECKING:
    from sonnx_clip.backends.goal import Goal
    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.language.printing import Piece
    from sonnx_clip.language.tree import Leaf
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.tensors import DeclaredTensor


def restrictions_theory(spec: Spec, path: str) -> tuple[str, list[Obligation]]:
    """The theory of the restrictions and the obligations that it holds."""
    printer = WhymlPrinter(None, spec.head, of_result=True)
    restrictions = [
        declare(f"stated_{r.id}", printer.implicit, "declared", printer.show(r.holds), r.statement)
        for r in spec.restrictions
    ]
    goals = [_goal(spec, claim) for claim in restriction_claims(spec)]
    text = template("restrictions.mlw.j2").render(
        header=header(spec),
        restrictions=restrictions,
        goals=goals,
        example=_example(spec),
    )
    return text, obligations_of(SUBJECT, path, "Profile", [*goals, smoke("smoke_restrictions")])


def _goal(spec: Spec, claim: Claim) -> Goal:
    """A claim as a goal; its witness is a node: the `example` of the theory, or one that differs from it."""
    of_node = {name: f"n.{name.lower()}" for name in spec.head.all}
    printer = _DeclaredPrinter(None, spec.head, of_node, spec=spec)
    printed = goal(replace(claim, witness={}), printer)
    if not claim.witness:
        return printed
    changes = "; ".join(f"{name.lower()} = {printer.show(of)}" for name, of in claim.witness.items())
    node = "example" if claim.role == "consistent" else f"{{ example with {changes} }}"
    return replace(printed, statement=f"let n = {node} in {printed.statement}")


@dataclass(frozen=True)
class _DeclaredPrinter(WhymlPrinter):
    """Prints conditions on tensors as a model declares them."""

    spec: Spec | None = None

    def leaf(self, expr: Leaf) -> Piece:
        match expr:
            case Value(value=tensor, kind=Kind.DECLARED):
                assert self.spec is not None
                text = _declared(self.spec, tensor)
                return (APPLY if " " in text else ATOM), text
            case _:
                return super().leaf(expr)


def _example(spec: Spec) -> str:
    """The node that meets every restriction, as a WhyML record with a line a tensor."""
    example = declared_example(spec)
    fields = [f"{name.lower()} = {_declared(spec, example[name])}" for name in spec.head.all]
    return "{ " + ";\n    ".join(fields) + " }"


def _declared(spec: Spec, tensor: DeclaredTensor | None) -> str:
    if tensor is None:
        return "Absent"
    tag = spec.element_type(tensor.type).why3
    return f"Present {{ element = {tag}; sparse = {tensor.sparse}; dims = {_dims(tensor.dims)} }}"


def _atom(text: str) -> str:
    return f"({text})" if " " in text else text


def _dims(dims: tuple[int | str, ...] | None) -> str:
    if dims is None:
        return "Undeclared"
    symbols: list[str] = []
    text = "NoMore"
    for dim in reversed(dims):
        if isinstance(dim, str) and dim not in symbols:
            symbols.append(dim)
        if isinstance(dim, str):
            shown = f"Symbolic {symbols.index(dim)}"
        else:
            shown = f"Known {dim}" if dim >= 0 else f"Known ({dim})"
        text = f"And ({shown}) {_atom(text)}"
    return f"Dims {_atom(text)}"
