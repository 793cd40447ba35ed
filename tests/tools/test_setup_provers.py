"""`tools/setup.sh provers`: what it installs, and what it says where it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Machine

INSTALL = "apt-get -q -y -o DPkg::Lock::Timeout=300 --no-install-recommends install"


@pytest.fixture
def equipped(machine: Machine) -> Machine:
    for name, version in {"why3": "1.5.1", "z3": "4.8.12", "cvc5": "1.0.3"}.items():
        machine.add_tool(name, version)
    return machine


def test_nothing_is_done_or_said_where_all_is_there(equipped: Machine) -> None:
    done = equipped.setup("provers")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert equipped.calls() == []


def test_root_installs_what_is_missing_and_nothing_else(machine: Machine) -> None:
    machine.add_tool("z3", "4.8.12")
    done = machine.setup("provers")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "setup: why3 cvc5 not found: installing Debian's why3 cvc5\n"
    assert machine.calls() == ["apt-get -q update", f"{INSTALL} why3 cvc5"]
    assert machine.setup("provers").stdout == ""


def test_a_user_with_passwordless_sudo_installs_through_it(machine: Machine) -> None:
    machine.add_sudo()
    assert machine.setup("provers", FAKE_ID="1000").returncode == 0
    calls = machine.calls()
    assert "sudo -n true" in calls
    assert f"{INSTALL} why3 z3 cvc5" in calls


@pytest.mark.parametrize(
    "settings",
    [
        {"FAKE_ID": "1000"},
        {"FAKE_ID": "1000", "FAKE_SUDO": "wants-password"},
        {"SETUP_SYSTEM": "no"},
    ],
)
def test_where_it_may_not_install_it_says_exactly_what_to_install(
    machine: Machine, settings: dict[str, str]
) -> None:
    if "FAKE_SUDO" in settings:
        machine.add_sudo()
    machine.add_tool("why3", "1.5.1")
    done = machine.setup("provers", **settings)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "z3 cvc5 not found" in done.stderr
    assert "sudo apt-get install --no-install-recommends z3 cvc5\n" in done.stderr
    assert not [call for call in machine.calls() if call.startswith("apt-get")]


def test_machine_without_apt_lists_what_to_install(machine: Machine) -> None:
    (machine.bin / "apt-get").unlink()
    done = machine.setup("provers")
    assert done.returncode == 2
    assert "Install, then repeat: why3 z3 cvc5" in done.stderr


def test_a_failed_installation_shows_the_last_words_of_apt(machine: Machine) -> None:
    done = machine.setup("provers", FAKE_APT="fails")
    assert done.returncode == 2
    assert "E: Unable to locate package" in done.stderr
    assert "could not install why3 z3 cvc5" in done.stderr


def test_an_installation_that_brought_nothing_is_an_error(machine: Machine) -> None:
    done = machine.setup("provers", FAKE_APT="installs-nothing")
    assert done.returncode == 2
    assert "no command why3 is on PATH" in done.stderr


def test_the_versions_of_debian_13_are_known(equipped: Machine) -> None:
    equipped.add_tool("why3", "1.8.0")
    equipped.add_tool("z3", "4.13.3")
    equipped.add_tool("cvc5", "1.1.2")
    done = equipped.setup("provers")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_versions_that_were_not_tried_are_used_and_named_in_one_line(equipped: Machine) -> None:
    equipped.add_tool("z3", "4.13.30")
    equipped.add_tool("cvc5", "9.9.9")
    done = equipped.setup("provers")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "setup: z3 4.13.30, cvc5 9.9.9: not tried here yet. "
        "It is used, and the evidence names its version and what it proves\n"
    )


def test_a_prover_that_does_not_run_is_an_error(equipped: Machine) -> None:
    equipped.add("cvc5", "#!/bin/bash\nexit 127\n")
    done = equipped.setup("provers")
    assert done.returncode == 2
    assert "cvc5 does not run" in done.stderr


def test_the_browser_is_installed_once(machine: Machine) -> None:
    assert machine.setup("browser").returncode == 0
    assert machine.calls()[-1] == f"{INSTALL} chromium"
    assert machine.setup("browser").stdout == ""
    assert machine.calls() == []


def test_an_unknown_part_is_refused(machine: Machine) -> None:
    done = machine.setup("everything")
    assert done.returncode == 2
    assert "usage: tools/setup.sh python|provers|" in done.stderr
