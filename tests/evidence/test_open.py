"""What is not shown does not look shown: it is open, on top of the page, and the status is 1.

Each record here is spoilt in many independent ways at once; every one of them must be listed.
"""

from dataclasses import replace

import pytest

from sonnx_clip.evidence import records, write_evidence
from sonnx_clip.spec import load_spec
from tests.evidence import made
from tests.evidence.conftest import gathered_in


def top(found):
    """What an assessor sees first: the page above the trace."""
    return found.html.partition("<body>")[2].partition('id="trace"')[0]


def missing(words, evidence):
    """The words that no line of what is open has."""
    return [one for one in words if not any(one in line for line in evidence.totals.open)]


def test_everything_is_shown(written):
    assert written.summary.exit_status == 0
    assert "obligations are proved by two provers." in top(written)
    t = written.evidence.totals
    assert t.open == ()  # though another runtime violates a class
    assert "v-violates" in written.html
    assert t.obligations == t.by_two == sum(o.kind != "smoke" for o in made.generated().obligations)
    assert t.smoke == t.smoke_held > 10


def test_each_spoilt_answer_is_open_counted_and_on_top_and_the_status_is_1(spoilt, written):
    assert missing(made.SPOILT, spoilt.evidence) == []
    assert spoilt.summary.exit_status == 1
    assert "not proved: int8.total: no prover answered" in top(spoilt)
    assert "obligations are proved by" not in top(spoilt)
    t = spoilt.evidence.totals
    assert t.not_proved == sum(w.startswith("not proved") and "smoke" not in w for w in made.SPOILT)
    assert t.by_one == 3  # a prover twice, an answer without a task, a prover that nobody knows
    assert t.smoke_held == t.smoke - 2
    assert t.obligations == written.evidence.totals.obligations


def test_requirement_without_obligation_is_a_gap(tmp_path, monkeypatch):
    lost = {"float64.monotone", "float32.idempotent_bitwise_refuted"}
    kept = tuple(
        o for o in made.generated().obligations if "R4" not in o.shows and o.id not in lost
    )
    monkeypatch.setattr(
        records, "render_all", lambda _: replace(made.generated(), obligations=kept)
    )
    found = gathered_in(tmp_path, made.proofs())
    words = ("R4", "monotone in float64", "idempotent_bitwise in float32")
    assert missing([f"no obligation shows {one}" for one in words], found) == []


def without_a_class(report):
    short = report.types[0].model_copy(update={"classes": report.types[0].classes[1:]})
    return report.model_copy(update={"types": (short, *report.types[1:])})


@pytest.mark.parametrize(
    ("reports", "words"),
    [
        ([made.ours("sonnx", violates=("low_tie",)), made.ours("sonnx-c", violates=("low_tie",))],
         ["sonnx violates in int8, low_tie", "sonnx-c violates in int8, low_tie"]),
        ([made.ours(policy="strict"), made.report("sonnx-c", types=("int8",))],
         ["sonnx was judged under the strict policy only", "sonnx-c was not judged in int16"]),
        ([without_a_class(made.ours())], ["sonnx was not judged in"]),
    ],
    ids=["violations", "policy and types", "a class"],
)  # fmt: skip
def test_own_clip_that_is_not_right_throughout_is_open(tmp_path, reports, words):
    assert missing(words, gathered_in(tmp_path, made.proofs(), reports)) == []


def test_own_clip_that_was_not_run_is_open(tmp_path):
    build = made.write(tmp_path / "build", made.proofs())
    for file in (build / "verdicts").iterdir():
        file.unlink()
    words = ["not judged: sonnx was not run", "not judged: sonnx-c was not run"]
    assert missing(words, write_evidence(load_spec(), build, tmp_path / "out").evidence) == []
