"""onnx's checker and version converter, asked in a process that may fail or hang."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto, checker

from sonnx_clip.graph.child import run_child
from sonnx_clip.graph.declared import shown
from sonnx_clip.graph.tensors import all_tensors

_CHILD = Path(__file__).with_name("onnx_child.py")
SECONDS = 120.0


def checker_problem(model: ModelProto, folder: Path) -> str | None:
    """What onnx's checker has against a model whose external data lies in `folder`; None where nothing."""
    external = any(tensor.data_location == TensorProto.EXTERNAL for tensor in all_tensors(model))
    if external or model.functions:
        _, problem = _ask(["check"], model.SerializeToString(), folder)
        return problem
    try:  # without data to be found and functions to be followed, the checker ends soon and needs no process
        checker.check_model(model)
    except checker.ValidationError as error:
        return _said(str(error).splitlines())
    return None


def converted(serialized: bytes, version: int, folder: Path) -> tuple[ModelProto | None, str]:
    """The model at another version of ai.onnx, by onnx's version converter, or None and the reason."""
    data, problem = _ask(["convert", str(version)], serialized, folder)
    if problem is not None:
        return None, problem
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        return None, "the version converter gave an unreadable model"
    return model, ""


def _ask(words: list[str], serialized: bytes, folder: Path) -> tuple[bytes, str | None]:
    done = run_child(_CHILD, *words, given=serialized, seconds=SECONDS, folder=folder)
    if done is None:
        return b"", f"no answer within {SECONDS:.3g} s"
    if done.returncode == 0:
        return done.stdout, None
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    # The reason follows the name of the exception, after the lines of the traceback.
    start = next((n for n, line in enumerate(lines) if line and not line.startswith((" ", "Traceback"))), 0)
    said = _said(lines[start:])
    return b"", said.partition(": ")[2] or said or f"status {done.returncode}"


def _said(lines: list[str]) -> str:
    """A message of onnx on one line; it puts the node on the lines after the reason."""
    return shown(" ".join(line.strip() for line in lines[:3] if line.strip()))
