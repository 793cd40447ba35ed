"""`sonnx-clip findings` as text and JSON: every finding with its words, numbers, runtimes and proofs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sonnx_clip.explain.finding_views import IN_TEXT, NO_NUMBER, NOT_RUN, REFUSED, FindingView, tell
from sonnx_clip.explain.measured_record import read_measured
from sonnx_clip.spec import load_spec
from tests.command import printed, run

SPEC = load_spec()
RECORD = read_measured(SPEC)
TOLD = {finding.id: finding for finding in tell(SPEC, RECORD)}


def test_json_and_text_have_every_finding_with_its_words() -> None:
    document = json.loads(printed("findings", "--json"))
    assert [FindingView.model_validate(f) for f in document["findings"]] == list(TOLD.values())
    assert document["runtimes"] == RECORD.runtimes
    text = " ".join(printed("findings").split())
    for finding in TOLD.values():
        said = [part.formula or part.says for part in finding.claim]
        for words in (
            finding.id,
            *(w.quote for w in finding.words),
            finding.found,
            *said,
            finding.proposed,
        ):
            assert words in text


def test_findings_are_chosen_by_id() -> None:
    text = printed("findings", "sign-of-zero", "r5-and-c3")
    assert {id_ for id_ in TOLD if f" {id_}: {TOLD[id_].title}" in text} == {
        "r5-and-c3",
        "sign-of-zero",
    }
    unknown = run("findings", "sign-of-zeros", cwd=Path.cwd())
    assert unknown.returncode == 2
    assert "`sign-of-zero`" in unknown.stderr


def test_witness_without_an_answer_says_why() -> None:
    for finding in TOLD.values():
        answered = [any(row.bits for row in w.rows) for w in finding.witnesses]
        assert answered == [not w.silence for w in finding.witnesses]
    assert {w.silence for w in TOLD["r5-and-c3"].witnesses} == {IN_TEXT}
    assert {w.silence for w in TOLD["cast-of-no-number"].witnesses} == {NOT_RUN}
    refused = tuple(
        a.model_copy(update={"bits": (), "words": "no"}) if a.operands["X"] == 0x80000000 else a
        for a in RECORD.answers
    )
    told = {f.id: f for f in tell(SPEC, RECORD.model_copy(update={"answers": refused}))}[
        "sign-of-zero"
    ]
    assert [w.silence for w in told.witnesses] == [REFUSED, ""]
    assert {r.answers for r in told.witnesses[0].rows if r.version} == {("rejects: no",)}
    *_, witness = TOLD["bfloat16-without-where"].witnesses
    numpy = [r.answers for r in witness.rows if r.by == "numpy" and r.version]
    assert numpy == [("answers in float32",)]


def test_severity_is_high_exactly_where_runtimes_disagree() -> None:
    for finding in TOLD.values():
        bits = [{b for row in w.rows for b in row.bits} for w in finding.witnesses]
        assert (finding.severity == "high") == any(len(found) > 1 for found in bits)
    assert {TOLD["r5-and-c3"].severity, TOLD["directml-order"].severity} == {"low", "medium"}


@pytest.mark.parametrize(
    ("finding", "witness", "answers"),
    [
        ("clip-6-printed-default", 0, [("3.4028235e+38 (0x7f7fffff)",), ("3.402823e+38 (0x7f7ffffd)",)]),
        ("clip-6-defaults-of-float", 1, [("65504 (0x7bff)",), ("inf (0x7c00)",)]),
        ("cast-of-no-number", 1, [("1 (0x00000001)",), (NO_NUMBER,)]),
        ("nan-and-inverted-bounds", 0,
         [("0 (0x00000000)",), ("any NaN",), ("any NaN",), ("nan (0x7fc00000)",)]),
        ("directml-float-bounds-of-integers", 0,
         [("16777217 (0x01000001)",), ("16777216 (0x01000000)",)]),
    ],
)  # fmt: skip
def test_answers_of_the_specification(
    finding: str, witness: int, answers: list[tuple[str, ...]]
) -> None:
    """Written down from the definitions."""
    rows = TOLD[finding].witnesses[witness].rows
    assert [row.answers for row in rows if row.version is None] == answers
