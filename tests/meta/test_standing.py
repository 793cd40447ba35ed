"""A statement that says nothing is named: false premises, conclusions that are premises, ``t = t``, a tied
rest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.prove import standing
from sonnx_clip.prove.completeness import uncovered
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.standing import by_definition, counts, empty, standings
from sonnx_clip.prove.tasks import lemmas, print_tasks
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.terminal import headline
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.evaluate_goals import Goals, Statement
from sonnx_clip.whyml.node import Node

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.standing import Standing
    from sonnx_clip.whyml.whyml_scope import Key, ModuleScope
    from tests.prove.workbench import Workbench

INT8, FLOAT = "generated/why3/int8.mlw", "generated/why3/float32.mlw"
RESTRICTIONS, DIALECTS = "generated/why3/restrictions.mlw", "generated/why3/dialects_int8.mlw"

# Where something is put for something else, the obligation that is then named, and why.
PLANTED = {
    "a property under a false premise": (
        INT8, "let y = cases x l m in\n    le l y /\\ le y m \\/ eq y m",
        "lt x x -> let y = cases x l m in\n    le l y /\\ le y m \\/ eq y m", "int8.interval", "(lt x x)"),
    "a repaired condition that is false": (
        FLOAT, r"/forall x l m: t\. \((not nan x[^)]*)\) ->/", r"forall x l m: t. (\1 /\\ nan x) ->",
        "float32.interval_repaired", "nan x"),
    "a restriction as A -> A": (
        RESTRICTIONS, "forall n: node. stated_R1 n.x n.l n.m n.y <-> r1 n",
        "forall n: node. r1 n -> r1 n", "restrictions.R1_is_written", "by definition"),
    "what NumPy writes as t = t": (
        "generated/why3/numpy_int8.mlw", r"/t1 = clip x l m(?=\n\n  \(\*\* Limit, out of place)/",
        "t1 = t1", "int8.numpy_fill_out_of_place", "by definition"),
    "the rest of a reduction is the entry": (
        "generated/why3/numpy_float16.mlw", "/SignedReduce.max x rest1 true/",
        "SignedReduce.max x x true", "float16.numpy_", "the rest of a reduction is x"),
    "a dialect's claim under a false premise": (
        DIALECTS, r"/(goal onnx_12_is_sonnx .*\n +forall x l m y: t\.)/", r"\1 false ->",
        "int8.onnx_12_is_sonnx", "false"),
    "a theorem of every type under a false premise": (
        "why3/clip.mlw", "forall x x2 l m: t. le x x2 ->", "forall x x2 l m: t. le x x2 -> lt x2 x ->",
        "clip.monotone", "lt x2 x"),
}  # fmt: skip


def _found(subject: str) -> dict[str, Standing]:
    spec = load_spec()
    return standings(spec, [o for o in all_obligations(spec) if o.subject == subject], None)


def _plant(bench: Workbench, file: str, old: str, new: str) -> None:
    if not old.startswith("/"):
        bench.plant(file, old, new)
        return
    path = bench.root / file
    text, count = re.subn(old.strip("/"), new, path.read_text(encoding="utf-8"))
    assert count, old
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", PLANTED)
def test_what_says_nothing_is_named(name: str, bench: Workbench) -> None:
    file, old, new, id_, why = PLANTED[name]
    subject = id_.partition(".")[0]
    assert empty(_found(subject)) == []
    _plant(bench, file, old, new)
    lines = [line for line in empty(_found(subject)) if line.startswith(id_)]
    assert lines, name
    assert why in lines[0]


def test_a_program_that_promises_less_than_its_operator_does_not_hold_by_definition(bench: Workbench) -> None:
    """What Why3 asks of a program in the place of a ``val`` speaks of contracts, not of bodies."""
    spec, id_ = load_spec(), "float16.c_at_least_refines"
    mine = [o for o in all_obligations(spec) if o.id == id_]
    assert standings(spec, mine, None)[id_].kind == "by definition"
    assert Goals(spec).counterexample(_stated(Goals(spec), mine[0])) is None
    bench.plant(
        "generated/why3/c_float16.mlw", "ensures { result <-> le b a }", "ensures { result <-> lt b a }"
    )
    assert standings(spec, mine, None)[id_].kind == "counts"
    assert Goals(spec).counterexample(_stated(Goals(spec), mine[0])) is not None


def _count_twice(file: str, folder: Path) -> list[str]:
    """What the tasks of a file say against how its obligations are counted."""
    spec = load_spec()
    every = all_obligations(spec)
    mine = {(o.theory, o.goal): o for o in every if o.file == file and o.kind != "smoke"}
    subjects = {o.subject for o in mine.values()}
    found = standings(spec, [o for o in every if o.subject in subjects], None)
    count = {id_ for id_, s in found.items() if s.kind == "counts"}
    why3 = configure(folder)
    printed = print_tasks(why3, find_provers(("Z3",))[0], file, lemmas(why3))
    assert not printed.said
    tasks = {key: t for t in printed.tasks if (key := (t.name.theory, t.name.goal)) in mine}
    assert set(tasks) == set(mine)
    wrong: list[str] = []
    seen: dict[tuple[str, str], str] = {}
    for key, task in tasks.items():
        id_ = mine[key].id
        if id_ in count:
            if task.text.rstrip().endswith("(not true))\n(check-sat)"):
                wrong.append(f"{id_} is printed as true, and counts")
            same = seen.setdefault((mine[key].subject, task.name.digest), id_)
            if same != id_:
                wrong.append(f"{id_} and {same} are one task, and both count")
    return wrong


@pytest.mark.parametrize("file", ["generated/why3/c_float16.mlw", "generated/why3/examples_int8.mlw"])
def test_what_why3_prints_alike_counts_once(file: str, tmp_path: Path) -> None:
    assert _count_twice(file, tmp_path) == []


@pytest.mark.exhaustive
def test_whatever_why3_prints_alike_counts_once(tmp_path: Path) -> None:
    files = sorted({o.file for o in all_obligations(load_spec())})
    assert len(files) > 60
    assert [line for file in files for line in _count_twice(file, tmp_path)] == []


def test_a_statement_that_is_counted_although_it_is_true_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the contract of a program stood for what Why3 asks of it."""
    monkeypatch.setattr(Goals, "_refinement", _as_it_was)
    wrong = _count_twice("generated/why3/c_float16.mlw", tmp_path)
    assert "float16.c_at_least_refines is printed as true, and counts" in wrong
    assert "float16.c_less_than_refines and float16.c_at_least_refines are one task, and both count" in wrong


