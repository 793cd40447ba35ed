"""External data: where a model says that its weights lie."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from onnx import TensorProto

from sonnx_clip.errors import UserError
from sonnx_clip.graph.declared import quoted, shown
from sonnx_clip.graph.tensors import all_tensors

if TYPE_CHECKING:
    from onnx import ModelProto


def check_external_data(model: ModelProto, path: Path) -> None:
    """Refuse a model whose weights lie outside its own folder. No data file is opened.

    Raises:
        UserError: a location is missing, absolute, climbs with ``..`` or leads out through a link.
    """
    for tensor in all_tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            _check(tensor, path)


def _check(tensor: TensorProto, path: Path) -> None:
    location = {entry.key: entry.value for entry in tensor.external_data}.get("location", "")
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
    except (OSError, ValueError, RuntimeError) as error:
        return f"is no usable path ({shown(str(error))})"
    return None if inside else "leads out of the model's folder through a link"
