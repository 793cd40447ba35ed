"""`tools/setup.sh frama-c`: what it installs, and what it says where it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Machine


def test_nothing_is_done_or_said_where_it_is_there(machine: Machine) -> None:
    machine.add_tool("frama-c", "25.0-beta")
    done = machine.setup("frama-c")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.calls() == []


def test_root_installs_debians_package(machine: Machine) -> None:
    done = machine.setup("frama-c")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "setup: frama-c not found: installing Debian's frama-c-base\n"
    assert machine.setup("frama-c").stdout == ""


def test_where_it_may_not_install_it_says_what_to_install(machine: Machine) -> None:
    done = machine.setup("frama-c", FAKE_ID="1000")
    assert done.returncode == 2
    assert "sudo apt-get install --no-install-recommends frama-c-base\n" in done.stderr


def test_an_installation_that_brings_no_command_is_noticed(machine: Machine) -> None:
    done = machine.setup("frama-c", FAKE_APT="installs-nothing")
    assert done.returncode == 2
    assert "no command frama-c is on PATH" in done.stderr


def test_a_frama_c_that_does_not_run_is_noticed(machine: Machine) -> None:
    machine.add("frama-c", "#!/bin/bash\nexit 1\n")
    done = machine.setup("frama-c")
    assert done.returncode == 2
    assert "Install frama-c-base anew" in done.stderr


def test_another_version_is_named_and_used(machine: Machine) -> None:
    machine.add_tool("frama-c", "29.0")
    done = machine.setup("frama-c")
    assert done.returncode == 0
    assert "frama-c 29.0: not tried here yet. It is used" in done.stderr
