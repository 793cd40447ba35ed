"""Tools that are wrong about everything are found out by canaries: false statements that they must refute."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.drivers import driver
from sonnx_clip.prove import prove_all
from sonnx_clip.prove.provers import reply
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.spec import load_spec
from tests.prove.tools import fake

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

GOAL = "int8.monotone"
SAYS_YES = 'echo "task $digest"; echo unsat; echo "end $digest"'


@pytest.fixture(autouse=True)
def canaries(bench: Workbench) -> None:
    bench.send_canaries()


def test_every_property_has_a_canary() -> None:
    spec = load_spec()
    _, canaries = render_canaries(spec)
    assert {c.shows[0] for c in canaries} == {p.id for p in spec.properties}
    assert {c.subject for c in canaries} == {"canary.real", "canary.int8", "canary.float16"}


def test_the_canaries_of_a_run_are_refuted(bench: Workbench) -> None:
    ended = bench.prove("--only", GOAL, "--json")
    assert ended.status == 0
    canaries = ended.document["canaries"]
    assert len(canaries) == len(render_canaries(load_spec())[1])
    of_machines = [c for c in canaries if c["kind"] == "canary"]
    assert {r["verdict"] for c in of_machines for r in c["replies"]} == {"countermodel"}


@pytest.mark.parametrize("liars", [("z3",), ("cvc5",), ("z3", "cvc5")])
def test_a_prover_that_proves_everything_fails_the_run(
    liars: tuple[str, ...], bench: Workbench, tmp_path: Path
) -> None:
    with bench.monkeypatch.context() as patch:
        for prover in liars:
            fake(prover, SAYS_YES, tmp_path / "bin", patch)
        ended = bench.prove("--only", GOAL)
    assert ended.status == 1
    assert "1 proved by two provers" in ended.out  # that is why it has to be found out
    assert "a false statement is not refuted: canary.float16." in ended.out
    assert "no answer of this run is reliable" in " ".join(ended.out.split())
    # What it answered stands for nothing once the real program is back.
    assert bench.prove("--only", GOAL, "--json").document["run"]["asked"] > 0


def test_a_driver_that_prints_equality_as_true_fails_the_run(bench: Workbench, tmp_path: Path) -> None:
    data = Path(
        subprocess.run(["why3", "--print-datadir"], stdout=PIPE, text=True, check=True).stdout.strip()
    )
    shutil.copytree(data / "drivers", tmp_path / "drivers")
    for file in (tmp_path / "drivers").glob("smt-libv2*.gen"):
        text = file.read_text()
        file.write_text(text.replace('syntax predicate (=)  "(= %1 %2)"', 'syntax predicate (=)  "true"'))
    bench.monkeypatch.setattr(
        "sonnx_clip.cli.prove_command.configure",
        lambda build, **_: configure(build, lambda name, _: driver(name, str(tmp_path))),
    )
    ended = bench.prove("--only", "int8.clip_is_cases")
    assert ended.status == 1
    assert "a false statement is not refuted: canary.float16." in ended.out


def test_canaries_are_sent_with_whatever_is_sent(bench: Workbench) -> None:
    sent: list[str] = []
    asked = prove_all.ask

    def note(prover, task, *more):
        sent.append(task)
        return asked(prover, task, *more)

    bench.monkeypatch.setattr(prove_all, "ask", note)
    canaries = len(render_canaries(load_spec())[1])
    for goal, least in ((GOAL, canaries), (GOAL, 0), ("int8.nan_out", canaries)):
        sent.clear()
        ended = bench.prove("--only", goal, "--json")
        assert ended.status == 0
        assert len(ended.document["canaries"]) == canaries
        assert len(sent) > least if least else not sent


def test_a_refutation_does_not_outlive_a_failure(bench: Workbench) -> None:
    """A canary that was refuted once, and of which the prover now says nothing, is sent again."""
    assert bench.prove("--only", GOAL).status == 0
    with bench.monkeypatch.context() as patch:
        patch.setattr(prove_all, "ask", lambda prover, *_: reply(prover, "", "failed", "it broke"))
        assert bench.prove("--only", "int8.nan_out").status == 1
        assert bench.prove("--only", GOAL).status == 1  # nothing else is new
    assert bench.prove("--only", GOAL).status == 0


def test_canaries_are_sent_again_to_a_program_that_was_replaced(bench: Workbench, tmp_path: Path) -> None:
    """Nothing is new but the bytes of the prover: no answer of the program before stands for it."""
    assert bench.prove("--only", GOAL).status == 0
    with bench.monkeypatch.context() as patch:
        fake("z3", SAYS_YES, tmp_path / "bin", patch)
        ended = bench.prove("--only", GOAL)
    assert ended.status == 1
    assert "a false statement is not refuted: canary.float16." in ended.out
