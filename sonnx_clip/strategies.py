"""Hypothesis strategies for tests of an implementation of Clip.

They draw bit patterns, so that every NaN, zero and subnormal can come, and they come often.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from sonnx_clip.conform.dtypes import Array, bits_type, numpy_type
from sonnx_clip.language.special import special_patterns
from sonnx_clip.spec import load_spec

_NEAR = 3


@cache
def _patterns(name: str) -> st.SearchStrategy[int]:
    special = special_patterns(load_spec().element_type(name))
    count = 1 << (8 * numpy_type(name).itemsize)
    near = st.builds(
        lambda pattern, distance: (pattern + distance) % count,
        st.sampled_from(special),
        st.integers(-_NEAR, _NEAR),
    )
    return st.one_of(st.sampled_from(special), near, st.integers(0, count - 1))


def _values(patterns: Any, name: str) -> Array:
    return np.array(patterns, bits_type(name)).view(numpy_type(name))


def triples(dtype: str | np.dtype[Any]) -> st.SearchStrategy[tuple[Array, Array, Array]]:
    """Draw (x, min, max): three arrays of shape () and of one element type.

    Args:
        dtype: an element type of the profile, by name (``"bfloat16"``) or as a dtype.

    Raises:
        UserError: the profile has no such element type.
    """
    name = load_spec().element_type(str(dtype)).id
    one = _patterns(name).map(lambda pattern: _values(pattern, name))
    return st.tuples(one, one, one)


def arrays_and_bounds(
    dtype: str | np.dtype[Any], *, max_size: int = 16
) -> st.SearchStrategy[tuple[Array, Array, Array]]:
    """Draw (x, min, max): an array of shape (n,), n <= max_size, and two bounds of shape ().

    Entries of `x` are often equal to a bound, since ties are where implementations differ.
    """
    name = load_spec().element_type(str(dtype)).id

    def with_bounds(bounds: tuple[int, int]) -> st.SearchStrategy[tuple[Array, Array, Array]]:
        entries = st.lists(st.one_of(_patterns(name), st.sampled_from(bounds)), max_size=max_size)
        lower, upper = (_values(bound, name) for bound in bounds)
        return entries.map(lambda drawn: (_values(drawn, name), lower.copy(), upper.copy()))

    return st.tuples(_patterns(name), _patterns(name)).flatmap(with_bounds)
