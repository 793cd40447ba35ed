"""Runs the reproducers of a unit in new processes, before anything prints them.

One process imports the runtime and forks for each line, so that each begins as after the import. What does
not show there is run again in a process of its own. A line that shows nothing is not printed: the words of
its deviation then say so, and name the command that repeats the whole sequence of calls.
"""

from __future__ import annotations

import json
import mmap
import os
import shlex
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.board import OPENS
from sonnx_clip.runtimes.limits import Limits
from sonnx_clip.runtimes.words import printable, words_of
from sonnx_clip.runtimes.worker import Child, RuntimeDiedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.conform.options import Unit
    from sonnx_clip.conform.results import UnitResult
    from sonnx_clip.runtimes.board import Board

    Did = dict[str, Any]
    Line = tuple[str, int, float]  # Python, the entry that deviates, and the seconds that it may take

_ANSWER = 1 << 16  # bytes
_LONGEST = 30.0  # seconds by the clock that a line may take at least
_CLOSED = "v = "  # the first statement of a line behind its imports


def confirm(result: UnitResult, unit: Unit) -> None:
    """Replace each reproducer that shows nothing in a new process by words.

    Args:
        result: what this run has judged; no text of a store is run.
        unit: the unit.
    """
    holders = list(_holders(result))
    lines: dict[str, Deviation] = {}
    for deviations in holders:
        for one in deviations.values():
            lines.setdefault(one.reproduce, one)  # the first one with a line counts
    missing = dict.fromkeys(lines, "")
    for together in (True, False):
        missing = _not_shown([lines[line] for line in missing], unit, together=together)
    for deviations in holders if missing else ():
        for key, one in deviations.items():
            if one.reproduce in missing:
                told, command = missing[one.reproduce], _command(unit)
                words = f"no line of Python shows it in a new process ({told}); repeat it: {command}"
                words = f"{one.words}; {words}" if one.words else words
                deviations[key] = one.model_copy(update={"words": words, "reproduce": ""})


def _holders(result: UnitResult) -> Iterator[dict[str, Deviation]]:
    """The deviations of a result; not those of calls that a layout refuses as a whole."""
    if result.tally is not None:
        refused = [one.of for one in result.tally.raised.values() if not one.all]
        for counts in (result.tally.of, *refused):
            yield from (count.deviations for count in counts.values())
    for form in result.forms or ():
        yield form.deviations


def _not_shown(wanted: Sequence[Deviation], unit: Unit, *, together: bool) -> dict[str, str]:
    """The lines that do not show their deviation, each with what it did instead."""
    limits = unit.options.limits
    runs: list[Line] = []
    for one in wanted:
        hangs = one.kind == "crashed" and (one.words or "").startswith("no answer within")
        runs.append((one.reproduce, one.entry, limits.call if hangs else max(_LONGEST, 3 * limits.call)))
    groups = [runs] if together and runs else [[run] for run in runs]
    reruns = [did for group in groups for did in _rerun(group, limits, preload=together)]
    return {
        d.reproduce: did.get("words")
        or ("its result is right" if d.got is None else f"its result is {did.get('bits')}")
        for d, did in zip(wanted, reruns, strict=True)
        if not _shows(did, d, unit.etype)
    }


def _shows(did: Did, found: Deviation, etype: str) -> bool:
    """Whether a line did what a deviation says."""
    words, raised = (found.words or "").partition(" in a call of layout ")[0], did.get("raised")
    if found.got is None and raised and words and words in did["words"]:
        return True  # a program or a library, whose death or fault is an exception of its caller
    if found.kind == "crashed":
        return "died" in did
    if found.kind == "raises":
        return raised is not None and (found.words or "").startswith(raised)
    if "died" in did or raised or "type" not in did:
        return False
    if found.got is not None:
        return bool(did.get("bits") == found.got)
    if "unchanged" in did:
        return not did["unchanged"]
    result, operand = did["shape"]
    return bool(did["type"] != ["ndarray", etype] or result != operand)


def _command(unit: Unit) -> str:
    """What repeats all calls of an element type."""
    options = unit.options
    more = "" if unit.first or options.level == "quick" else f" --level {options.level}"
    more += f" --against {options.of.dialect}" if options.of.dialect else ""
    more += "" if options.of.is_clip else f" --spec {shlex.quote(str(options.of.spec.path))}"
    return f"sonnx-clip check --runtime {shlex.quote(options.runtime)} --dtype {unit.etype}{more} --again"


def _rerun(lines: Sequence[Line], limits: Limits, *, preload: bool) -> list[Did]:
    """What each line does in a new process: see `_observed`; or ``died``; or ``words`` if it was not run."""
    whole = Limits(limits.call, limits.start + sum(seconds for _, _, seconds in lines))
    child = Child("a reproducer", _run_lines, (list(lines), preload), whole)
    try:
        found: list[Did] = child.start()["reruns"]
    except (RuntimeDiedError, UserError) as error:
        return [{"words": f"not run: {error}"}] * len(lines)
    finally:
        child.close()
    return found


# --- In the process that runs the lines ---------------------------------------------------------------------


def _run_lines(board: Board, lines: list[Line], preload: bool) -> tuple[dict[str, Any], None]:
    """The program of the process: what each line did, as the greeting."""
    board.call = OPENS
    if preload:
        for imports in dict.fromkeys(line.partition(_CLOSED)[0] for line, _, _ in lines):
            with suppress(BaseException):
                exec(imports, {"__name__": "__main__"})  # noqa: S102 - rendered by this run
    return {"word": "rerun", "reruns": [_forked(*line) for line in lines]}, None


def _forked(line: str, entry: int, seconds: float) -> dict[str, Any]:
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
    if not data:
        return {"died": True, "words": f"it ended with status {status}"}
    found: dict[str, Any] = json.loads(data)
    return found


def _observed(line: str, entry: int) -> dict[str, Any]:
    """What a line leaves behind: its names are those of `reproduce`.

    Returns:
        ``raised``, the name of an exception, with ``words``; else ``type``, the class of the result and its
        element type, ``shape``, those of the result and of its first operand, ``bits`` of the entry that
        deviates, and ``unchanged`` if the line compares memory.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(line, names)  # noqa: S102 - rendered by this run
    except BaseException as error:  # noqa: BLE001 - the code of a runtime
        kind = type(error).__name__
        return {"raised": kind, "words": printable(f"it raised {words_of(error)}", 300)}
    result, first = names.get("r", names.get("y")), names.get("x")
    kind, dtype = type(result).__name__, str(getattr(result, "dtype", ""))
    # A scalar of NumPy is an array of rank 0 to the checker.
    found: dict[str, Any] = {
        "type": ["ndarray" if hasattr(result, "dtype") and kind == dtype else kind, dtype]
    }
    found["shape"] = [list(getattr(one, "shape", ())) for one in (result, first)]
    if "y" in names:
        y = names["y"]
        bits = y.reshape(-1).view(f"u{y.itemsize}")[entry : entry + 1].tolist()
        found["bits"] = f"0x{bits[0]:0{2 * y.itemsize}x}" if bits else None
    if "unchanged" in names:
        found["unchanged"] = bool(names["unchanged"])
    return found
