"""`sonnx_clip.cli.stages`: in which order stages run and print, which status decides, what an end leaves."""

import io
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from sonnx_clip.cli.stages import OTHERS, Stage, run_all, stages
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.terminal import GENERATED
from sonnx_clip.runtimes.runtime import OURS

PROGRAM = (sys.executable, str(Path(__file__).parent / "staged.py"))


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def stage(folder, name, *options, after=(), **kind):
    known = [option for other in after for option in ("--after", other)]
    return Stage(name, (str(folder), name, *known, *options), tuple(after), **kind)


def run(*every):
    printed = io.StringIO()
    status = run_all(every, Console(file=printed), PROGRAM)
    return status, printed.getvalue().split()[::2]


def wait_until(condition):
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)


def test_what_is_printed_comes_in_the_order_of_the_stages(folder):
    status, names = run(
        stage(folder, "first", "--wait-for", "second"),
        stage(folder, "second"),
        stage(folder, "third", after=("first", "second")),
    )
    assert (status, names) == (0, ["first", "second", "third"])


def test_a_stage_begins_when_those_before_it_have_ended(folder):
    status, _ = run(stage(folder, "last", after=("slow",)), stage(folder, "slow", "--wait-for", "other"),
                    stage(folder, "other"))  # fmt: skip
    assert status == 0


def test_a_stage_may_begin_at_a_milestone_of_another(folder):
    status, names = run(
        stage(folder, "first", "--milestone", "halfway", "--wait-for", "second"),
        Stage("second", (str(folder), "second"), ("halfway",)),
    )
    assert (status, names) == (0, ["first", "second"])


@pytest.mark.parametrize("status", [0, 2])
def test_a_milestone_that_is_never_reached_ends_the_whole(folder, status):
    every = (stage(folder, "first", "--status", str(status)), Stage("second", (), ("halfway",)))
    assert run(*every)[0] == 2


@pytest.mark.parametrize(("decides", "whole"), [(True, 1), (False, 0)])
def test_a_failure_counts_where_it_decides_and_nothing_stops(folder, decides, whole):
    failing = stage(folder, "failing", "--status", "1", decides=decides)
    assert run(failing, stage(folder, "last", after=("failing",))) == (whole, ["failing", "last"])


def test_what_is_not_needed_may_end_as_it_likes(folder):
    optional = stage(folder, "optional", "--status", "2", decides=False, needed=False)
    assert run(optional, stage(folder, "last", after=("optional",))) == (0, ["optional", "last"])


@pytest.mark.parametrize(("name", "status"), [("check", 2), ("check", 130)])
def test_what_cannot_go_on_ends_the_others(folder, name, status):
    broken = stage(folder, name, "--wait-for", "quick", "--status", str(status))
    ended, names = run(
        stage(folder, "endless", "--forever"),
        stage(folder, "quick"),
        broken,
        stage(folder, "last", after=(name,)),
    )
    assert ended == status
    assert names[-1] == name
    assert set(names) <= {"quick", name}
    assert (folder / "endless.ended").exists()
    assert not (folder / "last.began").exists()


def test_a_log_has_a_line_for_each_beginning_end_and_fifth(folder, capfd):
    run(stage(folder, "counting", "--count", "10"))
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "counting: started"
    assert lines[-2] == "counting: 10 of 10"
    assert lines[-1].startswith("counting: ended after ")


DRIVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
from rich.console import Console
from sonnx_clip.cli.app import end_as_interrupted
from sonnx_clip.cli.stages import Stage, run_all
end_as_interrupted()
run_all([Stage("endless", (sys.argv[2], "endless", "--forever"))], Console(), (sys.executable, sys.argv[1]))
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_the_whole_ends_its_stages(folder, how):
    whole = subprocess.Popen(
        [sys.executable, "-c", DRIVER, PROGRAM[1], str(folder)],
        cwd=repo_root(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_until((folder / "endless.began").exists)
        whole.send_signal(how)
        assert whole.wait(30) != 0
        wait_until((folder / "endless.ended").exists)
    finally:
        whole.kill()
        whole.wait()


def test_the_stages_of_make_prove(tmp_path):
    every = stages(OTHERS, 3, tmp_path, again=True)
    names = [one.name for one in every]
    assert set(names) >= {
        "prove",
        "compare-dialects",
        "evidence",
        *(f"check {r}" for r in OURS + OTHERS),
    }
    reached = {GENERATED, *names}
    assert all(before in reached for one in every for before in one.after)
    assert "--generate" in every[names.index("prove")].arguments
    assert names[-1] == "evidence"
    deciding = {one.name for one in every if one.decides}
    assert not deciding & {f"check {runtime}" for runtime in OTHERS}
    assert deciding >= {f"check {runtime}" for runtime in OURS}
    assert sum("--again" in one.arguments for one in every) == len(OURS + OTHERS) + 1
