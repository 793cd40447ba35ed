"""What is not shown does not look shown: it is open, on top of the page, and the status is 1."""

from dataclasses import replace

import pytest

from sonnx_clip.evidence import records
from sonnx_clip.runtimes.runtime import OURS
from tests.evidence import made
from tests.evidence.conftest import gathered_in, written_in


def top(found):
    """What an assessor sees first: the page above its contents."""
    return found.html.partition("<body>")[2].partition("<nav")[0]


def require_open(evidence, words):
    assert any(words in line for line in evidence.totals.open), evidence.totals.open


def test_open_obligation_is_on_top_and_status_1(tmp_path):
    found = written_in(tmp_path, made.answered(made.proofs(), "int8.total", []))
    assert found.summary.exit_status == 1
    assert "not proved: int8.total: no prover answered" in top(found)
    assert "obligations are proved by" not in top(found)


def test_everything_is_shown(written):
    assert written.summary.exit_status == 0
    assert "obligations are proved by two provers, according to the records." in top(written)
    t = written.evidence.totals
    assert t.obligations == t.by_two == sum(o.kind != "smoke" for o in made.generated().obligations)
    assert t.smoke == t.smoke_held > 10


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (lambda o: "R4" in o.shows, "no obligation shows R4"),
        (lambda o: o.id == "float64.monotone", "no obligation shows monotone in float64"),
        (
            lambda o: o.id == "float32.idempotent_bitwise_refuted",
            "no obligation shows idempotent_bitwise in float32",
        ),
    ],
    ids=["in no type", "in one type", "refuted by nobody"],
)
def test_requirement_without_obligation_is_a_gap(tmp_path, monkeypatch, lost, words):
    kept = tuple(o for o in made.generated().obligations if not lost(o))
    monkeypatch.setattr(records, "render_all", lambda _: replace(made.generated(), obligations=kept))
    require_open(gathered_in(tmp_path, made.proofs()), words)


def test_obligation_without_answers_is_not_proved(tmp_path):
    found = gathered_in(tmp_path, made.answered(made.proofs(), "int8.total", []))
    require_open(found, "not proved: int8.total: no prover answered")
    assert found.totals.not_proved == 1


def test_obligation_missing_from_the_record_is_not_proved(tmp_path):
    document = made.proofs()
    document["outcomes"] = [o for o in document["outcomes"] if o["id"] != "int8.total"]
    require_open(gathered_in(tmp_path, document), "not proved: int8.total")


@pytest.mark.parametrize("spoil", ["proved", "missing"])
def test_canary_that_is_not_refuted_is_open(tmp_path, spoil):
    document = made.proofs()
    canary = next(o for o in document["canaries"] if "float16" in o["id"])
    if spoil == "proved":
        canary["replies"][1]["verdict"] = "valid"
    else:
        document["canaries"].remove(canary)
    require_open(gathered_in(tmp_path, document), f"a canary was not refuted: {canary['id']}")


@pytest.mark.parametrize("verdict", ["failed", "countermodel"])
def test_status_is_derived_from_the_answers(tmp_path, verdict):
    replies = made.replies("theorem", 7)
    replies[1]["verdict"] = verdict
    document = made.answered(made.proofs(), "float32.monotone", replies)
    document["outcomes"][0]["status"] = "proved"  # nobody reads it
    require_open(gathered_in(tmp_path, document), f"not proved: float32.monotone: Z3 valid, cvc5 {verdict}")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda replies: [replies[0], replies[0]],
        lambda replies: [replies[0], replies[1] | {"task": ""}],
        lambda replies: [replies[0], replies[1] | {"prover": "Oracle"}],
    ],
    ids=["one prover twice", "no task", "unknown prover"],
)
def test_only_two_provers_make_two_proofs(tmp_path, spoil):
    document = made.answered(made.proofs(), "int8.total", spoil(made.replies("instance", 7)))
    found = gathered_in(tmp_path, document)
    require_open(found, "not answered by every prover: 1 obligation")
    assert found.totals.by_one == 1


@pytest.mark.parametrize(
    "replies", [made.replies("theorem", 7), made.replies("smoke", 7)[:1]], ids=["false", "one prover"]
)
def test_smoke_obligation_needs_every_prover_and_no_proof(tmp_path, replies):
    found = gathered_in(tmp_path, made.answered(made.proofs(), "float32.smoke_meaning", replies))
    require_open(found, "not proved: float32.smoke_meaning")
    assert found.totals.smoke_held == found.totals.smoke - 1


def test_goal_that_nobody_asked_for_is_open(tmp_path):
    document = made.proofs() | {"strays": ["why3/clip.mlw Clip.stray"]}
    require_open(gathered_in(tmp_path, document), "unaccounted for: why3/clip.mlw Clip.stray")


def test_changed_list_of_what_tasks_take_for_granted_is_open(tmp_path):
    document = made.proofs()
    document["trusted"].append(document["trusted"][0] | {"name": "cheat", "statement": "false"})
    require_open(gathered_in(tmp_path / "b", document), "cheat")
    document["trusted"][-1] = document["trusted"][0] | {"justification": " "}
    require_open(gathered_in(tmp_path / "c", document), "no reason is given")


@pytest.mark.parametrize("runtime", OURS)
def test_violation_by_our_own_clip_is_open(tmp_path, runtime):
    found = gathered_in(tmp_path, made.proofs(), [made.ours(runtime, violates=("low_tie",))])
    require_open(found, f"{runtime} violates in int8, low_tie")


def test_violation_by_another_runtime_is_not_open(written):
    assert not written.evidence.totals.open
    assert "v-violates" in written.html


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (made.report("sonnx-c", types=("int8",)), "sonnx-c was not judged in int16"),
        (made.ours(policy="strict"), "sonnx was judged under the strict policy only"),
    ],
    ids=["types", "policy"],
)
def test_own_clip_that_is_not_judged_throughout_is_open(tmp_path, report, words):
    require_open(gathered_in(tmp_path, made.proofs(), [report]), words)


def test_own_clip_without_a_class_is_open(tmp_path):
    whole = made.ours()
    short = whole.types[0].model_copy(update={"classes": whole.types[0].classes[1:]})
    report = whole.model_copy(update={"types": (short, *whole.types[1:])})
    require_open(gathered_in(tmp_path, made.proofs(), [report]), "sonnx was not judged in")


def test_own_clip_that_was_not_run_is_open(tmp_path):
    made.write(tmp_path / "build", made.proofs())
    for file in (tmp_path / "build" / "verdicts").iterdir():
        file.unlink()
    from sonnx_clip.evidence import write_evidence

    summary = write_evidence(tmp_path / "build", tmp_path / "out")
    assert "not judged: sonnx was not run" in summary.evidence.totals.open
    assert "not judged: sonnx-c was not run" in summary.evidence.totals.open
