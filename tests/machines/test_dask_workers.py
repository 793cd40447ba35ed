"""Workers as an executor: answers, errors, and what is ended; a scheduler in this process."""

import os
import pickle
import re
import sys
import threading
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from functools import partial

import dask
import psutil
import pytest
from distributed import LocalCluster

from sonnx_clip.conform.identity import comparable_parts
from sonnx_clip.conform.judge import judge_there
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions, Unit
from sonnx_clip.machines.dask_workers import DaskWorkers, WorkLostError
from sonnx_clip.machines.on_worker import FarProcessEndedError, call_in_process
from sonnx_clip.root.errors import UserError
from tests.machines import far_functions
from tests.machines.cluster import below
from tests.meta.judged import wait_until

RIGHT, VERSION = "tests.meta.planted:ignores_upper", "tests.meta.planted:ignores_upper planted"
HOME = ("FAR_",), {"FAR_SET": "as at home"}
SOON = {"distributed.comm.timeouts.connect": "0.5s"}


@contextmanager
def cluster(workers):
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=2,
        processes=False,
        dashboard_address=":0",
        silence_logs=50,
    ) as found:
        yield found


@pytest.fixture(scope="module")
def local():
    with cluster(1) as found:
        yield found


@pytest.fixture
def workers(local):
    found = DaskWorkers(local.scheduler_address, *HOME)
    yield found
    found.stop()
    wait_until(lambda: not far_processes())


def in_thread(workers, function):
    """A call that a thread waits for."""
    found = Future()

    def call():
        try:
            found.set_result(workers.call(function))
        except BaseException as error:  # noqa: BLE001 - raised where the future is read
            found.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return found


def far_processes():
    """Living processes of the workers; one that has ended and is not waited for has no command line."""
    found = []
    for one in below(psutil.Process()):
        with suppress(psutil.Error):
            if "on_worker" in " ".join(one.cmdline()):
                found.append(one)
    return found


def test_answers_refusals_and_errors_come_home(workers, monkeypatch):
    assert (workers.threads, workers.workers) == (2, 1)
    assert workers.name.startswith("2 threads of 1 worker of inproc://")
    monkeypatch.setenv("FAR_UNSET", "the worker's own")
    names = ("FAR_SET", "FAR_UNSET", "PATH")
    home, unset, path = [workers.call(far_functions.variable, name) for name in names]
    assert (home, unset) == ("as at home", None)
    assert path
    with pytest.raises(UserError) as refused:
        workers.call(far_functions.refuses)
    assert (refused.value.what, refused.value.todo) == ("it will not", "ask another")
    assert re.fullmatch(r"inproc://\S+: there", refused.value.where or "")
    with pytest.raises(RuntimeError, match="ZeroDivisionError: planted"):
        workers.call(far_functions.fails)


def test_process_that_ends_again_and_again_is_lost_work(workers, tmp_path):
    file = tmp_path / "ends"
    with pytest.raises(WorkLostError, match=r"4 times: .* SIGKILL"):
        workers.call(far_functions.ends, str(file))
    assert len(file.read_text().splitlines()) == 4


def test_stopped_work_ends_on_all_workers(workers):
    waiting = [in_thread(workers, far_functions.waits) for _ in range(3)]
    wait_until(lambda: len(far_processes()) == 2)
    workers.stop()
    for future in waiting:
        with pytest.raises(CancelledError):
            future.result()
    with pytest.raises(CancelledError):
        workers.call(far_functions.process)
    wait_until(lambda: not far_processes())


def test_killed_home_leaves_no_process(local):
    """It says nothing to anybody: its connection ends."""
    home = DaskWorkers(local.scheduler_address, *HOME)
    in_thread(home, far_functions.waits)
    wait_until(lambda: len(far_processes()) == 1)
    home._client.close()
    wait_until(lambda: not far_processes())
    home.stop()


def test_no_worker_is_said_after_a_while():
    with cluster(0) as empty, dask.config.set(SOON):
        with pytest.raises(UserError, match="the scheduler has no workers") as error:
            DaskWorkers(empty.scheduler_address, *HOME)
        assert f"dask worker {empty.scheduler_address}" in (error.value.todo or "")


@pytest.mark.parametrize("lost", ["the connection to the scheduler is lost", "no workers are left"])
def test_lost_scheduler_or_last_worker_is_reported(lost):
    with cluster(1) as some:
        with dask.config.set(SOON):
            workers = DaskWorkers(some.scheduler_address, *HOME)
        waiting = in_thread(workers, far_functions.waits)
        wait_until(far_processes)
        if lost == "no workers are left":
            some.scale(0)
            waiting.exception(60)
    with pytest.raises(UserError, match=lost) as error:
        waiting.result(60)
    assert error.value.where == some.scheduler_address
    wait_until(lambda: not far_processes())
    workers.stop()


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:port", "tcp://127.0.0.1"])
def test_missing_scheduler_is_reported_at_once(address):
    """A Client of Dask that could not begin waited for a minute, and then said so in a traceback."""
    with (
        dask.config.set(SOON),
        pytest.raises(UserError, match="the scheduler cannot be reached") as error,
    ):
        DaskWorkers(address, *HOME)
    assert error.value.where == address
    assert "such as tcp://10.0.0.1:8786" in (error.value.todo or "")


def test_process_that_does_not_start_says_why(tmp_path):
    (tmp_path / "sonnx_clip").mkdir()
    (tmp_path / "sonnx_clip/__init__.py").write_text("raise SystemExit('planted')\n")
    variables = {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    with pytest.raises(FarProcessEndedError, match="ended: exited with status 1: planted"):
        call_in_process({**os.environ, **variables}, b"", lambda: False)


@pytest.mark.parametrize("end", [os._exit, sys.exit])
def test_process_that_ends_without_an_answer_is_reported(end):
    with pytest.raises(FarProcessEndedError, match="ended: exited with status 0"):
        call_in_process(os.environ, pickle.dumps(partial(end, 0)), lambda: False)


def test_worker_that_differs_from_this_machine_is_refused():
    unit, here = (
        Unit(CheckOptions(RIGHT, of=clip_operator()), "int16", "more-0"),
        comparable_parts(RIGHT, clip_operator()),
    )
    found = judge_there(unit, here, VERSION)
    assert (found.version, found.stopped) == (VERSION, None)
    with pytest.raises(UserError, match=r"this worker differs .*: Python \(.*; here 2\.7\)"):
        judge_there(unit, {**here, "Python": "2.7"}, VERSION)
    with pytest.raises(
        UserError, match=r"this worker differs .*: version \(.* planted; here 1\.0\)"
    ):
        judge_there(unit, here, "1.0")
