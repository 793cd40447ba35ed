"""The runtime behind ``onnx-cmd:run {model} {in} {out}``: a program that runs a model, once for each call.

The model, its inputs and the output are files, as in the test data of ONNX.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
from onnx import numpy_helper

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.processes import how_ended
from sonnx_clip.root.run_program import run_limited
from sonnx_clip.runtimes.calls import EndedError
from sonnx_clip.runtimes.find_runtime import model_command_words, python_quoted, split_name
from sonnx_clip.runtimes.models import runtime_of_models
from sonnx_clip.runtimes.program import Refused
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.root.run_program import Ended
    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.runtime import ModelFunction, OpenModel, Runtime

OUTPUT = "output_0.pb"
LARGEST = 1 << 24
"""Bytes of a file or an output of a program; the largest expected one has half a megabyte."""
_MOST_TOO_MUCH = 5  # runs in a row
_ROOM = 1 << 12  # bytes beyond them, by which a file that is too large is recognised
_TAIL = 4096  # characters of standard error that are read
# Signals by which a program crashes. A shell that started it exits with a status that names the signal.
_FATAL = ("SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGSEGV")
_OF_A_SHELL = {128 + signal.Signals[name]: signal.Signals[name] for name in _FATAL}
"""By exit status of a shell, the signal that ended the program which it had started."""
_BY_LARGE_FILE = (-signal.SIGXFSZ, 128 + signal.SIGXFSZ)
"""Status of a program, and of a shell that started it, after a write beyond the limit."""


class NoOutput(AssertionError):  # noqa: N818 - a report quotes its name
    """The program ended with status 0 and left no output that can be read."""


class TooMuchOutput(AssertionError):  # noqa: N818 - a report quotes its name
    """The program wrote more than it may: see `LARGEST`."""


def open_named(name: str, _: Board | None = None) -> Runtime:
    """The runtime of a name such as ``onnx-cmd:run {model} {in} {out}``; UserError as `opened`."""
    return runtime_of_models(
        opened(name), split_name(name)[2], f"from {__name__} import opened",
        f"opened({python_quoted(name)})", strides=False, few=True,
    )  # fmt: skip


def opened(name: str) -> OpenModel:
    """A function that opens a model with the program of a name, for `open_named` and reproducers.

    Raises:
        UserError: a placeholder is missing or not known, or the program cannot be started.
    """
    words = model_command_words(split_name(name)[2])
    if shutil.which(words[0]) is None:
        why = "it is not an executable program" if Path(words[0]).exists() else "there is none"
        todo = "name a program that can be executed, as in a shell"
        raise UserError(f"{words[0]} cannot be started: {why}", None, todo)

    program = FileProgram(words)

    def open_model(model: bytes) -> ModelFunction:
        def run(inputs: Mapping[str, Any]) -> Any:
            with tempfile.TemporaryDirectory(
                prefix="sonnx-clip-", ignore_cleanup_errors=True
            ) as folder:
                return _call(Path(folder), program, model, inputs)

        return run

    return open_model


def _call(folder: Path, program: FileProgram, model: bytes, inputs: Mapping[str, Any]) -> Any:
    """The output of a model, computed by one process; its process group is killed in the end.

    Raises:
        TooMuchOutput: it printed too much, or wrote too large a file.
        Refused: it ended with a status that is not 0.
        NoOutput: it left no output that can be read.
        EndedError: a signal ended it.
        OSError: the machine is at fault: the program cannot be started, the disk is full.
    """
    places = {"model": folder / "model.onnx", "in": folder / "in", "out": folder / "out"}
    places["model"].write_bytes(model)
    places["in"].mkdir()
    places["out"].mkdir()
    for number, (name, operand) in enumerate(inputs.items()):
        tensor = numpy_helper.from_array(operand, name)
        # Named as in the folders test_data_set_0 of ONNX's own tests.
        file = places["in"] / f"input_{number}.pb"
        file.write_bytes(tensor.SerializeToString())
    program.run(places)
    return _output(places["out"])


class FileProgram:
    """A program whose words name files as ``{in}``; each run is one process.

    One that wrote too much several times in a row would do so for thousands of models: it is not run again.

    Args:
        words: of its command line.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._too_much = 0  # runs in a row

    def run(self, places: Mapping[str, Path]) -> None:
        """Run it to its end, with files in the places of their names.

        Raises:
            TooMuchOutput: it printed too much, or wrote too large a file, now or in the last runs.
            Refused: it ended with a status that is not 0.
            EndedError: a signal ended it.
            OSError: it cannot be started.
        """
        if self._too_much == _MOST_TOO_MUCH:
            raise TooMuchOutput(
                f"it was not run, since it wrote too much {_MOST_TOO_MUCH} times in a row"
            )
        try:
            self._run(places)
        except TooMuchOutput:
            self._too_much += 1
            raise
        self._too_much = 0

    def _run(self, places: Mapping[str, Path]) -> None:
        filled = _filled(self._words, places)
        # The supervisor of this process limits the program, and ends it with this process.
        done = run_limited(filled, None, tied=False, largest_file=LARGEST + _ROOM)
        if done.unstarted is not None:
            raise done.unstarted
        # A program that writes too much may end in any way: by the signal, with a status, or with status 0.
        _require_little(done, places["out"])
        if done.status < 0:
            raise EndedError(how_ended(done.status))
        if done.status in _OF_A_SHELL:
            signal_name = how_ended(-_OF_A_SHELL[done.status])
            raise EndedError(f"{signal_name} (exit status {done.status} of a shell)")
        if done.status:
            # The last line of a traceback, as of most other programs, has the reason.
            tail = done.words[-_TAIL:].rstrip()
            last = "its standard error is empty"
            if tail:
                last = printable(tail.splitlines()[-1].strip())
            raise Refused(f"status {done.status}: {last}")


