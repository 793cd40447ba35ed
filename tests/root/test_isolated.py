"""Work in a process of its own: what it returns, raises, outlives or brings down."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.isolated import IsolatedOutcome, run_isolated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _length(*given: bytes) -> bytes:
    return str([len(one) for one in given]).encode()


def _where() -> bytes:
    return os.getcwd().encode()  # noqa: PTH109


def _raises() -> bytes:
    raise ValueError("no")


def _hangs() -> bytes:
    time.sleep(60)
    return b""


def _exits() -> bytes:
    raise SystemExit(3)


def _takes_all() -> bytes:
    return bytes(1 << 34)


def _is_loud() -> bytes:
    os.write(1, b"loud")
    os.write(2, b"loud")
    return b"quiet"


def test_returned_arrays(tmp_path: Path) -> None:
    assert run_isolated(_length, b"ab", b"", seconds=30) == IsolatedOutcome(b"[2, 0]")
    assert run_isolated(_where, seconds=30, folder=tmp_path).result == bytes(tmp_path)
    assert len(run_isolated(os.urandom, 5_000_000, seconds=30).result) == 5_000_000


@pytest.mark.parametrize(
    ("work", "seconds", "failure"),
    [
        (_raises, 30, "ValueError: no"),
        (_hangs, 0.3, "no answer within 0.3 s"),
        (os.abort, 30, "its process ended with status -6"),
        (_exits, 30, "SystemExit: 3"),
        (_takes_all, 30, "MemoryError: "),
    ],
)
def test_failure_is_reported(work: Callable[[], bytes], seconds: float, failure: str) -> None:
    assert run_isolated(work, seconds=seconds) == IsolatedOutcome(b"", failure, hung=work is _hangs)


def test_nothing_of_it_reaches_the_streams(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_isolated(_is_loud, seconds=30) == IsolatedOutcome(b"quiet")
    assert capfd.readouterr() == ("", "")
