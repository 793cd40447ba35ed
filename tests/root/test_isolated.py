"""Work in a process of its own returns bytes or a failure, whatever it does."""

import os
import time

import pytest

from sonnx_clip.root.isolated import IsolatedOutcome, run_isolated


def _loud(*given):
    os.write(1, b"loud")
    os.write(2, b"loud")
    return b"".join(given)


def _raises():
    raise ValueError("no")


def _hangs():
    time.sleep(60)
    return b""


def _exits():
    raise SystemExit(3)


def _takes_all():
    return bytes(1 << 34)


def test_result_comes_back_and_nothing_reaches_the_streams(capfd):
    assert run_isolated(_loud, b"a", b"b", seconds=30) == IsolatedOutcome(b"ab")
    assert len(run_isolated(os.urandom, 5_000_000, seconds=30).result) == 5_000_000
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("work", "seconds", "failure"),
    [
        (_raises, 30, "ValueError: no"),
        (_hangs, 0.3, "no answer within 0.3 s"),
        (os.abort, 30, "its process ended: killed by SIGABRT"),
        (_exits, 30, "SystemExit: 3"),
        (_takes_all, 30, "MemoryError: "),
    ],
)
def test_failure_is_reported(work, seconds, failure):
    outcome = run_isolated(work, seconds=seconds)
    assert (outcome.result, outcome.failure) == (b"", failure)
    assert outcome.timed_out == (work is _hangs)
