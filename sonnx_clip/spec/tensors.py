"""Tensors for the evaluator: as a model declares them, and as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.spec.entries import Change, Declaration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Restriction, Tensor
    from sonnx_clip.spec.model import Spec


@dataclass(frozen=True)
class DeclaredTensor:
    """A tensor as a model declares it; an input that is not set is None instead.

    Args:
        type: id of the element type.
        dims: each a number, or a name when it is symbolic; None when the model declares no shape.
        sparse: whether it is a sparse tensor.
    """

    type: str
    dims: tuple[int | str, ...] | None
    sparse: bool = False


@dataclass(frozen=True)
class TensorValue:
    """A tensor value.

    Args:
        type: id of the element type.
        shape: the dimensions; ``()`` for a scalar.
        entries: the values in row-major order, as many as the shape says.
    """

    type: str
    shape: tuple[int, ...]
    entries: tuple[Value, ...]


def declared_names(spec: Spec) -> tuple[str, ...]:
    """The tensors that the node declares which meets every restriction; none where no node is given."""
    return () if spec.declared_example is None else tuple(type(spec.declared_example).model_fields)


def declared_example(spec: Spec) -> dict[str, DeclaredTensor | None]:
    """The tensors of the node that meets every restriction, by name."""
    return {name: _declared(getattr(spec.declared_example, name)) for name in declared_names(spec)}


def broken_example(spec: Spec, restriction: Restriction) -> dict[str, DeclaredTensor | None]:
    """The same node after the change that breaks the restriction alone."""
    return changed_example(spec, restriction.broken_alone_by)


def changed_example(spec: Spec, changes: Mapping[Tensor, str | Change]) -> dict[str, DeclaredTensor | None]:
    """The node that meets every restriction, after some changes."""
    return declared_example(spec) | _changes(spec, changes)


def _changes(spec: Spec, changes: Mapping[Tensor, str | Change]) -> dict[str, DeclaredTensor | None]:
    found: dict[str, DeclaredTensor | None] = {}
    for name, change in changes.items():
        before: Declaration = getattr(spec.declared_example, name)
        if isinstance(change, Change):
            told = {key: getattr(change, key) for key in change.model_fields_set}
            found[name] = _declared(before.model_copy(update=told))
        else:
            found[name] = None
    return found


def _declared(declaration: Declaration) -> DeclaredTensor:
    return DeclaredTensor(declaration.type, declaration.dims, declaration.sparse)
