"""Expression tree -> text of the language, with the fewest parentheses that parse back to the same tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.tree import Expr

_IF, _IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARISON, _PRIMARY = range(LOOSEST, LOOSEST + 8)


class _Language(Printing):
    """The language of spec/clip.yaml."""

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(_IF, "if {0} then {1} else {2}", (_IF, _IF, _IF)),
        "iff": infix(_IFF, "iff", "left"),
        "implies": infix(_IMPLIES, "implies", "right"),
        "or": infix(_OR, "or", "left"),
        "and": infix(_AND, "and", "left"),
        "not": NodeForm(_NOT, "not {0}", (_NOT,)),
        **{sign: infix(_COMPARISON, sign, "alone") for sign in ("<", "<=", ">", ">=", "==")},
    }

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        name = expr.function if isinstance(expr, tree.Call) else expr.id
        arguments = ", ".join(map(self.show, expr.arguments))
        return _PRIMARY, f"{name}({arguments})" if arguments else name

    def leaf(self, expr: tree.Leaf) -> Piece:
        match expr:
            case tree.Name(id=text) | tree.Number(text=text):
                return _PRIMARY, text
            case tree.Constant(id=name, negative=negative):
                return _PRIMARY, f"{'-' * negative}{name}"
            case tree.Subscript(tensor=tensor):
                return _PRIMARY, f"{tensor.id}[i]"
            case tree.Every(body=body):
                return _PRIMARY, f"every({self.show(body)})"
            case tree.Parentheses(inner=inner):
                return _PRIMARY, f"({self.show(inner)})"
            case tree.Let(name=name, value=value, body=body):
                return _IF, f"let {name} = {self.show(value)} in {self.show(body)}"
            case tree.Value(value=value):
                return _PRIMARY, str(value)


_LANGUAGE = _Language()


def unparse(expr: Expr) -> str:
    """The canonical text of a tree."""
    return _LANGUAGE.show(expr)
