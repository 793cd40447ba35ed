"""Prints expression trees as Coq, a condition as a computed bool or as a proposition; and what the rendered
files have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sonnx_clip.claims.nodes import free_names
from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Expr, Kind
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.language.scope import Head
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec.entries import Definition


# How tightly a text binds, tightest last; Coq's own levels are 200, 99, 95, 85, 80, 75, 70, 10, 0.
_IF, _IMPLIES, _IFF, _OR, _AND, _NOT, _COMPARE, _APPLY, _ATOM = range(LOOSEST, LOOSEST + 9)
# The constants that a format of any width has.
_CONSTANTS: Mapping[str, frozenset[str]] = {
    "float": frozenset({"inf", "lowest", "highest", "smallest_normal", "smallest_subnormal"}),
    "int": frozenset({"lowest", "highest"}),
}
# Words of Coq, and the names that a rendered file takes for itself.
RESERVED = frozenset({
    "as", "at", "cofix", "else", "end", "exists", "exists2", "fix", "for", "forall", "fun", "if", "IF", "in",
    "let", "match", "mod", "return", "then", "using", "where", "with", "Prop", "SProp", "Set", "Type",
    "t", "x", "x2", "l", "m", "y", "i", "a", "b", "o", "index", "zero", "inf", "opposite", "key",
    "nan", "le", "lt", "eq", "element", "cases", "identical",
})  # fmt: skip


@dataclass(frozen=True)
class CoqPrinter:
    """Prints the trees of one family.

    Args:
        family: the family whose constants may stand in an expression.
        where: the entry that is printed.
        head: the operator, of whose operands an entry without parameters speaks.
    """

    family: FamilyId
    where: str
    head: Head

    def proposition(self, expr: Expr) -> str:
        """A condition as a proposition; a comparison becomes one by the coercion of coq/Order.v."""
        return _Proposition(_Computed(self.family, self.where, self.head)).show(expr)

    def computed(self, expr: Expr) -> str:
        """A condition as a bool, or an element."""
        return _Computed(self.family, self.where, self.head).show(expr)

    def operand(self, expr: Expr) -> str:
        """What `computed` gives, in parentheses where && demands them."""
        return _Computed(self.family, self.where, self.head).chained("and", expr)


@dataclass(frozen=True)
class _Computed(Printing):
    """A condition as a bool, or an element; see `CoqPrinter`."""

    family: FamilyId
    where: str
    head: Head

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(_IF, "if {0} then {1} else {2}", (_IF, _IF, _IF)),
        "iff": NodeForm(_APPLY, "Bool.eqb {0} {1}", (_ATOM, _ATOM)),
        "implies": NodeForm(_APPLY, "implb {0} {1}", (_ATOM, _ATOM)),
        "or": NodeForm(_AND, "{0} || {1}", (_APPLY, _APPLY)),
        "and": NodeForm(_AND, "{0} && {1}", (_APPLY, _APPLY)),
        "not": NodeForm(_APPLY, "negb {0}", (_ATOM,)),
        "<": NodeForm(_COMPARE, "{0} < {1}", (_APPLY, _APPLY)),
        "<=": NodeForm(_COMPARE, "{0} <= {1}", (_APPLY, _APPLY)),
        ">": NodeForm(_COMPARE, "{1} < {0}", (_APPLY, _APPLY)),
        ">=": NodeForm(_COMPARE, "{1} <= {0}", (_APPLY, _APPLY)),
        "==": NodeForm(_COMPARE, "{0} == {1}", (_APPLY, _APPLY)),
    }

    def chained(self, operator: str, left: Expr) -> str:
        """What stands left of && or ||, which chain to the left."""
        same = isinstance(left, tree.Connective) and left.operator == operator
        return self.show(left) if same else self.operand(left, _APPLY)

    def written(self, expr: Expr) -> Piece:
        match expr:
            case tree.Connective(operator="and" | "or" as operator, left=left, right=right):
                form = _Computed.forms[operator]
                return form.level, form.text.format(self.chained(operator, left), self.operand(right, _APPLY))
            case _:
                return super().written(expr)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        match expr:
            case tree.Use(id=name, arguments=()):
                return _APPLY, f"{name} {self.head.arguments}"
            case tree.Call(function="is_signalling", arguments=(a,)):
                operand = self.operand(a, _ATOM)
                signalling = f"(nan {operand} && unquiet {operand})"
                return _ATOM, signalling if self.family == "float" else "false"
            case tree.Use(id=name):
                pass
            case tree.Call(function=function):
                name = (
                    "cases"
                    if isinstance(expr, tree.CasesResult)
                    else {"is_nan": "nan"}.get(function, function)
                )
        return _APPLY, f"{name} {' '.join(self.operand(a, _ATOM) for a in expr.arguments)}"

    def leaf(self, expr: tree.Leaf) -> Piece:
        match expr:
            case tree.Name(id=name):
                return _ATOM, name.lower()
            case tree.Subscript(tensor=tensor):
                return _APPLY, f"{tensor.id.lower()} i"
            case tree.Number(text=text, constant=name) if name in _CONSTANTS.get(self.family, ()):
                return (_APPLY, f"opposite {name}") if text.startswith("-") else (_ATOM, str(name))
            case tree.Number(text=text) if self.family == "float" and not text.strip("-0."):
                return (_APPLY, "opposite zero") if text.startswith("-") else (_ATOM, "zero")
            case tree.Number(text=text):
                what = f"{text} has no name that stands for it in every {self.family} format at once"
                raise UserError(what, self.where, "the Coq theorems know 0 and the named constants but nan")
            case _:
                raise UserError("the Coq theorems do not speak of this", self.where, "leave it to Why3")


@dataclass(frozen=True)
class _Proposition(Printing):
    """A condition as a proposition: what has no form of its own there is what is computed."""

    computed: _Computed

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "iff": infix(_IFF, "<->", "alone"),
        "implies": infix(_IMPLIES, "->", "right"),
        "or": infix(_OR, "\\/", "right"),
        "and": infix(_AND, "/\\", "right"),
        "not": NodeForm(_NOT, "~ {0}", (_COMPARE,)),
    }

    def comparison(self, expr: tree.Compare) -> Piece:
        return self.computed.written(expr)

    def choice(self, expr: tree.If) -> Piece:
        if expr.kind is not Kind.BOOL:
            return self.computed.written(expr)
        branches = f"({self.show(expr.then)} : Prop) else ({self.show(expr.otherwise)} : Prop)"
        return _IF, f"if {self.computed.show(expr.condition)} then {branches}"

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        match expr:
            case tree.Call(function="identical", arguments=(a, b)):
                return _COMPARE, f"{self.computed.operand(a, _APPLY)} = {self.computed.operand(b, _APPLY)}"
            case _:
                return self.computed.written(expr)

    def leaf(self, expr: tree.Leaf) -> Piece:
        if isinstance(expr, tree.Every):
            return _ATOM, f"(forall i, {self.show(expr.body)})"
        return self.computed.written(expr)


# --- What the rendered Coq files have in common: how each begins, and how a definition is written -----------


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
