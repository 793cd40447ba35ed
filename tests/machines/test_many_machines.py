"""`check` on a scheduler and workers that are processes of their own; some are killed.

test_dask_workers.py has workers in its own process.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import dask
import distributed  # noqa: F401 - it reads the settings that a test changes
import psutil
import pytest

from sonnx_clip.cli.check_command import INTERRUPTED, Destination, Means, check_runtime
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.identity import VARIABLES, variables
from sonnx_clip.conform.judge import RemoteJudge
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions, Unit
from sonnx_clip.machines.dask_workers import DaskWorkers
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from tests.command import COMMAND
from tests.machines import far_functions
from tests.machines.cluster import AT_WORK, PATIENCE, Cluster, below
from tests.meta.judged import wait_until

pytestmark = pytest.mark.nightly

RUNTIME, VERSION = "tests.meta.planted:ignores_upper", "tests.meta.planted:ignores_upper planted"
TYPES = ("int16",)
HANGS = "tests.meta.planted_deaths:hangs"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield found
    finally:
        found.close()


@pytest.fixture(scope="module")
def nanny(cluster):
    """A worker of one thread that Dask starts again when it is killed, as `dask worker` does by default."""
    return cluster.worker(1)


@pytest.fixture(scope="module")
def alone(cluster, nanny):
    """A worker of two threads that is gone when it is killed, beside the other one."""
    return cluster.worker(2, "--no-nanny")


@contextmanager
def ended(workers):
    try:
        yield workers
    finally:
        workers.stop()


@contextmanager
def workers_of(cluster, count):
    with ended(DaskWorkers(cluster.address, VARIABLES, variables())) as found:
        found._client.wait_for_workers(count)
        yield found


def serving(*started):
    """The processes of workers that are alive: those that were started, or that a nanny has started."""
    found = []
    for one in started:
        with suppress(psutil.Error):
            words = [(each, " ".join(each.cmdline())) for each in (one, *one.children())]
            found += [each for each, text in words if "spawn_main" in text or "--no-nanny" in text]
    return found


def at_work(*started):
    """The workers that have a runtime make calls."""
    return [one for one in serving(*started) if len(below(one)) >= AT_WORK]


def idle(*started):
    """Whether nothing is left of what any worker has started."""
    return not any(below(one) for one in serving(*started))


def test_unit_of_a_killed_worker_is_judged_by_another(cluster, nanny, alone, tmp_path, capsys):
    written, gone = tmp_path / "report.json", list[psutil.Process]()

    def kill_one():
        wait_until(lambda: at_work(nanny, alone))
        killed = at_work(nanny, alone)[-1]
        gone.extend(below(killed))
        killed.kill()

    with workers_of(cluster, 2):
        killing = threading.Thread(target=kill_one)
        killing.start()
        status = check_runtime(
            CheckOptions(RUNTIME, TYPES, of=clip_operator()),
            Destination(output=written, brief=True),
            Means(scheduler=cluster.address),
        )
        killing.join()
    assert status == 1
    assert f"(3 threads of 2 workers of {cluster.address})\n" in capsys.readouterr().err
    _, left = psutil.wait_procs(gone, PATIENCE)
    assert gone
    assert not left, "what a killed worker had started ends"
    report = Report.model_validate_json(written.read_text(encoding="utf-8"))
    alike = run_campaign(CheckOptions(RUNTIME, TYPES, of=clip_operator()))
    assert report.model_dump_json(exclude={"seconds"}) == alike.model_dump_json(exclude={"seconds"})
    assert {one.verdict for one in report.types} == {"violates"}
    wait_until(lambda: idle(nanny, alone))


def test_unit_that_ends_its_workers_is_an_environment_failure(cluster, nanny):
    class Deadly(DaskWorkers):
        """Whatever is asked ends the worker that is asked."""

        def call(self, *_):
            return super().call(far_functions.ends_worker)

    deadly = Deadly(cluster.address, VARIABLES, variables())
    with ended(deadly):
        unit = Unit(CheckOptions(RUNTIME, of=clip_operator()), "int8")
        found = RemoteJudge(deadly, RUNTIME, VERSION, clip_operator()).judge(unit)
    assert found.stopped is not None
    verdict, words = found.stopped
    assert verdict == "environment"
    assert words.startswith(
        "2 workers ended while judging this unit, the last one tcp://127.0.0.1:"
    )
    assert not found.is_kept(cache=False)


def start(cluster, report, *words):
    """`sonnx-clip check` on a cluster."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "check", "--scheduler", cluster.address, "--brief", *words,
         "-o", str(report), "--build", str(report.parent)],
        cwd=repo_root(), env={**os.environ, "PYTHONPATH": str(repo_root())}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_command_that_is_ended_leaves_nothing_at_the_workers(cluster, nanny, tmp_path, number):
    second = cluster.worker(2)
    both, report = (nanny, second), tmp_path / "report.json"
    process = start(cluster, report, "--runtime", HANGS, "--limit", "1000")
    wait_until(lambda: len(at_work(*both)) == 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == {signal.SIGINT: INTERRUPTED, signal.SIGTERM: 143}.get(
        number, -number
    ), err
    assert "Traceback" not in err
    assert ("unfinished" in out) == report.exists() == (number == signal.SIGINT)
    wait_until(lambda: idle(*both))
    second.terminate()


def test_certificates_are_those_of_dask(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -keyout {key} -out {cert} -days 2 -subj /CN=localhost"
    subprocess.run(make.split(), check=True, capture_output=True)
    tls = {"ca-file": cert} | {f"{who}.{what}": file for who in ("scheduler", "worker", "client")
                               for what, file in (("key", key), ("cert", cert))}  # fmt: skip
    tls = {f"distributed.comm.tls.{name}": file for name, file in tls.items()}
    settings = {
        f"DASK_{name}".replace(".", "__").replace("-", "_").upper(): tls[name] for name in tls
    }
    found = Cluster(tmp_path, "tls", settings)
    try:
        found.worker(1)
        with dask.config.set({"distributed.comm.timeouts.connect": "2s"}), pytest.raises(UserError):
            DaskWorkers(found.address, VARIABLES, variables())
        with (
            dask.config.set(tls),
            ended(DaskWorkers(found.address, VARIABLES, variables())) as workers,
        ):
            assert workers.call(far_functions.process) != os.getpid()
    finally:
        found.close()
