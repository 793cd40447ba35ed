"""What stands for the abstract symbols of a theory where it is evaluated: a model that meets its axioms.

A theorem over every ordered type is evaluated over a type of eight elements, with two zeros, two infinities
and two NaNs: where it is false there, it is false. What an implementation compares by is taken in many ways.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

TOY = "Toy"
"""The type of eight elements: -inf, -1, -0, +0, 1, inf and two NaNs, by their places in this list."""

_KEYS = np.array([-np.inf, -1.0, 0.0, 0.0, 1.0, np.inf, np.nan, np.nan])
COUNT = len(_KEYS)


def _key(a: Any) -> Any:
    return _KEYS[np.asarray(a, np.int64)]


def _valid(index: Any, shape: Any) -> bool:
    if shape[0] == "Scalar":
        return bool(index[0] == "Origin")
    return index[0] == "At" and 0 <= index[1] < shape[1] and _valid(index[2], shape[2])


ABSTRACT: dict[str, Any] = {
    "type t": TOY, "type elt": TOY, "type shape": "Shape", "type index": "Index", "type size": "size",
    "nan": lambda a: np.isnan(_key(a)),
    "le": lambda a, b: _key(a) <= _key(b),
    "lt": lambda a, b: _key(a) < _key(b),
    "eq": lambda a, b: _key(a) == _key(b),
    "valid": _valid, "empty": ("Scalar",), "origin": ("Origin",),
    "value": lambda a: a, "largest": 1000,
    "lo": np.uint8(0), "hi": np.uint8(5), "probe": np.uint8(6),
    "inverted": lambda a, b: _key(a) < _key(b),
    "at_lower": lambda a, b: _key(a) <= _key(b),
    "at_upper": lambda a, b: _key(a) <= _key(b),
    "before": lambda place: np.uint8(place % COUNT),  # what is in memory, by its place: of each element one
    "after": lambda place: np.uint8(place % COUNT),
    "read": None, "write": None, "memory": None,
}  # fmt: skip


@cache
def models_of(module: str) -> tuple[Mapping[str, Any], ...]:
    """The models in which the goals of a module are evaluated, beside the one above."""
    if module != "composition.Composition":
        return ({},)
    found: list[Mapping[str, Any]] = [{}]
    for name, right in (("inverted", np.less), ("at_lower", np.less_equal), ("at_upper", np.less_equal)):
        for a in range(COUNT):
            found += [{name: _flipped(right, a, b)} for b in range(COUNT)]
    return tuple(found)


def _flipped(right: Any, a: int, b: int) -> Any:
    """A comparison that is wrong of one pair."""

    def compare(x: Any, y: Any) -> Any:
        return right(_key(x), _key(y)) ^ ((np.asarray(x) == a) & (np.asarray(y) == b))

    return compare
