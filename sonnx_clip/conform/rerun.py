"""Runs lines of Python until one shows a deviation, each in a process that begins as after the imports.

The process that runs them reads no specification and no report: it imports nothing of this package but this.
"""

from __future__ import annotations

import json
import mmap
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
    from collections.abc import Sequence

    from sonnx_clip.runtimes.board import Board

    Did = dict[str, Any]

_ANSWER = 1 << 16  # bytes
_LONGEST = 30.0  # seconds by the clock that a line may take at least
_CLOSED = "v = "  # the first statement of a line behind its imports


class Lines(NamedTuple):
    """Lines that may show a deviation, each with the entry to look at, or None for any.

    `kind`, `got` and `words` are those of the `Deviation`, `etype` is the id of its element type.
    """

    kind: str
    got: str | None
    words: str
    etype: str
    lines: list[tuple[str, int | None]]


def first_shown(every: Sequence[Lines], limits: Limits, *, preload: bool) -> list[tuple[int | None, str]]:
    """Of the lines for each deviation the number of the first that shows it, or None and what the last did.

    Args:
        every: the lines; they are rendered by this run, and not read from a file.
        limits: of the runtime.
        preload: whether what they import is imported once, before each is run.
    """
    seconds = [_seconds(one, limits) for one in every]
    total = sum(len(one.lines) * most for one, most in zip(every, seconds, strict=True))
    given = list(every), seconds, preload
    child = Child("a reproducer", _run, given, Limits(limits.call, limits.start + total))
    try:
        found: list[tuple[int | None, str]] = child.start()["shown"]
    except (RuntimeDiedError, UserError) as error:
        return [(None, f"not run: {error}")] * len(every)
    finally:
        child.close()
    return found


def _seconds(one: Lines, limits: Limits) -> float:
    hangs = one.kind == "crashed" and one.words.startswith("no answer within")
    return limits.call if hangs else max(_LONGEST, 3 * limits.call)


# --- In the process that runs the lines ---------------------------------------------------------------------


def _run(board: Board, every: list[Lines], seconds: list[float], preload: bool) -> tuple[Did, None]:
    """The program of the process: what `first_shown` returns, as the greeting."""
    board.call = OPENS
    if preload:
        for imports in dict.fromkeys(line.partition(_CLOSED)[0] for one in every for line, _ in one.lines):
            with suppress(BaseException):
                exec(imports, {"__name__": "__main__"})  # noqa: S102 - rendered by this run
    return {"word": "shown", "shown": [_first(*given) for given in zip(every, seconds, strict=True)]}, None


def _first(one: Lines, seconds: float) -> tuple[int | None, str]:
    words = ""
    for number, (line, entry) in enumerate(one.lines):
        did = _forked(line, entry, seconds)
        if _shows(did, one):
            return number, ""
        words = did.get("words") or f"its result is {', '.join(did.get('bits') or ['right'])}"
    return None, words


def _shows(did: Did, one: Lines) -> bool:
    """Whether a line did what a deviation says."""
    words, raised = one.words.partition(" in a call of layout ")[0], did.get("raised")
    if one.got is None and raised and words and words in did["words"]:
        return True  # a program or a library, whose death or fault is an exception of its caller
    if one.kind == "crashed":
        return "died" in did
    if one.kind == "raises":
        return raised is not None and one.words.startswith(raised)
    if "died" in did or raised or "type" not in did:
        return False
    if one.got is not None:
        return one.got in did.get("bits", ())
    if "unchanged" in did:
        return not did["unchanged"]
    result, operand = did["shape"]
    return bool(did["type"] != ["ndarray", one.etype] or result != operand)


def _forked(line: str, entry: int | None, seconds: float) -> Did:
    """What a line does in a copy of this process; it answers by memory, since it may close any descriptor."""
    shared = mmap.mmap(-1, _ANSWER)
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os.setpgid(0, 0)
            data = json.dumps(_observed(line, entry)).encode("ascii")
            shared[: len(data)] = data
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
        return {"died": True, "words": f"it did not end within {seconds:g} s"}
    data = bytes(shared).rstrip(b"\0")
    return json.loads(data) if data else {"died": True, "words": f"it ended with status {status}"}


def _observed(line: str, entry: int | None) -> Did:
    """What a line leaves behind: its names are those of `reproduce`.

    Returns:
        ``raised``, the name of an exception, with ``words``; else ``type``, the class of the result and its
        element type, ``shape``, those of the result and of its first operand, ``bits`` of the entry, or all
        that occur, and ``unchanged`` if the line compares memory.
    """
    names: Did = {"__name__": "__main__"}
    try:
        exec(line, names)  # noqa: S102 - rendered by this run
    except BaseException as error:  # noqa: BLE001 - the code of a runtime
        return {"raised": type(error).__name__, "words": printable(f"it raised {words_of(error)}", 300)}
    result, first = names.get("r", names.get("y")), names.get("x")
    kind, dtype = type(result).__name__, str(getattr(result, "dtype", ""))
    # A scalar of NumPy is an array of rank 0 to the checker.
    found: Did = {"type": ["ndarray" if hasattr(result, "dtype") and kind == dtype else kind, dtype]}
    found["shape"] = [list(getattr(one, "shape", ())) for one in (result, first)]
    if "y" in names:
        y = names["y"]
        bits = y.reshape(-1).view(f"u{y.itemsize}")
        some = {*(bits if entry is None else bits[entry : entry + 1]).tolist()}
        found["bits"] = [f"0x{one:0{2 * y.itemsize}x}" for one in sorted(some)[:16]]
    if "unchanged" in names:
        found["unchanged"] = bool(names["unchanged"])
    return found
