"""What every process that this project starts needs: how it ended in words, and that nothing of it is left.

`run_program` runs programs, `isolated` one call of a function, sonnx_clip/runtimes/supervisor.py the process
of a runtime, which answers many requests.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # of prctl(2)


def how_ended(status: int) -> str:
    """The end of a process in words, from its exit status: negative for the signal that ended it.

    >>> how_ended(-9), how_ended(3)
    ('killed by SIGKILL', 'exited with status 3')
    """
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:  # a signal of real time has no name
        return f"killed by signal {-status}"


def exit_status(child: int) -> int | None:
    """The exit status of a child that has ended, negative for a signal; None while it runs.

    A child is asked until it has ended, and not again: the system forgets it then.
    """
    ended, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def lead_group(child: int = 0) -> None:
    """Give this process, or a child, a process group of its own, which `kill_group` ends.

    Parent and child both call it after a fork, so that the group is there whoever runs first.
    """
    with contextlib.suppress(OSError):  # the other one was first, or the child has ended
        os.setpgid(child, child or os.getpid())


def kill_group(leader: int) -> None:
    """Kill a process and all that is left in its group, if anything is."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def end_with_parent() -> None:
    """End this process when the thread that started it ends, even if that is killed: on Linux."""
    _prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of processes whose own parent, a descendant of this one, has ended: on Linux."""
    _prctl(_ADOPT_ORPHANS, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        # Python has no function for it.
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
