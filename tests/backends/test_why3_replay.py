"""generated/replay.sh: the same obligations by Why3 and a shell alone; it cannot pass by accident."""

import re
import subprocess

import pytest

from sonnx_clip.backends.drivers import PATH, render_replay
from sonnx_clip.evidence.evidence_model import ReplayEvidence
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.obligations import obligations
from tests.prove.tools import fake


def _replay(bench, obligations, *options):
    """Run the script for some obligations: exit status, its words and the lines of its file."""
    text = render_replay(load_spec(), obligations)[PATH]
    script, out = bench.root / PATH, bench.build / "replay.tsv"
    script.write_text(text)
    bench.build.mkdir(exist_ok=True)
    done = subprocess.run(
        ["sh", script, *options, out], capture_output=True, text=True, check=False
    )
    lines = [line.split("\t") for line in out.read_text().splitlines()] if out.is_file() else []
    return done.returncode, done.stdout + done.stderr, lines


@pytest.fixture
def some():
    """A theorem and a smoke goal of a type."""
    return tuple(o for o in obligations() if o.id in ("uint8.monotone", "uint8.smoke_meaning"))


def test_every_obligation_stands_in_the_script():
    text = repo_file(PATH).read_text()
    goals = re.findall(r'^  -G "([^"]+)"', text, re.MULTILINE)
    assert sorted(goals) == sorted(o.goal for o in obligations() if o.kind != "instance")
    instances = re.findall(
        r"^ask proof (\S+) (\w*Instance) -a inline_all -a introduce_premises$", text, re.MULTILINE
    )
    asked = [(o.file, o.theory) for o in obligations() if o.kind == "instance"]
    assert instances == list(dict.fromkeys(asked))


def test_some_obligations_are_replayed(bench):
    """With the instances, which are asked of their module and not goal by goal."""
    some = tuple(
        o for o in obligations()
        if o.subject == "uint8" and (o.kind == "instance" or o.goal in ("monotone", "smoke_meaning"))
    )  # fmt: skip
    status, said, lines = _replay(bench, some)
    proofs = sum(o.kind != "smoke" for o in some)
    assert status == 0
    assert said.startswith(
        f"{2 * proofs} of {2 * proofs} goals Valid ({proofs} obligations, two provers); "
    )
    assert sorted(line[:4] for line in lines) == sorted(
        [prover, o.file, o.theory, o.goal] for o in some for prover in ("Z3", "cvc5")
    )


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("cvc5", "kill -SEGV $$"),
        pytest.param("why3", "exit 0", marks=pytest.mark.nightly),
        # To everything, so to the smoke goals.
        pytest.param("z3", "echo unsat", marks=pytest.mark.nightly),
        pytest.param("z3", "echo sat; exit 0", marks=pytest.mark.nightly),
        pytest.param("why3", "echo error >&2; exit 1", marks=pytest.mark.nightly),
    ],
)
def test_a_fault_fails_the_replay(name, fault, bench, tmp_path, some):
    fake(name, fault, tmp_path / "bin", bench.monkeypatch)
    status, said, _ = _replay(bench, some)
    assert status != 0
    assert "goals Valid" in said


@pytest.mark.nightly
def test_a_tool_that_is_named_is_used_and_recorded(bench, tmp_path, some):
    other = tmp_path / "z3-99"
    other.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo Z3 version 99.1.2 - 64 bit || echo sat\n'
    )
    other.chmod(0o755)
    status, _, lines = _replay(bench, some, "--z3", str(other))
    assert status == 1
    (file,) = (bench.root / "build" / "replays").iterdir()
    record = dict(line.split(": ") for line in file.read_text().splitlines())
    proofs = sum(o.kind != "smoke" for o in some)
    assert (record["z3"], record["goals"], record["valid"]) == (
        "99.1.2",
        str(2 * proofs),
        str(proofs),
    )
    assert {line[4] for line in lines if line[0] == "Z3"} == {"Unknown"}
    assert sorted(record) == sorted(ReplayEvidence.model_fields)


@pytest.mark.parametrize("options", [("--z3", "/nowhere/z3"), ("--z4", "/bin/true"), ("--why3",)])
def test_a_tool_that_is_not_there_is_one_message(options, bench, some):
    status, said, lines = _replay(bench, some, *options)
    assert (status, lines) == (2, [])
    assert len(said.splitlines()) == 1


def test_a_lost_goal_fails_the_replay(bench, some):
    bench.plant("generated/why3/uint8.mlw", "goal monotone ", "goal monotonous ")
    status, _, lines = _replay(bench, some)
    assert status != 0
    assert "monotone" not in {line[3] for line in lines}


@pytest.mark.nightly
def test_the_whole_replay_agrees_with_the_proofs(bench):
    """Every obligation and prover: Valid there exactly where it is valid here."""
    ended = bench.prove("--json")
    assert ended.status == 0
    status, said, lines = _replay(bench, obligations())
    assert status == 0, said
    replayed = {
        (prover, file, theory, goal): answer for prover, file, theory, goal, answer in lines
    }
    assert len(replayed) == len(lines) == 2 * len(obligations())
    assert len(ended.outcomes) == len(obligations())
    for row in ended.outcomes.values():
        for reply in row["replies"]:
            answer = replayed[reply["prover"], row["file"], row["theory"], row["goal"]]
            assert (answer == "Valid") == (reply["verdict"] == "valid"), row["id"]
