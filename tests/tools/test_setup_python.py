"""`tools/setup.sh python`: .venv is made once, made again when it must be, and never half made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Machine

PACKAGES = "pip -m pip -qq --disable-pip-version-check --no-input install --require-hashes"
PROJECT = "pip -m pip -qq --disable-pip-version-check --no-input install --no-deps --no-build-isolation -e ."


def test_a_first_run_makes_it_and_a_second_does_nothing(machine: Machine) -> None:
    done = machine.setup("python")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "setup: making .venv with Python 3.11.2 and the packages of requirements.lock\n"
        "setup: installing this project into .venv\n"
    )
    packages, project = machine.calls()
    assert packages.startswith(PACKAGES)
    assert project == PROJECT
    again = machine.setup("python")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert machine.calls() == []


def test_a_changed_lock_makes_it_again(machine: Machine) -> None:
    machine.setup("python")
    machine.calls()
    (machine.home / ".venv/leftover").touch()
    (machine.home / "requirements.lock").write_text("numpy==2.5.5\n")
    assert machine.setup("python").returncode == 0
    assert [call.startswith(PACKAGES) for call in machine.calls()] == [True, False]
    assert not (machine.home / ".venv/leftover").exists()


def test_a_changed_pyproject_installs_only_the_project(machine: Machine) -> None:
    machine.setup("python")
    machine.calls()
    (machine.home / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert machine.setup("python").returncode == 0
    assert machine.calls() == [PROJECT]


def test_a_moved_checkout_makes_it_again(machine: Machine) -> None:
    machine.setup("python")
    machine.calls()
    moved = type(machine)(machine.home.rename(machine.home.with_name("moved")), machine.bin, machine.log)
    assert moved.setup("python").stdout.startswith("setup: making .venv")


def test_a_python_that_is_gone_makes_it_again(machine: Machine) -> None:
    machine.setup("python")
    (machine.home / ".venv/bin/python").unlink()
    assert machine.setup("python").stdout.startswith("setup: making .venv")


def test_a_failing_pip_is_shown_and_tried_again(machine: Machine) -> None:
    done = machine.setup("python", FAKE_PIP="fails")
    assert done.returncode == 2
    assert "ERROR: no network" in done.stderr
    assert "pip could not install requirements.lock" in done.stderr
    machine.calls()
    assert machine.setup("python").returncode == 0
    assert len(machine.calls()) == 2


def test_a_killed_run_is_made_good(machine: Machine) -> None:
    assert machine.setup("python", FAKE_PIP="killed").returncode == -9
    assert (machine.home / ".venv/bin/python").exists()
    again = machine.setup("python")
    assert again.returncode == 0
    assert again.stdout.startswith("setup: making .venv")


def test_an_old_python_is_named_with_what_is_needed(machine: Machine) -> None:
    done = machine.setup("python", FAKE_PYTHON="3.9")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr
    assert not (machine.home / ".venv").exists()


def test_a_wrong_choice_of_python_is_an_error(machine: Machine) -> None:
    done = machine.setup("python", PYTHON="/nowhere/python3")
    assert done.returncode == 2
    assert "PYTHON=/nowhere/python3 is not Python 3.11 or newer" in done.stderr
    assert machine.calls() == []


def test_a_missing_venv_module_is_installed(machine: Machine) -> None:
    done = machine.setup("python", FAKE_VENV="no")
    assert done.returncode == 0
    assert "has no module venv: installing Debian's python3-venv" in done.stdout
    assert machine.calls()[1].endswith("install python3-venv")


def test_a_missing_venv_module_is_named_where_nothing_may_be_installed(machine: Machine) -> None:
    done = machine.setup("python", FAKE_VENV="no", FAKE_ID="1000")
    assert done.returncode == 2
    assert "sudo apt-get install --no-install-recommends python3-venv" in done.stderr
