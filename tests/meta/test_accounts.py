"""Nothing is asserted to a prover unseen: what slips into a task, or past a reader of theories, is named."""

import re

import pytest

from sonnx_clip.prove import tasks
from sonnx_clip.prove.accounts import account
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.trusted import of_tasks, surprises
from tests.prove.tools import fake

THEORY, GOAL = "ClipTheorems", "nan_out"
NAN_OUT = f"clip.{GOAL}"
CLIP = "why3/clip.mlw"
SMOKE = "  goal smoke_clip [@shows:smoke] : false\n"
CHANGED = "the assumptions of the proofs have changed"

LISTED = {  # planted in every task: a pattern and what takes its place; the line that the list then lacks
    "an axiom": ("^;; Goal", ";; hidden\n(assert false)\n\n;; Goal", "+ assertion hidden: false"),
    "a second definition": (
        "^;; Goal", ";; clip'def\n(assert (= clip clip))\n\n;; Goal", "+ assertion clip'def: (= clip clip)"),
    "a setting": (
        r"\A", "(set-option :random-seed 7)\n", "+ setting Z3: (set-option :random-seed 7)"),
}  # fmt: skip
REFUSED = {  # planted in the task of one goal; what is said of it
    "an assertion without a name": (
        "^;; Goal", "(assert false)\n\n;; Goal", "an unaccounted assertion: (assert false)"),
    "an axiom once more": (
        "^;; Goal", ";; total\n(assert false)\n\n;; Goal",
        "an unaccounted assertion: total: (assert false)"),
    "an assertion behind the goal": (
        r"^\(check-sat\)", "(assert false)\n(check-sat)",
        "the last assertion is not the negated goal nan_out: (assert false)"),
    "a goal that is not negated": (
        r"^  \(not$", "  (and",
        "the last assertion is not the negated goal nan_out: Goal nan_out: (assert (and"),
    "a goal of another name": (
        '^;; Goal "?nan_out"?', ";; Goal other",
        "the last assertion is not the negated goal nan_out: Goal other: (assert (not"),
    "a command that changes what is asserted": (
        "^;; Goal", "(push 1)\n\n;; Goal", "a command that is not allowed in a task: (push 1)"),
    "a recursive function": (
        "^;; Goal", "(define-fun-rec f () Bool (not f))\n\n;; Goal",
        "a command that is not allowed in a task: (define-fun-rec f () Bool (not f))"),
    "a function defined by itself": (
        "^;; Goal", "(define-fun f () Bool (not f))\n\n;; Goal",
        "a definition by itself: (define-fun f () Bool (not f))"),
    "a symbol of SMT-LIB with another meaning": (
        "^;; Goal", "(define-fun and ((a Bool) (b Bool)) Bool true)\n\n;; Goal",
        "a symbol is declared twice: (define-fun and"),
}  # fmt: skip


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What Why3 prints of the theory of Clip for Z3: the arguments of `account`."""
    seen = []

    def note(texts, contexts, *more):
        seen.append((dict(texts), dict(contexts), *more))
        return account(texts, contexts, *more)

    z3 = next(prover for prover in find_provers() if prover.name == "Z3")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "account", note)
        tasks.print_tasks(configure(tmp_path_factory.mktemp("why3")), z3, (CLIP,))
    (found,) = seen
    return found


def accounted(printed, old, new, *, goal=None):
    """The account of the tasks with a text replaced in all of them, or in that of one goal."""
    texts, contexts, *more = printed
    changed = [
        {
            key: _edited(text, old, new) if goal in (None, key[1]) else text
            for key, text in one.items()
        }
        for one in (texts, contexts)
    ]
    return account(*changed, *more)


def _edited(text, old, new):
    found, count = re.subn(old, lambda _: new, text, count=1, flags=re.MULTILINE)
    assert count == 1, f"{old} must stand in the task"
    return found


@pytest.mark.parametrize("name", LISTED)
def test_assertion_that_the_list_lacks_is_reported(name, printed):
    old, new, line = LISTED[name]
    assert not [
        found for found in surprises(of_tasks(account(*printed).said, ())) if found[0] == "+"
    ]
    found = accounted(printed, old, new)
    assert line in surprises(of_tasks(found.said, ()))


@pytest.mark.parametrize("name", REFUSED)
def test_task_with_an_unrecognised_command_is_refused(name, printed):
    old, new, words = REFUSED[name]
    assert account(*printed).refused == {}
    refused = accounted(printed, old, new, goal=GOAL).refused
    assert refused.keys() == {(THEORY, GOAL)}
    assert refused[THEORY, GOAL].startswith(words)


@pytest.mark.parametrize(
    ("files", "script", "words"),
    [
        (
            "*.smt2",
            "s/^;; Goal/;; hidden\\n(assert false)\\n\\n;; Goal/",
            "+ assertion hidden: false",
        ),
        ("*nan_out*", "s/^;; Goal/(assert false)\\n\\n;; Goal/", f"not proved {NAN_OUT}"),
    ],
    ids=["in every task", "in one task"],
)
def test_assertion_planted_between_why3_and_a_prover_fails_the_run(
    files, script, words, bench, tmp_path
):
    (tmp_path / "edit.sed").write_text(f"{script}\n")
    edit = f'[ ! -d "$folder" ] || find "$folder" -name "{files}" -exec sed -i -f {tmp_path}/edit.sed {{}} +'
    fake("why3", f'"$real" "$@" || exit; {edit}', tmp_path / "bin", bench.monkeypatch)
    for _ in range(2 if words.startswith("+") else 1):  # and so in the next run
        ended = bench.prove("--only", NAN_OUT, "--prover", "cvc5")
        assert ended.status == 1
        assert words in " ".join(ended.out.split())
        assert (CHANGED in ended.out) == words.startswith("+")


def test_account_is_kept_with_the_tasks(bench):
    """A run that prints no task knows what the tasks say; a golden list that says otherwise is reported."""
    assert bench.prove("--only", NAN_OUT).status == 0
    golden = bench.root / "why3/trusted.txt"
    line = next(
        line for line in golden.read_text().splitlines() if line.startswith("assertion total: ")
    )
    golden.write_text(golden.read_text().replace(f"{line}\n", ""))
    ended = bench.prove("--only", NAN_OUT)
    assert ended.status == 1
    assert "(0 tasks sent to provers" in ended.out
    assert f"+ {line}" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("new", "goals", "words"),
    [
        (
            f"{SMOKE}  (** Later. *)\n  lemma late [@shows:nan_out] : forall x: t. eq x x \\/ not eq x x\n",
            (NAN_OUT,),
            "a declaration after the smoke goal of ClipTheorems: lemma late",
        ),
        (
            SMOKE.replace("false", "forall x l m: t. clip x l m = x"),
            (NAN_OUT, "clip.smoke_clip"),
            "the smoke goal smoke_clip is not `false`",
        ),
    ],
    ids=["declaration behind it", "not false"],
)
def test_smoke_goal_that_shows_nothing_is_refused(new, goals, words, bench):
    bench.plant(CLIP, SMOKE, new)
    ended = bench.prove(*(part for goal in goals for part in ("--only", goal)))
    assert ended.status == 1
    assert words in " ".join(ended.out.split())
