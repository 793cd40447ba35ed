"""Requests and answers, and the caller, which makes the calls of a request in the process of the runtime."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type, numpy_type, same_bits
from sonnx_clip.runtimes.guarded import ALL, Operands
from sonnx_clip.runtimes.layouts import BY_ID
from sonnx_clip.runtimes.words import error_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sonnx_clip.root.signature import Signature
    from sonnx_clip.runtimes.board import Asked, Board
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.runtimes.runtime import ClipFunction

RETURNED = "it returned "
"""How the words begin on a result of another shape or type."""
OVERWRITTEN = "its result is overwritten by the next call"

# What the machine lacks, such as memory, a package or a file, is no verdict on a runtime.
_ENVIRONMENT = (MemoryError, ImportError, OSError)
# No runtime rejects a call by one of these: its code is wrong.
_MISTAKES = (AssertionError, NameError, RecursionError, SystemError)


@dataclass(frozen=True)
class Request:
    """Calls of one layout: call i has the entries ``pool[starts[i]:]``, cyclic, and the scalars i.

    A layout that repeats takes ``pool[starts[i]]`` for every entry of call i. All values are bits; p is
    the number of calls, and k that of values in a pool.
    """

    layout: str  # the id of a layout
    length: int  # entries of X in each call, or the most of them
    pool: Array  # values of the first tensor, shape (k,)
    starts: Array  # the index in the pool of the first entry of each call, shape (p,)
    scalars: tuple[Array, ...]  # each of shape (p,)
    # indices: of each entry of each call in the pool, shape (p, length), in the place of `starts`
    indices: Array | None = None
    # at_start: whether X is at the start of the guarded memory, not at its end, shape (p,); by default in the
    # second half of the calls
    at_start: Array | None = None
    guards: frozenset[str] = ALL  # those that are active
    beside: tuple[Array, ...] = ()  # values of each other tensor, shape (k,)
    # lengths: entries of X in each call, shape (p,), where not all have `length`
    lengths: Array | None = None
    form: ModelForm | None = None  # of the models that are called; None for the runtime's function
    purpose: str = ""  # what the calls are for, a key of `extent.PURPOSES`

    @property
    def pools(self) -> tuple[Array, ...]:
        """The pool of each tensor."""
        return (self.pool, *self.beside)

    @property
    def count(self) -> int:
        """How many calls it is."""
        return len(self.starts)

    def length_of(self, call: int) -> int:
        """The number of entries of X in a call."""
        return self.length if self.lengths is None else int(self.lengths[call])

    def calls(self, calls: Array) -> Request:
        """Some calls by number, each in the memory where it was."""
        length = self.length
        lengths = None if self.lengths is None else self.lengths[calls]
        # Calls of one length need no `lengths`, and then their rows have no unused end.
        if lengths is not None and len(lengths) and np.all(lengths == lengths[0]):
            length = int(lengths[0])
            lengths = None
        return replace(
            self,
            length=length,
            starts=self.starts[calls],
            scalars=tuple(scalar[calls] for scalar in self.scalars),
            indices=None if self.indices is None else self.indices[calls],
            at_start=self.sides[calls],
            lengths=lengths,
        )

    def operands_at(self, rows: Array, places: Array) -> tuple[Array, ...]:
        """The bits of every operand: `rows` are the calls, `places` the entries, as indices of the pools."""
        operands = [pool[places] for pool in self.pools]
        operands += [scalar[rows] for scalar in self.scalars]
        return tuple(operands)

    @property
    def sides(self) -> Array:
        """Whether X begins with a page, for each call, shape (p,)."""
        if self.at_start is not None:
            return self.at_start
        # Where X ends with a page, a read past its end is seen; where it begins with one, a read before it.
        return np.arange(self.count) > (self.count - 1) // 2


@dataclass(frozen=True)
class Failure:
    """What was wrong with a call, beside wrong bits of a result that can be compared.

    It raised (`raised`); its result has another form (`tags`); it accessed forbidden memory (`memory`); or,
    with none of these, its result is overwritten by the next call, or that of a model cannot be used.
    """

    # tags: C1 if the result has another shape, C3 if it has another type; both if it is no array
    tags: tuple[str, ...]
    words: str  # what there was instead; the runtime's own words if it raised
    raised: bool = False  # there was no result at all
    # refusal: the exception may be a rejection; an AssertionError, for example, is none
    refusal: bool = False
    environment: bool = False  # the exception is about the machine: memory, a package, a file
    memory: bool = False  # forbidden memory was accessed; the result can be compared nevertheless
    blamed: tuple[int, ...] | None = None  # if it killed the runtime, the classes whose entries did


@dataclass(frozen=True)
class Died:
    """The end of the process of a runtime, in words (``killed by SIGSEGV``), and the call that was running.

    `hung` if it was killed because it took too long.
    """

    words: str
    call: int
    hung: bool = False


class EndedError(Exception):
    """A program that a runtime had started has ended, or cannot be used any more; the text is the reason.

    The process of the runtime ends with it.
    """


@dataclass
class Answer:
    """Bits of the results, shape (p, length), and what was wrong with calls beside the bits.

    The bits are in shared memory, which the next request overwrites. If the runtime died, only the calls
    before that one have results.
    """

    bits: Array
    failures: dict[int, Failure] = field(default_factory=dict)
    died: Died | None = None
    remarks: list[str] = field(default_factory=list)


def entry_indices(request: Request, calls: int | slice = slice(None)) -> Array:
    """The index in the pool of each entry of a call, shape (n,), or of each of some, shape (p, length)."""
    length = request.length_of(calls) if isinstance(calls, int) else request.length
    if request.indices is not None:
        return request.indices[calls, :length]
    steps = np.arange(length)
    if BY_ID[request.layout].repeats:
        steps = np.zeros_like(steps)
    places = request.starts[calls, None] + steps
    return places % len(request.pool)


def _note(board: Board, call: int, failure: Failure) -> None:
    board.note(call=call, **asdict(failure))


def answer_on(board: Board, request: Asked, died: Died | None = None) -> Answer:
    """The answer to a request on the board, as far as it goes; a runtime may have damaged notes."""
    answer = Answer(board.bits(request), died=died, remarks=remarks_of(board))
    for record in board.notes("call"):
        # A damaged note may lack a key, have another one, or text in the place of a number.
        with suppress(KeyError, TypeError, ValueError):
            call = int(record.pop("call"))
            tags = tuple(record.pop("tags"))
            # The call that killed the runtime may have a note from before its end.
            if died is None or call < died.call:
                answer.failures[call] = Failure(tags, **record)
    return answer


def remarks_of(board: Board) -> list[str]:
    """The remarks on the runtime since the last request, or since its start."""
    return [str(note["remark"]) for note in board.notes("remark")]


class Caller:
    """Makes calls of a function that a runtime has opened for an element type.

    A method `written` of the function, if it has one, lists forbidden writes, in words. An EndedError of the
    function ends this process.
    """

    def __init__(self, function: ClipFunction, etype: str, signature: Signature) -> None:
        self._function = function
        self._type = numpy_type(etype)
        self._bits = bits_type(etype)
        self._operands = Operands(signature)
        self._process = os.getpid()
        self._written: Callable[[], Iterable[str]] = getattr(function, "written", lambda: ())

    def __call__(self, request: Request, board: Board) -> None:
        """Make the calls of a request, one by one, and write their results on the board.

        Each result is read again after the next call: results may not share their memory.
        """
        bits = board.bits(request)
        operands = self._operands
        function = self._function
        operands.begin(request, self._type)
        returns_x = False
        last = None
        for call in range(request.count):
            # Before the call: if it kills this process, the supervisor reads which it was.
            board.call = call
            arguments = operands.of_call(call)
            result = call_once(function, arguments)
            # A fork that the runtime has made of this process: two of them would write on the board.
            if os.getpid() != self._process:
                os._exit(0)
            if isinstance(result, Failure):
                _note(board, call, result)
                if result.environment:  # what this machine lacks, the next call lacks too
                    break
            else:
                row = bits[call, : result.size]
                row[...] = result.reshape(-1).view(self._bits)
                self._read_again(last, board)
                # X is overwritten by the next call: such a result is only remarked on.
                is_x = operands.is_x(result)
                returns_x = returns_x or is_x
                last = None if is_x else (call, result, row)
            for words in (*operands.written(), *self._written()):
                _note(board, call, Failure((), words, memory=True))
        self._read_again(last, board)
        if returns_x:
            board.note(remark="its result is the memory of X itself")

    def _read_again(self, last: tuple[int, Array, Array] | None, board: Board) -> None:
        if last is not None:
            call, result, row = last
            if not same_bits(result.reshape(-1), row):
                _note(board, call, Failure((), OVERWRITTEN))


def call_once(function: ClipFunction, operands: Sequence[Array]) -> Array | Failure:
    """The result, of the shape and type of X, or a failure; EndedError passes through."""
    x = operands[0]
    try:
        result = function(*operands)
    except EndedError:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever a runtime raises is its answer)
        return failure_of(error)
    # Memory of a subclass may have another meaning: entries of a masked array may be masked.
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
    """The failure of a call that raised."""
    environment = isinstance(error, _ENVIRONMENT)
    is_mistake = isinstance(error, _MISTAKES)
    # KeyboardInterrupt and SystemExit, which are no Exception, are no rejection, either.
    refusal = isinstance(error, Exception) and not environment and not is_mistake
    return Failure((), error_words(error), raised=True, refusal=refusal, environment=environment)
