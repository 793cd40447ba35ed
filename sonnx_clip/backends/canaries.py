"""Renders canaries: false statements on wrong operators and rewrites, which every prover must refute.

They go the way of every obligation: the same printer, Why3, driver and provers. A tool that answers yes to
everything, or a driver that weakens what it prints, proves one of them and is found out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.backends.declared import (
    cases_and_result,
    definition,
    definitions_used,
    opposite_function,
    uses_of,
    uses_opposite,
)
from sonnx_clip.backends.rewrites_theory import wrong_conditions
from sonnx_clip.backends.templating import escape
from sonnx_clip.backends.theory import FOLDER, Generated, Module, comment, declare, theory_file
from sonnx_clip.backends.whyml_printer import WhymlPrinter, goal
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Written
from sonnx_clip.language import tree
from sonnx_clip.spec.evaluate import NoCaseError
from sonnx_clip.spec.operators import has_written_theory
from sonnx_clip.spec.wrong_operators import is_false_somewhere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim, ClaimKind, Obligation
    from sonnx_clip.language.printing import Piece
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import WrongOperator


@dataclass(frozen=True)
class _TruePrinter(WhymlPrinter):
    """Prints the result of the cases as `right`: `cases` is the wrong operator there."""

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        level, text = super().application(expr)
        if isinstance(expr, tree.CasesResult):
            text = text.replace("cases", "right", 1)  # its arguments may have the word too
        return level, text


def render_canaries(spec: Spec) -> Generated:
    """The theories of the canaries by path, and the canaries: for the first element type of each family.

    Of the reals, one for each wrong operator or rewrite: it must not be proved. All others must be refuted by
    a model.
    """
    files: dict[str, str] = {}
    canaries: list[Obligation] = []
    # Reversed, so that the first type of a family is what stays under its name.
    first_types = {etype.family: etype for etype in reversed(spec.element_types)}
    for etype in first_types.values():
        modules = list(_modules(spec, etype))
        kind: ClaimKind = "canary"
        if etype.family == "real":
            # With the axioms of the reals cvc5 finds no model, and takes all its time.
            kind = "smoke"
            modules = [replace(module, goals=module.goals[:1]) for module in modules]

        path = f"{FOLDER}/canaries_{etype.id}.mlw"
        files[path] = theory_file(spec, modules)
        for module in modules:
            obligations = module.obligations(f"canary.{etype.id}", path)
            canaries += [replace(obligation, kind=kind) for obligation in obligations]
    return Generated(files, tuple(canaries))


def _modules(spec: Spec, etype: ElementType) -> Iterator[Module]:
    for wrong in spec.wrong_operators:
        module = _module(spec, etype, wrong)
        # A wrong operator may be right in a family: without NaNs, say.
        if module.goals:
            yield module
    if has_written_theory(spec):
        yield wrong_conditions(etype)


def _claims(spec: Spec, etype: ElementType, wrong: WrongOperator) -> list[Claim]:
    """Properties that name a wrong operator and are false of it in this type.

    Not all are: no real is NaN. One that holds under a condition alone is claimed under it.
    """
    false_properties = set()
    try:
        for entry in spec.properties:
            if entry.false_for != wrong.id or etype.family not in entry.families:
                continue
            if is_false_somewhere(spec, entry, etype.family):
                false_properties.add(entry.id)
        claims = claims_of(spec, etype.id, "properties")
    except NoCaseError:  # the cases have a gap, which the provers find
        return []
    # Claims of other roles state where a property fails.
    stated = [claim for claim in claims if claim.role in ("holds", "repaired")]
    return [claim for claim in stated if claim.shows[0] in false_properties]


def _module(spec: Spec, etype: ElementType, wrong: WrongOperator) -> Module:
    """The cases, the definitions, the wrong operator, and what is claimed of it."""
    printer = _TruePrinter(etype, spec.signature)
    claims = _claims(spec, etype, wrong)
    formulas: list[Expr] = []
    for claim in claims:
        formulas += claim.premises
        if not isinstance(claim.conclusion, Written):
            formulas.append(claim.conclusion)
    used = definitions_used(spec, formulas)
    definitions = [definition(spec, d, etype) for d in used if d.id != wrong.of]

    # A wrong operator either changes a definition, with the cases as they are, or has a result of
    # its own. In both cases the claims speak of it as `cases`.
    operands = spec.signature.arguments
    shown = printer.show(wrong.is_)
    body = shown
    if wrong.of is not None:
        definitions.append(declare(wrong.of, operands, "t", shown, wrong.title))
        body = f"right {operands}"
    # Last, after the definitions: a result of its own may use them.
    operator = declare("cases", operands, "t", body, wrong.title, is_function=True)

    parts = []
    if uses_opposite(spec):
        parts.append(opposite_function(etype, printer).text)
    parts.append(comment("Cases."))
    parts += [declared.text for declared in cases_and_result(spec, etype, printer, "right")]
    parts.append(comment("Definitions."))
    parts += [declared.text for declared in definitions]
    parts.append(operator.text)
    name = "".join(word.capitalize() for word in wrong.id.split("_"))
    claim_printer = WhymlPrinter(etype, spec.signature)  # whose `cases` is the wrong operator
    return Module(
        name=name,
        about=f"Not {spec.operator}: {escape(wrong.title, 'mlw')}. Every goal is false.",
        uses=uses_of(spec, etype),
        parts=parts,
        goals=[goal(claim, claim_printer) for claim in claims],
    )
