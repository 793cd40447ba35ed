"""Read an ONNX model from a file that may be anything. External data is located and never loaded."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto

from sonnx_clip.graph.declared_tensors import quoted, shown
from sonnx_clip.graph.graph_names import Listings
from sonnx_clip.graph.integrity import bad_text, check_integrity
from sonnx_clip.graph.stored_tensors import all_tensors
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def check_external_data(tensors: Iterable[TensorProto], path: Path) -> None:
    """Refuse a model whose weights lie outside its own folder or their file. No data file is opened.

    Args:
        tensors: all that the model stores.
        path: its file.

    Raises:
        UserError: a location is missing, absolute, climbs with ``..`` or leads out through a link; an offset
            or a length is no number of bytes, or ends behind the file, where there is one.
    """
    for tensor in tensors:
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            _check(tensor, path)


def _check(tensor: TensorProto, path: Path) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    where = f"{shown(str(path))}, tensor {quoted(tensor.name)}"
    if not location:
        raise UserError(
            "its data is external, but no location is given",
            where=where,
            todo="save the model again with its weights",
        )
    reason = _outside(location, path.parent)
    if reason:
        raise UserError(
            f"its external data {quoted(location)} {reason}",
            where=where,
            todo="keep the data file in the model's folder and give its path relative to the model",
        )
    problem = _range_problem(entries, path.parent / location)
    if problem:
        raise UserError(
            f"its external data {quoted(location)}: {problem}",
            where=where,
            todo="save the model again with its weights",
        )


# No file has a number of bytes with more digits.
_DIGITS = 19


def _range_problem(entries: Mapping[str, str], file: Path) -> str | None:
    """What is wrong with the offset and the length that a model gives."""
    numbers = {}
    for name in ("offset", "length"):
        text = entries.get(name, "0")
        if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
            return f"the {name} is {quoted(text)}, which is no number of bytes"
        numbers[name] = int(text)
    try:
        size = file.stat().st_size
    except (OSError, ValueError):
        return None  # lint needs no weights; who needs them says that they are missing
    end = sum(numbers.values())
    return f"it ends at byte {end}, and the file has {size}" if end > size else None


def _outside(location: str, folder: Path) -> str | None:
    windows = PureWindowsPath(location)
    if PurePosixPath(location).is_absolute() or windows.drive or windows.root:
        return "is an absolute path"
    # Windows reads both separators, so a location is judged as both systems would read it.
    if ".." in windows.parts:
        return "climbs with '..'"
    try:
        base = folder.resolve()
        inside = (base / location).resolve().is_relative_to(base)
        with suppress(FileNotFoundError, NotADirectoryError):  # said elsewhere
            (base / location).stat()  # a circle of links, which `resolve` passes over from Python 3.13 on
    except (OSError, ValueError, RuntimeError) as error:
        return f"is no usable path ({shown(str(error))})"
    return None if inside else "leads out of the model's folder through a link"


# --- Read an ONNX model from a file that may be anything ----------------------------------------------------


# Protobuf cannot serialize, and its readers refuse, a message of 2 GiB or more.
MAX_BYTES = 2**31 - 1
_BLOCK = 1 << 20


def read_model(path: Path, *, most: int = MAX_BYTES) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        UserError: the path is missing, not a regular file, unreadable, empty or too large.
    """
    where = shown(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise UserError(f"this is {kind}", where=where, todo="give the path of an .onnx file")
        if status.st_size > most:
            raise _too_large(status.st_size, where)
        with path.open("rb") as file:
            data = file.read(status.st_size)
            while len(data) <= most and (more := file.read(_BLOCK)):
                data += more  # the file has grown meanwhile
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UserError(f"cannot read the model: {reason}", where=where, todo="check the path") from error
    if len(data) > most:
        raise _too_large(len(data), where)
    if not data:
        raise UserError("the file is empty", where=where, todo="export or copy the model again")
    return data


def _too_large(size: int, where: str) -> UserError:
    return UserError(
        f"the file has {size} bytes, over the limit of 2 GiB of a protobuf message",
        where=where,
        todo="save the weights as external data (onnx.save with save_as_external_data=True)",
    )


def parse_model(data: bytes, path: Path, listings: Listings | None = None) -> ModelProto:
    """The model in the bytes of a file; weights outside it are located, never loaded.

    Args:
        data: the content of the file.
        path: the file.
        listings: where the listings of its nodes are kept, for who goes on reading them.

    Raises:
        UserError: the bytes are no ONNX model, or its external data lies outside the model's folder.
    """
    where = shown(str(path))
    again = "give a complete binary .onnx file; export or copy the model again"
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise UserError(
            "not an ONNX model: the protobuf is broken, truncated or nested too deeply",
            where=where,
            todo=again,
        ) from error
    # Protobuf reads many a foreign file as a message without fields, so the required ones are asked for.
    present = {
        "ir_version": model.ir_version > 0,
        "graph": model.HasField("graph"),
        "opset_import": len(model.opset_import) > 0,
    }
    missing = [name for name, there in present.items() if not there]
    if missing:
        raise UserError(
            f"not an ONNX model, or not all of one: no {', no '.join(missing)}", where=where, todo=again
        )
    listings = listings or Listings()
    bad = bad_text(model, listings.of(model.graph.node))
    if bad is not None:
        raise UserError(f"the text of {bad} is not valid UTF-8", where=where, todo=again)
    tensors = list(all_tensors(model, listings))
    check_external_data(tensors, path)
    check_integrity(model, path, tensors, listings)
    return model
