"""`tools/setup.sh python provers c`: side by side, one apt at a time, and no failure is lost."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Machine


def test_all_that_is_named_is_set_up(machine: Machine) -> None:
    done = machine.setup("python", "provers", "c")
    assert (done.returncode, done.stderr) == (0, "")
    calls = machine.calls()
    installed = {call.rpartition("install ")[2] for call in calls if "install" in call}
    assert {"why3 z3 cvc5", "gcc libc6-dev"} <= installed
    assert (machine.home / ".venv" / ".project-done").is_file()
    again = machine.setup("python", "provers")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_no_two_call_apt_at_once(machine: Machine) -> None:
    machine.setup("c", "provers")
    apt = [call for call in machine.calls() if call.startswith("apt-get")]
    assert len(apt) == 4
    assert all("update" in first and "install" in then for first, then in list(pairwise(apt))[::2])


def test_a_failure_is_the_status_and_the_others_are_done(machine: Machine) -> None:
    done = machine.setup("provers", "python", SETUP_SYSTEM="no")
    assert done.returncode == 2
    assert "setup: error: why3 z3 cvc5 not found" in done.stderr
    assert (machine.home / ".venv" / ".project-done").is_file()


def test_a_word_that_is_not_known_is_refused(machine: Machine) -> None:
    done = machine.setup("provers", "coffee")
    assert done.returncode == 2
    assert "usage: tools/setup.sh python|provers|" in done.stderr
