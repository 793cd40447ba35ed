"""The table of operators, by which conditions are read and printed; and the engine that prints trees.

Each target brings a table of its forms to the engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from sonnx_clip.language import tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.tree import Expr


Piece: TypeAlias = tuple[int, str]  # how tightly a text binds, and the text
LOOSEST = 0


@dataclass(frozen=True)
class NodeForm:
    """The text of one kind of node."""

    level: int  # how tightly it binds, from `LOOSEST` on
    text: str  # with {0}, {1} … for the operands
    places: tuple[int, ...]  # how tightly each operand must bind to stand there without parentheses


def infix(level: int, sign: str, groups: Literal["left", "right", "alone"]) -> NodeForm:
    """A sign between two operands; one of the same level needs no parentheses on the side where it groups."""
    # One level more than its own demands parentheses around an operand with the same sign.
    left = level if groups == "left" else level + 1
    right = level if groups == "right" else level + 1
    return NodeForm(level, f"{{0}} {sign} {{1}}", (left, right))


class Printing(ABC):
    """Prints trees; a target adds its table, and its names, numbers and functions."""

    #: By operator: ``and``, ``or``, ``implies``, ``iff``, ``not``, ``if`` and the comparisons of elements.
    forms: ClassVar[Mapping[str, NodeForm]]

    def show(self, expr: Expr) -> str:
        """The text of an expression, without parentheses around it."""
        return self.operand(expr, LOOSEST)

    def operand(self, expr: Expr, place: int) -> str:
        """The text of an expression, in parentheses if it binds less tightly than its place demands."""
        # An equal level needs none: `infix` raises the place on the side where a sign does not group.
        level, text = self.written(expr)
        return text if level >= place else f"({text})"

    def filled(self, form: NodeForm, *operands: Expr) -> Piece:
        """A form with its operands."""
        texts = []
        # A loop, since a long chain is a deep tree, and a comprehension takes a frame of its own.
        for expr, place in zip(operands, form.places, strict=True):
            texts.append(self.operand(expr, place))
        return form.level, form.text.format(*texts)

    def written(self, expr: Expr) -> Piece:
        """The text of an expression, and how tightly it binds."""
        match expr:
            case tree.Compare():
                return self.comparison(expr)
            case tree.Not(operand=operand):
                return self.filled(self.forms["not"], operand)
            case tree.Connective(operator=operator, left=left, right=right):
                return self.filled(self.forms[operator], left, right)
            case tree.If():
                return self.choice(expr)
            # Both are a name and arguments, whatever the name stands for.
            case tree.Call() | tree.Use():
                return self.application(expr)
            case _:
                return self.leaf(expr)

    def comparison(self, expr: tree.Compare) -> Piece:
        """A comparison; of elements, unless a target distinguishes others."""
        return self.filled(self.forms[expr.operator], expr.left, expr.right)

    def choice(self, expr: tree.If) -> Piece:
        """One of two expressions."""
        return self.filled(self.forms["if"], expr.condition, expr.then, expr.otherwise)

    @abstractmethod
    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A built-in function, or an entry of the YAML, with its arguments."""

    @abstractmethod
    def leaf(self, expr: tree.Leaf) -> Piece:
        """A name, a number, or a formula on all entries of a tensor."""


# --- The language of spec/clip.yaml, with the fewest parentheses that parse back to the same tree -----------


# How tightly each operator binds, the loosest first.
_IF, _IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARISON, _PRIMARY = range(LOOSEST, LOOSEST + 8)


class _Language(Printing):
    """The language of spec/clip.yaml, without the nodes that only claims have."""

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(_IF, "if {0} then {1} else {2}", (_IF, _IF, _IF)),
        "iff": infix(_IFF, "iff", "left"),
        "implies": infix(_IMPLIES, "implies", "right"),
        "or": infix(_OR, "or", "left"),
        "and": infix(_AND, "and", "left"),
        # A `not` within another needs no parentheses.
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
            case tree.Subscript(tensor=tensor):
                return _PRIMARY, f"{tensor.id}[i]"
            case tree.Every(body=body):
                return _PRIMARY, f"every({self.show(body)})"
            case _:
                raise TypeError(f"{expr} has no text in the language")


FORMS = _Language.forms


def unparse(expr: Expr) -> str:
    """The canonical text of a tree."""
    return _Language().show(expr)
