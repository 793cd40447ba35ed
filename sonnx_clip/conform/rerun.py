"""Runs reproducers until one shows a deviation, each in a process that begins as after the imports.

The process that runs them reads no specification and no report.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.board import OPENS
from sonnx_clip.runtimes.runtime import Limits
from sonnx_clip.runtimes.words import printable, words_of
from sonnx_clip.runtimes.worker import Child, RuntimeDiedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    got: str | None
    words: str
    etype: str
    lines: list[tuple[str, int | None]]

    @property
    def hangs(self) -> bool:
        """Whether the deviation is that there is no answer."""
        return self.kind == "crashed" and self.words.startswith("no answer within")

    def seconds(self, limits: Limits) -> float:
        """How long a line may run, by the clock."""
        return limits.call if self.hangs else max(_LONGEST, 3 * limits.call)


def first_shown(
    every: Sequence[Lines], limits: Limits, stopped: Callable[[], bool], *, retry: bool = True
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
    shown = [*tried, *[(None, "")] * (len(every) - len(tried))]
    if not retry:
        return shown
    missed = [n for n, (number, _) in enumerate(shown) if number is None]
    left = [len(every[n].lines) - 1 if n < len(tried) else 0 for n in missed]
    again = [
        every[n]._replace(lines=every[n].lines[first:])
        for n, first in zip(missed, left, strict=True)
    ]
    found = _in_new_process(again, limits, stopped, preload=False)
    for n, first, (number, words) in zip(missed, left, found, strict=True):
        shown[n] = None if number is None else first + number, words
    return shown


def _in_new_process(
    every: Sequence[Lines], limits: Limits, stopped: Callable[[], bool], *, preload: bool
) -> list[Shown]:
    if not every or stopped():
        return [(None, _INTERRUPTED)] * len(every)

    def end_if_stopped(_: int) -> None:
        if stopped():
            raise RuntimeDiedError(_INTERRUPTED)

    total = sum(len(one.lines) * one.seconds(limits) for one in every)
    given = list(every), limits, preload
    child = Child("a reproducer", _run, given, Limits(limits.call, limits.start + total))
    child.on_call = end_if_stopped
    try:
        found: list[Shown] = child.start()["shown"]
    except (RuntimeDiedError, UserError) as error:
        return [(None, f"not run: {error}")] * len(every)
    finally:
        child.close()
    return found


# --- In the process that runs the lines ---------------------------------------------------------------------


def _run(
    board: Board, every: list[Lines], limits: Limits, preload: bool
) -> tuple[dict[str, Any], None]:
    """The program of the process: what the lines show, up to the first that is stuck, as the greeting."""
    board.call = OPENS
    if preload:
        for imports in dict.fromkeys(
            line.partition(_CLOSED)[0] for one in every for line, _ in one.lines
        ):
            with suppress(BaseException):
                exec(imports, {"__name__": "__main__"})  # noqa: S102 - rendered by this run
    shown: list[Shown] = []
    with suppress(_StuckError):
        for one in every:
            shown.append(_first(board, one, limits, preload=preload))  # noqa: PERF401 - what was found stays
    return {"word": "shown", "shown": shown}, None


def _first(board: Board, one: Lines, limits: Limits, *, preload: bool) -> Shown:
    words, may_stick = "", preload and not one.hangs
    seconds = _FORKED if may_stick else one.seconds(limits)
    for number, (line, entry) in enumerate(one.lines):
        shows, words = _forked(board, one, line, entry, seconds, may_stick=may_stick)
        if shows:
            return number, ""
    return None, words


def _forked(
    board: Board, one: Lines, line: str, entry: int | None, seconds: float, *, may_stick: bool
) -> tuple[bool, str]:
    """The answer of `_try` in a fork of this process, as a note on the board."""
    board.begin(OPENS)
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os.setpgid(0, 0)
            board.note(tried=_try(one, line, entry))
        os._exit(0)
    end, pause, status = time.monotonic() + seconds, 0.001, None
    while status is None and time.monotonic() < end:
        done, raw = os.waitpid(pid, os.WNOHANG)
        status = os.waitstatus_to_exitcode(raw) if done else None
        if not done:
            time.sleep(pause)
            pause = min(0.02, pause * 1.5)
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    if status is None:
        os.waitpid(pid, 0)
        if may_stick:
            raise _StuckError
    elif found := next(board.notes("tried"), None):
        shows, words = found["tried"]
        return shows, words
    ended = (
        f"was still running after {seconds:g} s"
        if status is None
        else f"ended with status {status}"
    )
    return one.kind == "crashed", f"it {ended}"


def _try(one: Lines, line: str, entry: int | None) -> tuple[bool, str]:
    """Run a line: whether it shows the deviation, and what it did, in words.

    Its names are those of `reproduce`: ``x``, and ``y``, ``r`` or ``unchanged``.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(line, names)  # noqa: S102 - rendered by this run
    except BaseException as error:  # noqa: BLE001 - the code of a runtime
        words = printable(f"it raised {words_of(error)}", 300)
        # The death or fault of a program or a library is an exception of its caller.
        expected = one.words.partition(" in a call of layout ")[0]
        same = one.got is None and expected != "" and expected in words
        return same or (one.kind == "raises" and one.words.startswith(type(error).__name__)), words
    result, first, bits = names.get("r", names.get("y")), names.get("x"), []
    if "y" in names:
        entries = names["y"].reshape(-1).view(f"u{names['y'].itemsize}")
        some = {*(entries if entry is None else entries[entry : entry + 1]).tolist()}
        bits = [f"0x{found:0{2 * names['y'].itemsize}x}" for found in sorted(some)[:16]]
    words = f"its result is {', '.join(bits or ['right'])}"
    if one.kind in ("crashed", "raises"):
        return False, words
    if one.got is not None:
        return one.got in bits, words
    if "unchanged" in names:
        return not names["unchanged"], words
    kind, dtype = type(result).__name__, str(getattr(result, "dtype", ""))
    is_array = kind in ("ndarray", dtype)  # a scalar of NumPy is an array of rank 0 to the checker
    same_shape = getattr(result, "shape", ()) == getattr(first, "shape", ())
    return not (is_array and dtype == one.etype and same_shape), words
