"""The names of runtimes that are no module: behind --exec, --so, --onnx, --onnx-cmd and
``file.py:function``.

A name is one line that says all that is needed to open the runtime, in its own process or in a line of Python
that repeats a deviation: ``exec:./harness``, ``exec[big,batch=64]:qemu-s390x ./harness``.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from sonnx_clip.runtimes.frames import ByteOrder

_EXEC = "exec"
_OPENER = "onnx:"
_COMMAND = "onnx-cmd:"
_PLACEHOLDERS = ("model", "in", "out")
_EXAMPLE = "./run {model} {in} {out}"


@dataclass(frozen=True)
class ProgramName:
    """A program that speaks frames.

    Args:
        command: its words, as in a shell.
        order: the byte order in which it speaks.
        batch: the most calls that it is given at once, if it allows them; None for what it allows.
        stdio: whether it speaks on standard input and output, not on descriptors 3 and 4.
    """

    command: str
    order: ByteOrder = "little"
    batch: int | None = None
    stdio: bool = False

    @property
    def words(self) -> list[str]:
        """The words of the command.

        Raises:
            UserError: there are none, or a quotation does not end.
        """
        try:
            found = shlex.split(self.command)
        except ValueError as error:
            raise UserError(f"--exec: {self.command}: {error}", todo="quote it as in a shell") from None
        if not found:
            raise UserError("--exec names no program", todo="for example --exec ./harness")
        return found

    def __str__(self) -> str:
        options = ["big"] if self.order == "big" else []
        options += ["stdio"] if self.stdio else []
        options += [f"batch={self.batch}"] if self.batch is not None else []
        chosen = f"[{','.join(options)}]" if options else ""
        return f"{_EXEC}{chosen}:{self.command}"


def quoted(text: str) -> str:
    """A text in Python, between double quotes: for the lines that repeat a deviation."""
    return json.dumps(text, ensure_ascii=False)


def program_name(name: str) -> ProgramName | None:
    """The program that a name of a runtime speaks of; None if it is no such name."""
    head, colon, command = name.partition(":")
    word, _, options = head.partition("[")
    if word != _EXEC or not colon:
        return None
    order: ByteOrder = "little"
    batch, stdio = None, False
    for option in filter(None, options.removesuffix("]").split(",")):
        key, _, value = option.partition("=")
        if option == "big":
            order = "big"
        elif option == "stdio":
            stdio = True
        elif key == "batch" and value.isdecimal():
            batch = int(value)
        else:
            raise UserError(f"`{name}`: there is no option `{option}` of a program")
    return ProgramName(command, order, batch, stdio)


def file_name(name: str) -> tuple[str, str] | None:
    """The file of Python and the function in it that a name speaks of; None if it is no such name.

    >>> file_name("./mine.py:clip")
    ('./mine.py', 'clip')
    """
    path, colon, function = name.rpartition(":")
    if (
        name.startswith((_OPENER, _COMMAND))
        or not colon
        or not path.endswith(".py")
        or not function.isidentifier()
    ):
        return None
    return path, function


def opener_name(name: str) -> str | None:
    """The function that opens models of which a name speaks; None if it is no such name.

    >>> opener_name("onnx:./mine.py:open")
    './mine.py:open'
    """
    target = name.removeprefix(_OPENER)
    module, colon, function = target.rpartition(":")
    right = name != target and colon and module and function.isidentifier()
    return target if right else None


def command_name(name: str) -> str | None:
    """The command that runs a model of which a name speaks; None if it is no such name.

    >>> command_name("onnx-cmd:./run {model} {in} {out}")
    './run {model} {in} {out}'

    Raises:
        UserError: it has no words, or not the placeholders that it needs.
    """
    if not name.startswith(_COMMAND):
        return None
    command = name.removeprefix(_COMMAND)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"--onnx-cmd: {command}: {error}", todo="quote it as in a shell") from None
    if not words:
        raise UserError("--onnx-cmd names no program", todo=f"for example --onnx-cmd '{_EXAMPLE}'")
    found = [key for word in words for key in re.findall(r"\{(\w*)\}", word)]
    every = "{model}, {in} and {out}"
    for key in found:
        if key not in _PLACEHOLDERS:
            raise UserError(f"--onnx-cmd: there is no placeholder {{{key}}}", todo=f"there are {every}")
    for key in _PLACEHOLDERS:
        if key not in found:
            what = f"--onnx-cmd: the placeholder {{{key}}} is missing"
            raise UserError(what, todo=f"it needs {every}, for example --onnx-cmd '{_EXAMPLE}'")
    return command


def require_ascii(name: str) -> None:
    """UserError if the name is neither a file nor a command and not in ASCII: it may look like another."""
    is_place = any(of(name) for of in (program_name, file_name, command_name, library_name))
    if not name.isascii() and not is_place:
        found = next(character for character in name if not character.isascii())
        what = f"the name of the runtime `{name}` holds U+{ord(found):04X}"
        raise UserError(what, todo="write the name in ASCII")


def library_name(name: str) -> tuple[str, str] | None:
    """The file of calls and the shared library that a name speaks of; None if it is no such name.

    >>> library_name("so[clip.toml]:./libclip.so")
    ('clip.toml', './libclip.so')
    """
    if not name.startswith("so["):
        return None
    abi, middle, path = name.removeprefix("so[").partition("]:")
    return (abi, path) if middle else None
