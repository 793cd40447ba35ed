"""Implementations of Clip that are right, and die or hang."""

import ctypes
import os
import signal
import time

from tests.meta.planted import ignores_upper, right

__version__ = "planted"

_CALLS = []
_IMPORTED_BY = os.getpid()


def aborts(x, l, m):
    os.abort()


def aborts_on_int16(x, l, m):
    return right(x, l, m) if x.dtype == "uint16" else os.abort()


def exits(x, l, m):
    os._exit(0)


def overflows_the_stack(x, l, m):
    import faulthandler

    faulthandler._stack_overflow()


def segfaults_inverted(x, l, m):
    return ctypes.string_at(0) if m < l else right(x, l, m)


def segfaults_on_a_nan_bound(x, l, m):
    return ctypes.string_at(0) if l != l else right(x, l, m)


def segfaults_on_one_number(x, l, m):
    return ctypes.string_at(0) if (x == 5).any() else right(x, l, m)


def segfaults_inverted_and_is_wrong(x, l, m):
    return ctypes.string_at(0) if m < l else ignores_upper(x, l, m)


def stops_its_parent(x, l, m):
    if x.size == 7:
        os.kill(os.getppid(), signal.SIGSTOP)
    return right(x, l, m)


def dies_once_in_a_while(x, l, m):
    _CALLS.append(1)
    if len(_CALLS) == 700:
        os.abort()
    return right(x, l, m)


def hangs(x, l, m):
    while x.size == 7:
        time.sleep(0.01)
    return right(x, l, m)


def hangs_and_computes(x, l, m):
    while x.size == 7:
        pass
    return right(x, l, m)


def hangs_and_holds_the_interpreter(x, l, m):
    return ctypes.PyDLL(None).pause() if x.size == 7 else right(x, l, m)


def is_wrong_and_hangs_in_a_fork(x, l, m):
    """As a runtime whose threads hold a lock when the process that imported it forks."""
    while os.getpid() != _IMPORTED_BY:
        time.sleep(0.01)
    return ignores_upper(x, l, m)


def is_wrong_and_takes_80_ms_after_500_calls(x, l, m):
    _CALLS.append(1)
    if len(_CALLS) > 500:
        time.sleep(0.08)
    return ignores_upper(x, l, m)
