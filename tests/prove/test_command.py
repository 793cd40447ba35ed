"""`sonnx-clip prove`: what is selected, how it ends, what is printed and what is kept."""

import json

import pytest

from sonnx_clip.backends.theory import Generated
from sonnx_clip.prove.selection import select
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.obligations import obligations, theories


def selected(family=None, types=(), only=()):
    return select(load_spec(), obligations(), family=family, types=types, only=only)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"types": ("int8", "uint8"), "only": ("*.nan_out",)}, {"int8.nan_out", "uint8.nan_out"}),
        (
            {"family": "real", "types": ("int8",), "only": ("*.total",)},
            {"real.total", "int8.total"},
        ),
        ({"only": ("clip.nan_out", "clip.[m]onotone")}, {"clip.nan_out", "clip.monotone"}),
    ],
)
def test_options_select_obligations(options, expected):
    assert {o.id for o in selected(**options)} == expected


def test_families_and_entries_select_obligations():
    assert {o.subject for o in selected(family="int")} == {
        e.id for e in load_spec().types_of("int")
    }
    of_c3 = selected(types=("int8",), only=("C3",))
    assert of_c3
    assert all("C3" in o.shows and o.subject == "int8" for o in of_c3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"types": ("int9",)},
            r"there is no `int9` among the element types of spec/clip\.yaml\n.*`int8`",
        ),
        ({"only": ("float32.nothing",)}, r"no obligation has or shows the id `float32\.nothing`"),
        ({"only": ("FLOAT32.monotone",)}, r"did you mean float32\.monotone"),
        ({"only": ("intervall",)}, "did you mean interval"),
        (
            {"types": ("int8",), "only": ("float32.*",)},
            "no obligation of this family or type matches",
        ),
    ],
)
def test_selection_of_nothing_is_refused(options, words):
    with pytest.raises(UserError, match=words):
        selected(**options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--family", "complex"), "'complex' is not one of"),
        (("--prover", "vampire"), "unknown prover vampire"),
        (("--jobs", "0"), "--jobs"),
    ],
)
def test_invalid_option_is_one_message(arguments, words, real_bench):
    ended = real_bench.command("prove", "--build", str(real_bench.build), *arguments)
    assert ended.status == 2
    assert words in ended.err


SAME = (
    "int8.formula_agrees",
    "int8.formula_agrees_bitwise",
)  # on integers their tasks are one text
IDS = (*SAME, "int8.monotone", "int8.total", "int8.smoke_meaning", "int8.idempotent_bitwise",
       "float16.idempotent_bitwise_refuted", "float16.idempotent_bitwise_repaired")  # fmt: skip
ASK = tuple(part for id_ in IDS for part in ("--only", id_))


def test_json_and_table_of_a_partial_run(real_bench):
    ended = real_bench.prove(*ASK, "--json")
    assert ended.status == 0
    document = ended.document
    assert set(document["tools"]) == {"why3", "Z3", "cvc5"}
    assert document["about"]["spec_digest"] == load_spec().digest
    assert document["strays"] == []
    by_id = {o.id: o for o in selected(only=IDS)}
    assert set(ended.outcomes) == set(by_id)
    for id_, outcome in ended.outcomes.items():
        assert outcome["status"] == "proved"
        assert (outcome["kind"], tuple(outcome["shows"])) == (by_id[id_].kind, by_id[id_].shows)
        assert [r["prover"] for r in outcome["replies"]] == ["Z3", "cvc5"]
        assert all(len(r["task"]) == 64 for r in outcome["replies"])
    assert "proving: " in ended.err  # what is for people goes beside
    first, second = ([r["task"] for r in ended.outcomes[id_]["replies"]] for id_ in SAME)
    assert first == second
    assert document["run"]["asked"] == 2 * (len(IDS) - 1)
    assert not document["complete"]
    assert not (real_bench.build / "proofs.json").exists()  # evidence speaks of complete runs

    one = real_bench.prove(*ASK, "--prover", "CVC5", "--prover", "cvc5", "--json")
    assert (one.document["run"]["asked"], one.document["run"]["prover_cpu"]) == (
        0,
        0,
    )  # the ledger knew
    assert [r["prover"] for r in one.outcomes["int8.monotone"]["replies"]] == ["cvc5"]
    assert one.outcomes["int8.monotone"]["status"] == "proved by one"

    ended = real_bench.prove(*ASK)
    assert ended.status == 0
    assert "  idempotent_bitwise (float): X = 1, L = -0, M = 0; holds if not " in ended.out
    last = ended.out.splitlines()[-1]
    assert last.startswith(
        "7 obligations (6 distinct tasks): 7 proved by two provers, 0 by one, 0 not"
    )
    assert "1 of 1 smoke test held" in last


def test_complete_run_is_kept(bench):
    """What a complete run is does not depend on how many obligations there are."""
    few = tuple(o for o in obligations() if o.subject == "clip")
    ended = bench.prove_these(Generated(theories().files, few))
    kept = json.loads((bench.build / "proofs.json").read_text())
    assert kept["complete"]
    assert len(kept["outcomes"]) == 8
    assert [path.name for path in bench.build.glob(".proofs*")] == []
    assert ended.status == 1  # nothing is to prove what the others show
