"""What the tests have workers call: it answers, refuses, fails, waits, ends its process or its worker."""

from __future__ import annotations

import os
import signal
import time
from typing import NoReturn

from sonnx_clip.root.errors import UserError


def process() -> int:
    """The process in which it is called."""
    return os.getpid()


def variable(name: str) -> str | None:
    return os.environ.get(name)


def refuses() -> NoReturn:
    raise UserError("it will not", "there", "ask another")


def fails() -> NoReturn:
    raise ZeroDivisionError("planted")


def waits() -> NoReturn:
    while True:
        time.sleep(60)


def ends(path: str) -> NoReturn:
    """End this process, a line in a file for each time."""
    with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - a path is a text here
        file.write("ended\n")
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def ends_worker() -> NoReturn:
    os.kill(os.getppid(), signal.SIGKILL)
    waits()
