"""`tools/setup.sh` on a machine of fakes: what it installs, what it leaves alone, and its errors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Machine

INSTALL = "apt-get -q -y -o DPkg::Lock::Timeout=300 --no-install-recommends install"
PACKAGES = "pip -m pip -qq --disable-pip-version-check --no-input install --require-hashes"
PROJECT = "pip -m pip -qq --disable-pip-version-check --no-input install --no-deps --no-build-isolation -e ."


# --- Debian's packages, for the provers ---------------------------------------------------------------------


@pytest.fixture
def equipped(machine: Machine) -> Machine:
    for name, version in {"why3": "1.5.1", "z3": "4.8.12", "cvc5": "1.0.3"}.items():
        machine.add_tool(name, version)
    return machine


def test_nothing_is_done_where_all_is_there(equipped: Machine) -> None:
    for versions in ({}, {"why3": "1.8.0", "z3": "4.13.3", "cvc5": "1.1.2"}):  # those of Debian 13
        for name, version in versions.items():
            equipped.add_tool(name, version)
        done = equipped.setup("provers")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert equipped.calls() == []


def test_root_installs_what_is_missing_and_nothing_else(machine: Machine) -> None:
    machine.add_tool("z3", "4.8.12")
    done = machine.setup("provers")
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.calls() == ["apt-get -q update", f"{INSTALL} why3 cvc5"]
    assert machine.setup("provers").stdout == ""
    assert machine.setup("browser").returncode == 0
    assert machine.calls()[-1] == f"{INSTALL} chromium"


def test_user_with_passwordless_sudo_installs_through_it(machine: Machine) -> None:
    machine.add_sudo()
    assert machine.setup("provers", FAKE_ID="1000").returncode == 0
    assert f"{INSTALL} why3 z3 cvc5" in machine.calls()


@pytest.mark.parametrize(
    "settings",
    [{"FAKE_ID": "1000"}, {"FAKE_ID": "1000", "FAKE_SUDO": "wants-password"}, {"SETUP_SYSTEM": "no"}],
)
def test_missing_tools_are_listed_where_nothing_may_be_installed(
    machine: Machine, settings: dict[str, str]
) -> None:
    if "FAKE_SUDO" in settings:
        machine.add_sudo()
    machine.add_tool("why3", "1.5.1")
    done = machine.setup("provers", **settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert "sudo apt-get install --no-install-recommends z3 cvc5\n" in done.stderr
    assert not [call for call in machine.calls() if call.startswith("apt-get")]
    (machine.bin / "apt-get").unlink()
    assert "Install, then repeat: z3 cvc5" in machine.setup("provers").stderr


@pytest.mark.parametrize(
    ("apt", "words"),
    [("fails", "E: Unable to locate package"), ("installs-nothing", "no command why3 is on PATH")],
)
def test_installation_that_fails_is_an_error(machine: Machine, apt: str, words: str) -> None:
    done = machine.setup("provers", FAKE_APT=apt)
    assert done.returncode == 2
    assert words in done.stderr


def test_untried_version_is_named_and_a_broken_prover_is_an_error(equipped: Machine) -> None:
    equipped.add_tool("z3", "4.13.30")
    done = equipped.setup("provers")
    assert (done.returncode, done.stdout) == (0, "")
    assert "z3 4.13.30: not tried here yet" in done.stderr
    equipped.add("cvc5", "#!/bin/bash\nexit 127\n")
    done = equipped.setup("provers")
    assert done.returncode == 2
    assert "cvc5 does not run" in done.stderr


# --- .venv ------------------------------------------------------------------------------------------------


def test_first_run_makes_venv_and_second_does_nothing(machine: Machine) -> None:
    done = machine.setup("python")
    assert (done.returncode, done.stderr) == (0, "")
    packages, project = machine.calls()
    assert packages.startswith(PACKAGES)
    assert project == PROJECT
    again = machine.setup("python")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert machine.calls() == []


def test_changed_lock_makes_it_again_and_changed_pyproject_only_the_project(machine: Machine) -> None:
    machine.setup("python")
    machine.calls()
    (machine.home / ".venv/leftover").touch()
    (machine.home / "requirements.lock").write_text("numpy==2.5.5\n")
    assert machine.setup("python").returncode == 0
    assert [call.startswith(PACKAGES) for call in machine.calls()] == [True, False]
    assert not (machine.home / ".venv/leftover").exists()
    (machine.home / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert machine.setup("python").returncode == 0
    assert machine.calls() == [PROJECT]


def test_moved_checkout_or_missing_python_makes_it_again(machine: Machine) -> None:
    machine.setup("python")
    moved = type(machine)(machine.home.rename(machine.home.with_name("moved")), machine.bin, machine.log)
    assert moved.setup("python").stdout.startswith("setup: making .venv")
    (moved.home / ".venv/bin/python").unlink()
    assert moved.setup("python").stdout.startswith("setup: making .venv")


@pytest.mark.parametrize(("pip", "status"), [("fails", 2), ("killed", -9)])
def test_failed_pip_is_tried_again(machine: Machine, pip: str, status: int) -> None:
    done = machine.setup("python", FAKE_PIP=pip)
    assert done.returncode == status
    assert pip == "killed" or "ERROR: no network" in done.stderr
    machine.calls()
    assert machine.setup("python").returncode == 0
    assert len(machine.calls()) == 2


def test_unsuitable_python_is_an_error(machine: Machine) -> None:
    for settings in ({"FAKE_PYTHON": "3.9"}, {"PYTHON": "/nowhere/python3"}):
        done = machine.setup("python", **settings)
        assert done.returncode == 2
        assert "Python 3.11 or newer" in done.stderr
        assert not (machine.home / ".venv").exists()


def test_missing_venv_module_is_installed_or_named(machine: Machine) -> None:
    done = machine.setup("python", FAKE_VENV="no", FAKE_ID="1000")
    assert done.returncode == 2
    assert "sudo apt-get install --no-install-recommends python3-venv" in done.stderr
    assert machine.setup("python", FAKE_VENV="no").returncode == 0
    assert [call for call in machine.calls() if call.endswith("install python3-venv")]


# --- Several at once ----------------------------------------------------------------------------------------


def test_several_are_set_up_one_apt_at_a_time(machine: Machine) -> None:
    done = machine.setup("python", "provers", "c")
    assert (done.returncode, done.stderr) == (0, "")
    apt = [call for call in machine.calls() if call.startswith("apt-get")]
    assert len(apt) == 4
    assert all("update" in first and "install" in then for first, then in list(pairwise(apt))[::2])
    assert {call.rpartition("install ")[2] for call in apt[1::2]} == {"why3 z3 cvc5", "gcc libc6-dev"}
    assert (machine.home / ".venv" / ".project-done").is_file()


def test_failure_of_one_is_the_status_and_the_others_are_done(machine: Machine) -> None:
    done = machine.setup("provers", "python", SETUP_SYSTEM="no")
    assert done.returncode == 2
    assert "setup: error: why3 z3 cvc5 not found" in done.stderr
    assert (machine.home / ".venv" / ".project-done").is_file()


def test_unknown_word_is_refused(machine: Machine) -> None:
    done = machine.setup("provers", "coffee")
    assert done.returncode == 2
    assert "usage: tools/setup.sh python|provers|" in done.stderr
