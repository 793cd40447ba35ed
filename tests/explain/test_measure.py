"""What runtimes are asked, whether the record is what they answer, and records that are rejected."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.explain import measure as measuring
from sonnx_clip.explain.measured_record import (
    CALL,
    MEASURE,
    PATH,
    RUNTIMES,
    MeasuredAnswer,
    Question,
    differences,
    questions,
    read_record,
    runtimes_for,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SPEC = load_spec()
LOW_OF_DOUBLE = Question(
    finding="any", type="float64", x="0x0000000000000000", min="0x3f800000", max=None, form="clip-6"
)


@pytest.fixture(scope="module")
def answers() -> list[MeasuredAnswer]:
    return list(measuring.measure(SPEC, measuring.installed()))


def test_the_record_is_what_the_installed_runtimes_answer(answers: list[MeasuredAnswer]) -> None:
    record = read_record(SPEC)
    assert {answer.runtime for answer in answers} == set(RUNTIMES)
    assert len(answers) == len(record.answers)
    found = differences(record, answers)
    assert not found, f"{'; '.join(found)}: {MEASURE}"
    wanted = [(q.finding, str(q), runtime) for q in questions(SPEC) for runtime in runtimes_for(q)]
    assert [(a.finding, str(a), a.runtime) for a in answers] == wanted
    assert {q.form for q in questions(SPEC)} >= {CALL, "clip-1", "clip-6", "clip-13", "body-13", "body-16"}


@pytest.mark.parametrize(
    ("finding", "runtime", "form", "x", "low", "bits"),
    [
        ("defaults-and-infinities", "onnxruntime", "clip-13", "0xff800000", None, ("0xff7fffff",)),
        ("defaults-and-infinities", "onnx-reference", "clip-13", "0xff800000", None, ("0xff800000",)),
        ("defaults-and-infinities", "sonnx", CALL, "0xff800000", None, ()),
        ("sign-of-zero", "sonnx", CALL, "0x80000000", "0x00000000", ("0x00000000",)),
        ("bfloat16-without-where", "onnxruntime", "clip-13", "0x40e0", "0x0000", ()),
    ],
)
def test_runtimes_differ_as_was_found_by_hand(
    answers: list[MeasuredAnswer], finding: str, runtime: str, form: str, x: str, low: str | None, bits: Any
) -> None:
    asked = (finding, runtime, form, x, low)
    assert {a.bits for a in answers if (a.finding, a.runtime, a.form, a.x, a.min) == asked} == {bits}


def test_models_have_the_form_of_the_question() -> None:
    old = measuring.model_of(LOW_OF_DOUBLE)
    onnx.checker.check_model(old)
    (node,) = old.graph.node
    assert ([(a.name, a.f) for a in node.attribute], list(node.input)) == ([("min", 1.0)], ["x"])
    one = {"min": None, "max": "0x3ff0000000000000", "form": "clip-12"}
    new = measuring.model_of(LOW_OF_DOUBLE.model_copy(update=one))
    onnx.checker.check_model(new)
    assert list(new.graph.node[0].input) == ["x", "", "max"]

    text = repo_file("spec/sources/onnx-clip-body.txt").read_text(encoding="utf-8")
    quoted = onnx.parser.parse_model(text[text.index("<") : text.index("}\n") + 1])
    prefix = "Clip_test_clip_expanded_function_"
    body = {"min": LOW_OF_DOUBLE.x, "max": LOW_OF_DOUBLE.x, "form": "body-13"}
    steps = [
        [(n.op_type, [i.removeprefix(prefix) for i in (*n.input, *n.output)]) for n in model.graph.node]
        for model in (quoted, measuring.model_of(LOW_OF_DOUBLE.model_copy(update=body)))
    ]
    assert steps[0] == steps[1]


@pytest.mark.parametrize(("name", "version"), [("Where", 9), ("Where", 16), ("Less", 13)])
def test_the_quoted_types_are_those_of_the_installed_onnx(name: str, version: int) -> None:
    text = repo_file("spec/sources/onnx-where.txt").read_text(encoding="utf-8")
    section = " ".join(text.partition(f"{name} - {version}\n")[2].split())
    constraints = onnx.defs.get_schema(name, version).type_constraints
    (types,) = [c.allowed_type_strs for c in constraints if c.type_param_str == "T"]
    assert f"T in ( {', '.join(sorted(types))} )" in section.partition(" - ")[0]


def test_the_command_measures_all_runtimes_or_writes_nothing(own_spec: Path) -> None:
    """Other versions of the runtimes give the same answers."""

    def answers_of(text: str) -> list[str]:
        lines = [line for line in text.splitlines() if '"finding"' in line]
        return [re.sub(r'"version":"[^"]*"', "", line) for line in lines]

    before = (own_spec / PATH).read_text(encoding="utf-8")
    there = {name: runtime for name, runtime in measuring.installed().items() if name != "onnxruntime"}
    with pytest.raises(UserError, match="not installed: onnxruntime"):
        measuring.write_record(load_spec(), there)
    assert (own_spec / PATH).read_text(encoding="utf-8") == before
    (own_spec / PATH).unlink()
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_record(SPEC)
    done = CliRunner().invoke(app, ["findings", "--measure"], catch_exceptions=False)
    assert done.exit_code == 0
    record = read_record(load_spec())
    assert f"{PATH}: {len(record.answers)} answers, " in done.output
    assert answers_of((own_spec / PATH).read_text(encoding="utf-8")) == answers_of(before) != []


def test_unusable_answers_are_recorded_in_words() -> None:
    asked = next(q for q in questions(SPEC) if q.form == CALL and q.type == "float32")
    numpy = measuring.installed()["numpy"]

    def answer(function: Callable[..., object]) -> MeasuredAnswer:
        return measuring.answer_of(asked, "numpy", replace(numpy, open=lambda _: function))

    def refuses(*_: object) -> None:
        raise ValueError("no\n" * 200)

    assert answer(lambda *_: np.zeros(2)).words == "answers in float64"
    several = answer(lambda *_: np.array([1, -0.0, 1], np.float32))
    assert several.outcome == "0x3f800000 or 0x80000000"
    words = answer(refuses).words
    assert words is not None
    assert words.startswith("ValueError: no no")
    assert len(words) == 201


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (
        lambda d: d["answers"].pop(0),
        "c2-for-floats: no answer of onnxruntime to clip-13 float32 X=0x7fc00000",
    ),
    (lambda d: d["answers"].append(d["answers"][0]), "an answer is there twice"),
    (lambda d: d["answers"][3].update(x="0x00000001"), "c2-for-floats: no answer of sonnx to call"),
    (lambda d: d["answers"].append(d["answers"][0] | {"form": "clip-12"}), "clip-12 .* has no witness"),
    (lambda d: d["answers"][0].update(version="onnxruntime 0"), "onnxruntime 0 is not the version"),
    (lambda d: d["answers"][0].update(bits=[]), "neither answered nor refused, or did both"),
    (lambda d: d["answers"][0].update(words="no"), "neither answered nor refused, or did both"),
    (lambda d: d["answers"][0].pop("runtime"), "not a record of answers: answers.0.runtime: Field required"),
    (lambda d: d.update(format=2), "not a record of answers: format"),
]


@pytest.mark.parametrize(("change", "says"), CHANGES, ids=[says[:40] for _, says in CHANGES])
def test_a_record_that_does_not_fit_is_rejected(change: Any, says: str, own_spec: Path) -> None:
    document = json.loads((own_spec / PATH).read_text(encoding="utf-8"))
    change(document)
    (own_spec / PATH).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError, match=says) as caught:
        read_record(SPEC)
    assert str(caught.value).startswith(PATH)
    assert MEASURE in str(caught.value)


def test_differences_name_the_finding_the_runtime_and_both_answers() -> None:
    record = read_record(SPEC)
    first, second, *_ = record.answers
    other = first.model_copy(update={"bits": ("0x00000000",), "version": "onnxruntime 9"})
    one, two = differences(record, [other, second.model_copy(update={"form": "clip-12"})])
    assert one.startswith("c2-for-floats: onnxruntime, clip-13 float32 X=0x7fc00000")
    assert "0x00000000 (onnxruntime 9), recorded 0x7fc00000 (onnxruntime" in one
    assert two.endswith("not in the record")
    assert differences(record, record.answers) == []
