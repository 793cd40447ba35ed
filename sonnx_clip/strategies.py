"""Hypothesis strategies for tests of an implementation of Clip.

They draw bit patterns, so that every NaN, zero and subnormal can come, and they come often. An example is in
docs/integrations.md; `sonnx_clip.asserting.assert_clip` judges the results.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.operators import DEFAULT_OPERATOR, specification

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType

DType: TypeAlias = str | np.dtype[Any] | type[Any]
Operands: TypeAlias = tuple[Array, Array, Array]
"""X and both bounds."""
Patterns: TypeAlias = st.SearchStrategy[int]
"""Draws the bits of a value."""

# Patterns on both sides of a special one.
_NEAR = 3


def _element_type(name: str) -> ElementType:
    return specification(DEFAULT_OPERATOR).element_type(name)


@cache
def _patterns(name: str) -> Patterns:
    special = special_patterns(_element_type(name))
    count = 1 << _width(name)

    def neighbour(pattern: int, distance: int) -> int:
        return (pattern + distance) % count

    # A third each: any pattern at random is hardly ever a special value or near one.
    of_special = st.sampled_from(special)
    distances = st.integers(-_NEAR, _NEAR)
    near = st.builds(neighbour, of_special, distances)
    at_random = st.integers(0, count - 1)
    return st.one_of(of_special, near, at_random)


def _width(name: str) -> int:
    """The bits of an element type."""
    return 8 * numpy_type(name).itemsize


def _tied(pattern: int, name: str) -> list[int]:
    """The patterns of a type that are equal to one: itself, and where it is a zero the other zero."""
    zeros = [0]
    if _element_type(name).family == "float":
        negative_zero = 1 << (_width(name) - 1)
        zeros.append(negative_zero)
    if pattern in zeros:
        return zeros
    return [pattern]


def _values(patterns: Any, name: str) -> Array:
    """Bits as values of a type, in an array that is read-only."""
    values = np.array(patterns, bits_type(name)).view(numpy_type(name))
    # The result is judged by the operands: an implementation that changed one would judge itself.
    values.flags.writeable = False
    return values


def _name(dtype: DType) -> str:
    """The id of an element type that arrays can have."""
    name = str(dtype)
    if isinstance(dtype, (np.dtype, type)):
        name = np.dtype(dtype).name
    etype = _element_type(name)
    if etype.numpy is None:
        raise UserError(f"{etype.id} has no arrays", todo="name another element type")
    return etype.id


def triples(dtype: DType) -> st.SearchStrategy[Operands]:
    """Draw (x, min, max): three read-only arrays of shape () and of one element type.

    Args:
        dtype: an element type of the profile, by name (``"bfloat16"``), as a dtype or as a scalar type.

    Raises:
        UserError: the profile has no such element type, or no array has it (``"real"``).
    """
    name = _name(dtype)
    value = _patterns(name).map(lambda pattern: _values(pattern, name))
    return st.tuples(value, value, value)


def arrays_and_bounds(dtype: DType, *, max_size: int = 16) -> st.SearchStrategy[Operands]:
    """Draw (x, min, max): an array of shape (n,), n <= max_size, and two bounds of shape (), all read-only.

    Bounds are often equal, and entries of `x` often equal a bound, zeros of either sign among them: ties are
    where implementations differ.

    Args:
        dtype: as for `triples`.
        max_size: the most entries, 0 or more.

    Raises:
        UserError: as for `triples`.
    """
    name = _name(dtype)
    pattern = _patterns(name)

    # The bounds are drawn first, since entries of X are often equal to one.
    def with_entries(bounds: tuple[int, int]) -> st.SearchStrategy[Operands]:
        low, high = bounds
        ties = _tied(low, name) + _tied(high, name)
        entry = st.one_of(pattern, st.sampled_from(ties))
        entries = st.lists(entry, max_size=max_size)

        def operands(patterns: list[int]) -> Operands:
            x = _values(patterns, name)
            return x, _values(low, name), _values(high, name)

        return entries.map(operands)

    def with_equal_bound(bound: int) -> st.SearchStrategy[tuple[int, int]]:
        other = st.sampled_from(_tied(bound, name))
        return st.tuples(st.just(bound), other)

    zero = st.sampled_from(_tied(0, name))  # as of ReLU
    bound = st.one_of(pattern, zero)
    any_bounds = st.tuples(bound, bound)
    equal_bounds = bound.flatmap(with_equal_bound)
    return st.one_of(any_bounds, equal_bounds).flatmap(with_entries)
