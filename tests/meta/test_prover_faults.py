"""Provers and a Why3 that misbehave: never a proof, always a message.

tests/prove/test_provers.py has the whole table of answers and statuses.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.prove import provers
from tests.prove.tools import fake, only_tools

if TYPE_CHECKING:
    from tests.prove.workbench import Ended, Workbench

GOAL = "int8.clip_is_cases"
REAL = '"$real" "$@"'
CRASH = "kill -SEGV $$"
SAYS_YES = 'echo "task $digest"; echo unsat; echo "end $digest"'
SAYS_NO = SAYS_YES.replace("unsat", "sat")


def _reported(ended: Ended, obligation: str = GOAL) -> str:
    assert ended.status == 1
    assert "Traceback" not in ended.out + ended.err
    found = re.search(rf"^not proved {re.escape(obligation)}: .*(?:\n  .*)*", ended.out, re.MULTILINE)
    assert found is not None
    return found[0]


def test_crash_is_reported_and_not_made_good_by_the_other(real_bench: Workbench, tmp_path: Path) -> None:
    with real_bench.monkeypatch.context() as patch:
        fake("cvc5", CRASH, tmp_path / "bin", patch)
        report = _reported(real_bench.prove("--only", GOAL))
    assert "cvc5: failed: (it printed nothing) [exit status -11]" in report
    assert "Z3" not in report
    by_hand = r"^  by hand: why3 prove -C \S+ -L why3 -P cvc5,[\d.]+, \S+int8\.mlw .*-G clip_is_cases"
    assert re.search(by_hand, report, re.MULTILINE)
    ended = real_bench.prove("--only", GOAL, "--json")  # a failure is asked again
    assert (ended.status, ended.document["run"]["asked"]) == (0, 1)


def test_unreadable_answer_is_reported(real_bench: Workbench, tmp_path: Path) -> None:
    fake("z3", f"{SAYS_YES}; printf '\\377'", tmp_path / "bin", real_bench.monkeypatch)
    report = _reported(real_bench.prove("--only", GOAL, "--prover", "z3"))
    assert "Z3: failed: unsat\n    \ufffd" in report


def test_obligation_proved_by_one_prover_is_reported(real_bench: Workbench, tmp_path: Path) -> None:
    fake("cvc5", SAYS_YES.replace("unsat", "unknown"), tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 0
    assert f"0 proved by two provers, 1 by one ({GOAL}), 0 not proved" in ended.out


def test_hang_is_killed_with_what_it_started(real_bench: Workbench, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    fault = f"trap '' TERM INT; echo $$ >>{pids}; sleep 600 & echo $! >>{pids}; wait"
    fake("z3", fault, tmp_path / "bin", real_bench.monkeypatch)
    real_bench.limit(1)
    real_bench.monkeypatch.setattr(provers, "GRACE", 0)
    report = _reported(real_bench.prove("--only", GOAL, "--prover", "z3"))
    assert "Z3: timeout: (it printed nothing)" in report
    started = pids.read_text().split()
    assert len(started) == 2
    for pid in started:
        stat = Path(f"/proc/{pid}/stat")
        # A process that was killed may wait for init to take note of it.
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_countermodel_overrules_a_proof(real_bench: Workbench, tmp_path: Path) -> None:
    fake("cvc5", SAYS_NO, tmp_path / "bin", real_bench.monkeypatch)
    assert "cvc5: countermodel: sat" in _reported(real_bench.prove("--only", GOAL))


def test_provers_that_say_yes_to_everything_fail_the_smoke_test(
    real_bench: Workbench, tmp_path: Path
) -> None:
    for prover in ("z3", "cvc5"):
        fake(prover, SAYS_YES, tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL, "--only", "int8.smoke_meaning")
    assert "Z3: valid: unsat" in _reported(ended, "int8.smoke_meaning")
    assert "0 of 1 smoke test held" in ended.out


@pytest.mark.parametrize("fault", [CRASH, SAYS_YES.replace("unsat", "Valid")])
def test_smoke_test_without_an_answer_has_not_held(fault: str, real_bench: Workbench, tmp_path: Path) -> None:
    fake("z3", fault, tmp_path / "bin", real_bench.monkeypatch)
    _reported(real_bench.prove("--only", "int8.smoke_meaning"), "int8.smoke_meaning")


CUT_OFF = (
    f'{REAL}; for f in "$folder"/*clip_is_cases*; do [ -e "$f" ] || continue; '
    'head -c 200 "$f" >"$f.x"; mv "$f.x" "$f"; done'
)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            f'{REAL}; rm -f "$folder"/*clip_is_cases*',
            "Why3 printed no complete task for Meaning.clip_is_cases",
        ),
        (CUT_OFF, "Why3 printed no complete task for Meaning.clip_is_cases"),
        ("echo 'anomaly: Not_found' >&2; exit 1", "anomaly: Not_found"),
        (f"{REAL}; exit 3", "why3 ended with exit status 3"),
    ],
    ids=["drops a goal", "cuts a task off", "fails", "prints the tasks and fails"],
)
def test_goal_that_why3_does_not_print_is_not_proved(
    fault: str, words: str, real_bench: Workbench, tmp_path: Path
) -> None:
    fake("why3", fault, tmp_path / "bin", real_bench.monkeypatch)
    assert words in _reported(real_bench.prove("--only", GOAL, "--prover", "z3"))


def test_goal_that_no_obligation_names_is_reported(real_bench: Workbench, tmp_path: Path) -> None:
    name, stray = "example_onnx_default_int8_min", "examples_int8-Examples-stray"
    fault = f'{REAL}; cp "$folder"/*-Examples-{name}.smt2 "$folder/{stray}.smt2" 2>/dev/null || :'
    fake("why3", fault, tmp_path / "bin", real_bench.monkeypatch)
    whole_file = ("--only", "int8.example_onnx*", "--only", "int8.smoke_examples")
    for _ in range(2):  # the second time from the ledger
        ended = real_bench.prove(*whole_file, "--prover", "z3")
        assert ended.status == 1
        assert "a goal that no obligation knows: generated/why3/examples_int8.mlw Examples.stray" in ended.out
        assert "0 not proved" in ended.out


@pytest.mark.parametrize("missing", ["z3", "why3"])
def test_missing_tool_is_one_message(missing: str, real_bench: Workbench, tmp_path: Path) -> None:
    there = tuple(tool for tool in ("z3", "cvc5", "why3") if tool != missing)
    only_tools(there, tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert ended.err == f"error: {missing} is not installed\n  install it: apt-get install why3 z3 cvc5\n"
    assert not (real_bench.build / "proofs.json").exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\necho 'Z3 [development build]'\n", "z3 does not say its version"),
        ("#!/no/such/interpreter\n", "z3 does not run:"),
    ],
)
def test_prover_without_a_version_is_one_message(
    script: str, words: str, real_bench: Workbench, tmp_path: Path
) -> None:
    only_tools(("why3", "cvc5", "sh"), tmp_path / "bin", real_bench.monkeypatch)
    (tmp_path / "bin/z3").write_text(script)
    (tmp_path / "bin/z3").chmod(0o755)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert ended.err.startswith(f"error: {words}")
