"""onnx's checker and version converter, asked in a process that may fail or hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import ModelProto

from sonnx_clip.graph.declared import shown

_CHILD = Path(__file__).with_name("onnx_child.py")
SECONDS = 120.0


def checker_problem(serialized: bytes, folder: Path) -> str | None:
    """What onnx's checker has against a model whose external data lies in `folder`; None where nothing."""
    _, problem = _ask(["check"], serialized, folder)
    return problem


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
    try:
        # -P keeps the folder of the child, whose file names are common words, off its module path.
        done = subprocess.run(
            [sys.executable, "-P", str(_CHILD), *words],
            input=serialized,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        return b"", f"no answer within {SECONDS:.3g} s"
    if done.returncode == 0:
        return done.stdout, None
    said = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    # The reason is what follows the name of the exception; onnx puts the node on the lines after it.
    start = next((n for n, line in enumerate(said) if not line.startswith((" ", "Traceback"))), 0)
    reason = " ".join(line.strip() for line in said[start : start + 3])
    return b"", shown(reason.partition(": ")[2] or reason) or f"status {done.returncode}"
