"""External data: where a model says that its weights lie, and whether they can lie there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from onnx import TensorProto

from sonnx_clip.graph.declared_tensors import quoted, shown
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


def _range_problem(entries: Mapping[str, str], file: Path) -> str | None:
    """What is wrong with the offset and the length that a model gives."""
    numbers = {}
    for name in ("offset", "length"):
        text = entries.get(name, "0")
        if not (text.isascii() and text.isdecimal()):
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
