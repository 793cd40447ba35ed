"""Prints claims in WhyML: a goal for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.claims.claim import Written
from sonnx_clip.claims.nodes import names_used
from sonnx_clip.language.tree import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.backends.whyml_printer import WhymlPrinter
    from sonnx_clip.claims.claim import Binder, Claim

_SORTS: Mapping[Kind, str] = {Kind.ELEMENT: "t", Kind.TENSOR: "tensor", Kind.FLOAT: "FLOAT.t"}


def goals(claims: Iterable[Claim], printer: WhymlPrinter) -> Iterator[Goal]:
    """The claims as goals."""
    for claim in claims:
        yield goal(claim, printer)


def goal(claim: Claim, printer: WhymlPrinter) -> Goal:
    """A claim as a goal."""
    return Goal(
        claim.name, claim.kind, claim.shows, claim.title, statement(claim, printer), claim.role == "step"
    )


def statement(claim: Claim, printer: WhymlPrinter) -> str:
    """The formula of a claim: ``forall …. let … in premise -> … -> conclusion``.

    Variables that it does not speak of are neither bound nor given: Why3 would warn.
    """
    if isinstance(claim.conclusion, Written):
        literals = {name: printer.atom(expr) for name, expr in claim.conclusion.literals.items()}
        return claim.conclusion.text.format(**literals) if literals else claim.conclusion.text
    parts = [printer.premise(part) for part in claim.premises]
    parts.append(printer.conclusion(claim.conclusion) if parts else printer.show(claim.conclusion))
    body = " -> ".join(parts)
    used = names_used(claim, printer.head)
    if claim.of_result:
        body = f"let y = cases {printer.implicit} in {body}"
    lets = [
        f"let {name.lower()} = {printer.show(expr)} in"
        for name, expr in claim.witness.items()
        if name in used
    ]
    return " ".join([*_quantifier(claim.binders, used), *lets, body])


def _quantifier(binders: tuple[Binder, ...], used: set[str]) -> list[str]:
    groups = []
    for binder in binders:
        names = " ".join(name.lower() for name in binder.names if name in used)
        if names:
            groups.append(f"{names}: {_SORTS[binder.sort]}")
    return [f"forall {', '.join(groups)}."] if groups else []
