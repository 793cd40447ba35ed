"""Nothing is asserted to a prover that nobody knows of: what slips into a task or past a reader is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import Generated, render_theories
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.prove.tools import fake

if TYPE_CHECKING:
    from pathlib import Path

    from tests.prove.workbench import Workbench

NAN_OUT = "clip.nan_out"
CLIP = "why3/clip.mlw"
FORMULA = "  function clip (x l m: t) : t ="
CHANGED = "the assumptions of the proofs have changed"
# Files of tasks, an editing by sed, and what `prove` says.
IN_TASKS = {
    "an assertion in every task": (
        "*.smt2", "s/^;; Goal/(assert false)\\n\\n;; Goal/", "+ assertion : false"),
    "an axiom in every task": (
        "*.smt2", "s/^;; Goal/;; hidden\\n(assert false)\\n\\n;; Goal/", "+ assertion hidden: false"),
    "a second definition in every task": (
        "*.smt2", "s/^;; Goal/;; clip'def\\n(assert (= clip clip))\\n\\n;; Goal/", "+ assertion clip'def:"),
    "a setting": (
        "*.smt2", "1s/^/(set-option :random-seed 7)\\n/", "+ setting Z3: (set-option :random-seed 7)"),
    "an assertion without a name": (
        "*nan_out*", "s/^;; Goal/(assert false)\\n\\n;; Goal/",
        "not accounted for: an assertion that is not accounted for: (assert false)"),
    "an axiom once more": (
        "*nan_out*", "s/^;; Goal/;; total\\n(assert false)\\n\\n;; Goal/",
        "not accounted for: an assertion that is not accounted for: total: (assert false)"),
    "an assertion behind the goal": (
        "*nan_out*", "s/^(check-sat)/(assert false)\\n(check-sat)/",
        "not accounted for: the last assertion is not the negated goal nan_out: (assert false)"),
    "a goal that is not negated": (
        "*nan_out*", "s/^  (not$/  (and/",
        "not accounted for: the last assertion is not the negated goal nan_out: Goal nan_out: (assert (and"),
    "a goal of another name": (
        "*nan_out*", 's/^;; Goal "*nan_out"*/;; Goal other/',  # Why3 1.6 and later put quotation marks
        "not accounted for: the last assertion is not the negated goal nan_out: Goal other: (assert (not"),
    "a command that changes what is asserted": (
        "*nan_out*", "s/^;; Goal/(push 1)\\n\\n;; Goal/",
        "not accounted for: a command that no task may have: (push 1)"),
    "a recursive function": (
        "*nan_out*", "s/^;; Goal/(define-fun-rec f () Bool (not f))\\n\\n;; Goal/",
        "not accounted for: a command that no task may have: (define-fun-rec f () Bool (not f))"),
    "a function by itself": (
        "*nan_out*", "s/^;; Goal/(define-fun f () Bool (not f))\\n\\n;; Goal/",
        "not accounted for: a definition by itself: (define-fun f () Bool (not f))"),
    "a symbol of SMT-LIB with another meaning": (
        "*nan_out*", "s/^;; Goal/(define-fun and ((a Bool) (b Bool)) Bool true)\\n\\n;; Goal/",
        "not accounted for: a symbol is declared that there is: (define-fun and"),
    "parentheses that do not match": (
        "*nan_out*", "s/^;; Goal/(assert false))\\n\\n;; Goal/",
        "not accounted for: the parentheses of the task do not match"),
    "words outside of commands": (
        "*nan_out*", "s/^;; Goal/assert\\n\\n;; Goal/",
        "not accounted for: outside of a command stands 'assert'"),
}  # fmt: skip


# Each way of the reader to find a mistake; `make nightly` plants the others too.
QUICK = {
    "an assertion in every task", "a setting", "an assertion without a name", "an assertion behind the goal",
    "a goal that is not negated", "a command that changes what is asserted",
    "a symbol of SMT-LIB with another meaning",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.nightly) for name in IN_TASKS]
)
def test_unlisted_assertion_in_a_task_is_reported(name: str, bench: Workbench, tmp_path: Path) -> None:
    files, script, said = IN_TASKS[name]
    (tmp_path / "edit.sed").write_text(f"{script}\n")
    edit = f'[ ! -d "$folder" ] || find "$folder" -name "{files}" -exec sed -i -f {tmp_path}/edit.sed {{}} +'
    fake("why3", f'"$real" "$@" || exit; {edit}', tmp_path / "bin", bench.monkeypatch)
    # What is printed for one prover is read as what is printed for the other: each has half of the mistakes.
    provers = (
        ("z3", "cvc5") if said.startswith("+ setting") else (("z3", "cvc5")[[*IN_TASKS].index(name) % 2],)
    )
    ask = ("--only", NAN_OUT, *(part for prover in provers for part in ("--prover", prover)))
    ended = bench.prove(*ask)
    assert ended.status == 1
    words = " ".join(ended.out.split())
    assert said in words, words
    if said.startswith("+"):
        assert CHANGED in words, words
    else:
        assert f"not proved {NAN_OUT}" in words
    assert bench.prove(*ask).status == 1  # and so in the next run


def test_the_same_run_without_an_editing_is_proved(bench: Workbench, tmp_path: Path) -> None:
    fake("why3", '"$real" "$@" || exit', tmp_path / "bin", bench.monkeypatch)
    ended = bench.prove("--only", NAN_OUT)
    assert (ended.status, CHANGED in ended.out) == (0, False)


def test_an_account_is_kept_with_the_tasks(bench: Workbench) -> None:
    """A run that prints no task knows what the tasks say; a golden list that says otherwise is reported."""
    assert bench.prove("--only", NAN_OUT).status == 0
    golden = bench.root / "why3/trusted.txt"
    line = next(line for line in golden.read_text().splitlines() if line.startswith("assertion total: "))
    golden.write_text(golden.read_text().replace(f"{line}\n", ""))
    ended = bench.prove("--only", NAN_OUT)
    assert ended.status == 1
    assert "(0 tasks sent to provers" in ended.out
    assert f"+ {line}" in " ".join(ended.out.split())


def _as_they_are() -> Generated:
    """The theories as rendered, but for the file of one kernel, which is believed as it lies there."""
    rendered = render_theories(load_spec())
    file = "generated/why3/c_float16.mlw"
    return Generated({**rendered.files, file: repo_file(file).read_text()}, rendered.obligations)


def test_a_wrong_kernel_by_an_operator_is_named(bench: Workbench) -> None:
    """A contradiction in ghost code at one pattern: every obligation is proved, of a wrong kernel."""
    file = "generated/why3/c_float16.mlw"
    val = "  val ghost (++) (a b: t) : unit ensures { a = b /\\ a <> b }\n\n"
    bench.plant(file, "  let less_equal [", f"{val}  let less_equal [")
    bench.plant(
        file,
        "  = under (rank a) (limit (rank b))",
        "  = if at_most a (0x3c00: t) && at_most (0x3c00: t) a then begin\n"
        "      (++) a (bits_and a (0x0000: t)); true end\n"
        "    else under (rank a) (limit (rank b))",
    )
    bench.monkeypatch.setattr("sonnx_clip.cli.prove_command.render_theories", lambda _: _as_they_are())
    ended = bench.prove("--only", "float16.c_less_equal")
    words = " ".join((ended.out + ended.err).split())
    assert ended.status == 1, words
    assert "1 proved by two provers" in words  # that is why it has to be named
    assert "+ symbol c_float16.Kernel.(++): val (a b: t) : unit ensures { a = b /\\ a <> b }" in words
    assert f"+ refused {file}:" in words
    assert "an operator as a name: (++)" in words


def test_an_axiom_behind_the_smoke_goal_is_named(bench: Workbench) -> None:
    """The task of the smoke goal would not show it."""
    smoke = "  goal smoke_clip [@shows:smoke] : false\n"
    late = "  (** Later. *)\n  lemma late [@shows:nan_out] : forall x: t. eq x x \\/ not eq x x\n"
    bench.plant(CLIP, smoke, smoke + late)
    ended = bench.prove("--only", NAN_OUT)
    assert ended.status == 1
    words = " ".join(ended.out.split())
    assert "a declaration behind the smoke goal of ClipTheorems: lemma late" in words


def test_the_state_of_all_theories_decides_whether_why3_is_asked(bench: Workbench) -> None:
    why3 = configure(bench.build)
    before = why3.digest(CLIP)
    assert bench.prove("--only", NAN_OUT).status == 0
    bench.plant(CLIP, FORMULA, f"  axiom easy: forall x: t. le x x\n\n{FORMULA}")
    assert configure(bench.build).digest(CLIP) != before
    assert bench.prove("--only", NAN_OUT).status == 1


def test_a_smoke_goal_that_is_not_false_is_refused(bench: Workbench) -> None:
    smoke = "  goal smoke_clip [@shows:smoke] : false\n"
    bench.plant(CLIP, smoke, smoke.replace("false", "forall x l m: t. clip x l m = x"))
    ended = bench.prove("--only", NAN_OUT, "--only", "clip.smoke_clip")
    assert ended.status == 1
    words = " ".join(ended.out.split())
    assert "not proved clip.smoke_clip" in words
    assert "the smoke goal smoke_clip is not `false`" in words
