"""The calls of a request, made one by one in the process of the runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.dtypes import Array, bits_type, numpy_type
from sonnx_clip.conform.layouts import LAYOUTS, Layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.conform.runtimes import ClipFunction

OVERWRITTEN = "its result is overwritten by the next call"

_BY_ID = {layout.id: layout for layout in LAYOUTS}


@dataclass(frozen=True)
class Request:
    """Calls of one layout: call i has the entries ``pool[starts[i]:]``, cyclic, and the bounds i.

    A layout that repeats takes ``pool[starts[i]]`` for every entry of call i.

    Args:
        layout: the id of a layout.
        length: entries of X in each call.
        pool: bits of the values that X takes, shape (k,).
        starts: where in the pool the entries of each call begin, shape (p,).
        lower: bits of min, shape (p,).
        upper: bits of max, shape (p,).
    """

    layout: str
    length: int
    pool: Array
    starts: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Failure:
    """What a call gave instead of a result that can be compared.

    Args:
        tags: C1 where the result has another shape, C3 where it has another type, or is no array.
        words: what there was instead; the runtime's own where it raised.
        raised: whether there was no result at all.
    """

    tags: tuple[str, ...]
    words: str
    raised: bool = False


@dataclass
class Answer:
    """Bits of the results, shape (p, length), and the calls that gave none."""

    bits: Array
    failures: dict[int, Failure] = field(default_factory=dict)


def entry_indices(request: Request) -> Array:
    """The index in the pool of each entry of each call, shape (p, length)."""
    return (request.starts[:, None] + _steps(request)) % len(request.pool)


def _steps(request: Request) -> Array:
    if _BY_ID[request.layout].repeats:
        return np.zeros(request.length, int)
    return np.arange(request.length)


class _Held:
    """The last result, read at once and again after the next call: results may not share their memory."""

    def __init__(self, found: Answer) -> None:
        self._found = found
        self._last: tuple[int, Array, bytes] | None = None

    def keep(self, call: int, result: Array) -> None:
        """Read a result, and the one before it for the second time."""
        entries = result.tobytes()
        self._found.bits[call] = np.frombuffer(entries, self._found.bits.dtype)
        self.release()
        self._last = call, result, entries

    def release(self) -> None:
        """Read the last result for the second time."""
        if self._last is not None:
            call, result, entries = self._last
            if result.tobytes() != entries:
                self._found.failures[call] = Failure((), OVERWRITTEN)
            self._last = None


def answer(function: ClipFunction, etype: str, request: Request, progress: Any) -> Answer:
    """Make the calls of a request, one by one."""
    bits, dtype = bits_type(etype), numpy_type(etype)
    layout = _BY_ID[request.layout]
    # Memory of bytes objects can be made writable by no caller in Python.
    lower, upper = (np.frombuffer(part.tobytes(), dtype) for part in (request.lower, request.upper))
    found = Answer(np.zeros((len(lower), request.length), bits))
    held = _Held(found)
    arranged: dict[int, Array] = {}
    for i, start in enumerate(request.starts.tolist()):
        progress.value = i
        if start not in arranged:
            arranged[start] = _arranged(layout, request, start).view(dtype)
        x = arranged[start]
        result = call_once(partial(function, x, lower[i, ...], upper[i, ...]), x)
        if isinstance(result, Failure):
            found.failures[i] = result
        else:
            held.keep(i, result)
    held.release()
    _blame_writers(request, found, arranged, (lower.view(bits), upper.view(bits)))
    return found


def _arranged(layout: Layout, request: Request, start: int) -> Array:
    return layout.prepared(request.pool[(start + _steps(request)) % len(request.pool)])


def _blame_writers(
    request: Request, found: Answer, arranged: dict[int, Array], bounds: tuple[Array, Array]
) -> None:
    """Code that is not Python may write into read-only memory: inputs are compared when all is done."""
    words = "it wrote into its input {}"
    for name, after, before in zip(("min", "max"), bounds, (request.lower, request.upper), strict=True):
        for call in np.flatnonzero(after != before).tolist():
            found.failures[call] = Failure((), words.format(name))
    starts = request.starts.tolist()
    for start, x in arranged.items():
        before = _arranged(_BY_ID[request.layout], request, start)
        if not np.array_equal(x.view(before.dtype), before):
            # Which of the calls that share this X it was is not known: the first is named.
            found.failures[starts.index(start)] = Failure((), words.format("X"))


def call_once(call: Callable[[], Any], x: Array) -> Array | Failure:
    """The result of a call, of the shape and type of `x`; or what there was instead."""
    try:
        result = call()
    except Exception as error:  # noqa: BLE001  (whatever a runtime raises is its answer)
        return Failure((), f"{type(error).__name__}: {error}", raised=True)
    # A subclass may mean something else by its memory: a masked array has entries that are none.
    if type(result) is not np.ndarray and not isinstance(result, np.generic):
        kind = type(result).__name__
        return Failure(("C1", "C3"), f"it returned {kind}, not an array (numpy.ndarray itself)")
    words = {}
    if result.shape != x.shape:
        words["C1"] = f"it returned shape {result.shape}, expected {x.shape}"
    if result.dtype != x.dtype:
        words["C3"] = f"it returned {result.dtype}, expected {x.dtype}"
    if words:
        return Failure(tuple(words), "; ".join(words.values()))
    return np.asarray(result)
