"""The names of runtimes that are no Python module: behind --exec, --so, --onnx, --onnx-cmd and files.

A name is one line with all that opens the runtime, in its process or in a reproducer: ``exec:./harness``,
``exec[big,batch=64]:qemu-s390x ./harness``, ``so[clip.toml]:./libclip.so``, ``onnx:module:open``,
``onnx-cmd:./run {model} {in} {out}``, ``./file.py:function``.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.runtimes.frames import ByteOrder

_OPENER, _COMMAND = "onnx:", "onnx-cmd:"
_PLACEHOLDERS = ("model", "in", "out")
_COMMAND_TODO = "it needs {model}, {in} and {out}, for example --onnx-cmd './run {model} {in} {out}'"


@dataclass(frozen=True)
class ProgramName:
    """A program that exchanges frames: its command as in a shell, and the byte order of the frames.

    `batch` is the most calls in a frame, if it allows as many; with `stdio` it uses standard input and
    output, else descriptors 3 and 4.
    """

    command: str
    order: ByteOrder = "little"
    batch: int | None = None
    stdio: bool = False

    @property
    def words(self) -> list[str]:
        """The words of the command; UserError if there are none, or a quotation does not end."""
        return _words(self.command, "--exec", "./harness")

    def __str__(self) -> str:
        options = ["big"] if self.order == "big" else []
        options += ["stdio"] if self.stdio else []
        options += [f"batch={self.batch}"] if self.batch is not None else []
        chosen = f"[{','.join(options)}]" if options else ""
        return f"exec{chosen}:{self.command}"


def quoted(text: str) -> str:
    """A text in Python, between double quotes, for reproducers."""
    return json.dumps(text, ensure_ascii=False)


def _words(command: str, option: str, example: str) -> list[str]:
    try:
        found = shlex.split(command)
    except ValueError as error:
        raise UserError(f"{option}: {command}: {error}", todo="quote it as in a shell") from None
    if not found:
        raise UserError(f"{option} names no program", todo=f"for example {option} {example}")
    return found


def program_name(name: str) -> ProgramName | None:
    """The program that a name means; None if it is no such name."""
    found = re.fullmatch(r"exec(?:\[(.*?)\])?:(.*)", name, re.DOTALL)
    if found is None:
        return None
    options = dict.fromkeys(filter(None, (found[1] or "").split(",")))
    batch = None
    for option in options:
        key, _, value = option.partition("=")
        if key == "batch" and value.isdecimal():
            batch = int(value)
        elif option not in ("big", "stdio"):
            raise UserError(f"`{name}`: there is no option `{option}` of a program")
    return ProgramName(found[2], "big" if "big" in options else "little", batch, "stdio" in options)


def file_name(name: str) -> tuple[str, str] | None:
    """The Python file and the function in it that a name means; None if it is no such name.

    >>> file_name("./mine.py:clip")
    ('./mine.py', 'clip')
    """
    path, colon, function = name.rpartition(":")
    right = colon and path.endswith(".py") and function.isidentifier()
    return (path, function) if right and not name.startswith((_OPENER, _COMMAND)) else None


def opener_name(name: str) -> str | None:
    """The function that opens models that a name means; None if it is no such name.

    >>> opener_name("onnx:./mine.py:open")
    './mine.py:open'
    """
    target = name.removeprefix(_OPENER)
    module, _, function = target.rpartition(":")
    return target if name != target and module and function.isidentifier() else None


def command_name(name: str) -> str | None:
    """The command that runs a model that a name means; None if it is no such name.

    >>> command_name("onnx-cmd:./run {model} {in} {out}")
    './run {model} {in} {out}'

    Raises:
        UserError: it has no words, or not the placeholders that it needs.
    """
    if not name.startswith(_COMMAND):
        return None
    command = name.removeprefix(_COMMAND)
    words = _words(command, "--onnx-cmd", "'./run {model} {in} {out}'")
    found = [key for word in words for key in re.findall(r"\{(\w*)\}", word)]
    for key in found:
        if key not in _PLACEHOLDERS:
            raise UserError(f"--onnx-cmd: there is no placeholder {{{key}}}", todo=_COMMAND_TODO)
    for key in _PLACEHOLDERS:
        if key not in found:
            raise UserError(f"--onnx-cmd: the placeholder {{{key}}} is missing", todo=_COMMAND_TODO)
    return command


def library_name(name: str) -> tuple[str, str] | None:
    """The file of calls and the shared library that a name means; None if it is no such name.

    >>> library_name("so[clip.toml]:./libclip.so")
    ('clip.toml', './libclip.so')
    """
    found = re.fullmatch(r"so\[(.*?)\]:(.*)", name, re.DOTALL)
    return (found[1], found[2]) if found else None


def require_ascii(name: str) -> None:
    """UserError if the name is neither a file nor a command and not in ASCII: it may look like another."""
    is_place = any(of(name) for of in (program_name, file_name, command_name, library_name))
    if not name.isascii() and not is_place:
        found = next(character for character in name if not character.isascii())
        what = f"the name of the runtime `{name}` holds U+{ord(found):04X}"
        raise UserError(what, todo="write the name in ASCII")


def runtime_of(
    *,
    runtime: str | None = None,
    exec: str | None = None,  # noqa: A002 - as the option
    endian: ByteOrder | None = None,
    batch: int | None = None,
    stdio: bool = False,
    so: Path | None = None,
    abi: Path | None = None,
    onnx: str | None = None,
    onnx_cmd: str | None = None,
) -> str:
    """The name of the runtime that the options of `sonnx-clip check` mean; UserError if it is not clear."""
    meant = {
        "--runtime": runtime, "--exec": exec, "--so": so, "--onnx": onnx, "--onnx-cmd": onnx_cmd
    }  # fmt: skip
    ways = [option for option, value in meant.items() if value is not None]
    if len(ways) != 1:
        what = f"{' and '.join(ways)} are both given" if ways else "no runtime is named"
        todo = "--runtime NAME, --exec COMMAND, --so LIBRARY, --onnx FUNCTION and --onnx-cmd COMMAND"
        raise UserError(what, todo=f"give one of {todo}")
    for option, given in (("endian", endian), ("batch", batch), ("stdio", stdio or None)):
        if given is not None and exec is None:
            raise UserError(f"--{option} is about a program", todo="name the program: --exec COMMAND")
    if (so is None) != (abi is None):
        here, lacks = ("--so LIBRARY", "--abi FILE") if abi is None else ("--abi FILE", "--so LIBRARY")
        raise UserError(f"{here} needs {lacks}", todo="docs/integrations.md explains both")
    if exec is not None:
        program = ProgramName(exec, endian or "little", batch, stdio)
        _words(exec, "--exec", "./harness")
        return str(program)
    if so is not None:
        from sonnx_clip.runtimes.shared_library import read_abi

        read_abi(str(abi))  # a mistake in it is no fault of the machine
        return f"so[{abi}]:{so}"
    if onnx is not None:
        if opener_name(f"{_OPENER}{onnx}") is None:
            what = f"--onnx {onnx} names no function"
            raise UserError(what, todo="give module:open or ./file.py:open, which opens a model (bytes)")
        return f"{_OPENER}{onnx}"
    if onnx_cmd is not None:
        name = f"{_COMMAND}{onnx_cmd}"
        command_name(name)
        return name
    assert runtime is not None
    return runtime
