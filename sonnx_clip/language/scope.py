"""Names of a condition: the operator's variables, built-in functions, and the entries of the YAML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.language import tree
from sonnx_clip.language.tree import Expr, Kind
from sonnx_clip.root.signature import NO_SIGNATURE, Signature

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class FunctionType:
    """A function: the kinds that each argument may have, and the kind of the result."""

    arguments: tuple[tuple[Kind, ...], ...]
    result: Kind = Kind.BOOL


# Each as the tuple of kinds that an argument may have.
_B = (Kind.BOOL,)
_D = (Kind.DECLARED,)
_E = (Kind.ELEMENT,)
_F = (Kind.FLOAT,)
_T = (Kind.TENSOR,)
ELEMENT_FUNCTIONS = {
    "identical": FunctionType((_E, _E)),
    "is_nan": FunctionType((_E,)),
    "is_signalling": FunctionType((_E,)),
    "opposite": FunctionType((_E,), Kind.ELEMENT),
}
DECLARED_FUNCTIONS = {
    **dict.fromkeys(
        ("is_set", "is_sparse", "has_explicit_shape", "is_scalar"), FunctionType((_D,))
    ),
    "same_type": FunctionType((_D, _D)),
}
VALUE_FUNCTIONS = {
    "every": FunctionType((_B,)),
    "shape": FunctionType((_T,), Kind.SHAPE),
    # Of an element or of a tensor.
    "type": FunctionType(((*_E, *_T),), Kind.ELEMENT_TYPE),
    **ELEMENT_FUNCTIONS,
}
CONVERSION = {"becomes": FunctionType((_F, _E))}
# The index is no function, but no entry may have its name.
BUILT_IN = frozenset({*DECLARED_FUNCTIONS, *VALUE_FUNCTIONS, *CONVERSION, "i"})


@dataclass(frozen=True)
class Usable:
    """A case, class or definition that a condition may use by its id."""

    parameters: int
    kind: Kind
    families: frozenset[str]


@dataclass(frozen=True)
class Scope:
    """The names that a condition may use."""

    name: str  # the owner of the condition, for messages: a property
    variables: Mapping[str, Kind]
    functions: Mapping[str, FunctionType]  # the built-in ones
    uses: Mapping[str, Usable] = field(default_factory=dict)  # the usable entries, by id
    families: frozenset[str] = frozenset()  # for which the condition is read
    # The operator, whose operands an entry without parameters uses.
    signature: Signature = NO_SIGNATURE


def kind_of(expr: Expr) -> Kind:
    """The kind of an expression, from its root alone."""
    # The parser has checked the parts, so that none of them is looked at.
    match expr:
        case tree.Compare() | tree.Not() | tree.Connective() | tree.Every():
            return Kind.BOOL
        case tree.Subscript():
            return Kind.ELEMENT
        case tree.Parentheses(inner=inner):
            return kind_of(inner)
        case _:
            return expr.kind


def operator_function(signature: Signature) -> dict[str, FunctionType]:
    """The function of the operator, for conditions that may call it."""
    return {signature.function: FunctionType((_E,) * len(signature.ids), Kind.ELEMENT)}


def element_scope(
    name: str,
    variables: tuple[str, ...],
    uses: Mapping[str, Usable],
    families: frozenset[str],
    signature: Signature = NO_SIGNATURE,
    *,
    result: bool = False,
) -> Scope:
    """A scope on elements; `result` allows calls of the operator."""
    functions = dict(ELEMENT_FUNCTIONS)
    if result:
        # Its result is another name for the cases, which cases themselves must not use.
        functions |= operator_function(signature)
    elements = dict.fromkeys(variables, Kind.ELEMENT)  # an entry of each tensor, and the scalars
    return Scope(name, elements, functions, uses, families, signature)


def declared_scope(families: frozenset[str], signature: Signature) -> Scope:
    """The scope of restrictions: operands and result as a model declares them."""
    variables = dict.fromkeys(signature.all_ids, Kind.DECLARED)
    return Scope("a restriction", variables, DECLARED_FUNCTIONS, {}, families, signature)


def tensor_scope(
    name: str,
    uses: Mapping[str, Usable],
    families: frozenset[str],
    signature: Signature,
) -> Scope:
    """The scope of constraints: tensors, and scalars as elements."""
    variables = dict.fromkeys(signature.all_ids, Kind.TENSOR)
    # Operands that are no tensors; the result is always one.
    variables |= dict.fromkeys(signature.scalars, Kind.ELEMENT)
    return Scope(name, variables, VALUE_FUNCTIONS, uses, families, signature)
