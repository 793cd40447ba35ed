"""Runs reproducers until one shows a deviation, each in a process that begins as after the imports.

The process that runs them reads no specification and no report.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from sonnx_clip.root.bit_pattern import BitPattern
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.isolated import run_isolated
from sonnx_clip.runtimes.board import OPENS
from sonnx_clip.runtimes.runtime import Limits
from sonnx_clip.runtimes.words import error_words, printable
from sonnx_clip.runtimes.worker import Child, RuntimeDiedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sonnx_clip.runtimes.board import Board

    Shown = tuple[int | None, str]

_LONGEST = 30.0  # seconds by the clock that a line may take at least
_FORKED = 5.0  # the same, where its imports were made before
_INTERRUPTED = "not run: interrupted"
_CLOSED = "v = "  # the first statement of a line after its imports


class _StuckError(Exception):
    """A line does not end in a fork of the process that has imported the runtime, which may have threads."""


class Lines(NamedTuple):
    """Lines that may show a deviation, each with the entry to compare, or None for any entry.

    `kind`, `got` and `words` are those of the `Deviation`, `etype` is the id of its element type.
    """

    kind: str
    got: int | None
    words: str
    etype: str
    lines: list[tuple[str, int | None]]

    @property
    def hangs(self) -> bool:
        """Whether the deviation is that there is no answer."""
        return self.kind == "crashed" and self.words.startswith("no answer within")

    def seconds(self, limits: Limits) -> float:
        """How long a line may run, by the clock."""
        if self.hangs:
            return limits.call
        return max(_LONGEST, 3 * limits.call)


def first_shown(
    every: Sequence[Lines],
    limits: Limits,
    stopped: Callable[[], bool],
    *,
    retry: bool = True,
) -> list[Shown]:
    """The number of the first line that shows each deviation; or None, and what the last line did.

    Imports are made once, before each line is run. A deviation that no line shows then is looked for again by
    its last line in a process that has imported nothing; by each of its lines if they were not run.

    Args:
        every: the lines; they are rendered by this run, and not read from a file.
        limits: of the runtime.
        stopped: whether the command was interrupted; then the lines that are left are not run.
        retry: whether a deviation that no line shows is looked for again.
    """
    tried = _in_new_process(every, limits, stopped, preload=True)
    # The first that is stuck ends the process, before the lines of the others are run.
    number_untried = len(every) - len(tried)
    untried: list[Shown] = [(None, "")] * number_untried
    shown = [*tried, *untried]
    if not retry:
        return shown
    # Once more in a process that has imported nothing: a fork lacks the threads of a runtime that was
    # imported before, so that a line may hang in it.
    missed = []
    firsts = []
    again = []
    for place, (lines, (number, _)) in enumerate(zip(every, shown, strict=True)):
        if number is None:
            was_tried = place < len(tried)
            first = len(lines.lines) - 1 if was_tried else 0
            missed.append(place)
            firsts.append(first)
            remaining = lines.lines[first:]
            again.append(lines._replace(lines=remaining))
    outcomes = _in_new_process(again, limits, stopped, preload=False)
    for place, first, (number, words) in zip(missed, firsts, outcomes, strict=True):
        shown[place] = None if number is None else first + number, words
    return shown


def _in_new_process(
    every: Sequence[Lines],
    limits: Limits,
    stopped: Callable[[], bool],
    *,
    preload: bool,
) -> list[Shown]:
    if not every or stopped():
        return [(None, _INTERRUPTED)] * len(every)

    def end_if_stopped(_: int) -> None:
        if stopped():
            raise RuntimeDiedError(_INTERRUPTED)

    # The supervisor limits the process as a whole: all of its lines may take their time.
    total = 0.0
    for lines in every:
        total += len(lines.lines) * lines.seconds(limits)
    arguments = list(every), limits, preload
    of_child = Limits(limits.call, limits.start + total)
    child = Child("a reproducer", _run, arguments, of_child)
    child.on_call = end_if_stopped
    try:
        shown: list[Shown] = child.start()["shown"]
    except (RuntimeDiedError, UserError) as error:
        return [(None, f"not run: {error}")] * len(every)
    finally:
        child.close()
    return shown


# --- In the process that runs the lines ---------------------------------------------------------------------


def _run(
    board: Board,
    every: list[Lines],
    limits: Limits,
    preload: bool,
) -> tuple[dict[str, Any], None]:
    """The program of the process: what the lines show, up to the first that is stuck, as the greeting."""
    board.call = OPENS
    if preload:
        for imports in _imports(every):
            with suppress(BaseException):
                exec(imports, {"__name__": "__main__"})  # noqa: S102 - rendered by this run
    shown: list[Shown] = []
    with suppress(_StuckError):
        for lines in every:
            outcome = _first(lines, limits, preload=preload)
            shown.append(outcome)
    return {"word": "shown", "shown": shown}, None


def _imports(every: Iterable[Lines]) -> list[str]:
    """The imports of all lines, each once."""
    imports: dict[str, None] = {}
    for lines in every:
        for line, _ in lines.lines:
            imports[line.partition(_CLOSED)[0]] = None
    return list(imports)


def _first(lines: Lines, limits: Limits, *, preload: bool) -> Shown:
    words = ""
    # In a fork of a process with threads a lock may stay locked for ever: wait for seconds only.
    may_stick = preload and not lines.hangs
    seconds = _FORKED if may_stick else lines.seconds(limits)
    for number, (line, entry) in enumerate(lines.lines):
        shows, words = _forked(lines, line, entry, seconds, may_stick=may_stick)
        if shows:
            return number, ""
    return None, words


def _forked(
    lines: Lines,
    line: str,
    entry: int | None,
    seconds: float,
    *,
    may_stick: bool,
) -> tuple[bool, str]:
    """The answer of `_try` in a fork of this process; _StuckError if there is none in time."""
    outcome = run_isolated(_encoded_try, lines, line, entry, seconds=seconds, memory=None)
    if outcome.timed_out and may_stick:
        raise _StuckError
    if outcome.timed_out:
        return lines.kind == "crashed", f"it was still running after {seconds:g} s"
    if outcome.failure is not None:
        # A process that ended shows a crash, and no other deviation.
        return lines.kind == "crashed", outcome.failure
    shows, words = json.loads(outcome.result)
    return shows, words


def _encoded_try(lines: Lines, line: str, entry: int | None) -> bytes:
    return json.dumps(_try(lines, line, entry)).encode()


def _try(lines: Lines, line: str, entry: int | None) -> tuple[bool, str]:
    """Run a line: whether it shows the deviation, and what it did, in words.

    Its names are those of `reproduce`: ``x``, and ``y``, ``r`` or ``unchanged``.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(line, names)  # noqa: S102 - rendered by this run
    except BaseException as error:  # noqa: BLE001 - the code of a runtime
        words = printable(f"it raised {error_words(error)}", 300)
        return _is_expected_error(lines, error, words), words
    bits = _result_bits(names["y"], entry) if "y" in names else []
    shown = ", ".join(map(str, bits)) or "right"
    words = f"its result is {shown}"
    # A line that came to its end shows no crash and no exception.
    if lines.kind in ("crashed", "raises"):
        return False, words
    if lines.got is not None:
        return lines.got in bits, words
    if "unchanged" in names:
        return not names["unchanged"], words
    result = names.get("r", names.get("y"))
    x = names.get("x")
    return not _is_well_formed(result, x, lines.etype), words


