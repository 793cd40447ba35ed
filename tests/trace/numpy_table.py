"""The table of meanings held against NumPy: operands in many layouts, results bit for bit."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.spec import load_spec
from sonnx_clip.trace.evaluate_table import PatternOrder, evaluate, reading
from sonnx_clip.trace.numpy_meaning import Meaning, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Array: TypeAlias = np.ndarray[Any, Any]
SPEC = load_spec()
TYPES = {e.id: e for e in SPEC.element_types if e.width is not None and e.id != "bfloat16"}


def _copyto(a: Array, b: Array) -> Array:
    target = a.copy()
    np.copyto(target, b)
    return target


def _reduced(ufunc: np.ufunc) -> Callable[[Array, Array], Array]:
    """Pairs as rows of two: the greatest, or least, of each."""
    return lambda a, b: ufunc.reduce(np.stack([a, b]), axis=0)


REAL: dict[str, Callable[..., Any]] = {
    **{n: getattr(np, n) for n in ("less", "less_equal", "greater", "greater_equal", "equal", "isnan")},
    **{n: getattr(np, n) for n in ("maximum", "minimum", "right_shift")},
    **{n: getattr(np, n) for n in ("bitwise_and", "bitwise_or", "bitwise_xor", "add", "subtract")},
    "clip": lambda x, lower, upper, **out: x.clip(lower, upper, **out),
    "max": _reduced(np.maximum), "min": _reduced(np.minimum),
    "copyto": _copyto,
    "view": lambda a: a.view(f"u{a.itemsize}").view(a.dtype),
}  # fmt: skip
"""What NumPy calls each operation of the table."""


def kinds(meaning: Meaning) -> str:
    """The kinds of element types that an operation has."""
    return {"Bits": "iu", "SignedBits": "i"}.get(meaning.module, "iuf")


@cache
def readings(name: str) -> PatternOrder:
    """How NumPy orders the patterns of a type."""
    kind = np.dtype(name).kind
    return reading("Float" if kind == "f" else "Signed" if kind == "i" else "Unsigned", TYPES[name])


def cases() -> list[tuple[str, str]]:
    """Each operation on elements with each type that has it."""
    return [
        (m.name, name) for m in table().values()
        for name in TYPES if np.dtype(name).kind in kinds(m)
    ]  # fmt: skip


def wrong(meaning: Meaning, how: PatternOrder, operands: tuple[Array, ...], got: Array) -> int:
    """At how many places NumPy's result, patterns or a mask, is none of those that the meaning allows."""
    given = tuple(a if a.dtype == np.bool_ else a.astype(np.uint64) for a in operands)
    found = got if got.dtype == np.bool_ else got.astype(np.uint64)
    allowed, every = np.zeros(found.shape, np.bool_), table()
    free = [name for name in meaning.choices if name != "free"]
    for taken in product((True, False), repeat=len(free)):
        choices = dict(zip(free, map(np.bool_, taken), strict=True))
        more = tuple(choices.get(name, found) for name in meaning.choices)
        allowed |= evaluate(meaning, (*given, *more), how, every) == found
    return int(np.count_nonzero(~allowed))


def patterns_of(array: Array) -> Array:
    """Patterns of an array, or the array itself if it is a mask."""
    return array if array.dtype == np.bool_ else array.view(f"u{array.itemsize}")


def layouts(a: Array) -> Iterator[Array]:
    """The same entries: aligned, one entry off, in steps, backwards."""
    yield a
    wide = np.zeros(2 * a.size + 1, a.dtype)
    wide[1 : a.size + 1] = a
    yield wide[1 : a.size + 1]
    spread = np.zeros(2 * a.size, a.dtype)
    spread[::2] = a
    yield spread[::2]
    yield np.ascontiguousarray(a[::-1])[::-1]


def compare(name: str, dtype: str, operands: tuple[Array, ...]) -> int:
    """Apply an operation in NumPy and compare; returns how many results were compared."""
    meaning, how = table()[name], readings(dtype)
    with np.errstate(all="ignore"):
        got = REAL[name](*operands)
    given = tuple(map(patterns_of, operands))  # not spread out: each pattern is read once
    assert got.dtype == (np.bool_ if meaning.kind == "mask" else np.dtype(dtype))
    bad = wrong(meaning, how, given, patterns_of(got))
    assert bad == 0, f"np.{name} of {dtype}: {bad} of {got.size} results differ from why3/numpy.mlw"
    return int(got.size)
