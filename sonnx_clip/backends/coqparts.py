"""What the rendered Coq files have in common: how each begins, and how a definition is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.coqterm import RESERVED
from sonnx_clip.claims.nodes import OperatorNodes, free_names
from sonnx_clip.language import tree
from sonnx_clip.language.scope import kind_of
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.backends.coqterm import CoqPrinter
    from sonnx_clip.language.scope import Head
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec.entries import Definition, Property

FOLDER = "generated/coq"

_NEEDS = {
    "float": """\
From Coq Require Import ZArith.
From Flocq Require FLX IEEE754.BinarySingleNaN.
From SonnxClip Require Import Order Floats Decide.
From SonnxClip Require Clip.
""",
    "int": """\
From Coq Require Import ZArith.
From SonnxClip Require Import Order Integers.
From SonnxClip Require Clip.
""",
    "real": """\
From SonnxClip Require Import Order Reals.
From SonnxClip Require Clip.
""",
}
_CONTEXT = {
    "float": """\
(* Every precision and every exponent range at once. *)
Context {prec emax : Z}.
Context {prec_is_positive : FLX.Prec_gt_0 prec}.
Context {prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax}.

Notation t := (floats prec emax prec_is_positive prec_is_less).
Notation identical := (identical prec emax prec_is_positive prec_is_less).
Notation zero := (zero prec emax prec_is_positive prec_is_less).
Notation inf := (infinity prec emax prec_is_positive prec_is_less).
Notation lowest := (lowest prec emax prec_is_positive prec_is_less).
Notation highest := (highest prec emax prec_is_positive prec_is_less).
Notation smallest_normal := (smallest_normal prec emax prec_is_positive prec_is_less).
Notation smallest_subnormal := (smallest_subnormal prec emax prec_is_positive prec_is_less).
Notation opposite := (opposite prec emax prec_is_positive prec_is_less).
Notation unquiet := (unquiet prec emax prec_is_positive prec_is_less).
Local Open Scope element_scope.
""",
    "int": """\
(* Every range of integers at once. *)
Context {least greatest : Z}.
Context {not_empty : (least <= greatest)%Z}.

Notation t := (integers least greatest).
Notation identical := (identical least greatest).
Notation lowest := (lowest least greatest not_empty).
Notation highest := (highest least greatest not_empty).
Local Open Scope element_scope.
""",
    "real": """\
Notation t := reals.
Local Open Scope element_scope.
""",
}
TACTIC = {
    "float": "float_order prec emax prec_is_positive prec_is_less",
    "int": "integer_order least greatest not_empty",
    "real": "real_order",
}


@dataclass(frozen=True)
class CoqStatement:
    """A definition or theorem of a rendered file; only theorems have `shows` and a proof."""

    title: str
    name: str
    head: str = ""
    body: str = ""
    statement: str = ""
    shows: tuple[str, ...] = ()
    proof: str = "decided"


def preamble(family: FamilyId, section: str, needs: str = "") -> str:
    """How a file of a family begins; the section holds whatever is said of all its types at once."""
    return f"{_NEEDS[family]}{needs}\nSection {section}.\n\n{_CONTEXT[family]}"


def computed(printer: CoqPrinter, parameters: str, expr: Expr, title: str, before: str = "") -> CoqStatement:
    """A condition that is computed, as the definition of the entry that is printed."""
    id_ = printer.where
    body = printer.operand(expr) if before else printer.computed(expr)
    return CoqStatement(title, id_, f"{id_} ({parameters} : t) : bool", before + body)


def defined(printer: CoqPrinter, d: Definition) -> CoqStatement:
    """A definition of the YAML; false where the family has none."""
    parameters = " ".join(name.lower() for name in d.parameters) or printer.head.arguments
    if d.families is not None and printer.family not in d.families:
        title = f"{d.title}: none in this family"
        return CoqStatement(title, d.id, f"{d.id} ({parameters} : t) : bool", "false")
    if kind_of(d.is_) is tree.Kind.ELEMENT:
        body = printer.computed(d.is_)
        return CoqStatement(d.title, d.id, f"{d.id} ({parameters} : t) : t", body)
    return computed(printer, parameters, d.is_, d.title)


def variables_of(head: Head, p: Property) -> tuple[str, ...]:
    """The variables of a property's claim, in the order in which Coq binds them."""
    of = OperatorNodes(head)
    return (of.every_two() if head.second in free_names(p.claim) else of.every()).names


def of_result(head: Head, expr: Expr, printed: str) -> str:
    """What is printed of an expression, after the name for the result where it speaks of that."""
    speaks = head.result in free_names(expr)
    return f"let {head.result.lower()} := cases {head.arguments} in\n  {printed}" if speaks else printed


def check_names(definitions: Sequence[str], theorems: Sequence[str]) -> None:
    """UserError if two things of a file have one name, or one has a name of Coq's."""
    seen: set[str] = set()
    for name in (*definitions, *theorems):
        if name in seen or (name in RESERVED and name != "cases"):
            what = f"`{name}` is taken in the Coq theorems"
            raise UserError(what, "spec/clip.yaml", "give the entry another id")
        seen.add(name)
