"""`sonnx_clip.clip` writes what is due wherever operands and result lie in memory, and plans once."""

import threading
from itertools import product

import ml_dtypes
import numpy as np
import pytest

from sonnx_clip import clip
from sonnx_clip.oracle import load_oracle, strict
from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.root.dtypes import numpy_type
from tests.oracle.test_kernels import check, special

pytestmark = pytest.mark.parametrize("by", ["numpy", "c"], indirect=True)
TYPES = [dtype.name for dtype in PLANNERS]
F = np.float32


def values_of(name, size):
    return np.resize(special(name), size)


def some_bounds(name):
    numbers = {"ordinary": (1, 3), "zero": (0, 2), "inverted": (3, 1)}
    if numpy_type(name).kind != "u":
        numbers |= {"across": (-1, 2), "to zero": (-2, 0)}
    return [
        tuple(np.array(bound).astype(numpy_type(name)) for bound in pair)
        for pair in numbers.values()
    ]


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    result = memory[1:].view(x.dtype).reshape(x.shape)
    result[...] = x
    assert x.itemsize == 1 or not result.flags.aligned
    return result


VIEWS = (
    lambda wide: wide[:4, :6],
    lambda wide: wide[::2, ::3],
    lambda wide: wide[::-2, ::3],
    lambda wide: wide[1::2, -1::-3],
    lambda wide: wide.T[:12:3, :6],
)


def all_layouts(x):
    """Arrays with the entries of `x`, of shape (4, 6), that lie ever differently in memory of their own."""
    yield x.copy()
    yield np.asfortranarray(x)
    yield unaligned(x)
    for view_of in VIEWS:
        view = view_of(np.zeros((8, 18), x.dtype))
        view[...] = x
        yield view


@pytest.mark.parametrize("name", TYPES)
def test_every_layout_of_x_and_of_out(name):
    x = values_of(name, 24).reshape(4, 6)
    for bounds in some_bounds(name):
        for source, out in product(all_layouts(x), all_layouts(np.zeros_like(x))):
            assert clip(source, *bounds, out=out) is out
            check(x, *bounds, out)
        for place in all_layouts(x):
            clip(place, *bounds, out=place)
            check(x, *bounds, place)
            check(place.copy(), *bounds, clip(place, *bounds, out=place[...]))


@pytest.mark.parametrize("name", TYPES)
def test_x_that_repeats_its_entries_and_shapes_without_entries(name):
    row = values_of(name, 6)
    for bounds in some_bounds(name):
        wide = np.broadcast_to(row, (5, 6))
        check(wide, *bounds, clip(wide, *bounds))
        for shape in ((0,), (3, 0, 2)):
            assert clip(np.zeros(shape, row.dtype), *bounds).shape == shape
        alone = row[3, ...]
        check(alone, *bounds, clip(alone, *bounds))
        place = alone.copy()
        assert clip(place, *bounds, out=place) is place
        check(alone, *bounds, place)


@pytest.mark.parametrize("chunk", [strict.CHUNK, 7])
@pytest.mark.parametrize("name", TYPES)
def test_every_shift_of_out_against_x(name, chunk):
    for bounds, shift in product(some_bounds(name), range(-20, 21)):
        memory = values_of(name, 60)
        x = memory[20:40]
        before = x.copy()
        strict._clip(x, *bounds, memory[20 + shift : 40 + shift], may_be_in_c=True, chunk=chunk)
        check(before, *bounds, memory[20 + shift : 40 + shift])


@pytest.mark.parametrize("name", TYPES)
def test_out_whose_entries_share_memory_holds_one_of_the_results(name):
    memory = values_of(name, 3)
    out = np.lib.stride_tricks.as_strided(memory, (5,), (0,))
    for bounds in some_bounds(name):
        due = load_oracle().clip(out.copy(), *bounds)
        clip(out, *bounds, out=out)
        assert out.tobytes() == due.tobytes()
    sliding = np.lib.stride_tricks.sliding_window_view(memory, 2, writeable=True)
    x = np.repeat(values_of(name, 1), 4).reshape(2, 2)
    bounds = some_bounds(name)[0]
    check(x, *bounds, clip(x, *bounds, out=sliding))


def test_a_type_that_is_equal_but_another_object():
    dtype = np.dtype(F, metadata={"of": "another"})
    x = np.array([-1, 0.5, 7], F).view(dtype)
    assert clip(x, F(0), F(1)).tolist() == [0, 0.5, 1]
    assert clip(x.view(F), np.array(0, dtype), F(1), out=np.zeros(3, dtype)).tolist() == [0, 0.5, 1]
    long = np.array([5], np.longlong)
    assert clip(long, np.longlong(0), np.int64(1)).tolist() == [1]


def test_a_bound_that_is_changed_is_read_again():
    x, lower, upper = np.array([-5, 5], F), np.array(0, F), np.array(1, F)
    assert clip(x, lower, upper).tolist() == [0, 1]
    upper[...] = 3
    lower[...] = -2
    assert clip(x, lower, upper).tolist() == [-2, 3]
    lower[...] = 4
    assert clip(x, lower, upper).tolist() == [3, 3]


def test_bounds_differ_by_their_bits_and_type():
    x = np.array([-0.0, 0.0], F)
    for pattern in 2 * (0, 0x8000_0000, 0x7FC0_0000, 0x7FC0_0001, 0xFFC0_0000):
        lower = np.uint32(pattern).view(F)
        check(x, lower, F(1), clip(x, lower, F(1)))
        check(x, lower, F(1), clip(x, np.array(lower), F(1)))
    assert clip(np.array([7], np.int32), np.int32(0), np.int32(0x3F80_0000)).tolist() == [7]


def test_threads_get_what_they_ask_for():
    wrong = []

    def run(first):
        x = values_of("bfloat16", 500)
        for number in range(first, first + 400):
            lower, upper = (ml_dtypes.bfloat16(bound) for bound in (-(number % 37), number % 41))
            due = load_oracle().clip(x, lower, upper)
            if clip(x, lower, upper).tobytes() != due.tobytes():
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(first,)) for first in range(0, 40, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
