"""Where the classes of X begin under many pairs of bounds: the oracle is asked once about each range.

A class is a condition on comparisons of X with the bounds and with constants. So all patterns between two
neighbouring ones of these are in one class, and Clip gives the same bound, or X itself, for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.oracle import load_oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.conform.dtypes import Array


@dataclass(frozen=True)
class ClassRanges:
    """The keys of a type, cut where the class may change: an integer is its own key, a float has its bits.

    Args:
        ids: the classes of the family, in the order of the YAML.
        starts: the first key of each range under each pair of bounds, ascending, shape (p, r); the first of
            all is the least key that there is. A range whose start is that of the next one is empty.
        classes: the class of each range, as an index into `ids`, shape (p, r).
        is_x: whether Clip is X itself in a range, shape (p, r).
        results: the bound that it is elsewhere, as a key; shape (p, r).
    """

    ids: tuple[str, ...]
    starts: Array
    classes: Array
    is_x: Array
    results: Array


def key_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the keys of an element type."""
    return dtype if load_oracle().FAMILY_OF[dtype.name] == "int" else np.dtype(f"u{dtype.itemsize}")


def class_ranges(dtype: np.dtype[Any], bounds: Sequence[Array]) -> ClassRanges:
    """The ranges under each pair of bounds.

    Args:
        dtype: an element type of the profile.
        bounds: each min and each max, of this type, shape (p,).

    Raises:
        AssertionError: a pattern is in no class or in two, or the two ends of a range are in two classes, or
            Clip is neither one bound nor X at both: this module or the oracle errs.
    """
    oracle, keys = load_oracle(), key_type(dtype)
    starts = _starts(dtype, [bound.view(keys) for bound in bounds])
    ends = np.empty_like(starts)  # the last key of each range
    ends[:, :-1], ends[:, -1] = starts[:, 1:], np.iinfo(keys).max
    ends[:, :-1] -= starts[:, 1:] > starts[:, :-1]
    columns = [bound[:, None] for bound in bounds]
    first, last = ((at.view(dtype), *columns) for at in (starts, ends))
    conditions = oracle.CLASSES[oracle.FAMILY_OF[dtype.name]]
    masks = _holding(conditions, first)
    assert np.all(masks.sum(axis=0) == 1), "a triple is in one class"
    assert np.array_equal(masks, _holding(conditions, last)), "a range is in one class"
    result, result_at_end = (oracle.clip(*operands).view(keys) for operands in (first, last))
    is_x = (result == starts) & (result_at_end == ends)
    assert np.all(is_x | (result == result_at_end)), "Clip is one bound, or X, in each class"
    return ClassRanges(tuple(conditions), starts, masks.argmax(axis=0), is_x, result)


def _holding(conditions: Mapping[str, Callable[..., Array]], operands: Sequence[Array]) -> Array:
    """Which conditions hold, one after the other, shape (number of them, p, r)."""
    shape = operands[0].shape
    return np.stack([np.broadcast_to(holds(*operands), shape) for holds in conditions.values()])


def _starts(dtype: np.dtype[Any], bounds: Sequence[Array]) -> Array:
    """Where a class may begin: at each value that is compared with, and after it."""
    oracle, keys = load_oracle(), key_type(dtype)
    info = np.iinfo(keys)
    constants = np.array(list(oracle.CONSTANTS[dtype.name].values()), f"u{keys.itemsize}").view(keys)
    zeros = [0] if keys == dtype else [0, 1 << (8 * keys.itemsize - 1)]  # that NaNs begin is a constant
    fixed = np.concatenate([constants, np.array(zeros, keys)])
    cuts = np.hstack([bound[:, None] for bound in bounds] + [np.tile(fixed, (len(bounds[0]), 1))])
    after = cuts + (cuts < info.max).astype(keys)
    least = np.full((len(cuts), 1), info.min, keys)
    return np.sort(np.hstack([least, cuts, after]), axis=1)
