"""Provers and a Why3 that misbehave, through the command: never a proof, always a message.

tests/prove/test_provers.py has the whole table of answers and statuses.
"""

import re

import pytest

from sonnx_clip.prove import provers
from tests.prove.tools import fake, only_tools

GOAL = "int8.clip_is_cases"
REAL = '"$real" "$@"'
SAYS_YES = 'echo "task $digest"; echo unsat; echo "end $digest"'


def _reported(ended, obligation=GOAL):
    assert ended.status == 1
    assert "Traceback" not in ended.out + ended.err
    found = re.search(
        rf"^not proved {re.escape(obligation)}: .*(?:\n  .*)*", ended.out, re.MULTILINE
    )
    assert found is not None
    return found[0]


def test_crash_is_reported_and_not_made_good_by_the_other(real_bench, tmp_path):
    with real_bench.monkeypatch.context() as patch:
        fake("cvc5", "kill -SEGV $$", tmp_path / "bin", patch)
        report = _reported(real_bench.prove("--only", GOAL))
    assert "cvc5: failed: (no output) [exit status -11]" in report
    assert "Z3" not in report
    by_hand = (
        r"^  by hand: why3 prove -C \S+ -L why3 -P cvc5,[\d.]+, \S+int8\.mlw .*-G clip_is_cases"
    )
    assert re.search(by_hand, report, re.MULTILINE)
    ended = real_bench.prove("--only", GOAL, "--json")  # a failure is asked again
    assert (ended.status, ended.document["run"]["asked"]) == (0, 1)


def test_obligation_of_one_prover_does_not_fail(real_bench, tmp_path):
    fake("cvc5", SAYS_YES.replace("unsat", "unknown"), tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 0
    assert f"0 proved by two provers, 1 by one ({GOAL}), 0 not proved" in ended.out
    assert f"proved by one prover only: {GOAL}" in ended.out
    assert "cvc5 does not know it" in ended.out
    assert "by hand: why3 prove" in ended.out


def test_hang_is_a_timeout(real_bench, tmp_path):
    fake("z3", "exec sleep 600", tmp_path / "bin", real_bench.monkeypatch)
    real_bench.limit(1)
    real_bench.monkeypatch.setattr(provers, "GRACE", 0)
    report = _reported(real_bench.prove("--only", GOAL, "--prover", "z3"))
    assert "Z3: timeout: (no output)" in report


@pytest.mark.nightly
@pytest.mark.parametrize("fault", [SAYS_YES, "kill -SEGV $$", SAYS_YES.replace("unsat", "Valid")])
def test_smoke_test_without_a_refutation_has_not_held(fault, real_bench, tmp_path):
    fake("z3", fault, tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", "int8.smoke_meaning")
    _reported(ended, "int8.smoke_meaning")
    assert "0 of 1 smoke test held" in ended.out


CUT_OFF = (
    f'{REAL}; for f in "$folder"/*clip_is_cases*; do [ -e "$f" ] || continue; '
    'head -c 200 "$f" >"$f.x"; mv "$f.x" "$f"; done'
)
NO_TASK = "Why3 printed no complete task for Meaning.clip_is_cases"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(f'{REAL}; rm -f "$folder"/*clip_is_cases*', NO_TASK, id="drops a goal"),
        pytest.param(CUT_OFF, NO_TASK, id="cuts a task off", marks=pytest.mark.nightly),
        pytest.param("echo 'anomaly: Not_found' >&2; exit 1", "anomaly: Not_found", id="fails"),
        pytest.param(
            f"{REAL}; exit 3", "exit status 3", id="prints and fails", marks=pytest.mark.nightly
        ),
    ],
)
def test_goal_that_why3_does_not_print_is_not_proved(fault, words, real_bench, tmp_path):
    fake("why3", fault, tmp_path / "bin", real_bench.monkeypatch)
    assert words in _reported(real_bench.prove("--only", GOAL, "--prover", "z3"))


@pytest.mark.nightly
def test_goal_that_no_obligation_names_is_reported(real_bench, tmp_path):
    name, stray = "example_onnx_default_int8_min", "examples_int8-Examples-stray"
    fault = f'{REAL}; cp "$folder"/*-Examples-{name}.smt2 "$folder/{stray}.smt2" 2>/dev/null || :'
    fake("why3", fault, tmp_path / "bin", real_bench.monkeypatch)
    whole_file = ("--only", "int8.example_onnx*", "--only", "int8.smoke_examples")
    for _ in range(2):  # the second time from the ledger
        ended = real_bench.prove(*whole_file, "--prover", "z3")
        assert ended.status == 1
        assert (
            "a goal without an obligation: generated/why3/examples_int8.mlw Examples.stray"
            in ended.out
        )
        assert "0 not proved" in ended.out


@pytest.mark.parametrize("missing", ["z3", "why3"])
def test_missing_tool_is_one_message(missing, real_bench, tmp_path):
    there = tuple(tool for tool in ("z3", "cvc5", "why3") if tool != missing)
    only_tools(there, tmp_path / "bin", real_bench.monkeypatch)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert (
        ended.err
        == f"error: {missing} is not installed\n  install it: apt-get install why3 z3 cvc5\n"
    )
    assert not (real_bench.build / "proofs.json").exists()


def test_prover_without_a_version_is_one_message(real_bench, tmp_path):
    only_tools(("why3", "cvc5", "sh"), tmp_path / "bin", real_bench.monkeypatch)
    (tmp_path / "bin/z3").write_text("#!/bin/sh\necho 'Z3 [development build]'\n")
    (tmp_path / "bin/z3").chmod(0o755)
    ended = real_bench.prove("--only", GOAL)
    assert ended.status == 2
    assert ended.err.startswith("error: z3 does not print its version")
