"""Makes the name of a runtime of the options of `sonnx-clip check` that say which one is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.conform.foreign.abi import read_abi
from sonnx_clip.conform.foreign.runtime_names import ProgramName, command_name, opener_name
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.conform.foreign.frames import ByteOrder


@dataclass(frozen=True)
class Given:
    """What the options of the same names say; None, or False, where they are not there."""

    runtime: str | None = None
    exec: str | None = None
    endian: ByteOrder | None = None
    batch: int | None = None
    stdio: bool = False
    so: Path | None = None
    abi: Path | None = None
    onnx: str | None = None
    onnx_cmd: str | None = None


def runtime_of(given: Given) -> str:
    """The name of the runtime that is meant.

    Raises:
        UserError: none is meant, or several, an option does not belong to it, or its file is wrong.
    """
    names = ("runtime", "exec", "so", "onnx", "onnx_cmd")
    ways = [f"--{name.replace('_', '-')}" for name in names if getattr(given, name) is not None]
    if len(ways) != 1:
        what = f"{' and '.join(ways)} are both given" if ways else "no runtime is named"
        raise UserError(
            what,
            todo="give one of --runtime NAME, --exec COMMAND, --so LIBRARY, --onnx FUNCTION and"
            " --onnx-cmd COMMAND",
        )
    of_a_program = {"endian": given.endian, "batch": given.batch, "stdio": given.stdio or None}
    for name, there in of_a_program.items():
        if there is not None and given.exec is None:
            raise UserError(f"--{name} is about a program", todo="name the program: --exec COMMAND")
    if (given.so is None) != (given.abi is None):
        here, lacks = ("--so LIBRARY", "--abi FILE") if given.abi is None else ("--abi FILE", "--so LIBRARY")
        raise UserError(f"{here} needs {lacks}", todo="docs/shared-library.md explains both")
    if given.exec is not None:
        found = ProgramName(given.exec, given.endian or "little", given.batch, given.stdio)
        found.words  # noqa: B018 - raises where there are none
        return str(found)
    if given.so is not None:
        read_abi(str(given.abi))  # what is wrong with it is better said at once
        return f"so[{given.abi}]:{given.so}"
    if given.onnx is not None:
        if opener_name(f"onnx:{given.onnx}") is None:
            what = f"--onnx {given.onnx} names no function"
            raise UserError(what, todo="give module:open or ./file.py:open, which opens a model (bytes)")
        return f"onnx:{given.onnx}"
    if given.onnx_cmd is not None:
        command_name(f"onnx-cmd:{given.onnx_cmd}")  # raises where it cannot be one
        return f"onnx-cmd:{given.onnx_cmd}"
    assert given.runtime is not None
    return given.runtime
