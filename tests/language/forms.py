"""Expressions and claims as nested tuples: the common form in which a tree and its printed text are compared.

A chain of "and" or "or" is one tuple; ">" and ">=" are "<" and "<=" with the sides exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.claim import Written
from sonnx_clip.language import tree
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode, float_bits, quiet_bit
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType

FLOAT = load_spec().element_type("float32")
_SORTS = {Kind.ELEMENT: "t", Kind.TENSOR: "tensor", Kind.FLOAT: "FLOAT.t"}
_NAMES = {"written_clip": "clip", "becomes": "converts", "shape": ".shape", "type": ".element"}


def joined(word: str, left: Any, right: Any) -> Any:
    """Two forms with a connective; how a chain of "and" or "or" is grouped means nothing."""
    if word not in ("and", "or"):
        return (word, left, right)
    parts = [
        part[1:] if isinstance(part, tuple) and part[0] == word else (part,)
        for part in (left, right)
    ]
    return (word, *parts[0], *parts[1])


@dataclass(frozen=True)
class Former:
    """Makes claims nested tuples, from what the classes of the tree mean.

    Args:
        etype: the element type.
        of_tensors: whether a scalar stands for its only entry.
    """

    etype: ElementType
    of_tensors: bool

    def literal(self, text: str, kind: Kind) -> Any:
        return (
            ("FLOAT", encode(text, FLOAT))
            if kind is Kind.FLOAT
            else ("literal", encode(text, self.etype))
        )

    def leaf(self, expr: Expr) -> Any:
        """A variable, a literal, or what stands for every index; None for anything else."""
        match expr:
            case tree.Name(id=name, kind=Kind.ELEMENT) if self.of_tensors:
                return ("value", name.lower())
            case tree.Name(id=name):
                return name.lower()
            case tree.Number(text=text, kind=kind):
                return self.literal(text, kind)
            case tree.Value(value=value, kind=kind):
                return ("FLOAT" if kind is Kind.FLOAT else "literal", value)
            case tree.Subscript(tensor=tensor):
                return (".entry", tensor.id.lower(), "i")
            case tree.Every(body=body):
                return self.every(body)
        return None

    def every(self, body: Expr) -> Any:
        entries = [part for part in tree.subtrees(body) if isinstance(part, tree.Subscript)]
        valid = [
            ("valid", "i", (".shape", n))
            for n in sorted({part.tensor.id.lower() for part in entries})
        ]
        premise = valid[0] if len(valid) == 1 else ("and", *valid)
        return ("forall", (("i", "index"),), ("implies", premise, self.form(body)))

    def form(self, expr: Expr) -> Any:
        """An expression as nested tuples."""
        if (found := self.leaf(expr)) is not None:
            return found
        match expr:
            case tree.Use() | tree.Call():
                return self.applied(expr)
            case tree.Compare(operator=sign, left=left, right=right, kind=kind):
                sides = (self.form(left), self.form(right))
                word = sign.replace(">", "<") if kind is Kind.ELEMENT else "identical"
                return (word, *(sides[::-1] if ">" in sign else sides))
            case tree.Not(operand=operand):
                return ("not", self.form(operand))
            case tree.Connective(operator=word, left=left, right=right):
                return joined(word, self.form(left), self.form(right))
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                return ("if", *map(self.form, (condition, then, otherwise)))
            case tree.Let(name=name, value=value, body=body):
                return ("let", name.lower(), self.form(value), self.form(body))
            case tree.Parentheses(inner=inner):
                return self.form(inner)
        raise AssertionError(expr)

    def applied(self, expr: tree.Use | tree.Call) -> Any:
        """A function with its arguments; an entry without parameters speaks of the operands."""
        if isinstance(expr, tree.Call) and expr.function in (
            "shape",
            "type",
        ):  # of the tensor, not its entry
            (tensor,) = expr.arguments
            assert isinstance(tensor, tree.Name)
            return (_NAMES[expr.function], tensor.id.lower())
        arguments = [self.form(argument) for argument in expr.arguments]
        if isinstance(expr, tree.Use):
            return (expr.id, *(arguments or (operand.lower() for operand in expr.of)))
        if isinstance(expr, tree.CasesResult):
            return ("cases", *arguments)
        if expr.function == "is_signalling":
            if self.etype.family != "float":
                return "false"
            first_of_fraction = (
                "bw_and",
                *arguments,
                ("literal", quiet_bit(float_bits(self.etype))),
            )
            return ("and", ("is_nan", *arguments), ("identical", first_of_fraction, ("literal", 0)))
        return (_NAMES.get(expr.function, expr.function), *arguments)

    def claim(self, claim: Claim, read: Callable[[str], Any]) -> Any:
        """Binders with their sorts, witnesses, premises and conclusion, of what the claim speaks of."""
        if isinstance(claim.conclusion, Written):
            parts = list(enumerate(claim.conclusion.parts))
            made = read("".join(p if isinstance(p, str) else f"literal_{n}" for n, p in parts))
            for n, part in parts:
                made = (
                    made
                    if isinstance(part, str)
                    else replaced(made, f"literal_{n}", self.form(part))
                )
            return made
        body = self.form(claim.conclusion)
        for premise in reversed(claim.premises):
            body = ("implies", self.form(premise), body)
        for name, value in reversed(claim.witness.items()):
            if name.lower() in names_in(body):
                body = ("let", name.lower(), self.form(value), body)
        used = names_in(body)
        bound = [(v.id.lower(), _SORTS[v.kind]) for v in claim.variables if v.id.lower() in used]
        return ("forall", tuple(sorted(bound)), body) if bound else body


def replaced(made: Any, name: str, by: Any) -> Any:
    """A form with another in the place of a variable."""
    if isinstance(made, tuple):
        return tuple(replaced(part, name, by) for part in made)
    return by if made == name else made


def names_in(made: Any) -> set[str]:
    """The variables in a form; heads of tuples are no variables."""
    if isinstance(made, str):
        return {made}
    if made[0] in ("literal", "FLOAT"):
        return set()
    if made[0] == "let":
        return names_in(made[2]) | names_in(made[3]) - {made[1]}
    if made[0] == "forall":
        return names_in(made[2]) - {name for name, _ in made[1]}
    return set().union(*map(names_in, made[1:]))
