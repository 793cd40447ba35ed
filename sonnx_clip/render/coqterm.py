"""Prints expression trees as Coq: a condition as a computed bool or as a proposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.errors import UserError
from sonnx_clip.spec import tree
from sonnx_clip.spec.tree import Expr, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.spec.types import FamilyId

# How tightly a text binds, tightest last; Coq's own levels are 95, 99, 85, 80, 75, 70, 10, 0.
_IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARE, _APPLY, _ATOM = range(8)
_PROPOSITIONS = {
    "iff": ("<->", _IFF),
    "implies": ("->", _IMPLIES),
    "or": ("\\/", _OR),
    "and": ("/\\", _AND),
}
_COMPUTED = {"iff": "Bool.eqb", "implies": "implb"}
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
        where: the entry that is printed, for messages.
    """

    family: FamilyId
    where: str

    def proposition(self, expr: Expr) -> str:
        """A condition as a proposition; a comparison becomes one by the coercion of coq/Order.v."""
        return _bare(self._proposition(expr)[0])

    def computed(self, expr: Expr) -> str:
        """A condition as a bool, or an element."""
        return _bare(self._computed(expr)[0])

    def operand(self, expr: Expr) -> str:
        """What `computed` gives, in parentheses where && demands them."""
        same = isinstance(expr, tree.Connective) and expr.operator == "and"
        return self.computed(expr) if same else self._in_computed(expr, _APPLY)

    # --- Propositions ---------------------------------------------------------------------------------

    def _in_proposition(self, expr: Expr, tightness: int) -> str:
        text, tight = self._proposition(expr)
        return text if tight >= tightness else f"({text})"

    def _proposition(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case tree.Not(operand=operand):
                return f"~ {self._in_proposition(operand, _COMPARE)}", _NOT
            case tree.Connective(operator=operator, left=left, right=right):
                symbol, tight = _PROPOSITIONS[operator]
                text = f"{self._in_proposition(left, tight + 1)} {symbol} {self._right(operator, right)}"
                return text, tight
            case tree.If(condition=condition, then=then, otherwise=otherwise, kind=Kind.BOOL):
                branches = f"({self.proposition(then)} : Prop) else ({self.proposition(otherwise)} : Prop)"
                return f"(if {self.computed(condition)} then {branches})", _ATOM
            case tree.Call(function="identical", arguments=(a, b)):
                return f"{self._in_computed(a, _APPLY)} = {self._in_computed(b, _APPLY)}", _COMPARE
            case tree.Every(body=body):
                return f"(forall i, {self.proposition(body)})", _ATOM
            case _:
                return self._computed(expr)

    def _right(self, operator: str, right: Expr) -> str:
        """Coq chains "and", "or" and "implies" to the right."""
        symbol_tight = _PROPOSITIONS[operator][1]
        return self._in_proposition(right, symbol_tight + (operator == "iff"))

    # --- What is computed -----------------------------------------------------------------------------

    def _in_computed(self, expr: Expr, tightness: int) -> str:
        text, tight = self._computed(expr)
        return text if tight >= tightness else f"({text})"

    def _computed(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case tree.Compare(operator=operator, left=left, right=right):
                if operator in (">", ">="):
                    operator, left, right = operator.replace(">", "<"), right, left
                a, b = self._in_computed(left, _APPLY), self._in_computed(right, _APPLY)
                return f"{a} {operator} {b}", _COMPARE
            case tree.Not(operand=operand):
                return f"negb {self._in_computed(operand, _ATOM)}", _APPLY
            case tree.Connective(operator=operator, left=left, right=right):
                return self._connective(operator, left, right)
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                parts = (self.computed(part) for part in (condition, then, otherwise))
                return "(if {} then {} else {})".format(*parts), _ATOM
            case tree.Call() | tree.Use():
                return self._application(expr)
            case _:
                return self._leaf(expr)

    def _connective(self, operator: str, left: Expr, right: Expr) -> tuple[str, int]:
        a, b = self._in_computed(left, _ATOM), self._in_computed(right, _ATOM)
        if operator in _COMPUTED:
            return f"{_COMPUTED[operator]} {a} {b}", _APPLY
        symbol = {"and": "&&", "or": "||"}[operator]
        # Both chain to the left, in Coq as in the YAML.
        same = isinstance(left, tree.Connective) and left.operator == operator
        a = self.computed(left) if same else self._in_computed(left, _APPLY)
        return f"{a} {symbol} {self._in_computed(right, _APPLY)}", _AND

    def _application(self, expr: tree.Call | tree.Use) -> tuple[str, int]:
        match expr:
            case tree.Use(id=name, arguments=()):
                return f"{name} x l m", _APPLY
            case tree.Use(id=name, arguments=arguments):
                pass
            case tree.Call(function="is_signalling", arguments=(a,)):
                if self.family != "float":
                    return "false", _ATOM
                operand = self._in_computed(a, _ATOM)
                return f"(nan {operand} && unquiet {operand})", _ATOM
            case tree.Call(function=function, arguments=arguments):
                name = {"is_nan": "nan", "clip": "cases"}.get(function, function)
        return f"{name} {' '.join(self._in_computed(a, _ATOM) for a in arguments)}", _APPLY

    def _leaf(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case tree.Name(id=name):
                return name.lower(), _ATOM
            case tree.Entry(tensor=tensor):
                return f"{tensor.id.lower()} i", _APPLY
            case tree.Constant(id=name, negative=negative) if name in _CONSTANTS.get(self.family, ()):
                return (f"opposite {name}", _APPLY) if negative else (name, _ATOM)
            case tree.Number(text=text) if self.family == "float" and not text.strip("-0."):
                return ("opposite zero", _APPLY) if text.startswith("-") else ("zero", _ATOM)
            case tree.Number(text=text) | tree.Constant(id=text):
                what = f"{text} has no name that stands for it in every {self.family} format at once"
                raise UserError(what, self.where, "the Coq theorems know 0 and the named constants but nan")
            case _:
                raise UserError("the Coq theorems do not speak of this", self.where, "leave it to Why3")


def _bare(text: str) -> str:
    """A text that is one conditional, without the parentheses around it."""
    return text[1:-1] if text.startswith("(if ") and _closes_last(text) else text


def _closes_last(text: str) -> bool:
    """Whether the first parenthesis is closed by the last."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1
    return False
