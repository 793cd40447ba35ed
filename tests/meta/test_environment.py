"""What the machine lacks is reported as such, with status 2, and is never a verdict on the runtime."""

import json
import subprocess
import sys
from types import ModuleType

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.options import CheckOptions
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
        ("is_killed", "killed by SIGKILL, as the system does where memory runs out"),
    ],
)
def test_environment_failure_during_a_call(name, words):
    report = run_campaign(CheckOptions(f"{PLANTED}:{name}", ["int16"]))
    (found,) = report.types
    assert found.verdict == "environment"
    assert words in found.words
    assert report.failed
    assert list(report.environment) == ["int16"]


def test_a_type_that_is_required_must_be_supported():
    free = run_campaign(CheckOptions(f"{PLANTED}:refuses_uint16", ["int16"]))
    asked = run_campaign(CheckOptions(f"{PLANTED}:refuses_uint16", ["int16"], require=["uint16", "int16"]))
    assert not free.failed
    assert [found.verdict for found in asked.types] == ["conforms", "unsupported"]
    assert asked.failed
    assert asked.required == ("uint16", "int16")


def test_a_required_type_is_named_by_the_command():
    done = check("refuses_uint16", "--require", "uint16", "--dtype", "uint16")
    assert done.returncode == 1
    assert "required uint16: it is not supported" in done.stdout


@pytest.mark.parametrize("place", ["standard input", "a script"])
def test_a_program_without_a_guard_checks_runtimes(place, tmp_path):
    """Python would import the program in each process that it starts; standard input it cannot import."""
    program = (
        "from sonnx_clip.conform.campaign import run_campaign\n"
        "from sonnx_clip.conform.options import CheckOptions\n"
        "print('once', run_campaign(CheckOptions('numpy', ['int16'])).types[0].verdict)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(program)
    command = [sys.executable, "-" if place == "standard input" else str(script)]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "once conforms\n", "")


def test_a_supervisor_that_does_not_start_is_the_environment(monkeypatch):
    """Planted: what it is started with is in no module that it could import."""
    nowhere = ModuleType("nowhere")
    nowhere.Program = type("Program", (), {"__module__": "nowhere"})
    monkeypatch.setitem(sys.modules, "nowhere", nowhere)
    child = Child("numpy", nowhere.Program, (), LIMITS)
    with pytest.raises(UserError, match=r"environment: no process can be started .* numpy") as error:
        child.start()
    assert error.value.todo == "what that process wrote on standard error says why"
