"""Faults by which normalise once changed results or destroyed files, planted again: each is caught."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from sonnx_clip.graph import ask_onnx, expand
from sonnx_clip.graph import normalise_run as save_module
from sonnx_clip.graph.normalise import Wish, normalise
from sonnx_clip.graph.normalise_run import normalise_models
from sonnx_clip.root import files
from tests.graph.same_outputs import differences
from tests.graph.test_wrong_before import overriding

if TYPE_CHECKING:
    import pytest

WRONG = Path(__file__).parent.parent / "models" / "wrong-before"


def keeps_a_fifo(folder: Path) -> bool:
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    normalise_models([WRONG / "denotation_lost.onnx"], fifo, Wish(self_check=False))
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
