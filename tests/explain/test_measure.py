"""The record of runtimes' answers is what they answer, and a record that does not fit is rejected."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sonnx_clip.explain import measure as measuring
from sonnx_clip.explain.measured_record import (
    CALL,
    MEASURE,
    PATH,
    RUNTIMES,
    MeasuredAnswer,
    Question,
    questions,
    read_measured,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.operators import specification
from tests.command import printed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SPEC = load_spec()


def test_record_is_what_the_installed_runtimes_answer() -> None:
    record = read_measured(SPEC)
    assert {answer.runtime for answer in record.answers} == set(RUNTIMES)
    assert record.answers == tuple(measuring.measure(SPEC, measuring.installed_runtimes(SPEC))), (
        MEASURE
    )
    assert {a.form for a in record.answers} >= {
        CALL,
        "clip-1",
        "clip-6",
        "clip-13",
        "body-13",
        "equation-13",
    }
    by_hand = (
        ("onnxruntime", 0xFF7FFFFF),
        ("onnx-reference", 0xFF800000),
    )  # no minimum for -inf
    for runtime, bits in by_hand:
        (found,) = (
            a for a in record.answers
            if (a.runtime, a.form, a.operands) == (runtime, "clip-13", {"X": 0xFF800000})
        )  # fmt: skip
        assert found.bits == (bits,)


@pytest.mark.parametrize("name", ["max", "relu", "abs", "neg"])
def test_findings_of_another_operator_are_measured(name: str) -> None:
    spec = specification(name)
    record = read_measured(spec)
    assert record.answers == tuple(measuring.measure(spec, measuring.installed_runtimes(spec))), (
        MEASURE
    )
    assert {answer.runtime for answer in record.answers} == {"onnxruntime", "onnx-reference"}
    assert "Not run" not in printed("findings", "--operator", name)


def test_models_have_the_form_of_the_question() -> None:
    zero = "0x0000000000000000"

    def question(form: str, **operands: str) -> Question:
        asked = {"operator": "clip", "type": "float64", "operands": operands, "form": form}
        return Question.model_validate(asked)

    low = question("clip-6", X=zero, min="0x3f800000")
    old = measuring.model_of(low, CLIP_SIGNATURE)
    onnx.checker.check_model(old)
    (node,) = old.graph.node
    assert ([(a.name, a.f) for a in node.attribute], list(node.input)) == ([("min", 1.0)], ["x"])
    high = question("clip-12", X=zero, max="0x3ff0000000000000")
    new = measuring.model_of(high, CLIP_SIGNATURE)
    onnx.checker.check_model(new)
    assert list(new.graph.node[0].input) == ["x", "", "max"]
    text = repo_file("spec/sources/onnx-clip-body.txt").read_text(encoding="utf-8")
    quoted = onnx.parser.parse_model(text[text.index("<") : text.index("}\n") + 1])
    body = question("body-13", X=zero, min=zero, max=zero)
    made = measuring.model_of(body, CLIP_SIGNATURE)
    assert [node.op_type for node in made.graph.node] == [
        node.op_type for node in quoted.graph.node
    ]


def test_command_measures_all_runtimes_or_writes_nothing(
    own_spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_measured(SPEC)
    there = {
        name: runtime
        for name, runtime in measuring.installed_runtimes(SPEC).items()
        if name != "onnxruntime"
    }
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "installed_runtimes", lambda _: there)
        with pytest.raises(UserError, match="not installed: onnxruntime"):
            measuring.write_record([load_spec()])
    assert read_measured(SPEC) == before
    (own_spec / PATH).unlink()
    with pytest.raises(UserError, match="is missing"):
        read_measured(SPEC)
    assert f"{PATH}: " in printed("findings", "--measure")
    assert read_measured(load_spec()).answers == before.answers


def test_unusable_answers_are_recorded_in_words() -> None:
    asked = next(q for q in questions(SPEC) if q.form == CALL and q.type == "float32")
    numpy = measuring.installed_runtimes(SPEC)["numpy"]

    def answer(function: Callable[..., object]) -> MeasuredAnswer:
        return measuring.answer_of(asked, "numpy", replace(numpy, open=lambda _: function))

    def refuses(*_: object) -> None:
        raise ValueError("no\n" * 200)

    assert answer(lambda *_: np.zeros(2)).words == "answers in float64"
    several = answer(lambda *_: np.array([1, -0.0, 1], np.float32))
    assert several.bits == (0x3F800000, 0x80000000)
    words = answer(refuses).words
    assert words is not None
    assert words.startswith("ValueError: no no")
    assert len(words) == 201


def _of_clip(document: dict[str, Any], place: int) -> dict[str, Any]:
    """An answer about Clip."""
    answers: list[dict[str, Any]] = [
        answer for answer in document["answers"] if answer["operator"] == "clip"
    ]
    return answers[place]


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (
        lambda d: d["answers"].remove(_of_clip(d, 0)),
        "no answer of onnxruntime to clip-13 float32 X=0x7fc00000",
    ),
    (lambda d: d["answers"].append(_of_clip(d, 0)), "occurs twice"),
    (lambda d: _of_clip(d, 3)["operands"].update(X="0x00000001"), "no answer of sonnx to call"),
    (
        lambda d: d["answers"].append(_of_clip(d, 0) | {"form": "clip-8"}),
        "clip-8 .* has no witness",
    ),
    (lambda d: _of_clip(d, 0).update(words="no"), "must answer or refuse .*, and not both"),
    (lambda d: d["answers"][0].pop("runtime"), "answers.0.runtime: this key is missing"),
    (lambda d: d.update(format=1), "runtimes.json: format: expected 3"),
]


@pytest.mark.parametrize(("change", "says"), CHANGES, ids=[says[:40] for _, says in CHANGES])
def test_record_that_does_not_fit_is_rejected(change: Any, says: str, own_spec: Path) -> None:
    document = json.loads((own_spec / PATH).read_text(encoding="utf-8"))
    change(document)
    (own_spec / PATH).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError, match=says) as caught:
        read_measured(SPEC)
    assert PATH in str(caught.value)
    assert MEASURE in str(caught.value)