def _is_expected_error(lines: Lines, error: BaseException, words: str) -> bool:
    """Whether the exception of a line shows the deviation."""
    # The death or fault of a program or a library is an exception of its caller.
    expected, _, _ = lines.words.partition(" in a call of layout ")
    if lines.got is None and expected != "" and expected in words:
        return True
    if lines.kind != "raises":
        return False
    name = type(error).__name__
    return lines.words.startswith(name)


def _result_bits(result: Any, entry: int | None) -> list[BitPattern]:
    """The bits of an entry of a result, or of any: at most 16 that differ."""
    size = result.itemsize
    entries = result.reshape(-1).view(f"u{size}")
    if entry is not None:
        entries = entries[entry : entry + 1]
    distinct = sorted(set(entries.tolist()))
    return [BitPattern(bits, 8 * size) for bits in distinct[:16]]


def _is_well_formed(result: Any, x: Any, etype: str) -> bool:
    """Whether a result is an array of the type and the shape of X."""
    kind = type(result).__name__
    dtype = str(getattr(result, "dtype", ""))
    is_array = kind in ("ndarray", dtype)  # a scalar of NumPy is an array of rank 0 to the checker
    has_shape_of_x = getattr(result, "shape", ()) == getattr(x, "shape", ())
    return is_array and dtype == etype and has_shape_of_x
