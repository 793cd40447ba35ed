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
    count = 1 << (8 * numpy_type(name).itemsize)
    near = st.builds(
        lambda pattern, distance: (pattern + distance) % count,
        st.sampled_from(special),
        st.integers(-_NEAR, _NEAR),
    )
    return st.one_of(st.sampled_from(special), near, st.integers(0, count - 1))


def _tied(pattern: int, name: str) -> list[int]:
    """The patterns of a type that are equal to one: itself, and where it is a zero the other zero."""
    is_float = _element_type(name).family == "float"
    zeros = [0, 1 << (8 * numpy_type(name).itemsize - 1)] if is_float else [0]
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
        ties = [tied for bound in bounds for tied in _tied(bound, name)]
        entries = st.lists(st.one_of(_patterns(name), st.sampled_from(ties)), max_size=max_size)
        low, high = bounds
        return entries.map(
            lambda drawn: (_values(drawn, name), _values(low, name), _values(high, name))
        )

    bound = st.one_of(_patterns(name), st.sampled_from(_tied(0, name)))  # as of ReLU
    equal = bound.flatmap(
        lambda one: st.sampled_from(_tied(one, name)).map(lambda other: (one, other))
    )
    return st.one_of(st.tuples(bound, bound), equal).flatmap(with_bounds)
