"""Requests and answers; and the calls of a request, made one by one in the process of the runtime."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.runtimes.guarded import ALL, Operands
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.operator_node import CLIP_NODE, OperatorNode
from sonnx_clip.runtimes.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.model_process import ModelCalls
    from sonnx_clip.runtimes.runtime import ClipFunction

RETURNED = "it returned "
"""How the words begin on a result of another shape or type."""
OVERWRITTEN = "its result is overwritten by the next call"

_BY_ID = {layout.id: layout for layout in LAYOUTS}
_ENVIRONMENT = (MemoryError, ImportError, OSError)
_MISTAKES = (AssertionError, NameError, RecursionError, SystemError)


@dataclass(frozen=True)
class Request:
    """Calls of one layout: call i has the entries ``pool[starts[i]:]``, cyclic, and the scalars i.

    A layout that repeats takes ``pool[starts[i]]`` for every entry of call i.

    Args:
        layout: the id of a layout.
        length: entries of X in each call.
        pool: bits of the values that the first tensor takes, shape (k,).
        starts: where in the pool the entries of each call begin, shape (p,).
        scalars: bits of each scalar, of shape (p,).
        indices: where in the pool each entry of each call is, shape (p, length), if not as `starts` says.
        beside: bits of the values that each other tensor takes beside those of the first, of shape (k,).
        at_start: whether X begins with a page of memory, not ends with one, for each call, shape (p,); if
            None, for the second half of the calls.
        guards: those of `guarded.ALL` that stand.
    """

    layout: str
    length: int
    pool: Array
    starts: Array
    scalars: tuple[Array, ...]
    indices: Array | None = None
    at_start: Array | None = None
    guards: frozenset[str] = ALL
    beside: tuple[Array, ...] = ()

    @property
    def pools(self) -> tuple[Array, ...]:
        """The pool of each tensor."""
        return (self.pool, *self.beside)

    @property
    def count(self) -> int:
        """How many calls it is."""
        return len(self.starts)

    def operands_at(self, rows: Array, places: Array) -> tuple[Array, ...]:
        """The bits of every operand at some entries of some calls, each of their shape.

        Args:
            rows: the calls.
            places: where in the pools the entries are.
        """
        return (*(pool[places] for pool in self.pools), *(scalar[rows] for scalar in self.scalars))

    @property
    def sides(self) -> Array:
        """Whether X begins with a page, for each call, shape (p,)."""
        if self.at_start is not None:
            return self.at_start
        return np.arange(self.count) > (self.count - 1) // 2

    @property
    def answer_shape(self) -> tuple[int, int]:
        """The shape of the bits of an answer."""
        return self.count, self.length

    @property
    def answer_type(self) -> np.dtype[Any]:
        """Their type."""
        found: np.dtype[Any] = self.pool.dtype
        return found


@dataclass(frozen=True)
class Failure:
    """What a call gave instead of a result that can be compared.

    Args:
        tags: C1 where the result has another shape, C3 where it has another type, or is no array.
        words: what there was instead; the runtime's own where it raised.
        raised: whether there was no result at all.
        refusal: whether what it raised can be a refusal; not so an AssertionError, a RecursionError or
            a KeyboardInterrupt.
        environment: whether what it raised speaks of the machine: memory, a package, a file.
        memory: whether it touched memory that it may not; its result can be compared nevertheless.
        blamed: of a call of which the runtime died, the classes (indices) whose entries did it; else None.
    """

    tags: tuple[str, ...]
    words: str
    raised: bool = False
    refusal: bool = False
    environment: bool = False
    memory: bool = False
    blamed: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Died:
    """How the process of a runtime ended before it had answered.

    Args:
        words: ``killed by SIGSEGV``.
        call: the number of the call that was running.
        hung: whether it was ended since it took too long.
        remarks: what was noticed before.
    """

    words: str
    call: int
    hung: bool = False
    remarks: tuple[str, ...] = ()


@dataclass
class Answer:
    """Bits of the results, shape (p, length), and the calls that gave none.

    Args:
        bits: of the results.
        failures: by call.
        died: how the runtime died, if it did; only the calls before that one are answered then.
        remarks: what was noticed that is no result.
    """

    bits: Array
    failures: dict[int, Failure] = field(default_factory=dict)
    died: Died | None = None
    remarks: list[str] = field(default_factory=list)


def entry_indices(request: Request, calls: int | slice = slice(None)) -> Array:
    """The index in the pool of each entry of a call, shape (length,), or of each of some, (p, length)."""
    if request.indices is not None:
        return request.indices[calls]
    return (request.starts[calls, None] + _steps(request)) % len(request.pool)


def _steps(request: Request) -> Array:
    if _BY_ID[request.layout].repeats:
        return np.zeros(request.length, int)
    return np.arange(request.length)


class _Held:
    """The last result, read at once and again after the next call: results may not share their memory."""

    def __init__(self, bits: Array, board: Board) -> None:
        self._bits, self._board = bits, board
        self._last: tuple[int, Array, bytes] | None = None

    def keep(self, call: int, result: Array, *, again: bool) -> None:
        """Read a result, and the one before it for the second time."""
        entries = result.tobytes()
        self._bits[call] = np.frombuffer(entries, self._bits.dtype)
        self.release()
        self._last = (call, result, entries) if again else None

    def release(self) -> None:
        """Read the last result for the second time."""
        if self._last is not None:
            call, result, entries = self._last
            if result.tobytes() != entries:
                note(self._board, call, Failure((), OVERWRITTEN))
            self._last = None


def note(board: Board, call: int, failure: Failure) -> None:
    """Note what a call gave instead of a result."""
    board.note({"call": call, **asdict(failure)})


def read_answer(board: Board, request: Request | ModelCalls, died: Died | None = None) -> Answer:
    """The answer to a request on the board, as far as it goes; a runtime may have written over notes."""
    found = Answer(board.bits(request.answer_shape, request.answer_type).copy(), died=died)
    for record in board.notes():
        if "remark" in record:
            found.remarks.append(str(record["remark"]))
            continue
        with suppress(KeyError, TypeError, ValueError):
            call, tags = int(record.pop("call")), tuple(record.pop("tags"))
            if died is None or call < died.call:
                found.failures[call] = Failure(tags, **record)
    return found


class Caller:
    """Makes calls of one function.

    Args:
        function: the runtime's, opened for an element type. If it has a method `written`, that is asked
            after each call where memory was written that must not be.
        etype: the id of the type.
        node: the operator; Clip by default.
    """

    def __init__(
        self,
        function: ClipFunction,
        etype: str,
        node: OperatorNode = CLIP_NODE,
    ) -> None:
        self._function, self._type = function, numpy_type(etype)
        self._bits = bits_type(etype)
        self._operands = Operands(node)
        self._process = os.getpid()
        self._written: Callable[[], Iterable[str]] = getattr(function, "written", tuple)

    def __call__(self, request: Request, board: Board) -> None:
        """Make the calls of a request, one by one, and write what they give on the board."""
        bits = board.bits(request.answer_shape, self._bits)
        held = _Held(bits, board)
        operands = self._operands
        operands.begin(request, self._type)
        views = False
        for call in range(request.count):
            board.call = call
            given = operands.of_call(call)
            result = call_once(partial(self._function, *given), given[0])
            if os.getpid() != self._process:  # a copy that the runtime has made of this process
                os._exit(0)
            if isinstance(result, Failure):
                note(board, call, result)
                if result.environment:
                    break
            else:
                shared = operands.is_x(result)
                views = views or shared
                held.keep(call, result, again=not shared)
            for words in (*operands.written(), *self._written()):
                note(board, call, Failure((), words, memory=True))
        held.release()
        if views:
            board.note({"remark": "its result is the memory of X itself"})


def call_once(call: Callable[[], Any], x: Array) -> Array | Failure:
    """The result of a call, of the shape and type of `x`; or what there was instead."""
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001  (whatever a runtime raises is its answer)
        return failure_of(error)
    # A subclass may mean something else by its memory: a masked array has entries that are none.
    if type(result) is not np.ndarray and not isinstance(result, np.generic):
        kind = type(result).__name__
        return Failure(("C1", "C3"), f"{RETURNED}{kind}, not an array (numpy.ndarray itself)")
    words = {}
    if result.shape != x.shape:
        words["C1"] = f"{RETURNED}shape {result.shape}, expected {x.shape}"
    if result.dtype != x.dtype:
        words["C3"] = f"{RETURNED}{result.dtype}, expected {x.dtype}"
    if words:
        return Failure(tuple(words), "; ".join(words.values()))
    return np.asarray(result)


def failure_of(error: BaseException) -> Failure:
    """What is said of a call that raised."""
    environment = isinstance(error, _ENVIRONMENT)
    refusal = isinstance(error, Exception) and not environment and not isinstance(error, _MISTAKES)
    return Failure((), words_of(error), raised=True, refusal=refusal, environment=environment)