def _filled(words: Sequence[str], places: Mapping[str, Path]) -> list[str]:
    """The words of a command line with the paths of files in the place of their names."""
    # All names at once: the path of a file may contain what looks like another name.
    placeholder = re.compile(r"\{(" + "|".join(places) + r")\}")

    def path(match: re.Match[str]) -> str:
        return str(places[match[1]])

    return [placeholder.sub(path, word) for word in words]


def _require_little(done: Ended, out: Path) -> None:
    """TooMuchOutput if a program printed too much, or wrote too large a file."""
    for stream, data in (("output", done.output), ("error", done.error)):
        if len(data) > LARGEST:
            raise TooMuchOutput(f"it wrote more than {LARGEST:,} bytes to standard {stream}")
    files = out.iterdir() if out.is_dir() else [out]
    is_large = any(file.is_file() and file.stat().st_size > LARGEST for file in files)
    # A program that ignores the signal may give up, with the words of the system.
    gave_up = done.status > 0 and os.strerror(errno.EFBIG) in done.words[-_TAIL:]
    if is_large or gave_up or done.status in _BY_LARGE_FILE:
        raise TooMuchOutput(f"it wrote a file of more than {LARGEST:,} bytes")


def _output(folder: Path) -> Any:
    """The tensor that a program left."""
    file = folder / OUTPUT
    if not file.is_file():
        # What is there instead shows a program that names its output otherwise.
        names = sorted(part.name for part in folder.iterdir())
        first_names = ", ".join(map(printable, names[:5]))
        there = f"; there is {first_names}" if names else ""
        raise NoOutput(f"it ended with status 0 without writing {OUTPUT}{there}")
    try:
        tensor = onnx.TensorProto.FromString(file.read_bytes())
        tensor.data_location = onnx.TensorProto.DEFAULT  # no other file is read
        return numpy_helper.to_array(tensor)
    except Exception as error:  # noqa: BLE001 - whatever is in it
        raise NoOutput(f"its {OUTPUT} is not a readable tensor: {error}") from None
