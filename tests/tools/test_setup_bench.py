"""`tools/setup.sh bench`: a venv beside .venv, and no failure where torch cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Machine

LOCKED = "--require-hashes --only-binary :all: -r requirements.lock"
EXTRA = "--no-build-isolation -e .[bench]"


def test_a_first_run_makes_a_venv_of_its_own_and_a_second_does_nothing(machine: Machine) -> None:
    done = machine.setup("bench")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "setup: making .venv-bench with Python 3.11.2 and the packages of requirements.lock\n"
        "setup: installing this project into .venv-bench\n"
        "setup: installing torch into .venv-bench\n"
    )
    packages, _, extra = machine.calls()
    assert packages.endswith(LOCKED)
    assert extra.endswith(EXTRA)
    assert not (machine.home / ".venv").exists()
    again = machine.setup("bench")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert machine.calls() == []


def test_what_cannot_be_had_is_said_and_asked_for_again(machine: Machine) -> None:
    done = machine.setup("bench", FAKE_PIP="fails-extra")
    assert done.returncode == 0
    assert "ERROR: no torch" in done.stderr
    assert "warning: pip could not" in done.stderr
    machine.calls()
    assert machine.setup("bench").returncode == 0
    assert [call.endswith(EXTRA) for call in machine.calls()] == [True]


def test_a_changed_pyproject_installs_again(machine: Machine) -> None:
    machine.setup("bench")
    machine.calls()
    (machine.home / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert machine.setup("bench").returncode == 0
    assert [call.endswith(EXTRA) for call in machine.calls()] == [False, True]
