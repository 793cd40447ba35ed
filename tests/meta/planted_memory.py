"""Implementations of Clip that are right, and touch memory, descriptors or a state that are not theirs."""

import ctypes
import os

import numpy as np

from tests.meta.planted import ignores_upper, right

__version__ = "planted"

_CALLS = []


def _first(x):
    _CALLS.append(1)
    return len(_CALLS) == 1


def _and_writes(place, function=right):
    """The result of a function, and a byte written where there are entries."""

    def clip(x, l, m):
        y = function(x, l, m)
        if x.size:
            ctypes.memset(place(x, l, m), 0x5A, 1)
        return y

    return clip


writes_into_x = _and_writes(lambda x, *_: x.ctypes.data)
writes_into_x_and_is_wrong = _and_writes(lambda x, *_: x.ctypes.data, ignores_upper)
writes_past_x = _and_writes(lambda x, *_: x.ctypes.data + x.nbytes)
writes_before_x = _and_writes(lambda x, *_: x.ctypes.data - 1)
writes_into_min = _and_writes(lambda _, l, m: l.ctypes.data)
writes_past_max = _and_writes(lambda _, l, m: m.ctypes.data + 2)


def writes_into_min_of_an_empty_x(x, l, m):
    y = right(x, l, m)
    if not x.size:
        ctypes.memset(l.ctypes.data, 0x5A, 1)
    return y


def writes_and_restores(x, l, m):
    if x.size:
        ctypes.memmove(x.ctypes.data, ctypes.string_at(x.ctypes.data, 1), 1)
    return right(x, l, m)


def reads_past_x(x, l, m):
    ctypes.string_at(x.ctypes.data + x.nbytes, 32)
    return right(x, l, m)


def reads_before_x(x, l, m):
    ctypes.string_at(x.ctypes.data - 1, 1)
    return right(x, l, m)


def returns_x(x, l, m):
    y = right(x, l, m)
    return x if np.array_equal(x, y) else y


def forks(x, l, m):
    if _first(x):
        os.fork()
    return right(x, l, m)


def prints(x, l, m):
    if _first(x):
        os.write(1, b"spam \x1b[31m\xff " * 20_000)
        os.write(2, b"careful\n")
    return right(x, l, m)


def writes_on_every_descriptor(x, l, m):
    for descriptor in range(3, 1200):
        try:
            os.write(descriptor, b"\0\0\0\x10garbage")
        except OSError:
            continue
    return right(x, l, m)


def closes_every_descriptor(x, l, m):
    os.closerange(0, 1200)
    return right(x, l, m)


class _NoText(Exception):
    def __str__(self):
        raise ValueError("no words")


def _raises(error):
    def clip(x, l, m):
        if x.size == 7:
            raise error
        return right(x, l, m)

    return clip


interrupts = _raises(KeyboardInterrupt())
leaves = _raises(SystemExit("bye"))
raises_a_giant = _raises(ValueError("A" * 50_000_000))
raises_no_text = _raises(_NoText())
raises_what_is_no_text = _raises(ValueError("bad \ud800 text \x1b[31m red \x00"))


def recurses(x, l, m):
    return right(x, l, m) if x.size != 7 else recurses(x, l, m)


def _is_wrong_in_call(number):
    def clip(x, l, m):
        _CALLS.append(1)
        y = right(x, l, m)
        if len(_CALLS) == number:
            y = y.copy()
            y.reshape(-1)[:1] = 42
        return y

    return clip


is_wrong_in_call_3 = _is_wrong_in_call(3)
is_wrong_in_call_300 = _is_wrong_in_call(300)