def _as_it_was(goals: Goals, key: Key, name: str, scope: ModuleScope) -> Statement:
    program = next(d for d in goals.library.module(key[0]).declarations if d.name == name)
    (gives,) = program.ensures
    return Statement(key, Node("forall", "", (gives,), (*program.parameters, ("result", "bool"))), scope)


def _stated(goals: Goals, o: Obligation) -> Statement:
    found = goals.statement(o)
    assert found is not None
    return found


def test_prove_fails_of_what_says_nothing(bench: Workbench) -> None:
    """Though both provers prove it: here the renderer writes it so."""
    bench.render_anew()
    file, old, new, *_ = PLANTED["a property under a false premise"]
    bench.plant(file, old, new)
    bench.monkeypatch.setattr("sonnx_clip.cli.prove_command.differences", lambda *_: [])
    ended = bench.prove("--only", "int8.interval")
    assert "1 proved by two provers" in ended.out
    assert ended.status == 1
    assert "obligations that say nothing" in ended.out
    assert "int8.interval: no value that was tried meets (lt x x)" in ended.out


def test_a_goal_that_is_no_more_rendered_is_missed() -> None:
    spec = load_spec()
    every = all_obligations(spec)
    for gone in (
        "float32.zero_sign_is_narrow",
        "float16.nan_inverted_is_narrow",
        "bfloat16.zero_sign_is_given",
        "float64.formula_2008_is_accepted",
    ):
        lines = uncovered(spec, [o for o in every if o.id != gone])
        assert [line for line in lines if line.startswith(gone)], lines


def test_each_line_of_the_list_is_used_and_has_a_reason() -> None:
    from fnmatch import fnmatchcase

    spec = load_spec()
    found = standings(spec, all_obligations(spec), None)
    of_kind = [id_ for id_, s in found.items() if s.kind == "by definition"]
    for pattern, reason in by_definition().items():
        assert any(fnmatchcase(id_, pattern) for id_ in of_kind), pattern
        assert reason.endswith(".")
    assert empty(found) == []
    kinds = counts(found.values())
    readme = " ".join(repo_file("README.md").read_text(encoding="utf-8").split())
    assert headline(len(found), kinds["by definition"], kinds["repeats"]) in readme
    assert headline(len(found), kinds["by definition"], kinds["repeats"]).startswith(str(kinds["counts"]))
    assert sum(counts(found.values()).values()) == len(found) > 3000
    assert all(s.witness is not None for s in found.values() if s.conclusions)
    assert all(found[s.of].kind != "repeats" for s in found.values() if s.kind == "repeats")
    shown = [value for s in found.values() for value in (s.witness or {}).values()]
    assert any("entry = " in value for value in shown)
    assert not [value for value in shown if "<" in value], "another run would show another text"


def test_a_list_that_is_gone_allows_nothing(bench: Workbench) -> None:
    (bench.root / standing.GOLDEN).unlink()
    assert "int8.nan_out: it holds by definition, whatever Clip is" in empty(_found("int8"))


def test_what_is_kept_is_found_again_where_a_theory_changed(bench: Workbench) -> None:
    spec = load_spec()
    mine = [o for o in all_obligations(spec) if o.subject == "int8"]
    first = standings(spec, mine, bench.build)
    assert standings(spec, mine, bench.build) == first
    file, old, new, id_, _ = PLANTED["a property under a false premise"]
    bench.plant(file, old, new)
    assert standings(spec, mine, bench.build)[id_].kind == "vacuous"
    (bench.build / standing.KEPT).write_text("[]", encoding="utf-8")
    assert standings(spec, mine, bench.build)[id_].kind == "vacuous"


def test_some_of_a_subject_are_as_they_are_among_all(bench: Workbench) -> None:
    """What is kept of a part does not stand for the whole, and what is kept of other subjects stays."""
    spec = load_spec()
    mine = [o for o in all_obligations(spec) if o.subject in ("int8", "uint8")]
    whole = standings(spec, mine, None)
    repeats = next(id_ for id_, s in whole.items() if s.kind == "repeats" and id_.startswith("int8."))
    plain = next(id_ for id_, s in whole.items() if s.kind == "by definition" and id_.startswith("int8."))
    for asked in ({repeats}, {plain, "uint8.monotone"}, {repeats, plain}):
        found = standings(spec, mine, bench.build, asked=asked)
        assert found == {id_: whole[id_] for id_ in asked}
    assert set(standing._read(bench.build)) == {"int8", "uint8"}
    assert standings(spec, mine, bench.build) == whole
    kept = (bench.build / standing.KEPT).read_bytes()
    assert standings(spec, mine, bench.build, asked={plain}) == {plain: whole[plain]}
    assert (bench.build / standing.KEPT).read_bytes() == kept
