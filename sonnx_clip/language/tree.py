"""Expression trees of the conditions in spec/clip.yaml, and the walks over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class Kind(Enum):
    """The type of an expression."""

    BOOL = "condition"
    ELEMENT = "element"
    TENSOR = "tensor value"
    DECLARED = "declared tensor"
    SHAPE = "shape"
    ELEMENT_TYPE = "element type"
    FLOAT = "FLOAT"  # a bound as DirectML is given it, before it becomes an element


@dataclass(frozen=True)
class Name:
    """A variable of the scope: ``X``, ``L``, ``M``, ``Y``, ``X2``, ``A``, ``Z``, ``F`` or a parameter."""

    id: str
    kind: Kind


@dataclass(frozen=True)
class Number:
    """An element or a FLOAT as text: a decimal, whose sign ``-0`` keeps; or a constant, perhaps negated."""

    text: str
    kind: Kind = Kind.ELEMENT

    @property
    def constant(self) -> str | None:
        """The named constant without its sign; None for a decimal number."""
        name = self.text.removeprefix("-")
        return name if name[0].isalpha() else None


@dataclass(frozen=True)
class Compare:
    """``<``, ``<=``, ``>``, ``>=`` on elements; ``==`` on elements, shapes and element types."""

    operator: str
    left: Expr
    right: Expr
    kind: Kind


@dataclass(frozen=True)
class Not:
    """Negation."""

    operand: Expr


@dataclass(frozen=True)
class Connective:
    """``and``, ``or``, ``implies``, ``iff``."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class If:
    """``if condition then _ else _``, on conditions or on elements."""

    condition: Expr
    then: Expr
    otherwise: Expr
    kind: Kind


@dataclass(frozen=True)
class Call:
    """A call of a built-in function; scope.py lists them."""

    function: str
    arguments: tuple[Expr, ...]
    kind: Kind


@dataclass(frozen=True)
class CasesResult(Call):
    """``clip(a, b, c)``: the result of the cases for these operands, under the name of the operator."""


@dataclass(frozen=True)
class Use:
    """The use of a definition, case or class by its id; without parameters it uses the operands `of`."""

    id: str
    arguments: tuple[Expr, ...]
    kind: Kind
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subscript:
    """``Y[i]``: the entry of a tensor value at the index that `every` binds."""

    tensor: Name


@dataclass(frozen=True)
class Every:
    """``every(condition)``: the condition holds at every valid index ``i``."""

    body: Expr


@dataclass(frozen=True)
class Value:
    """An element or FLOAT by its bits, or a declared tensor: in claims alone, as `Let` and `Parentheses`."""

    value: Any
    kind: Kind


@dataclass(frozen=True)
class Let:
    """``let name = value in body``."""

    name: str
    value: Expr
    body: Expr
    kind: Kind = Kind.BOOL


@dataclass(frozen=True)
class Parentheses:
    """A condition that a claim reuses as a whole: printers put parentheses around it."""

    inner: Expr


Expr: TypeAlias = (
    Name
    | Number
    | Compare
    | Not
    | Connective
    | If
    | Call
    | Use
    | Subscript
    | Every
    | Value
    | Let
    | Parentheses
)
Leaf: TypeAlias = Name | Number | Subscript | Every | Value | Let | Parentheses
"""What a printer writes in a way of its own: all that is no operator and no application."""


# --- Walks --------------------------------------------------------------------------------------------------

_PARTS: dict[type, tuple[str, ...]] = {
    Name: (),
    Number: (),
    Value: (),
    Compare: ("left", "right"),
    Connective: ("left", "right"),
    Not: ("operand",),
    Every: ("body",),
    Subscript: ("tensor",),
    If: ("condition", "then", "otherwise"),
    Call: ("arguments",),
    CasesResult: ("arguments",),
    Use: ("arguments",),
    Let: ("value", "body"),
    Parentheses: ("inner",),
}
"""The fields that hold the trees right below a node; `arguments` holds several."""


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """The trees right below the root of one."""
    match expr:
        case Call() | Use():
            return expr.arguments
        case _:
            return tuple(getattr(expr, field) for field in _PARTS[type(expr)])


def subtrees(expr: Expr) -> Iterator[Expr]:
    """The tree and every tree in it, each before its parts; the bodies of used entries are not among them."""
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(parts_of(node))  # the first part is the next one that is popped


def names_in(*exprs: Expr) -> set[str]:
    """The variables of some expressions."""
    names: set[str] = set()
    for expr in exprs:
        for node in subtrees(expr):
            if isinstance(node, Name):
                names.add(node.id)
    return names


def with_parts(expr: Expr, parts: Sequence[Expr]) -> Expr:
    """A node with other trees right below it."""
    fields = _PARTS[type(expr)]
    # One field for all parts of an application, else one for each.
    values: Any = parts
    if fields == ("arguments",):
        values = [tuple(parts)]
    return replace(expr, **dict(zip(fields, values, strict=True)))


def rewritten(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """An expression with each node replaced, its parts before itself; None keeps a node."""
    parts = parts_of(expr)
    # A node without parts is kept as it is, and not copied.
    with_new_parts = expr
    if parts:
        with_new_parts = with_parts(expr, [rewritten(part, change) for part in parts])
    changed = change(with_new_parts)
    return with_new_parts if changed is None else changed


def substituted(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression with others in the places of some variables."""

    def value_of(node: Expr) -> Expr | None:
        return values.get(node.id) if isinstance(node, Name) else None

    return rewritten(expr, value_of)


def conjuncts(expr: Expr) -> list[Expr]:
    """The parts of a conjunction, or the expression itself."""
    if isinstance(expr, Connective) and expr.operator == "and":
        return [*conjuncts(expr.left), *conjuncts(expr.right)]
    return [expr]
