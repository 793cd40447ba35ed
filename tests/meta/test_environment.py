"""What the machine lacks is reported as such, with status 2, and is never a verdict on the runtime."""

import json
import subprocess
import sys
from types import ModuleType

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.runtime import LIMITS
from sonnx_clip.runtimes.worker import Child
from tests.command import run

pytestmark = pytest.mark.usefixtures("brief")

PLANTED = "tests.meta.planted_environment"


def check(runtime, *arguments):
    return run("check", "--runtime", f"{PLANTED}:{runtime}", *arguments, cwd=repo_root())


def test_memory_exhaustion_in_one_type_leaves_the_others_judged(tmp_path):
    arguments = ("--dtype", "int16", "--dtype", "uint16", "--json", "--build", str(tmp_path))
    done = check("runs_out_of_memory", *arguments)
    assert done.returncode == 2
    verdicts = {found["type"]: found["verdict"] for found in json.loads(done.stdout)["types"]}
    assert verdicts == {"int16": "environment", "uint16": "conforms"}
    assert "error: " in done.stderr
    assert "environment: int16 could not be judged: " in done.stderr
    assert "MemoryError: Unable to allocate" in done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("imports_late", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("lacks_a_file", "FileNotFoundError: "),
        ("is_killed", "killed by SIGKILL, as by the system"),
    ],
)
def test_environment_failure_during_a_call(name, words):
    report = run_campaign(CheckOptions(f"{PLANTED}:{name}", ["int16"], of=clip_operator()))
    (found,) = report.types
    assert found.verdict == "environment"
    assert words in found.words
    assert report.failed
    assert list(report.environment) == ["int16"]


def test_required_type_must_be_supported():
    report = run_campaign(
        CheckOptions(
            f"{PLANTED}:refuses_uint16", ["int16"], require=["uint16", "int16"], of=clip_operator()
        )
    )
    assert [found.verdict for found in report.types] == ["conforms", "unsupported"]
    assert report.failed
    assert report.required == ("uint16", "int16")
    done = check("refuses_uint16", "--require", "uint16", "--dtype", "uint16")
    assert done.returncode == 1
    assert "required uint16: it is not supported" in done.stdout


def test_program_without_a_main_guard_checks_runtimes():
    """Python would import the program in each process that it starts; standard input it cannot import."""
    program = (
        "from sonnx_clip.conform.campaign import run_campaign\n"
        "from sonnx_clip.conform.units import CheckOptions\n"
        "from sonnx_clip.conform.operator import clip_operator\n"
        "options = CheckOptions('numpy', ['int16'], few_calls=True, of=clip_operator())\n"
        "print('once', run_campaign(options).types[0].verdict)\n"
    )
    done = subprocess.run(
        [sys.executable, "-"], input=program, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "once conforms\n", "")


def test_supervisor_that_does_not_start_is_an_environment_failure(monkeypatch):
    """Planted: what it is started with is in no module that it could import."""
    nowhere = ModuleType("nowhere")
    nowhere.Program = type("Program", (), {"__module__": "nowhere"})
    monkeypatch.setitem(sys.modules, "nowhere", nowhere)
    child = Child("numpy", nowhere.Program, (), LIMITS)
    with pytest.raises(
        UserError, match=r"environment: no process can be started .* numpy"
    ) as error:
        child.start()
    assert error.value.todo == "the standard error of that process has the reason"
