"""Nothing overstated: what a count counts, when a property is violated, and where times stand."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.cli.app import app
from sonnx_clip.evidence import write_evidence
from sonnx_clip.evidence.collect import read_inputs
from sonnx_clip.evidence.entries_shown import violated
from sonnx_clip.evidence.page import _DIALECT_COLOURS
from sonnx_clip.evidence.runtime_verdicts import worst_shown
from sonnx_clip.evidence.verify import ask_again
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.coverage_checks import require_coverage
from tests.evidence import made

if TYPE_CHECKING:
    from pathlib import Path


def _answered(got):
    """A report of one type in which the answer to (2, 2, 10) is wrong."""
    report = made.report("numpy", violates=("low_tie",), types=("int8",))
    (of_type,) = report.types
    classes = tuple(
        c.model_copy(update={"deviations": tuple(d.model_copy(update={"got": got}) for d in c.deviations)})
        for c in of_type.classes
    )
    return report.model_copy(update={"types": (of_type.model_copy(update={"classes": classes}),)})


@pytest.mark.parametrize(("got", "shown"), [("0x0a", "undecided"), ("0x07", "violates")])
def test_a_property_is_violated_where_a_recorded_answer_violates_it(tmp_path, obligations, got, shown):
    reports = [*map(made.ours, OURS), _answered(got)]
    write_evidence(made.write(tmp_path / "build", made.proofs(obligations), reports), tmp_path / "out")
    record = json.loads((tmp_path / "out" / "evidence.json").read_text())
    properties = [e for e in record["entries"] if e["section"] == "properties"]
    verdicts = {e["id"]: e["verdicts"].get("numpy", {}).get("int8") for e in properties}
    assert verdicts["result_is_operand"] == shown
    assert verdicts["formula_agrees"] == "violates"
    assert verdicts["monotone"] == "undecided"  # of two results: one answer cannot violate it


def test_a_claim_with_a_premise_is_judged_under_it():
    spec = load_spec()
    (found,) = _answered("0x0a").types
    assert violated(spec, spec.property("prose_agrees"), spec.element_type("int8"), found)
    assert not violated(spec, spec.property("nan_min_is_no_bound"), spec.element_type("int8"), found)


def test_the_worst_of_what_is_undecided():
    assert worst_shown(["conforms", "undecided"]) == "undecided"
    assert worst_shown(["violates", "undecided", "not run"]) == "violates"
    assert worst_shown(["undecided", "not run"]) == "not run"
    assert worst_shown([]) == "not run"


def test_a_wrong_answer_that_a_rule_explains_is_red():
    assert {_DIALECT_COLOURS[state] for state in ("differs", "unexplained")} == {"violates"}


def test_two_runs_differ_in_times_alone(tmp_path, obligations):
    document = made.proofs(obligations)
    made.write(tmp_path / "one", document, map(made.ours, OURS))
    for outcome in document["outcomes"]:
        for reply in outcome["replies"]:
            reply["cpu"] += 0.125
    document["run"] |= {"wall": 99.0, "why3_cpu": 7.0}
    made.write(tmp_path / "two", document, map(made.ours, OURS))
    for name in ("one", "two"):
        write_evidence(tmp_path / name, tmp_path / name / "out")
    one, two = (
        {p.name: p.read_text() for p in (tmp_path / name / "out").iterdir()} for name in ("one", "two")
    )
    assert {name for name in one if one[name] != two[name]} == {"times.json"}
    assert not re.search(r'"(cpu|seconds|from_ledger|wall)"', one["evidence.json"])
    assert json.loads(one["times.json"])["replies"]["int8.total"] == {"Z3": 0.25, "cvc5": 0.25}


def test_what_the_obligations_speak_of_is_counted_once(written):
    found, totals = written.evidence.obligations_of, written.evidence.totals
    assert sum(found.model_dump().values()) == totals.obligations - totals.smoke
    statements = written.evidence.statements
    assert statements.of_page + statements.ours == totals.requirements
    assert (statements.of_page_refuted, statements.ours_refuted) == (1, 9)


def test_every_sentence_of_the_sources_stands_beside_its_answer(written):
    spec = load_spec()
    coverage = require_coverage(spec, (o.id for o in all_obligations(spec)))
    sources = written.evidence.sources
    assert [(w.source, w.line, w.text) for w in sources] == [
        (one.source, one.item.line, one.item.text) for one in coverage.covered
    ]
    found = next(w for w in sources if w.text == "Operator **clip** has no attribute.")
    assert (found.line, found.answer, found.encoded_by) == (153, "encoded", ("sonnx-real/attributes",))
    assert '<tr id="source-sonnx-clip-153">' in written.html
    assert '<a href="#dialects-sonnx-real">sonnx-real/attributes</a>' in written.html
    assert 'sonnx-clip <a href="#source-sonnx-clip-153">153</a>' in written.html
    counts = Counter(w.answer for w in sources)
    assert f"{counts['encoded']} encoded, " in written.html
    assert all(w.reason for w in sources if w.answer in ("descriptive", "not encoded"))


def test_a_road_that_was_not_gone_is_said(written):
    roads = {road.name: road.status for road in written.evidence.roads}
    assert roads["Z3 and cvc5 on every obligation"] == "run"
    assert roads["runtime numpy"] == "run"
    assert roads["runtime onnxruntime"] == roads["DirectML"] == roads["Coq’s kernel"] == "not run"
    assert "not run, or in part" in written.html


def test_a_quotation_names_its_lines(written):
    assert "lines 25, 182, 336 of spec/sources/sonnx-clip.md" in written.html


def test_verify_says_what_it_did(tmp_path: Path, obligations):
    build = made.write(tmp_path, made.proofs(obligations), map(made.ours, OURS))
    found = read_inputs(build, load_spec(), tuple(obligations), repo_file("generated"))
    said: list[str] = []
    done = ask_again(build, found, {}, 0.0, said.append)
    replies = 2 * len(obligations)
    assert said[0] == f"asking provers again: 0 replies of {replies}"
    assert done.line.startswith(
        f"borne out: {replies} replies of provers, 0 of them asked again; 0 recorded deviations"
    )


@pytest.mark.parametrize("text", ["2", "200%", "-1%", "some", "nan%", ""])
def test_a_part_that_is_none(text):
    done = CliRunner().invoke(app, ["verify", "--replay", text])
    assert isinstance(done.exception, UserError)
    assert "is no part" in str(done.exception)
