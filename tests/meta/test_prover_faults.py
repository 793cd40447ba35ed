"""Provers, Why3 and ledgers that misbehave: never a proof, always a word about it."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.prove import provers
from tests.prove.tools import fake, only_tools

if TYPE_CHECKING:
    from tests.prove.workbench import Ended, Workbench

GOAL = "int8.clip_is_cases"
REAL = '"$real" "$@"'
SAYS_YES = 'echo "task $digest"; echo unsat; echo "end $digest"'
SAYS_NO = 'echo "task $digest"; echo sat; echo "end $digest"'

# What a prover does, the verdict, and its last words in the report; tests/prove/test_provers.py has more.
FAULTS = {
    "it crashes": ("kill -SEGV $$", "failed", r"\(it printed nothing\) \[exit status -11\]"),
    "it proves another goal": ('echo "task 0000"; echo unsat; echo "end 0000"', "failed", "unsat"),
    "it goes on talking": (f"{SAYS_YES}; echo 'Warning: unsound'", "failed", r"unsat\n    Warning: unsound"),
    "it answers in bytes": ("printf '\\377\\376'", "failed", "\ufffd\ufffd"),
}  # fmt: skip


def _reported(ended: Ended, obligation: str) -> str:
    assert ended.status == 1
    assert "Traceback" not in ended.out + ended.err
    found = re.search(rf"^not proved {re.escape(obligation)}: .*(?:\n  .*)*", ended.out, re.MULTILINE)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("name", FAULTS)
def test_a_prover_misbehaves(name: str, real_bench: Workbench, tmp_path: Path) -> None:
    fault, verdict, words = FAULTS[name]
    fake("z3", fault, tmp_path / "bin", real_bench.monkeypatch)
    report = _reported(real_bench.prove("--only", GOAL, "--prover", "z3"), GOAL)
    assert re.search(rf"^  Z3: {verdict}: {words}$", report, re.MULTILINE)
    by_hand = r"^  by hand: why3 prove -C \S+ -L why3 -P Z3,[\d.]+, \S+int8\.mlw .*-G clip_is_cases"
    assert re.search(by_hand, report, re.MULTILINE)


def test_both_provers_misbehave(real_bench: Workbench, tmp_path: Path) -> None:
    for prover in ("z3", "cvc5"):
        fake(prover, "kill -SEGV $$", tmp_path / "bin", real_bench.monkeypatch)
    report = _reported(real_bench.prove("--only", GOAL), GOAL)
    assert report.count("failed: (it printed nothing) [exit status -11]") == 2
    assert re.findall(r"by hand: why3 prove .* -P (\w+),", report) == ["Z3", "cvc5"]


def test_a_fault_of_one_prover_is_not_made_good_by_the_other(real_bench: Workbench, tmp_path: Path) -> None:
    fake("cvc5", "kill -SEGV $$", tmp_path / "bin", real_bench.monkeypatch)
    report = _reported(real_bench.prove("--only", GOAL), GOAL)
    assert "cvc5: failed" in report
    assert "Z3" not in report


def test_a_failure_is_asked_again(real_bench: Workbench, tmp_path: Path) -> None:
    with real_bench.monkeypatch.context() as patch:
        fake("cvc5", "kill -SEGV $$", tmp_path / "bin", patch)
        assert real_bench.prove("--only", GOAL).status == 1
    ended = real_bench.prove("--only", GOAL, "--json")
    assert ended.status == 0
    assert ended.document["run"]["asked"] == 1


def test_obligation_proved_by_one_prover_is_reported(real_bench: Workbench, tmp_path: Path) -> None:
    fake("cvc5", SAYS_YES.replace("unsat", "unknown"), tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 0
    assert f"0 proved by two provers, 1 by one ({GOAL}), 0 not proved" in ended.out


def test_a_hang_is_killed(real_bench: Workbench, tmp_path: Path) -> None:
    """A prover that ignores its limits, and the process that it started."""
    pids = tmp_path / "pids"
    for prover in ("z3", "cvc5"):
        fault = f"trap '' TERM INT; echo $$ >>{pids}; sleep 600 & echo $! >>{pids}; wait"
        fake(prover, fault, tmp_path / "bin", real_bench.monkeypatch)
    real_bench.limit(1)
    real_bench.monkeypatch.setattr(provers, "GRACE", 0)
    report = _reported(real_bench.prove("--only", GOAL), GOAL)
    assert "Z3: timeout: (it printed nothing)" in report
    assert "cvc5: timeout: (it printed nothing)" in report
    _all_gone(pids)


def _all_gone(pids: Path) -> None:
    started = pids.read_text().split()
    assert started
    for pid in started:
        stat = Path(f"/proc/{pid}/stat")
        # A process that was killed may wait for init to take note of it.
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_provers_that_disagree(real_bench: Workbench, tmp_path: Path) -> None:
    fake("cvc5", SAYS_NO, tmp_path / "bin", real_bench.monkeypatch)
    report = _reported(real_bench.prove("--only", GOAL), GOAL)
    assert "cvc5: countermodel: sat" in report


@pytest.mark.parametrize("liars", [("z3",), ("z3", "cvc5")])
def test_a_prover_that_says_yes_to_everything(
    liars: tuple[str, ...], real_bench: Workbench, tmp_path: Path
) -> None:
    for prover in liars:
        fake(prover, SAYS_YES, tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL, "--only", "int8.smoke_meaning")
    assert "Z3: valid: unsat" in _reported(ended, "int8.smoke_meaning")
    assert "0 of 1 smoke test held" in ended.out


@pytest.mark.parametrize("fault", ["kill -SEGV $$", "", SAYS_YES.replace("unsat", "Valid")])
def test_a_smoke_test_without_an_answer_has_not_held(
    fault: str, real_bench: Workbench, tmp_path: Path
) -> None:
    fake("z3", fault, tmp_path / "bin", real_bench.monkeypatch)
    _reported(real_bench.prove("--only", "int8.smoke_meaning"), "int8.smoke_meaning")


# What Why3 does, and what is then said of the goal.
WHY3 = {
    "it drops a goal": (
        f'{REAL}; rm -f "$folder"/*clip_is_cases*',
        "Why3 printed no complete task for Meaning.clip_is_cases",
    ),
    "it cuts a task off": (
        (
            f'{REAL}; for f in "$folder"/*clip_is_cases*; do [ -e "$f" ] || continue; '
            'head -c 200 "$f" >"$f.x"; mv "$f.x" "$f"; done'
        ),
        "Why3 printed no complete task for Meaning.clip_is_cases",
    ),
    "it fails": ("echo 'anomaly: Not_found' >&2; exit 1", "anomaly: Not_found"),
    "it prints the tasks and fails": (f"{REAL}; exit 3", "why3 ended with exit status 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", WHY3)
def test_why3_misbehaves(name: str, real_bench: Workbench, tmp_path: Path) -> None:
    fault, words = WHY3[name]
    fake("why3", fault, tmp_path / "bin", real_bench.monkeypatch)
    report = _reported(real_bench.prove("--only", GOAL), GOAL)
    assert report.count(words) == 2  # once for each prover


def test_a_goal_that_nobody_asked_for(real_bench: Workbench, tmp_path: Path) -> None:
    name, stray = "example_onnx_default_int8_min", "examples_int8-Examples-stray"
    fault = f'{REAL}; cp "$folder"/*-Examples-{name}.smt2 "$folder/{stray}.smt2" 2>/dev/null || :'
    fake("why3", fault, tmp_path / "bin", real_bench.monkeypatch)
    whole_file = ("--only", "int8.example_onnx*", "--only", "int8.smoke_examples")
    for _ in range(2):  # the second time from the ledger
        ended = real_bench.prove(*whole_file, "--prover", "z3")
        assert ended.status == 1
        assert "a goal that no obligation knows: generated/why3/examples_int8.mlw Examples.stray" in ended.out
        assert "0 not proved" in ended.out


@pytest.mark.parametrize("missing", ["z3", "cvc5", "why3"])
def test_a_tool_is_missing(missing: str, real_bench: Workbench, tmp_path: Path) -> None:
    there = tuple(tool for tool in ("z3", "cvc5", "why3") if tool != missing)
    only_tools(there, tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert ended.err == f"error: {missing} is not installed\n  install it: apt-get install why3 z3 cvc5\n"
    assert not (real_bench.build / "proofs.json").exists()


def test_a_prover_without_a_version(real_bench: Workbench, tmp_path: Path) -> None:
    script = tmp_path / "bin" / "z3"
    fake("z3", "", tmp_path / "bin", real_bench.monkeypatch)
    script.write_text("#!/bin/sh\necho 'Z3 [development build]'\n")
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert ended.err.startswith("error: z3 does not say its version\n  it said: 'Z3 [development build]'")
    script.write_text("#!/no/such/interpreter\n")
    real_bench.monkeypatch.setenv("PATH", str(script.parent))
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert ended.err.startswith("error: z3 does not run:")


def test_why3_cannot_be_configured(real_bench: Workbench, tmp_path: Path) -> None:
    fake("why3", "", tmp_path / "bin", real_bench.monkeypatch)
    script = tmp_path / "bin" / "why3"
    script.write_text(
        script.read_text().replace("case", 'case "$1" in --print-datadir) exit 5;; esac\ncase', 1)
    )
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert ended.err.startswith("error: ")
    assert "Traceback" not in ended.err


def _damaged(path: Path) -> None:
    path.write_bytes(b"no database at all " * 100)


def _of_another_form(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE answers (task TEXT)")


def _of_the_future(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")


def _damaged_inside(path: Path) -> None:
    """The head of the file is whole, the pages behind it are not."""
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


@pytest.mark.parametrize("damage", [_damaged, _of_another_form, _of_the_future, _damaged_inside])
def test_a_broken_ledger_gives_one_message(damage, real_bench: Workbench) -> None:
    path = real_bench.build / "ledger.sqlite"
    if damage is _damaged_inside:
        assert real_bench.prove("--only", GOAL, "--prover", "z3").status == 0
    path.parent.mkdir(exist_ok=True)
    damage(path)
    ended = real_bench.prove("--only", GOAL, "--prover", "z3")
    assert ended.status == 2
    assert ended.err.startswith(f"error: {path}: this is no ledger")
    assert ended.err.endswith("\n  remove the file and run again\n")
    assert "Traceback" not in ended.err
    path.unlink()
    assert real_bench.prove("--only", GOAL, "--prover", "z3").status == 0
