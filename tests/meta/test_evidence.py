"""Evidence that is spoilt on purpose: what is not shown must not look shown."""

import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.cli.app import app
from sonnx_clip.evidence import recheck_proofs, write_evidence
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec import load_spec
from tests.evidence import made
from tests.evidence.once import share


@pytest.fixture(autouse=True)
def _believed(monkeypatch):
    made.believe(monkeypatch)
    share(monkeypatch)


@pytest.fixture(scope="module")
def obligations():
    return all_obligations(load_spec())


def written(tmp_path, document, reports=(), **more):
    """The evidence, with a report in which our own Clip conforms unless there is another one."""
    for name in OURS:
        if not any(r.runtime == name for r in reports):
            reports = [made.ours(name), *reports]
    return written_of(tmp_path, document, reports, **more)


def written_of(tmp_path, document, reports, **more):
    build = made.write(tmp_path / "build", document, reports)
    summary = write_evidence(build, tmp_path / "out", **more)
    page = (tmp_path / "out" / "index.html").read_text()
    return summary, page, json.loads((tmp_path / "out" / "evidence.json").read_text())


def top(page):
    """What an assessor sees first: the page above its contents."""
    return page.partition("<body>")[2].partition("<nav")[0]


def refused(tmp_path, document, reports=()):
    with pytest.raises(UserError) as error:
        write_evidence(made.write(tmp_path / "build", document, reports), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    return str(error.value)


def test_a_requirement_without_an_obligation_is_a_gap(tmp_path, obligations):
    kept = [o for o in obligations if "R4" not in o.shows]
    summary, page, record = written(tmp_path, made.proofs(kept), wanted=kept)
    assert summary.exit_status == 1
    assert "no obligation: " in top(page)
    assert 'href="#restrictions-R4"' in top(page)
    (entry,) = [e for e in record["entries"] if e["id"] == "R4"]
    assert entry["cells"][0]["status"] == "gap"


def test_a_requirement_without_obligation_in_one_type_is_a_gap(tmp_path, obligations):
    kept = [o for o in obligations if o.id != "float64.monotone"]
    summary, page, _ = written(tmp_path, made.proofs(kept), wanted=kept)
    assert summary.exit_status == 1
    assert "in float64" in top(page)


def test_a_refuted_property_that_nobody_refutes_is_a_gap(tmp_path, obligations):
    kept = [o for o in obligations if o.id != "float32.idempotent_bitwise_refuted"]
    summary, page, _ = written(tmp_path, made.proofs(kept), wanted=kept)
    assert summary.exit_status == 1
    assert "no obligation refutes it" in page


def test_a_proof_whose_reply_is_missing_is_one_proof(tmp_path, obligations):
    document = made.proofs(obligations)
    made.change(document, "int8.total", replies=made.replies("instance", 7)[:1])
    assert "int8.total is stated as `proved`" in refused(tmp_path, document)
    made.change(document, "int8.total", status="proved by one")
    summary, page, _ = written(tmp_path, document)
    assert summary.totals.by_one == 1
    assert summary.exit_status == 0
    assert "by one prover only" in top(page)
    assert "Proved by one prover only" in top(page)
    assert 'href="#o-int8.total"' in top(page)


def test_a_proof_without_any_reply_is_not_proved(tmp_path, obligations):
    document = made.change(made.proofs(obligations), "int8.total", replies=[])
    assert "nobody replied" in refused(tmp_path, document)
    summary, page, _ = written(tmp_path, made.change(document, "int8.total", status="not proved"))
    assert summary.exit_status == 1
    assert "1 of " in top(page)
    assert 'href="#o-int8.total"' in top(page)


@pytest.mark.parametrize("verdict", ["unknown", "timeout", "failed", "countermodel"])
def test_a_status_that_its_replies_do_not_bear_out_is_refused(tmp_path, obligations, verdict):
    replies = made.replies("theorem", 7)
    replies[1]["verdict"] = verdict
    document = made.change(made.proofs(obligations), "float32.monotone", replies=replies)
    message = refused(tmp_path, document)
    assert "float32.monotone is stated as `proved`" in message
    assert f"cvc5 {verdict}" in message


def test_a_smoke_obligation_that_yields_false_is_refused(tmp_path, obligations):
    document = made.proofs(obligations)
    made.change(document, "float32.smoke_meaning", replies=made.replies("theorem", 7))
    assert "float32.smoke_meaning is stated as `proved`" in refused(tmp_path, document)


def test_a_smoke_obligation_needs_every_prover(tmp_path, obligations):
    document = made.proofs(obligations)
    made.change(document, "float32.smoke_meaning", replies=made.replies("smoke", 7)[:1])
    assert "`not proved`" in refused(tmp_path, document)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda replies: [replies[0], replies[0]], "one prover replied twice"),
        (lambda replies: [replies[0], replies[1] | {"task": ""}], "without a task"),
        (lambda replies: [replies[0], replies[1] | {"prover": "Oracle"}], "none of the tools"),
    ],
)
def test_replies_that_are_no_second_proof(tmp_path, obligations, spoil, said):
    document = made.proofs(obligations)
    made.change(document, "int8.total", replies=spoil(made.replies("instance", 7)))
    assert said in refused(tmp_path, document)


