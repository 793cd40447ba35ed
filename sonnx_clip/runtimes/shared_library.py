"""The runtime ``so[clip.toml]:./libclip.so``: C functions of a library, whose signature is in a TOML file.

X and the bounds are passed in their guarded memory; the result goes to memory of its own, and the bytes
around it are compared after each call.
"""

from __future__ import annotations

import ctypes
import os
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import StringConstraints, ValidationError, field_validator

from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular
from sonnx_clip.root.form_errors import form_error
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.find_runtime import ABI_EXAMPLE, python_quoted, split_name
from sonnx_clip.runtimes.frames import TYPES
from sonnx_clip.runtimes.program import Fault, Refused, Unsupported
from sonnx_clip.runtimes.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.runtimes.board import Board

Operand = Literal["x", "y", "min", "max", "n"]
BOUNDS: tuple[Operand, ...] = ("min", "max")

_TODO = f"for example: {ABI_EXAMPLE}"
_AROUND, _FILLED = 4096, 0xA5  # bytes on each side of a result, and their value
_FLOATS: dict[str, Any] = {"float32": ctypes.c_float, "float64": ctypes.c_double}


class Abi(Stored):
    """How the functions of a library are called.

    `operands` are the parameters in their order; without ``y`` the functions work in place. `bounds` are
    passed by value or by pointer, and `length` is the C type of ``n``. A ``status`` is an int, 0 if all is
    well. `symbols` names the function for each element type.
    """

    operands: tuple[Operand, ...]
    bounds: Literal["value", "pointer"] = "value"
    length: Literal["size_t", "int32", "uint32", "int64", "uint64"] = "size_t"
    returns: Literal["nothing", "status"] = "nothing"
    symbols: dict[str, Annotated[str, StringConstraints(pattern=r"^[A-Za-z_.$][\w.$@]*$")]]

    @field_validator("operands")
    @classmethod
    def _each_once(cls, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        # Without y, the function works in place.
        for name in ("x", *BOUNDS, "n", "y"):
            if name not in operands and name != "y":
                raise ValueError(f"`{name}` is missing")
            if operands.count(name) > 1:
                raise ValueError(f"`{name}` occurs {operands.count(name)} times")
        return operands

    @field_validator("symbols")
    @classmethod
    def _known_types(cls, types: dict[str, str]) -> dict[str, str]:
        for etype in types:
            if etype not in TYPES:
                raise ValueError(f"unknown element type `{etype}`; choose from {', '.join(TYPES)}")
        if not types:
            raise ValueError("no element type has a function")
        return types


def read_abi(path: str) -> Abi:
    """The file at a path; UserError, with the line, if it is missing, no TOML, or has a wrong key."""
    try:
        text = read_regular(Path(path))
        return Abi.model_validate(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
    except OSError as error:
        raise UserError(f"--abi cannot be read: {error.strerror}", path, _TODO) from None
    except ValueError as error:  # of UTF-8 or of TOML
        raise UserError(f"it is not TOML: {error}", path, _TODO) from None
    # Numbers are places in a list, which have no line of their own.
    keys = [part for part in first["loc"] if isinstance(part, str)]
    key = ".".join(keys)
    message = form_error(first)
    if first["type"] == "missing":
        raise UserError(f"the key `{key}` is missing", path, _TODO)
    if first["type"] == "extra_forbidden":
        message = f"unknown key `{key}`"
    elif isinstance(first["input"], str):
        message += f", not {first['input']!r}"
    raise UserError(f"{key}: {message}", _place(text, path, keys), _TODO)


def _place(text: str, path: str, keys: list[str]) -> str:
    """The file and the line of a key, the last of its tables; the file alone where it is not found."""
    # A key of a table or the head of a table; TOML's parser gives no lines.
    pattern = re.compile(rf"\s*\[?\s*\"?{re.escape(keys[-1])}\"?\s*[=\]]")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if pattern.match(line)]
    return f"{path}:{lines[-1]}" if lines else path


@cache
def opened(name: str) -> tuple[Abi, ctypes.CDLL]:
    """The calls and the library of a name such as ``so[clip.toml]:./libclip.so``.

    Raises:
        UserError: one of the files cannot be read, or a symbol is not in the library.
    """
    _, abi_path, path = split_name(name)
    abi = read_abi(abi_path)
    file = Path(path)
    if not file.is_file():
        message = "not a file" if file.exists() else "no such file"
        raise UserError(message, path, f"relative names are relative to {Path.cwd()}")
    # All symbols now: one that is missing would end the process in the middle of a call.
    mode = os.RTLD_NOW | os.RTLD_LOCAL
    try:
        library = ctypes.CDLL(str(file.resolve()), mode=mode)
    except OSError as error:
        message = f"this process cannot load the library: {error}"
        raise UserError(message, path, "name a shared library") from None
    for etype, symbol in abi.symbols.items():
        if not hasattr(library, symbol):
            text = Path(abi_path).read_text(encoding="utf-8")
            message = f"symbols.{etype}: {path} has no symbol `{symbol}`"
            todo = f"`nm -D --defined-only {path}` lists its symbols"
            raise UserError(message, _place(text, abi_path, [etype]), todo)
    return abi, library


class CFunction:
    """The C function of an element type, called with arrays (x, min, max); Unsupported if there is none."""

    def __init__(self, name: str, etype: str) -> None:
        abi, library = opened(name)
        if etype not in abi.symbols:
            raise Unsupported(f"the file has no function for {etype}")
        # By index, which makes a new object each time: two types may share a symbol, with other C
        # types.
        function = library[abi.symbols[etype]]
        self._function = function
        self._operands = abi.operands
        self._by_value = abi.bounds == "value"
        # All else is passed as its bits: ctypes has no float of 16 bits.
        width = 8 * bits_type(etype).itemsize
        self._number = _FLOATS.get(etype) or getattr(ctypes, f"c_uint{width}")
        bound = self._number if self._by_value else ctypes.c_void_p
        c_types = {
            "x": ctypes.c_void_p,
            "y": ctypes.c_void_p,
            "n": getattr(ctypes, f"c_{abi.length}"),
            **dict.fromkeys(BOUNDS, bound),
        }
        function.argtypes = [c_types[operand] for operand in abi.operands]
        function.restype = ctypes.c_int if abi.returns == "status" else None
        self._memory = np.empty(0, np.uint8)

    def __call__(self, x: Any, *bounds: Any) -> Array:
        """Its result, of the shape and type of `x`; Refused if it returns another status than 0."""
        # New memory for each result: the checker reads the last one again after the next call.
        self._memory = np.full(2 * _AROUND + x.nbytes, _FILLED, np.uint8)
        own_memory = self._memory[_AROUND : _AROUND + x.nbytes]
        result: Array = own_memory.view(x.dtype).reshape(x.shape)
        address = self._memory.ctypes.data + _AROUND
        # The function takes no strides. A contiguous X is passed where it is, between its guards.
        source = x if x.flags.c_contiguous else np.ascontiguousarray(x)
        arguments: dict[str, Any] = {"x": source.ctypes.data, "y": address, "n": x.size}
        if "y" not in self._operands:  # it works in place: on a copy, since X is read-only
            bits = bits_type(x.dtype.name)
            result.view(bits)[...] = x.view(bits)
            arguments["x"] = address
        for name, bound in zip(BOUNDS, bounds, strict=True):
            if self._by_value:
                # From the bits: a conversion to a Python float would quiet a signalling NaN.
                arguments[name] = self._number.from_buffer_copy(bound.tobytes())
            else:
                arguments[name] = bound.ctypes.data
        in_order = [arguments[operand] for operand in self._operands]
        status = self._function(*in_order)
        if status:  # None of a function that returns nothing
            raise Refused(f"it returned {status}")
        return result

    def written(self) -> list[str]:
        """What the last call wrote beside its result, in words."""
        around = {
            "past the end of": self._memory[-_AROUND:],
            "before the start of": self._memory[:_AROUND],
        }
        words = []
        for place, part in around.items():
            if (part != _FILLED).any():
                message = f"it wrote {place} its result"
                words.append(message)
        return words


@cache
def function_of(name: str, etype: str) -> Callable[..., Any]:
    """A function (x, min, max) of a library, for reproducers; Fault if it writes beside the result."""
    function = CFunction(name, etype)

    def clip(*operands: Any) -> Array:
        result = function(*operands)
        for words in function.written():
            raise Fault(words)
        return result

    return clip


def open_named(name: str, _: Board | None = None) -> Runtime:
    """The runtime of a name; UserError as `opened`."""
    opened(name)
    abi_path, path = split_name(name)[1:]
    return Runtime(
        version=f"{Path(path).name} by {Path(abi_path).name}",
        open=lambda etype: CFunction(name, etype),
        imports=f"from {__name__} import function_of",
        call=lambda etype: f'function_of({python_quoted(name)}, "{etype}")({CLIP_SIGNATURE.call})',
        strides=False,
    )
