"""`sonnx-clip findings` and JSON: every finding with its words, numbers, runtimes and proofs."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.explain.finding_views import (
    IN_TEXT,
    NO_NUMBER,
    NOT_RUN,
    REFUSED,
    FindingView,
    tell,
)
from sonnx_clip.explain.findings_text import CHECKED, chosen
from sonnx_clip.explain.measured_record import read_record
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

SPEC = load_spec()
RECORD = read_record(SPEC)
TOLD = {finding.id: finding for finding in tell(SPEC, RECORD)}


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["findings", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_json_has_what_the_text_has() -> None:
    document = json.loads(run("--format", "json"))
    assert [FindingView.model_validate(f) for f in document["findings"]] == list(TOLD.values())
    assert document["runtimes"] == RECORD.runtimes


def test_text_has_every_finding_with_its_words() -> None:
    text = " ".join(run().split())
    for finding in TOLD.values():
        assert f"{finding.kind} {finding.id}: {finding.title}" in text
        said = [part.formula or f"{CHECKED}: {part.says}" for part in finding.claim]
        for words in (*(w.quote for w in finding.words), finding.found, *said, finding.proposed):
            assert words in text
    silent = [w for finding in TOLD.values() for w in finding.witnesses if w.silence]
    said = Counter(w.silence for w in silent)
    assert set(said) == {IN_TEXT, NOT_RUN}
    assert all(text.count(reason) == number for reason, number in said.items())


def test_each_witness_has_an_answer_or_its_own_reason_for_none() -> None:
    for finding in TOLD.values():
        answered = [any(reply.bits for reply in w.replies) for w in finding.witnesses]
        assert answered == [not w.silence for w in finding.witnesses]
        assert finding.answered == any(answered)
    reasons = {id_: [w.silence for w in TOLD[id_].witnesses] for id_ in TOLD}
    assert set(reasons["examples-name-a"]) == {IN_TEXT}
    assert set(reasons["r5-and-c3"]) == {IN_TEXT}
    assert set(reasons["cast-of-no-number"]) == {NOT_RUN}
    assert reasons["directml-zeros-and-nan"] == ["", "", "", IN_TEXT]
    assert reasons["cases-overlap-without-order"] == [""]


def test_a_witness_that_each_runtime_refuses_says_so_and_the_others_do_not() -> None:
    """The record with words in the place of answers, for one of two numbers."""
    refused = tuple(
        a.model_copy(update={"bits": (), "words": "no"}) if a.x == "0x80000000" else a for a in RECORD.answers
    )
    told = {f.id: f for f in tell(SPEC, RECORD.model_copy(update={"answers": refused}))}
    assert [w.silence for w in told["sign-of-zero"].witnesses] == [REFUSED, ""]
    assert {r.shown for r in told["sign-of-zero"].witnesses[0].replies} == {"rejects: no"}
    assert told["sign-of-zero"].answered


def test_an_answer_in_another_type_is_no_refusal() -> None:
    *_, witness = TOLD["bfloat16-without-where"].witnesses
    assert [r.shown for r in witness.replies if r.runtime == "numpy"] == ["answers in float32"]


def test_single_findings_are_printed_by_id() -> None:
    text = run("sign-of-zero", "r5-and-c3")
    assert re.findall(r"^(?:defect|ambiguity|gap) ([\w-]+):", text, re.MULTILINE) == [
        "sign-of-zero",
        "r5-and-c3",
    ]
    with pytest.raises(UserError, match="sign-of-zero"):
        chosen(list(TOLD.values()), ["sign-of-zeros"])


def test_severity_is_high_exactly_where_runtimes_disagree() -> None:
    for finding in TOLD.values():
        bits = [{b for reply in w.replies for b in reply.bits} for w in finding.witnesses]
        assert (finding.severity == "high") == any(len(found) > 1 for found in bits)
    assert {TOLD["r5-and-c3"].severity, TOLD["directml-order"].severity} == {"low", "medium"}


def answers(id_: str, witness: int) -> list[tuple[str, ...]]:
    return [party.answers for party in TOLD[id_].witnesses[witness].parties]


def test_answers_of_the_specification() -> None:
    """Written down from the definitions."""
    assert answers("nan-and-inverted-bounds", 0) == [
        ("0 (0x00000000)",), ("any NaN",), ("any NaN",), ("nan (0x7fc00000)",)
    ]  # fmt: skip
    assert set(answers("sign-of-zero", 0)[3]) == {"-0 (0x80000000)", "0 (0x00000000)"}
    assert answers("clip-6-printed-default", 0) == [
        ("3.4028235e+38 (0x7f7fffff)",),
        ("3.402823e+38 (0x7f7ffffd)",),
    ]
    assert answers("clip-6-defaults-of-float", 1) == [("65500 (0x7bff)",), ("inf (0x7c00)",)]
    assert answers("cast-of-no-number", 1) == [("1 (0x00000001)",), (NO_NUMBER,)]
    assert answers("directml-float-bounds-of-integers", 0) == [
        ("16777217 (0x01000001)",), ("16777216 (0x01000000)",)
    ]  # fmt: skip
    assert answers("defaults-and-infinities", 0)[1:] == [("inf (0x7f800000)",)] * 2


def test_equal_answers_are_reported_once() -> None:
    replies = TOLD["clip-6-defaults-of-float"].witnesses[1].replies
    ort = [(r.forms, r.bits) for r in replies if r.runtime == "onnxruntime"]
    assert ort == [(("clip-6", "clip-10", "clip-11"), ("0x7c00",)), (("clip-12", "clip-13"), ("0x7bff",))]
