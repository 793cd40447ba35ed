"""A record that does not fit the findings is refused, in one message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sonnx_clip.explain.measured_record import MEASURE, PATH, differences, read_record
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Change = Callable[[dict[str, Any]], object]

SPEC = load_spec()


def changed(root: Path, change: Change) -> None:
    document = json.loads((root / PATH).read_text(encoding="utf-8"))
    change(document)
    (root / PATH).write_text(json.dumps(document), encoding="utf-8")


CHANGES: list[tuple[Change, str]] = [
    (
        lambda d: d["answers"].pop(0),
        "c2-for-floats: no answer of onnxruntime to clip-13 float32 X=0x7fc00000",
    ),
    (lambda d: d["answers"].append(d["answers"][0]), "an answer is there twice"),
    (lambda d: d["answers"][3].update(x="0x00000001"), "c2-for-floats: no answer of sonnx to call"),
    (
        lambda d: d["answers"].append(d["answers"][0] | {"form": "clip-12"}),
        "clip-12 .* which has no witness",
    ),
    (lambda d: d["answers"][0].update(version="onnxruntime 0"), "onnxruntime 0 is not the version"),
    (lambda d: d["answers"][0].update(bits=[]), "neither answered nor refused, or did both"),
    (lambda d: d["answers"][0].update(words="no"), "neither answered nor refused, or did both"),
    (lambda d: d["answers"][0].pop("runtime"), "not a record of answers: answers.0.runtime: Field required"),
    (lambda d: d.update(format=2), "not a record of answers: format"),
]


@pytest.mark.parametrize(("change", "says"), CHANGES, ids=[says[:40] for _, says in CHANGES])
def test_a_record_that_does_not_fit(change: Change, says: str, own_spec: Path) -> None:
    changed(own_spec, change)
    with pytest.raises(UserError, match=says) as caught:
        read_record(SPEC)
    assert str(caught.value).startswith(PATH)
    assert MEASURE in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 2


def test_a_record_that_is_not_there(own_spec: Path) -> None:
    (own_spec / PATH).unlink()
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_record(SPEC)


def test_differences_name_the_finding_the_runtime_and_both_answers() -> None:
    record = read_record(SPEC)
    first, second, *_ = record.answers
    other = first.model_copy(update={"bits": ("0x00000000",), "version": "onnxruntime 9"})
    unknown = second.model_copy(update={"form": "clip-12"})
    one, two = differences(record, [other, unknown])
    assert one.startswith("c2-for-floats: onnxruntime, clip-13 float32 X=0x7fc00000")
    assert "0x00000000 (onnxruntime 9), recorded 0x7fc00000 (onnxruntime" in one
    assert two.endswith("not in the record")
    assert differences(record, record.answers) == []
