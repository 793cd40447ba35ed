"""Runs onnx's checker in a process that may fail or hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import ModelProto, TensorProto, checker

from sonnx_clip.graph.declared_tensors import shown
from sonnx_clip.graph.stored_tensors import all_tensors
from sonnx_clip.root.isolated import run_isolated

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 120.0


def checker_problem(model: ModelProto, folder: Path, *, seconds: float = SECONDS) -> str | None:
    """What onnx's checker has against a model whose external data lies in `folder`; None where nothing.

    It has so many seconds where it may fail or hang.
    """
    external = any(tensor.data_location == TensorProto.EXTERNAL for tensor in all_tensors(model))
    if external or model.functions:
        failure = run_isolated(_check, model, seconds=seconds, folder=folder).failure
        return None if failure is None else _one_line(failure.removeprefix("ValidationError: "))
    try:  # without data to be found and functions to be followed, the checker ends soon and needs no process
        checker.check_model(model)
    except checker.ValidationError as error:
        return _one_line(str(error))
    return None


def _check(model: ModelProto) -> bytes:
    checker.check_model(model.SerializeToString())
    return b""


def _one_line(text: str) -> str:
    """A message of onnx on one line; it puts the node on the lines after the reason."""
    lines = [line.strip() for line in text.splitlines()]
    return shown(" ".join([line for line in lines if line][:3]))
