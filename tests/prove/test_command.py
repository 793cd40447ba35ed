"""`sonnx-clip prove`: what is asked, of whom, how it ends, and what is printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import Generated, render_theories
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

ALL = render_theories(load_spec()).obligations


def _ids(**fits: str) -> set[str]:
    return {o.id for o in ALL if all(getattr(o, name) == value for name, value in fits.items())}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            ("--family", "real", "--prover", "cvc5"), _ids(subject="real"), marks=pytest.mark.nightly
        ),
        (("--dtype", "int8", "--only", "*.extremes"), {"int8.extremes"}),
        (("--dtype", "int8", "--dtype", "uint8", "--only", "*.nan_out"), {"int8.nan_out", "uint8.nan_out"}),
        (("--family", "real", "--dtype", "int8", "--only", "*.total"), {"real.total", "int8.total"}),
        (("--only", "restrictions.R?_is_written"), {f"restrictions.R{n}_is_written" for n in range(1, 6)}),
        (("--only", "clip.nan_out", "--only", "clip.monotone"), {"clip.nan_out", "clip.monotone"}),
    ],
)
def test_selected_obligations_are_proved(
    arguments: tuple[str, ...], expected: set[str], real_bench: Workbench
) -> None:
    ended = real_bench.prove("--json", *arguments)
    assert ended.status == 0
    assert set(ended.outcomes) == expected
    assert not ended.document["complete"]
    assert not (real_bench.build / "proofs.json").exists()  # evidence speaks of complete runs


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--family", "complex"), "'complex' is not one of"),
        (("--dtype", "int9"), "there is no `int9` among the element types of spec/clip.yaml"),
        (("--dtype", "int9"), "`int8`"),
        (("--prover", "vampire"), "there is no prover called vampire"),
        (("--only", "float32.nothing"), "no obligation is called `float32.nothing` or shows it"),
        (("--only", "FLOAT32.monotone"), "did you mean float32.monotone"),
        (("--only", "intervall"), "did you mean interval"),
        (("--dtype", "int8", "--only", "float32.*"), "no obligation is both of this family or type"),
        (("--jobs", "0"), "Invalid value for '--jobs'"),
        (("--jobs", "many"), "Invalid value for '--jobs'"),
    ],
)
def test_invalid_selection_is_one_message(
    arguments: tuple[str, ...], words: str, real_bench: Workbench
) -> None:
    ended = real_bench.command("prove", "--build", str(real_bench.build), *arguments)
    assert ended.status == 2
    assert words in ended.err
    assert "Traceback" not in ended.err


def test_one_prover(real_bench: Workbench) -> None:
    ended = real_bench.prove("--only", "int8.nan_out", "--prover", "CVC5", "--prover", "cvc5", "--json")
    assert ended.status == 0
    outcome = ended.outcomes["int8.nan_out"]
    assert [r["prover"] for r in outcome["replies"]] == ["cvc5"]
    assert outcome["status"] == "proved by one"


def test_json(real_bench: Workbench) -> None:
    few = {id_ for id_ in _ids(subject="uint8") if id_.startswith(("uint8.c", "uint8.m"))}
    assert len(few) > 10
    ended = real_bench.prove("--only", "uint8.[cm]*", "--json")
    document = ended.document
    assert set(document["tools"]) == {"why3", "Z3", "cvc5"}
    assert document["about"]["spec_digest"] == load_spec().digest
    assert document["strays"] == []
    assert set(ended.outcomes) == few
    for o in ALL:
        if o.id in few:
            outcome = ended.outcomes[o.id]
            assert outcome["status"] == "proved"
            assert (outcome["kind"], tuple(outcome["shows"])) == (o.kind, o.shows)
            assert [r["prover"] for r in outcome["replies"]] == ["Z3", "cvc5"]
            assert all(len(r["task"]) == 64 for r in outcome["replies"])
    assert "proving: " in ended.err  # what is for people goes beside
    again = real_bench.prove("--only", "uint8.[cm]*", "--json")
    assert again.document["run"]["asked"] == 0
    assert again.document["run"]["prover_cpu"] == 0


def test_the_table_and_the_last_line(real_bench: Workbench) -> None:
    exact = [f"{t}.idempotent_bitwise" for t in ("real", "int8", "uint8")]
    floats = [
        f"{t}.idempotent_bitwise_re{end}" for t in ("float16", "bfloat16") for end in ("futed", "paired")
    ]
    ids = [part for id_ in (*exact, *floats) for part in ("--only", id_)]
    ended = real_bench.prove(*ids, "--only", "int8.smoke_meaning", "--only", "int8.total")
    assert ended.status == 0
    table = ended.out.partition("refuted as it stands")[0]
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
    assert rows["idempotent_bitwise"][:5] == ["1", "2", "4", "Z3,", "cvc5"]
    assert rows["smoke"][:3] == ["1", "Z3,", "cvc5"]
    assert rows["int8"][:3] == ["1", "Z3,", "cvc5"]
    assert "  idempotent_bitwise (float): X = 1, L = -0, M = 0; holds if not " in ended.out
    last = ended.out.splitlines()[-1]
    assert last.startswith(
        "8 obligations (8 distinct tasks): "
        "8 proved by two provers, 0 by one, 0 not proved; "
        "0 refutations of the source, 2 counterexamples to what no source states; "
        "no prover found false: 1 of 1 smoke test held; "
    )


def test_stale_theories_are_not_proved(bench: Workbench) -> None:
    bench.plant("generated/why3/int8.mlw", "goal monotone", "goal monotonous")
    ended = bench.prove("--only", "int8.monotone")
    assert ended.status == 2
    assert ended.err == (
        "error: generated/ is not fresh: generated/why3/int8.mlw differs from what spec/clip.yaml gives\n"
        "  run: sonnx-clip generate\n"
    )
    (bench.root / "generated/why3/int8.mlw").unlink()
    assert "int8.mlw is missing" in bench.prove().err
    bench.generate()
    (bench.root / "generated/why3/more.mlw").write_text("")
    assert "more.mlw is not generated by anything" in bench.prove().err


def test_only_what_an_edit_concerns_is_asked_again(bench: Workbench) -> None:
    """A number in an example of the reals: one obligation, two provers; all else is known."""
    ask = ("--only", "real.e*", "--only", "real.cases*", "--only", "uint8.e*", "--json")
    assert bench.prove(*ask).status == 0
    bench.plant("spec/clip.yaml", "X: [-6.1, 9.5, 35.7]", "X: [-6.2, 9.5, 35.7]")
    bench.believe_the_yaml()  # the page has another number
    bench.generate()
    ended = bench.prove(*ask)
    assert ended.status == 0
    assert set(ended.document["run"]["sent"]) == {"real.example_real_1"}
    assert ended.document["run"]["asked"] == 2


@pytest.mark.nightly
def test_an_edit_of_a_title_asks_nothing(bench: Workbench) -> None:
    ask = ("--only", "uint8.cases*", "--only", "uint8.inverted*", "--prover", "z3", "--json")
    assert bench.prove(*ask).status == 0
    bench.plant("spec/clip.yaml", "title: the bounds are inverted", "title: the bounds stand on their heads")
    bench.generate()
    ended = bench.prove(*ask)
    assert ended.status == 0
    assert ended.document["run"]["asked"] == 0


def test_only_some_failures_are_shown_in_full(bench: Workbench) -> None:
    bench.plant("spec/clip.yaml", "claim: prose_applies\n", "claim: prose_applies and L < M\n")
    bench.believe_the_yaml()
    bench.generate()
    bench.limit(1)
    only = ("?int*8.prose_is_complete", "int8.prose_is_complete")
    ended = bench.prove_these(render_theories(load_spec()), only=only, shown=1)
    assert ended.status == 1
    assert ended.out.count("\nnot proved ") == 1
    assert "… and 1 more that are not proved" in ended.out


def test_a_complete_run_is_kept(bench: Workbench) -> None:
    """What a complete run is does not depend on how many obligations there are."""
    whole = render_theories(load_spec())
    few = tuple(o for o in whole.obligations if o.subject == "clip")
    ended = bench.prove_these(Generated(whole.files, few))
    kept = json.loads((bench.build / "proofs.json").read_text())
    assert kept["complete"]
    assert len(kept["outcomes"]) == 8
    assert [path.name for path in bench.build.glob(".proofs*")] == []
    assert ended.status == 1  # nothing is to prove what the others show


def test_obligations_with_one_task_are_asked_once(real_bench: Workbench) -> None:
    """On integers the same value is the same bits: the two tasks are one text, and one question."""
    pair = (
        "--only",
        "int8.formula_agrees",
        "--only",
        "int8.formula_agrees_bitwise",
        "--only",
        "int8.monotone",
    )
    ended = real_bench.prove("--json", *pair)
    assert ended.status == 0
    tasks = {id_: [r["task"] for r in o["replies"]] for id_, o in ended.outcomes.items()}
    assert tasks["int8.formula_agrees"] == tasks["int8.formula_agrees_bitwise"]
    assert ended.document["run"]["asked"] == 4
    assert {o["status"] for o in ended.outcomes.values()} == {"proved"}


def test_the_obligations_of_a_requirement(bench: Workbench) -> None:
    ended = bench.prove("--only", "C3", "--dtype", "int8", "--json")
    assert ended.outcomes
    assert all("C3" in outcome["shows"] for outcome in ended.outcomes.values())
