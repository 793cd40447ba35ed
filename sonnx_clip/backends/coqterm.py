"""Prints expression trees as Coq: a condition as a computed bool or as a proposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix
from sonnx_clip.language.tree import Expr, Kind
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.scope import Head
    from sonnx_clip.language.types import FamilyId

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
            case tree.Constant(id=name, negative=negative) if name in _CONSTANTS.get(self.family, ()):
                return (_APPLY, f"opposite {name}") if negative else (_ATOM, name)
            case tree.Number(text=text) if self.family == "float" and not text.strip("-0."):
                return (_APPLY, "opposite zero") if text.startswith("-") else (_ATOM, "zero")
            case tree.Number(text=text) | tree.Constant(id=text):
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
