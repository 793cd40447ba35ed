"""Tools that are wrong about everything are found out by canaries: false statements that they must refute."""

import shutil
import subprocess
from pathlib import Path
from subprocess import PIPE

import pytest

from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.drivers import driver
from sonnx_clip.backends.rewrites_theory import WRONG_CONDITIONS
from sonnx_clip.prove import prove_all
from sonnx_clip.prove.provers import reply
from sonnx_clip.spec import load_spec
from tests.prove.tools import fake

GOAL = "int8.monotone"
SAYS_YES = 'echo "task $digest"; echo unsat; echo "end $digest"'


@pytest.fixture(autouse=True)
def canaries(bench):
    bench.send_canaries()


def require_found_out(ended):
    assert ended.status == 1
    assert "a false statement is not refuted: canary.float16." in ended.out
    assert "no answer of this run is reliable" in " ".join(ended.out.split())


FAMILIES = {"canary.real", "canary.int8", "canary.float16"}


def test_every_property_has_a_canary():
    spec = load_spec()
    canaries = render_canaries(spec).obligations
    of_operators = [c for c in canaries if c.theory != WRONG_CONDITIONS]
    assert {c.shows[0] for c in of_operators} == {p.id for p in spec.properties}
    assert {c.subject for c in of_operators} == FAMILIES


def test_every_family_has_rewrites_with_wrong_conditions():
    canaries = render_canaries(load_spec()).obligations
    of_rewrites = [c for c in canaries if c.theory == WRONG_CONDITIONS]
    assert {c.shows for c in of_rewrites} == {("clip-clip-by-max-min",)}
    assert {c.subject for c in of_rewrites} == FAMILIES


# Every run of the proofs fails where a canary is not refuted.
@pytest.mark.nightly
def test_canaries_are_refuted_and_sent_with_whatever_is_sent(bench):
    sent = []
    asked = prove_all.ask

    def note(prover, task, *more):
        sent.append(task)
        return asked(prover, task, *more)

    bench.monkeypatch.setattr(prove_all, "ask", note)
    count = len(render_canaries(load_spec()).obligations)
    for goal, least in ((GOAL, count), (GOAL, 0), ("int8.nan_out", count)):
        sent.clear()
        ended = bench.prove("--only", goal, "--json")
        assert ended.status == 0
        canaries = ended.document["canaries"]
        assert len(canaries) == count
        replies = [r for c in canaries if c["kind"] == "canary" for r in c["replies"]]
        assert {r["verdict"] for r in replies} == {"countermodel"}
        assert len(sent) > least if least else not sent


@pytest.mark.parametrize(
    "liars",
    [
        pytest.param(("z3",), marks=pytest.mark.nightly),
        pytest.param(("cvc5",), marks=pytest.mark.nightly),
        ("z3", "cvc5"),
    ],
    ids=" and ".join,
)
def test_prover_that_proves_everything_fails_the_run(liars, bench, tmp_path):
    with bench.monkeypatch.context() as patch:
        for prover in liars:
            fake(prover, SAYS_YES, tmp_path / "bin", patch)
        ended = bench.prove("--only", GOAL)
    require_found_out(ended)
    assert "1 proved by two provers" in ended.out  # that is why it has to be found out
    # What it answered stands for nothing once the real program is back.
    assert bench.prove("--only", GOAL, "--json").document["run"]["asked"] > 0


@pytest.mark.nightly
def test_prover_replaced_by_a_liar_is_asked_again(bench, tmp_path):
    """Nothing is new but the bytes of the prover: no answer of the program before stands for it."""
    assert bench.prove("--only", GOAL).status == 0
    fake("z3", SAYS_YES, tmp_path / "bin", bench.monkeypatch)
    require_found_out(bench.prove("--only", GOAL))


@pytest.mark.nightly
def test_refutation_does_not_outlive_a_failure(bench):
    """A canary that was refuted once, and of which the prover now says nothing, is sent again."""
    assert bench.prove("--only", GOAL).status == 0
    with bench.monkeypatch.context() as patch:
        patch.setattr(prove_all, "ask", lambda prover, *_: reply(prover, "", "failed", "it broke"))
        assert bench.prove("--only", "int8.nan_out").status == 1
        assert bench.prove("--only", GOAL).status == 1  # nothing else is new
    assert bench.prove("--only", GOAL).status == 0


@pytest.mark.nightly
def test_driver_that_prints_equality_as_true_fails_the_run(bench, tmp_path):
    data = Path(
        subprocess.run(
            ["why3", "--print-datadir"], stdout=PIPE, text=True, check=True
        ).stdout.strip()
    )
    shutil.copytree(data / "drivers", tmp_path / "drivers")
    for file in (tmp_path / "drivers").glob("smt-libv2*.gen"):
        text = file.read_text()
        file.write_text(
            text.replace('syntax predicate (=)  "(= %1 %2)"', 'syntax predicate (=)  "true"')
        )
    bench.monkeypatch.setattr(
        "sonnx_clip.prove.snapshot.driver", lambda name, _: driver(name, str(tmp_path))
    )
    require_found_out(bench.prove("--only", "int8.clip_is_cases"))
