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
    read_record,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.command import printed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SPEC = load_spec()


def test_record_is_what_the_installed_runtimes_answer() -> None:
    record = read_record(SPEC)
    assert {answer.runtime for answer in record.answers} == set(RUNTIMES)
    assert record.answers == tuple(measuring.measure(SPEC, measuring.installed())), MEASURE
    assert {a.form for a in record.answers} >= {
        CALL,
        "clip-1",
        "clip-6",
        "clip-13",
        "body-13",
        "equation-13",
    }
    by_hand = (
        ("onnxruntime", "0xff7fffff"),
        ("onnx-reference", "0xff800000"),
    )  # no minimum for -inf
    for runtime, bits in by_hand:
        (found,) = (
            a for a in record.answers
            if (a.runtime, a.form, a.x, a.min, a.max) == (runtime, "clip-13", "0xff800000", None, None)
        )  # fmt: skip
        assert found.bits == (bits,)


def test_models_have_the_form_of_the_question() -> None:
    low = Question(
        type="float64", x="0x0000000000000000", min="0x3f800000", max=None, form="clip-6"
    )
    old = measuring.model_of(low)
    onnx.checker.check_model(old)
    (node,) = old.graph.node
    assert ([(a.name, a.f) for a in node.attribute], list(node.input)) == ([("min", 1.0)], ["x"])
    high = low.model_copy(update={"min": None, "max": "0x3ff0000000000000", "form": "clip-12"})
    new = measuring.model_of(high)
    onnx.checker.check_model(new)
    assert list(new.graph.node[0].input) == ["x", "", "max"]
    text = repo_file("spec/sources/onnx-clip-body.txt").read_text(encoding="utf-8")
    quoted = onnx.parser.parse_model(text[text.index("<") : text.index("}\n") + 1])
    body = low.model_copy(update={"min": low.x, "max": low.x, "form": "body-13"})
    made = measuring.model_of(body)
    assert [node.op_type for node in made.graph.node] == [
        node.op_type for node in quoted.graph.node
    ]


def test_command_measures_all_runtimes_or_writes_nothing(
    own_spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_record(SPEC)
    there = {
        name: runtime for name, runtime in measuring.installed().items() if name != "onnxruntime"
    }
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "installed", lambda: there)
        with pytest.raises(UserError, match="not installed: onnxruntime"):
            measuring.write_record(load_spec())
    assert read_record(SPEC) == before
    (own_spec / PATH).unlink()
    with pytest.raises(UserError, match="is missing"):
        read_record(SPEC)
    assert f"{PATH}: {len(before.answers)} answers, " in printed("findings", "--measure")
    assert read_record(load_spec()).answers == before.answers


def test_unusable_answers_are_recorded_in_words() -> None:
    asked = next(q for q in questions(SPEC) if q.form == CALL and q.type == "float32")
    numpy = measuring.installed()["numpy"]

    def answer(function: Callable[..., object]) -> MeasuredAnswer:
        return measuring.answer_of(asked, "numpy", replace(numpy, open=lambda _: function))

    def refuses(*_: object) -> None:
        raise ValueError("no\n" * 200)

    assert answer(lambda *_: np.zeros(2)).words == "answers in float64"
    several = answer(lambda *_: np.array([1, -0.0, 1], np.float32))
    assert several.bits == ("0x3f800000", "0x80000000")
    words = answer(refuses).words
    assert words is not None
    assert words.startswith("ValueError: no no")
    assert len(words) == 201


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda d: d["answers"].pop(0), "no answer of onnxruntime to clip-13 float32 X=0x7fc00000"),
    (lambda d: d["answers"].append(d["answers"][0]), "occurs twice"),
    (lambda d: d["answers"][3].update(x="0x00000001"), "no answer of sonnx to call"),
    (
        lambda d: d["answers"].append(d["answers"][0] | {"form": "clip-8"}),
        "clip-8 .* has no witness",
    ),
    (lambda d: d["answers"][0].update(words="no"), "must answer or refuse .*, and not both"),
    (lambda d: d["answers"][0].pop("runtime"), "answers.0.runtime: this key is missing"),
    (lambda d: d.update(format=1), "runtimes.json: format: expected 2"),
]


@pytest.mark.parametrize(("change", "says"), CHANGES, ids=[says[:40] for _, says in CHANGES])
def test_record_that_does_not_fit_is_rejected(change: Any, says: str, own_spec: Path) -> None:
    document = json.loads((own_spec / PATH).read_text(encoding="utf-8"))
    change(document)
    (own_spec / PATH).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError, match=says) as caught:
        read_record(SPEC)
    assert PATH in str(caught.value)
    assert MEASURE in str(caught.value)
