"""The file that says how the C functions of a library are called; docs/shared-library.md explains it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints, ValidationError, field_validator

from sonnx_clip.conform.foreign.frames import TYPES
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular
from sonnx_clip.root.stored import Stored

Operand = Literal["x", "y", "min", "max", "n"]
Length = Literal["size_t", "int32", "uint32", "int64", "uint64"]
Symbol = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_.$][\w.$@]*$")]
BOUNDS: tuple[Operand, ...] = ("min", "max")
_NEEDED: tuple[Operand, ...] = ("x", *BOUNDS, "n")


class Abi(Stored):
    """How the functions of a library are called.

    Args:
        operands: the parameters in their order; without ``y`` the functions work in place.
        bounds: whether min and max are passed by value or by pointer.
        length: the C type of ``n``.
        returns: ``status`` is an int, 0 if all is well.
        symbols: the function for each element type.
    """

    operands: tuple[Operand, ...]
    bounds: Literal["value", "pointer"] = "value"
    length: Length = "size_t"
    returns: Literal["nothing", "status"] = "nothing"
    symbols: dict[str, Symbol]

    @field_validator("operands")
    @classmethod
    def _each_once(cls, found: tuple[Operand, ...]) -> tuple[Operand, ...]:
        for name in _NEEDED:
            if name not in found:
                raise ValueError(f"`{name}` is missing")
        for name in found:
            if found.count(name) > 1:
                raise ValueError(f"`{name}` stands there {found.count(name)} times")
        return found

    @field_validator("symbols")
    @classmethod
    def _known_types(cls, found: dict[str, str]) -> dict[str, str]:
        for etype in found:
            if etype not in TYPES:
                raise ValueError(f"there is no element type `{etype}`; there are {', '.join(TYPES)}")
        if not found:
            raise ValueError("there is no function for any element type")
        return found


def read_abi(path: str) -> Abi:
    """The file at a path.

    Raises:
        UserError: there is none, it is no TOML, or a key is wrong; with the line.
    """
    try:
        text = read_regular(Path(path))
    except (OSError, UnicodeDecodeError) as error:
        words = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise UserError(
            f"--abi cannot be read: {words}", path, "docs/shared-library.md explains it"
        ) from None
    try:
        return Abi.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"it is no TOML: {error}", path, "docs/shared-library.md shows one") from None
    except ValidationError as error:
        first = error.errors()[0]
        keys = [str(part) for part in first["loc"] if isinstance(part, str)]
        words = first["msg"].removeprefix("Value error, ")
        if first["type"] == "missing":
            raise UserError(f"the key `{keys[-1]}` is missing", path, "docs/shared-library.md") from None
        given = "" if isinstance(first["input"], dict | list | tuple) else f", not {first['input']!r}"
        if first["type"] == "extra_forbidden":
            words, given = f"there is no key `{keys[-1]}`", ""
        where = place(text, path, *keys)
        raise UserError(f"{'.'.join(keys)}: {words}{given}", where, "docs/shared-library.md") from None


def place(text: str, path: str, *keys: str) -> str:
    r"""The file and the line of a key in it, the file alone where the line is not found.

    >>> place('bounds = "value"\\n[symbols]\\nint8 = "f"', "clip.toml", "symbols", "int8")
    'clip.toml:3'
    """
    table, lines = "", text.splitlines()
    for number, line in enumerate(lines, 1):
        if head := re.match(r"\s*\[\s*([\w.\"-]+)\s*\]", line):
            table = head[1].strip('"')
            if keys == (table,):
                return f"{path}:{number}"
        elif (key := re.match(r"\s*\"?([\w.-]+)\"?\s*=", line)) and [table, key[1]] == ["", *keys][-2:]:
            return f"{path}:{number}"
    return path
