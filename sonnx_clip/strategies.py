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

_NEAR = 3


def _element_type(name: str) -> ElementType:
    return specification(DEFAULT_OPERATOR).element_type(name)


@cache
def _patterns(name: str) -> st.SearchStrategy[int]:
    special = special_patterns(_element_type(name))
    count = 1 << _width(name)

    def neighbour(pattern: int, distance: int) -> int:
        return (pattern + distance) % count

    # A third each: any pattern at random is hardly ever a special value or near one.
    of_special = st.sampled_from(special)
    near = st.builds(neighbour, of_special, st.integers(-_NEAR, _NEAR))
    return st.one_of(of_special, near, st.integers(0, count - 1))


def _width(name: str) -> int:
    """The bits of an element type."""
    return 8 * numpy_type(name).itemsize


def _tied(pattern: int, name: str) -> list[int]:
    """The patterns of a type that are equal to one: itself, and where it is a zero the other zero."""
    zeros = [0]
    if _element_type(name).family == "float":
        negative_zero = 1 << (_width(name) - 1)
        zeros.append(negative_zero)
    return zeros if pattern in zeros else [pattern]


def _values(patterns: Any, name: str) -> Array:
    """Read-only: who changed an operand would have the result judged by what it made of it."""
    values = np.array(patterns, bits_type(name)).view(numpy_type(name))
    values.flags.writeable = False
    return values


def _name(dtype: DType) -> str:
    """The id of an element type that arrays can have."""
    name = np.dtype(dtype).name if isinstance(dtype, (np.dtype, type)) else str(dtype)
    etype = _element_type(name)
    if etype.numpy is None:
        raise UserError(f"{etype.id} has no arrays", todo="name another element type")
    return etype.id


def triples(dtype: DType) -> st.SearchStrategy[tuple[Array, Array, Array]]:
    """Draw (x, min, max): three read-only arrays of shape () and of one element type.

    Args:
        dtype: an element type of the profile, by name (``"bfloat16"``), as a dtype or as a scalar type.

    Raises:
        UserError: the profile has no such element type, or no array has it (``"real"``).
    """
    name = _name(dtype)
    one = _patterns(name).map(lambda pattern: _values(pattern, name))
    return st.tuples(one, one, one)


def arrays_and_bounds(
    dtype: DType, *, max_size: int = 16
) -> st.SearchStrategy[tuple[Array, Array, Array]]:
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

    def with_bounds(bounds: tuple[int, int]) -> st.SearchStrategy[tuple[Array, Array, Array]]:
        low, high = bounds
        ties = _tied(low, name) + _tied(high, name)
        entry = st.one_of(_patterns(name), st.sampled_from(ties))

        def operands(entries: list[int]) -> tuple[Array, Array, Array]:
            return _values(entries, name), _values(low, name), _values(high, name)

        return st.lists(entry, max_size=max_size).map(operands)

    def with_equal(bound: int) -> st.SearchStrategy[tuple[int, int]]:
        return st.tuples(st.just(bound), st.sampled_from(_tied(bound, name)))

    zero = st.sampled_from(_tied(0, name))  # as of ReLU
    bound = st.one_of(_patterns(name), zero)
    equal = bound.flatmap(with_equal)
    return st.one_of(st.tuples(bound, bound), equal).flatmap(with_bounds)