def test_a_stale_digest_is_refused(tmp_path, obligations):
    document = made.proofs(obligations)
    document["about"]["spec_digest"] = "0" * 64
    message = refused(tmp_path, document)
    assert "stale" in message
    assert "run `sonnx-clip prove`" in message
    done = CliRunner().invoke(app, ["evidence", "--build", str(tmp_path / "build")])
    assert isinstance(done.exception, UserError)


def test_a_part_of_the_proofs_is_not_the_whole(tmp_path, obligations):
    summary, page, _ = written(tmp_path, made.proofs(obligations) | {"complete": False})
    assert summary.exit_status == 1
    assert "those of a part" in top(page)


def test_a_goal_that_nobody_asked_for_is_open(tmp_path, obligations):
    document = made.proofs(obligations) | {"strays": ["why3/clip.mlw Clip.stray"]}
    summary, page, _ = written(tmp_path, document)
    assert summary.exit_status == 1
    assert "Clip.stray" in top(page)
    assert "unaccounted for" in summary.line


def test_an_axiom_that_slips_in_is_open(tmp_path, obligations, monkeypatch):
    document = made.proofs(obligations)
    document["trusted"].append({**document["trusted"][0], "name": "clip.Clip.cheat", "statement": "false"})
    assert "things are stated as taken for granted" in refused(tmp_path, document)
    monkeypatch.setattr(recheck_proofs, "_trusted", lambda *_: None)  # as if the theories had it
    summary, page, _ = written(tmp_path, document)
    assert summary.exit_status == 1
    assert "clip.Clip.cheat" in top(page)


def test_what_is_trusted_without_a_reason_is_open(tmp_path, obligations, monkeypatch):
    document = made.proofs(obligations)
    monkeypatch.setattr(recheck_proofs, "_trusted", lambda *_: None)  # as if the list of reasons had none
    document["trusted"][0] |= {"justification": " ", "discharged_by": ["no.such_obligation"]}
    summary, page, _ = written(tmp_path, document)
    assert summary.exit_status == 1
    assert "without a reason: 1" in top(page)
    assert '<code>no.such_obligation</code> <span class="chip s-gap">unknown</span>' in page


@pytest.mark.parametrize("runtime", OURS)
def test_our_own_violation_makes_the_status_1(tmp_path, obligations, runtime):
    reports = [made.ours(runtime, violates=("low_tie",))]
    summary, page, _ = written(tmp_path, made.proofs(obligations), reports)
    assert summary.exit_status == 1
    assert summary.totals.violated_by_sonnx == len(made.MACHINE_TYPES)
    assert "own Clip violates" in top(page)
    assert f"{len(made.MACHINE_TYPES)} violated by sonnx" in summary.line


NOT_JUDGED = {
    "not run": ([made.ours("sonnx-c")], "sonnx was not run"),
    "in C not run": ([made.ours()], "sonnx-c was not run"),
    "in C in one type": (
        [made.ours(), made.report("sonnx-c", types=("int8",))],
        "sonnx-c was not judged in int16",
    ),
    "of one type": ([made.report("sonnx", types=("int8",))], "sonnx was not judged in int16, int32"),
    "under strict policy": ([made.ours(policy="strict")], "sonnx was judged under the strict policy only"),
    "without comparison": ([made.refusing("float64")], "sonnx was not judged in float64"),
}


@pytest.mark.parametrize("name", NOT_JUDGED)
def test_our_own_clip_that_is_not_judged_throughout_is_open(tmp_path, obligations, name):
    reports, words = NOT_JUDGED[name]
    summary, page, record = written_of(tmp_path, made.proofs(obligations), reports)
    assert summary.exit_status == 1
    assert not record["totals"]["fine"]
    assert words in summary.line
    assert words in top(page)
    assert "Every obligation is proved" not in top(page)
    assert "each by two provers" not in top(page)


def test_what_is_open_takes_the_place_of_the_praise(tmp_path, obligations):
    _, page, _ = written(tmp_path, made.proofs(obligations))
    assert "Every obligation is proved, each by two provers." in top(page)
    _, page, _ = written(tmp_path, made.proofs(obligations) | {"complete": False})
    assert "Every obligation is proved" not in top(page)
    assert "Not everything is shown" in top(page)


def test_the_violation_of_another_does_not(tmp_path, obligations):
    summary, page, _ = written(
        tmp_path, made.proofs(obligations), [made.report("numpy", violates=("low_tie",))]
    )
    assert summary.exit_status == 0
    assert "v-violates" in top(page)


def test_a_verdict_that_its_counts_do_not_bear_out_is_refused(tmp_path, obligations):
    text = made.report("numpy", violates=("low_tie",)).model_dump_json()
    lied = text.replace('"verdict":"violates"', '"verdict":"conforms"')
    assert "low_tie: stated as conforms, its counts say violates" in refused(
        tmp_path, made.proofs(obligations), [lied]
    )


def test_a_type_that_is_stated_better_than_its_classes_is_refused(tmp_path, obligations):
    text = made.report("numpy", violates=("low_tie",), types=("int8",)).model_dump_json()
    lied = text.replace('"type":"int8","verdict":"violates"', '"type":"int8","verdict":"conforms"')
    assert "is not its worst class" in refused(tmp_path, made.proofs(obligations), [lied])
