"""`tools/setup.sh runtimes`: a venv of its own, with the extras of every adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.runtimes.runtime import EXTRAS

if TYPE_CHECKING:
    from conftest import Machine


def test_the_extras_of_all_adapters_are_installed_once(machine: Machine) -> None:
    done = machine.setup("runtimes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "installing torch, jax, openvino, tract and litert into .venv-runtimes" in done.stdout
    *_, last = machine.calls()
    assert set(last.partition(".[")[2].rstrip("]").split(",")) == set(EXTRAS.values())
    assert machine.setup("runtimes").stdout == ""
    assert machine.calls() == []
