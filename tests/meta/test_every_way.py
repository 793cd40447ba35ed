"""Faults of our own implementations that show in one way of calling alone: `check` meets each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sonnx_clip.oracle.strict import CHUNK, clip
from sonnx_clip.runtimes import every_way as module
from sonnx_clip.runtimes.every_way import every_way

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT = np.linspace(-3, 3, 65).astype(np.float32)
LONG = np.linspace(-3, 3, 2 * CHUNK + 7).astype(np.float32)
LOW, HIGH = np.float32(-1), np.float32(1)


def _last_piece_forgotten(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    found = clip(x, l, m, out=out)
    if out is not None and x.size > CHUNK:
        found[-(x.size % CHUNK) :] = 0
    return found


def _overlap_not_copied(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    if out is None:
        return clip(x, l, m)
    for k in range(x.size if x.ndim == 1 else 0):  # as a loop in C does
        out[k] = clip(x[k : k + 1], l, m)[0]
    return out if x.ndim == 1 else clip(x, l, m, out=out)


def _one_shift_wrong(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    apart = 0 if out is None else out.ctypes.data - x.ctypes.data
    found = clip(x, l, m, out=out)
    if apart == 17 * x.itemsize:
        found[0] = 9
    return found


def _long_strides_wrong(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    found = clip(x, l, m, out=out)
    if x.size > CHUNK and out is not None and not (x.flags.c_contiguous and out.flags.c_contiguous):
        found[-1] = 9
    return found


def _in_place_wrong(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    if out is x:
        out[...] = clip(out, l, l)
        return out
    return clip(x, l, m, out=out)


def _overlap_with_itself_ignored(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    if out is not None and x.ndim == 2:
        for index in reversed(list(np.ndindex(x.shape))):
            out[index] = clip(x[index], l, m)
        return out
    return clip(x, l, m, out=out)


def _not_contiguous_as_if(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    if out is not None and not x.flags.c_contiguous and x.ndim == 1:
        out[...] = clip(np.frombuffer(np.ascontiguousarray(x[::-1]).tobytes(), x.dtype), l, m)
        return out
    return clip(x, l, m, out=out)


def _another_array_returned(x: Any, l: Any, m: Any, out: Any = None) -> Any:
    found = clip(x, l, m, out=out)
    return found if out is None else found.copy()


FAULTS = {
    "a last piece is forgotten": (_last_piece_forgotten, LONG, "the answer is another one"),
    "an overlap is not copied": (_overlap_not_copied, SHORT, "out= that is x moved by 1"),
    "an overlap by 17 is wrong": (_one_shift_wrong, SHORT, "out= that is x moved by 17"),
    "strided large arrays are wrong": (_long_strides_wrong, LONG, "reversed"),
    "in place alone is wrong": (_in_place_wrong, SHORT, "in place"),
    "an out that overlaps itself": (_overlap_with_itself_ignored, SHORT, "whose entries overlap"),
    "what is not contiguous is read as if it were": (_not_contiguous_as_if, SHORT, "reversed"),
    "another array than out is returned": (_another_array_returned, SHORT, "is not out"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_one_way_is_told(name: str) -> None:
    fault, x, words = FAULTS[name]
    with pytest.raises(AssertionError, match=words):
        every_way(fault, 1)(x, LOW, HIGH)


@pytest.mark.parametrize("x", [SHORT, LONG, SHORT.astype(np.float16), SHORT.astype(np.int8), SHORT[:1]])
def test_the_right_ones_are_right_in_every_way(x: np.ndarray) -> None:
    from sonnx_clip.oracle import c

    functions: list[Callable[..., Any]] = [clip, c.clip]
    for function in functions:
        found = every_way(function, 1)(x, x.dtype.type(-1), x.dtype.type(1))
        assert found.tobytes() == clip(x, x.dtype.type(-1), x.dtype.type(1)).tobytes()


def test_one_of_many_short_calls_is_asked_in_every_way() -> None:
    asked = every_way(_in_place_wrong)
    for _ in range(module.EVERY - 1):
        asked(SHORT, LOW, HIGH)
    with pytest.raises(AssertionError, match="in place"):
        asked(SHORT, LOW, HIGH)


def test_one_read_too_many_ends_the_process() -> None:
    """The memory behind the last entry may not be touched."""
    import subprocess
    import sys

    code = (
        "import ctypes, numpy as np\n"
        "from sonnx_clip.runtimes.every_way import ways\n"
        "x = np.zeros(65, np.float32)\n"
        "edge = next(given for words, given, _ in ways(x) if 'end of the memory' in words)\n"
        "print(edge[-1], flush=True)\n"
        "ctypes.c_float.from_address(edge.ctypes.data + edge.nbytes).value\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "0.0\n"
    assert done.returncode < 0
