"""Conditions as LaTeX, for the pages of the SONNX group."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec

_IF, _IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARISON, _PRIMARY = range(LOOSEST, LOOSEST + 8)
_SIGNS = {"<": r"\lt", "<=": r"\le", ">": r"\gt", ">=": r"\ge", "==": "="}
_CONSTANTS = {"inf": r"\infty", "nan": r"\text{NaN}"}


class LatexPrinter(Printing):
    """Prints conditions of a family with definitions, cases and classes written out.

    `entries` are the tensors whose entries are printed with an index; all other names are scalars.
    """

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(
            _IF, r"\text{{if }} {0} \text{{ then }} {1} \text{{ otherwise }} {2}", (_IFF, _IFF, _IF)
        ),
        "iff": infix(_IFF, r"\Leftrightarrow", "alone"),
        "implies": infix(_IMPLIES, r"\Rightarrow", "right"),
        "or": infix(_OR, r"\lor", "left"),
        "and": infix(_AND, r"\land", "left"),
        "not": NodeForm(_NOT, r"\lnot {0}", (_PRIMARY,)),
        "identical": infix(_COMPARISON, r"\equiv", "alone"),
        "is_nan": NodeForm(_COMPARISON, r"{0} \text{{ is NaN}}", (_PRIMARY,)),
        "opposite": NodeForm(_PRIMARY, "-{0}", (_PRIMARY,)),
    }

    def __init__(self, spec: Spec, family: str, entries: frozenset[str]) -> None:
        self.spec = spec
        self.entries = entries
        # Braces are doubled: the sign becomes a part of a format string.
        self.index = r"_{{(\text{{f}})}}" if family == "float" else ""

    def comparison(self, expr: tree.Compare) -> Piece:
        """A comparison; of floats, with their index."""
        sign = _SIGNS[expr.operator]
        # Shapes and element types are compared too, without an index.
        if expr.kind is tree.Kind.ELEMENT:
            sign += self.index
        return self.filled(infix(_COMPARISON, sign, "alone"), expr.left, expr.right)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A built-in predicate, or an entry written out."""
        if isinstance(expr, tree.Call):
            arguments = expr.arguments
            if expr.function == "identical":  # the only place where the sign of a zero counts
                arguments = tuple(map(self.signed, arguments))
            return self.filled(self.forms[expr.function], *arguments)
        return self.written(written_out(self.spec, expr))

    def signed(self, expr: Expr) -> Expr:
        """An expression; of floats, with the sign of the zero that it is."""
        is_zero = self.index and expr == tree.Number("0")
        return tree.Number("+0") if is_zero else expr

    def leaf(self, expr: tree.Leaf) -> Piece:
        """A name, a number, or a formula on all entries of a tensor."""
        match expr:
            case tree.Name(id=name):
                return _PRIMARY, f"{name}[i]" if name in self.entries else name
            case tree.Subscript(tensor=tensor):
                return _PRIMARY, f"{tensor.id}[i]"
            case tree.Number(text=text):
                name = text.removeprefix("-")
                sign = text.removesuffix(name)
                return _PRIMARY, sign + _CONSTANTS.get(name, name)
            case tree.Every(body=body):
                return _PRIMARY, rf"(\forall i \colon {self.show(body)})"
            case _:
                raise TypeError(f"{expr} is not printed in LaTeX")


def without(expr: Expr, holds: Sequence[Expr]) -> Expr:
    """An expression without the conjuncts that hold anyway."""

    # `rewritten` goes from the inside out, and what is left of a conjunction may be one again.
    def shorter(node: Expr) -> Expr | None:
        if not isinstance(node, tree.Connective) or node.operator != "and":
            return None
        if node.left in holds:
            return node.right
        if node.right in holds:
            return node.left
        return None

    return tree.rewritten(expr, shorter)


def written_out(spec: Spec, expr: Expr) -> Expr:
    """An expression with what it uses in place of its name."""
    # Cases and classes have no parameters: they are about the operands as they are called.
    conditions = {}
    for case in spec.cases:
        conditions[case.id] = case.when
    for klass in spec.classes:
        conditions[klass.id] = klass.when

    def replacement(node: Expr) -> Expr | None:
        if not isinstance(node, tree.Use):
            return None
        if node.id in conditions:
            return written_out(spec, conditions[node.id])
        definition = spec.definition(node.id)
        arguments = dict(zip(definition.parameters, node.arguments, strict=True))
        # A definition may use others, which are written out in turn.
        return written_out(spec, tree.substituted(definition.is_, arguments))

    return tree.rewritten(expr, replacement)
