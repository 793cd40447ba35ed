"""NumPy does what why3/numpy.mlw says: every operation, on every type, bit for bit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sonnx_clip.language.special import special_patterns
from sonnx_clip.trace.numpy_meaning import table
from tests.trace.numpy_table import (
    REAL,
    TYPES,
    Array,
    cases,
    compare,
    layouts,
    patterns_of,
    readings,
    wrong,
)  # fmt: skip

QUICK = ("int8", "uint64", "float16", "float32")
"""The types of which `make test` compares every layout; `make nightly` compares all."""
LENGTHS = (1, 2, 3, 7, 8, 17, 31, 33, 65, 130)


def _all(dtype: str) -> Array:
    width = 8 * np.dtype(dtype).itemsize
    return np.arange(1 << width, dtype=f"u{width // 8}").view(dtype)


def _special(dtype: str) -> Array:
    return np.array(special_patterns(TYPES[dtype]), f"u{np.dtype(dtype).itemsize}").view(dtype)


def _operands(name: str, dtype: str, first: Array, others: Array) -> tuple[Array, ...]:
    """A column against rows; what the operation takes beyond two is mixed in between."""
    count = sum(1 for p, _ in table()[name].parameters if p not in table()[name].choices)
    if count == 1:
        return (first,)
    if name == "clip":
        return first[:, None], others[None, :], np.roll(others, 7)[None, :]
    a, b = first[:, None], others[None, :]
    if name in ("copyto", "max", "min"):  # these take operands of one shape
        a, b = np.broadcast_arrays(a, b)
    return a, b


def test_every_operation_is_compared() -> None:
    assert set(REAL) == set(table())
    assert {name for name, _ in cases()} == set(table())


@pytest.mark.parametrize(("name", "dtype"), cases())
def test_all_patterns_of_small_types_and_special_values(name: str, dtype: str) -> None:
    special, small = _special(dtype), np.dtype(dtype).itemsize <= 2
    first = _all(dtype) if small else special
    others = _all(dtype) if np.dtype(dtype).itemsize == 1 else special
    compared, parts = 0, -(-len(first) // 256)  # what is computed of a part stays in the caches
    for some in np.array_split(first, parts):
        compared += compare(name, dtype, _operands(name, dtype, some, others))
        if small and name != "clip":
            compare(name, dtype, _operands(name, dtype, special, some))
    assert compared >= len(first)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [pytest.param(n, d, marks=() if d in QUICK else pytest.mark.nightly) for n, d in cases()],
)
def test_every_length_and_layout(name: str, dtype: str) -> None:
    special = _special(dtype)
    for length, shift in product(LENGTHS, (0, 5)):
        x = np.resize(np.roll(special, shift), length)
        rows = _operands(name, dtype, x, special[shift : shift + 1])
        flat = tuple(
            np.ascontiguousarray(np.broadcast_to(o, rows[0].shape)).reshape(-1) for o in rows
        )
        others = tuple(np.roll(o, 3) for o in flat[1:])
        for first in layouts(flat[0]):
            assert compare(name, dtype, (first, *others)) == length
            assert (
                compare(name, dtype, (first, *(next(reversed([*layouts(o)])) for o in others)))
                == length
            )
        if others and name not in ("max", "min"):
            scalars = tuple(o[:1].reshape(()) for o in others)
            assert compare(name, dtype, (flat[0], *scalars)) == length


@pytest.mark.parametrize("dtype", [d for n, d in cases() if n == "max"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_reductions_join_each_entry_with_the_rest(name: str, dtype: str) -> None:
    meaning, how, special = table()[name], readings(dtype), _special(dtype)
    for length, shift in product(LENGTHS, range(0, len(special), 4)):
        x = np.resize(np.roll(special, shift), length)
        with np.errstate(all="ignore"):
            rests = [
                np.asarray(getattr(np.delete(x, i), name)()) for i in range(length) if length > 1
            ]
            got = np.array([getattr(laid, name)() for laid in layouts(x)], x.dtype)
        rest = patterns_of(np.array(rests, x.dtype)) if rests else patterns_of(x)
        every = np.broadcast_to(patterns_of(got)[:, None], (len(got), length))
        assert len(got) == 4
        assert wrong(meaning, how, (patterns_of(x), rest), every) == 0


@pytest.mark.parametrize(
    ("name", "dtype"), [(n, d) for n, d in cases() if n in ("clip", "bitwise_and", "add")]
)
def test_in_place_is_as_out_of_place(name: str, dtype: str) -> None:
    special, meaning = _special(dtype), table()[name]
    for length, shift in product(LENGTHS, range(0, len(special), 5)):
        x = np.resize(special, length)
        others = tuple(np.roll(special, shift + i)[0] for i in range(len(meaning.parameters) - 1))
        others = others[: 2 if name == "clip" else 1]
        found = []
        for laid in layouts(x.copy()):
            with np.errstate(all="ignore"):
                REAL[name](laid, *others, out=laid)
            found.append(_dense(laid).copy())
            laid[...] = x
        assert len(found) == 4
        given = (x, *(np.resize(o, length) for o in others))
        assert wrong(meaning, readings(dtype), tuple(map(patterns_of, given)), np.stack(found)) == 0


def _dense(array: Array) -> Array:
    return patterns_of(np.ascontiguousarray(array))
