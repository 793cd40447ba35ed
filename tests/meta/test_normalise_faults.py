"""Faults by which normalise once changed results or destroyed files, planted again: each is caught."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import onnx
import pytest
from onnx import version_converter

from sonnx_clip.graph import ask_onnx, expand, self_check_runs
from sonnx_clip.graph import normalise as normalise_module
from sonnx_clip.graph import normalise_run as save_module
from sonnx_clip.graph.normalise import Wish, normalise
from sonnx_clip.graph.normalise_opset import Raised
from sonnx_clip.graph.normalise_run import normalise_models
from sonnx_clip.graph.self_check import SelfCheck, SelfCheckOutcome
from sonnx_clip.graph.skim import Span
from sonnx_clip.root import files
from sonnx_clip.root.errors import UserError
from tests.graph.mapped_weights import read_otherwise
from tests.graph.same_outputs import differences
from tests.graph.test_self_check import resized, spoiled
from tests.graph.test_wrong_before import overriding

WRONG = Path(__file__).parent.parent / "models" / "wrong-before"


def _converter(model: onnx.ModelProto, _: int, target: int = 11) -> Raised:
    found = version_converter.convert_version(model, target)
    for node in found.graph.node:
        if node.op_type == "Clip":
            del node.input[1:]
    return Raised(found, "by onnx's version converter")


CONVERTED = ["upsample9_linear_2.0", "resize10_linear_0.5", "resize10_nearest_1.6"]


@pytest.mark.parametrize("name", CONVERTED)
def test_the_version_converter_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(normalise_module, "raise_opset", _converter)
    path, after = WRONG / f"{name}.onnx", tmp_path / "after.onnx"
    with pytest.raises(
        UserError, match=r"the self-check refuses the result: .*\((Upsample|Resize)\) is the first"
    ):
        normalise(path, after)
    after.write_bytes(normalise(path, after, Wish(self_check=False)).data)
    assert differences(path, after)


def refuses_what_is_spoiled(folder: Path) -> bool:
    path = folder / "m.onnx"
    path.write_bytes(resized().SerializeToString())
    try:
        normalise(path, folder / "out.onnx")
    except UserError as error:
        return "is the first that differs" in str(error)
    return False


def test_a_self_check_that_is_off_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoiled(monkeypatch)
    assert refuses_what_is_spoiled(tmp_path)
    monkeypatch.setattr(
        normalise_module, "self_check", lambda *_: SelfCheck(SelfCheckOutcome.EQUAL, ("nothing",))
    )
    assert not refuses_what_is_spoiled(tmp_path)


def keeps_a_fifo(folder: Path) -> bool:
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    normalise_models([WRONG / "pad2_reflect.onnx"], fifo, Wish(self_check=False))
    return stat.S_ISFIFO(fifo.lstat().st_mode)


def test_a_special_file_that_is_replaced_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
    assert keeps_a_fifo(tmp_path / "1")
    for module in (files, save_module):
        monkeypatch.setattr(module, "check_target", lambda _: None)
    assert not keeps_a_fifo(tmp_path / "2")


def keeps_the_callers_choice(folder: Path) -> bool:
    path, after = WRONG / "overridable_initializer_shape.onnx", folder / "after.onnx"
    found = normalise(path, after)
    after.write_bytes(found.data)
    declared = {v.name for v in onnx.load(after).graph.value_info if v.type.tensor_type.HasField("shape")}
    given = overriding(onnx.load(path))
    return not declared & {"r", "k"} and not any(differences(path, after, [feed]) for feed in given)


def _as_it_is(model: onnx.ModelProto) -> onnx.ModelProto:
    return model


def test_a_value_of_the_caller_that_is_believed_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keeps_the_callers_choice(tmp_path)
    for module in (ask_onnx, expand):
        monkeypatch.setattr(module, "without_callers_values", _as_it_is)
    assert not keeps_the_callers_choice(tmp_path)


def test_weights_mapped_from_another_place_are_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = self_check_runs.spans
    monkeypatch.setattr(
        self_check_runs,
        "spans",
        lambda tensor: [(name, Span(span.start - 4, span.length)) for name, span in original(tensor)],
    )
    assert len(read_otherwise(tmp_path, "raw_data")) == 2
