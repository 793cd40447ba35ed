"""Read an ONNX model from a file that may be anything."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import ModelProto

from sonnx_clip.graph.declared_tensors import shown
from sonnx_clip.graph.external import check_external_data
from sonnx_clip.graph.integrity import check_integrity
from sonnx_clip.graph.listing import Listings
from sonnx_clip.graph.skim import skim
from sonnx_clip.graph.stored_tensors import all_tensors
from sonnx_clip.graph.utf8_names import bad_text
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

# Protobuf cannot serialize, and its readers refuse, a message of 2 GiB or more.
MAX_BYTES = 2**31 - 1
# A smaller file is read as a whole.
_LARGE = 1_000_000


def read_without_weights(path: Path, *, most: int = MAX_BYTES, large: int = _LARGE) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Where the file has more than `large` bytes the raw data of large tensors is passed over (see `skim`).

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
            data = skim(file, status.st_size) if status.st_size > large else None
            if data is None:
                file.seek(0)
                data = file.read(status.st_size)
                while len(data) <= most and (more := file.read(_LARGE)):
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
        data: the content of the file, without large weights.
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
