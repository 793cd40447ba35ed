"""What counts as an answer of a prover, and how a prover is found and run."""

import re

import pytest

from sonnx_clip.backends.drivers import COMMANDS, why3_configuration
from sonnx_clip.claims.claim import Obligation
from sonnx_clip.prove.outcome import Outcome
from sonnx_clip.prove.provers import NAMES, ProverLimits, Reply, ask, find_provers, read_verdict
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.run_program import Running

GOOD = "task d1\nunsat\nend d1\n"
TASK = "(set-logic QF_UF)\n(assert false)\n(check-sat)"


@pytest.mark.parametrize(
    ("output", "status", "verdict"),
    [
        (GOOD, 0, "valid"),
        ('"task d1"\n\nunsat\n"end d1"', 0, "valid"),
        (GOOD.replace("unsat", "sat"), 0, "countermodel"),
        (GOOD.replace("unsat", "unknown"), 0, "unknown"),
        (GOOD.replace("unsat", "timeout"), 0, "timeout"),
        ("task d1\ntimeout\n", 0, "timeout"),
        ("task d1\nunsat\ntimeout\n", 0, "timeout"),
        ("task d1\ncvc5 interrupted by timeout.\n", 134, "timeout"),
        (GOOD, 1, "failed"),
        (GOOD, -11, "failed"),
        ("", 0, "failed"),
        ("unsat", 0, "failed"),
        ("task d1\nunsat\n", 0, "failed"),
        ("unsat\nend d1\n", 0, "failed"),
        ("task d1\nunsat\nend d2\n", 0, "failed"),
        ("task d2\nunsat\nend d1\n", 0, "failed"),
        (GOOD + "unsat\n", 0, "failed"),
        ("warning\n" + GOOD, 0, "failed"),
        (GOOD.replace("unsat", "Valid"), 0, "failed"),
        (GOOD.replace("unsat", "unsat unsat"), 0, "failed"),
        (GOOD.replace("unsat", '(error "line 3: unknown function")\nunsat'), 0, "failed"),
    ],
)
def test_read_answer(output, status, verdict):
    assert read_verdict(output, "d1", status, killed=False) == verdict
    assert read_verdict(output, "d1", status, killed=True) == "timeout"


def test_why3_is_configured_to_use_the_same_commands():
    """The command by hand and generated/replay.sh ask as the tool does."""
    text = why3_configuration("$drivers", {name: f"${COMMANDS[name][0]}" for name in NAMES})
    assert text in repo_file("generated/replay.sh").read_text()
    configured = dict(
        re.findall(
            r'^name = "(\w+)"\nversion = .*\ncommand = .*\ncommand_steps = "(.*)"$',
            text,
            re.MULTILINE,
        )
    )
    assert tuple(configured) == NAMES
    for prover in find_provers():
        command = " ".join(prover.command)
        command = command.format(resources="%S", seconds="%t", megabytes="%m")
        assert configured[prover.name] == f"{command} %f"


@pytest.mark.parametrize("prover", NAMES)
def test_asking_a_real_prover(prover, tmp_path):
    (asked,) = find_provers((prover,))
    for assertion, told in (("false", ("valid", "unsat")), ("true", ("countermodel", "sat"))):
        answer = ask(
            asked,
            TASK.replace("false", assertion),
            "d1",
            ProverLimits(1_000_000, 60),
            tmp_path,
            Running(),
        )
        assert (answer.verdict, answer.words) == told
        assert 0 < answer.cpu < 5
    broken = ask(
        asked,
        TASK.replace("false", "nonsense"),
        "d1",
        ProverLimits(1_000_000, 60),
        tmp_path,
        Running(),
    )
    assert broken.verdict == "failed"
    assert "nonsense" in broken.words


@pytest.mark.parametrize(
    ("kind", "verdicts", "status"),
    [
        ("theorem", ("valid", "valid"), "proved"),
        ("theorem", ("valid", "unknown"), "proved by one"),
        ("theorem", ("timeout", "valid"), "proved by one"),
        ("theorem", ("valid", "failed"), "not proved"),
        ("theorem", ("valid", "countermodel"), "not proved"),
        ("theorem", ("unknown", "timeout"), "not proved"),
        ("theorem", ("valid",), "proved by one"),
        ("theorem", (), "not proved"),
        ("smoke", ("unknown", "timeout"), "proved"),
        ("smoke", ("countermodel", "unknown"), "proved"),
        ("smoke", ("unknown", "valid"), "not proved"),
        ("smoke", ("unknown", "failed"), "not proved"),
        ("smoke", (), "not proved"),
    ],
)
def test_status(kind, verdicts, status):
    obligation = Obligation("a.b", kind, "a", ("R1",), "a title", "why3/a.mlw", "A", "b")
    replies = tuple(
        Reply(prover=name, version="1", verdict=verdict, cpu=1.5, task="d", words="")
        for name, verdict in zip(NAMES, verdicts, strict=False)
    )
    assert Outcome(obligation=obligation, replies=replies).status == status
