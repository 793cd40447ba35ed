"""Prints expression trees as Coq: a condition as a computed bool, or as a proposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.root.signature import Signature

# Binding strengths, tightest last. Coq's own levels are 200, 99, 95, 85, 80, 75, 70, 50, 40, 10, 0.
_IF, _IMPLIES, _IFF, _OR, _AND, _NOT, _COMPARE, _BOOL_OR, _BOOL_AND, _APPLY, _ATOM = range(
    LOOSEST, LOOSEST + 11
)
# The constants that a format of any width has.
_CONSTANTS: Mapping[str, frozenset[str]] = {
    "float": frozenset({"inf", "lowest", "highest", "smallest_normal", "smallest_subnormal"}),
    "int": frozenset({"lowest", "highest"}),
}
_FUNCTIONS = {"is_nan": "nan"}


@dataclass(frozen=True)
class CoqPrinter(Printing):
    """Prints conditions as bools, and elements.

    Args:
        family: the family whose constants an expression may use.
        where: the entry that is printed.
        signature: of the operator, whose operands are the arguments of an entry without parameters.
    """

    family: FamilyId
    where: str
    signature: Signature

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(_IF, "if {0} then {1} else {2}", (_IF, _IF, _IF)),
        "iff": NodeForm(_APPLY, "Bool.eqb {0} {1}", (_ATOM, _ATOM)),
        "implies": NodeForm(_APPLY, "implb {0} {1}", (_ATOM, _ATOM)),
        # The right operand in parentheses unless it is an application: more than Coq needs.
        "or": NodeForm(_BOOL_OR, "{0} || {1}", (_BOOL_OR, _APPLY)),
        "and": NodeForm(_BOOL_AND, "{0} && {1}", (_BOOL_AND, _APPLY)),
        "not": NodeForm(_APPLY, "negb {0}", (_ATOM,)),
        "<": NodeForm(_COMPARE, "{0} < {1}", (_APPLY, _APPLY)),
        "<=": NodeForm(_COMPARE, "{0} <= {1}", (_APPLY, _APPLY)),
        ">": NodeForm(_COMPARE, "{1} < {0}", (_APPLY, _APPLY)),
        ">=": NodeForm(_COMPARE, "{1} <= {0}", (_APPLY, _APPLY)),
        "==": NodeForm(_COMPARE, "{0} == {1}", (_APPLY, _APPLY)),
    }

    def proposition(self, expr: Expr) -> str:
        """A condition as a proposition; a comparison becomes one by the coercion of coq/Order.v."""
        return Proposition(self).show(expr)

    def conjunct(self, expr: Expr) -> str:
        """A condition as an operand of &&."""
        return self.operand(expr, _BOOL_AND)

    def written(self, expr: Expr) -> Piece:
        """The text of an expression, with its binding strength."""
        match expr:
            case tree.Connective(
                operator="or", left=tree.Connective(operator="and") as left, right=right
            ):
                # Coq needs no parentheses around the left operand here, a reader does.
                return _BOOL_OR, f"({self.show(left)}) || {self.operand(right, _APPLY)}"
            case _:
                return super().written(expr)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A function or an entry of the YAML with its arguments."""
        match expr:
            case tree.Use(id=name, arguments=()):
                return _APPLY, f"{name} {self.signature.arguments}"
            # Only floats have a bit that tells signalling NaNs from quiet ones.
            case tree.Call(function="is_signalling", arguments=(a,)):
                operand = self.operand(a, _ATOM)
                signalling = f"(nan {operand} && unquiet {operand})"
                return _ATOM, signalling if self.family == "float" else "false"
            case tree.Use(id=name):
                pass
            case tree.CasesResult():
                name = "cases"
            case tree.Call(function=function):
                name = _FUNCTIONS.get(function, function)
        arguments = [self.operand(argument, _ATOM) for argument in expr.arguments]
        return _APPLY, " ".join([name, *arguments])

    def leaf(self, expr: tree.Leaf) -> Piece:
        """A name, a number or an entry of a tensor."""
        match expr:
            case tree.Name(id=name):
                return _ATOM, name.lower()
            case tree.Subscript(tensor=tensor):
                return _APPLY, f"{tensor.id.lower()} i"
            case tree.Number():
                return self._number(expr)
            case _:
                message = "the Coq theorems do not cover this"
                raise UserError(message, self.where, "leave it to Why3")

    def _number(self, number: tree.Number) -> Piece:
        """A number by its name, which stands for it in every format of the family."""
        name = number.constant
        if name not in _CONSTANTS.get(self.family, ()):
            # Zero, in any spelling: of numbers without a name it alone is in every format.
            is_zero = self.family == "float" and not number.text.strip("-0.")
            if not is_zero:
                message = f"{number.text} has no name that denotes it in every {self.family} format"
                todo = "the theorems have 0 and the named constants except nan"
                raise UserError(message, self.where, todo)
            name = "zero"
        is_negative = number.text.startswith("-")
        return (_APPLY, f"opposite {name}") if is_negative else (_ATOM, name or "")


@dataclass(frozen=True)
class Proposition(Printing):
    """Prints conditions as propositions; what has no form of its own is computed."""

    computed: CoqPrinter

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "iff": infix(_IFF, "<->", "alone"),
        "implies": infix(_IMPLIES, "->", "right"),
        "or": infix(_OR, "\\/", "right"),
        "and": infix(_AND, "/\\", "right"),
        "not": NodeForm(_NOT, "~ {0}", (_COMPARE,)),
    }

    def comparison(self, expr: tree.Compare) -> Piece:
        """A comparison of elements."""
        return self.computed.written(expr)

    def choice(self, expr: tree.If) -> Piece:
        """One of two expressions."""
        return self.computed.written(expr)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A function or an entry of the YAML with its arguments."""
        match expr:
            # As Coq's own equality, by which proofs can rewrite.
            case tree.Call(function="identical", arguments=(a, b)):
                left = self.computed.operand(a, _APPLY)
                right = self.computed.operand(b, _APPLY)
                return _COMPARE, f"{left} = {right}"
            case _:
                return self.computed.written(expr)

    def leaf(self, expr: tree.Leaf) -> Piece:
        """A name, a number or an entry of a tensor."""
        if isinstance(expr, tree.Every):
            return _ATOM, f"(forall i, {self.show(expr.body)})"
        return self.computed.written(expr)
