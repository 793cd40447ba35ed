"""What the names in a condition mean: variables, built-in functions, and the entries of the YAML file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sonnx_clip.language.tree import Expr, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

E, B = Kind.ELEMENT, Kind.BOOL
_D, _T = Kind.DECLARED, Kind.TENSOR


@dataclass(frozen=True)
class Signature:
    """A built-in function: for each argument the kinds it may have, and the kind of the result."""

    arguments: tuple[frozenset[Kind], ...]
    result: Kind


def _signature(result: Kind, *arguments: Kind | frozenset[Kind]) -> Signature:
    return Signature(tuple(a if isinstance(a, frozenset) else frozenset({a}) for a in arguments), result)


ELEMENT_FUNCTIONS = {
    "identical": _signature(B, E, E),
    "is_nan": _signature(B, E),
    "is_signalling": _signature(B, E),
}
CLIP = {"clip": _signature(E, E, E, E)}
DECLARED_FUNCTIONS = {
    "is_set": _signature(B, _D),
    "is_sparse": _signature(B, _D),
    "has_explicit_shape": _signature(B, _D),
    "is_scalar": _signature(B, _D),
    "same_type": _signature(B, _D, _D),
}
VALUE_FUNCTIONS = {
    "shape": _signature(Kind.SHAPE, _T),
    "type": _signature(Kind.ELEMENT_TYPE, frozenset({_T, E})),
    **ELEMENT_FUNCTIONS,
}
CONVERSION = {"becomes": _signature(B, Kind.FLOAT, E)}
BUILT_IN = frozenset(
    {*ELEMENT_FUNCTIONS, *CLIP, *DECLARED_FUNCTIONS, *VALUE_FUNCTIONS, *CONVERSION, "every", "i"}
)


@dataclass(frozen=True)
class Usable:
    """A case, class or definition that a condition may use by its id."""

    parameters: int
    kind: Kind
    families: frozenset[str]


@dataclass(frozen=True)
class Scope:
    """The names that a condition may use.

    Args:
        name: what the scope is for, as it reads in a message.
        variables: each with its kind.
        functions: the built-ins.
        uses: the usable entries, by id.
        families: the families for which the condition is read.
        tensors: whether ``every(…)`` and ``X[i]`` are allowed.
    """

    name: str
    variables: Mapping[str, Kind]
    functions: Mapping[str, Signature]
    uses: Mapping[str, Usable] = field(default_factory=dict)
    families: frozenset[str] = frozenset()
    tensors: bool = False

    def names(self) -> list[str]:
        """Every name that may stand in a condition, for suggestions."""
        every = ["every"] if self.tensors else []
        return [*self.variables, *self.functions, *self.uses, *every]


def kind_of(expr: Expr) -> Kind:
    """The kind of an expression, from its root alone."""
    from sonnx_clip.language import tree

    match expr:
        case tree.Name() | tree.Call() | tree.Use() | tree.If() | tree.Number() | tree.Constant():
            return expr.kind
        case tree.Value() | tree.Let():
            return expr.kind
        case tree.Group(inner=inner):
            return kind_of(inner)
        case tree.Entry():
            return Kind.ELEMENT
        case _:
            return Kind.BOOL


def elements(*names: str) -> dict[str, Kind]:
    """Variables of kind element."""
    return dict.fromkeys(names, Kind.ELEMENT)


def element_scope(
    name: str, variables: tuple[str, ...], uses: Mapping[str, Usable], families: frozenset[str], *, clip: bool
) -> Scope:
    """A scope on elements; `clip` says whether ``clip(…)`` may be called."""
    functions = {**ELEMENT_FUNCTIONS, **CLIP} if clip else ELEMENT_FUNCTIONS
    return Scope(name, elements(*variables), functions, uses, families)


def declared_scope(families: frozenset[str]) -> Scope:
    """The scope of restrictions: X, L, M, Y as a model declares them."""
    return Scope("a restriction", dict.fromkeys(("X", "L", "M", "Y"), _D), DECLARED_FUNCTIONS, {}, families)


def values_scope(uses: Mapping[str, Usable], families: frozenset[str]) -> Scope:
    """The scope of constraints: tensors X and Y, elements L and M, and definitions with parameters."""
    usable = {id_: use for id_, use in uses.items() if use.parameters}
    variables = {"X": _T, "L": E, "M": E, "Y": _T}
    return Scope("a constraint", variables, VALUE_FUNCTIONS, usable, families, tensors=True)


def claim_scope(uses: Mapping[str, Usable], families: frozenset[str]) -> Scope:
    """The scope of a finding's claim on elements: X, L, M, two answers Y and Z, and a FLOAT F."""
    variables = {**elements("X", "L", "M", "Y", "Z"), "F": Kind.FLOAT}
    functions = {**ELEMENT_FUNCTIONS, **CLIP, **CONVERSION}
    return Scope("the claim of a finding", variables, functions, uses, families)


def tensor_claim_scope(
    uses: Mapping[str, Usable], constraints: Mapping[str, Usable], families: frozenset[str]
) -> Scope:
    """The scope of a finding's claim on tensors: that of constraints, and the constraints by their ids."""
    scope = values_scope(uses, families)
    return replace(scope, name="the claim of a finding", uses={**scope.uses, **constraints})
