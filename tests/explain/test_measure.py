"""What runtimes are asked, and whether the record is what they answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.explain import measure as measuring
from sonnx_clip.explain.measured_record import (
    MEASURE,
    PATH,
    RUNTIMES,
    MeasuredAnswer,
    differences,
    outcome,
    read_record,
    record_text,
    runtimes_for,
)
from sonnx_clip.explain.questions import CALL, Question, questions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SPEC = load_spec()
LOW_OF_DOUBLE = Question("any", "float64", "0x0000000000000000", "0x3f800000", None, "clip-6")


@pytest.fixture(scope="module")
def answers() -> list[MeasuredAnswer]:
    return list(measuring.measure(SPEC, measuring.installed()))


def test_the_record_is_what_the_installed_runtimes_answer(answers: list[MeasuredAnswer]) -> None:
    record = read_record(SPEC)
    assert {answer.runtime for answer in answers} == set(RUNTIMES)
    assert len(answers) == len(record.answers)
    found = differences(record, answers)
    assert not found, f"{'; '.join(found)}: {MEASURE}"


def test_every_question_is_put_to_all_who_can_be_asked(answers: list[MeasuredAnswer]) -> None:
    there = {(a.question, a.runtime) for a in answers}
    assert there == {(q, runtime) for q in questions(SPEC) for runtime in runtimes_for(q)}
    assert {q.form for q in questions(SPEC)} >= {CALL, "clip-1", "clip-6", "clip-13", "body-13", "body-16"}


def test_runtimes_differ_where_the_findings_say_so(answers: list[MeasuredAnswer]) -> None:
    """Independent of the record: what was found by hand."""

    def bits(finding: str, runtime: str, form: str, x: str, low: str | None) -> tuple[str, ...]:
        """The same for each upper bound that is asked with these numbers."""
        (one,) = {
            a.bits for a in answers
            if (a.finding, a.runtime, a.form, a.x, a.min) == (finding, runtime, form, x, low)
        }  # fmt: skip
        return one

    at = "defaults-and-infinities"
    assert bits(at, "onnxruntime", "clip-13", "0xff800000", None) == ("0xff7fffff",)
    assert bits(at, "onnx-reference", "clip-13", "0xff800000", None) == ("0xff800000",)
    assert bits(at, "sonnx", CALL, "0xff800000", None) == ()
    assert bits("sign-of-zero", "sonnx", CALL, "0x80000000", "0x00000000") == ("0x00000000",)
    assert bits("bfloat16-without-where", "onnxruntime", "clip-13", "0x40e0", "0x0000") == ()


def test_a_model_is_what_it_is_asked_as() -> None:
    from sonnx_clip.explain.measured_models import model_of

    old = model_of(LOW_OF_DOUBLE)
    onnx.checker.check_model(old)
    (node,) = old.graph.node
    assert [(a.name, a.f) for a in node.attribute] == [("min", 1.0)]
    assert list(node.input) == ["x"]
    upper = replace(LOW_OF_DOUBLE, min=None, max="0x3ff0000000000000", form="clip-12")
    new = model_of(upper)
    onnx.checker.check_model(new)
    assert list(new.graph.node[0].input) == ["x", "", "max"]
    assert list(model_of(replace(upper, max=None)).graph.node[0].input) == ["x"]


def test_the_function_body_is_the_one_that_is_quoted() -> None:
    from sonnx_clip.explain.measured_models import model_of

    text = repo_file("spec/sources/onnx-clip-body.txt").read_text(encoding="utf-8")
    quoted = onnx.parser.parse_model(text[text.index("<") : text.index("}\n") + 1])
    prefix = "Clip_test_clip_expanded_function_"

    def steps(model: onnx.ModelProto) -> list[tuple[str, list[str], list[str]]]:
        return [
            (n.op_type, [i.removeprefix(prefix) for i in n.input], [o.removeprefix(prefix) for o in n.output])
            for n in model.graph.node
        ]

    ours = model_of(
        replace(LOW_OF_DOUBLE, min="0x0000000000000000", max="0x0000000000000000", form="body-13")
    )
    assert steps(ours) == steps(quoted)


@pytest.mark.parametrize(("name", "version"), [("Where", 9), ("Where", 16), ("Less", 13)])
def test_the_quoted_types_are_those_of_the_installed_onnx(name: str, version: int) -> None:
    text = repo_file("spec/sources/onnx-where.txt").read_text(encoding="utf-8")
    section = " ".join(text.partition(f"{name} - {version}\n")[2].split())
    (types,) = [
        c.allowed_type_strs
        for c in onnx.defs.get_schema(name, version).type_constraints
        if c.type_param_str == "T"
    ]
    assert f"T in ( {', '.join(sorted(types))} )" in section.partition(" - ")[0]


def test_the_record_is_written_as_a_whole(own_spec: Path) -> None:
    before = (own_spec / PATH).read_text(encoding="utf-8")
    (own_spec / PATH).unlink()
    record = measuring.write_record(load_spec())
    assert (own_spec / PATH).read_text(encoding="utf-8") == record_text(record)
    assert lines_of(before) == lines_of(record_text(record))


def lines_of(text: str) -> list[str]:
    """The lines of a record without the versions of the runtimes: other versions give the same answers."""
    lines = [line for line in text.splitlines() if '"finding"' in line]
    assert lines
    return [re.sub(r'"version":"[^"]*"', "", line) for line in lines]


def test_without_a_runtime_nothing_is_written(own_spec: Path) -> None:
    before = (own_spec / PATH).read_text(encoding="utf-8")
    there = {name: runtime for name, runtime in measuring.installed().items() if name != "onnxruntime"}
    with pytest.raises(UserError, match="not installed: onnxruntime"):
        measuring.write_record(load_spec(), there)
    assert (own_spec / PATH).read_text(encoding="utf-8") == before


def test_answers_that_are_none() -> None:
    asked = next(q for q in questions(SPEC) if q.form == CALL and q.type == "float32")
    runtime = measuring.installed()["numpy"]

    def answer(ask: Callable[[Question], object]) -> MeasuredAnswer:
        return measuring.answer_of(asked, "numpy", runtime, ask)

    assert answer(lambda _: np.zeros(2)).words == "answers in float64"
    found = answer(lambda _: np.array([1, -0.0, 1], np.float32))
    assert outcome(found) == "0x3f800000 or 0x80000000"

    def refuses(_: object) -> None:
        raise ValueError("no\n" * 200)

    words = answer(refuses).words
    assert words is not None
    assert words.startswith("ValueError: no no")
    assert len(words) == 201


def test_the_command_measures_and_says_how_to_go_on(own_spec: Path) -> None:
    (own_spec / PATH).unlink()
    done = CliRunner().invoke(app, ["findings", "--measure"], catch_exceptions=False)
    assert done.exit_code == 0
    record = read_record(load_spec())
    refused = sum(not answer.bits for answer in record.answers)
    assert done.output.splitlines() == [
        f"{PATH}: {len(record.answers)} answers, {refused} of them rejections",
        "to update the page, run: sonnx-clip generate",
    ]
    assert 0 < refused < len(record.answers)
