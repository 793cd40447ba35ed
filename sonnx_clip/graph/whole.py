"""A model whose large weights stay in the file that it was read from until it is written to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.graph.declared_tensors import shown
from sonnx_clip.graph.skim import pieces
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from onnx import ModelProto

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Stamp:
    """By what a file that was changed meanwhile is recognised."""

    path: Path
    size: int
    changed: int
    number: int


def stamp(path: Path) -> Stamp:
    """The stamp of a file as it is now.

    Raises:
        UserError: there is none.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise UserError(
            f"cannot read the model: {error.strerror}", where=shown(str(path)), todo="check the path"
        ) from error
    return Stamp(path, status.st_size, status.st_mtime_ns, status.st_ino)


def content(model: ModelProto | None, source: Stamp) -> Iterator[bytes]:
    """The bytes of a model in turn, its large weights from the file that it was read from.

    Args:
        model: None where the file itself is the content.
        source: the file at the time it was read.

    Raises:
        UserError: the file is no longer the one that was read.
    """
    with source.path.open("rb") as file:
        if stamp(source.path) != source:
            raise UserError(
                "the file was changed while it was read",
                where=shown(str(source.path)),
                todo="run the command again",
            )
        if model is None:
            yield from _part(file, 0, source.size)
            return
        for piece in pieces(model):
            if isinstance(piece, bytes):
                yield piece
            else:
                yield from _part(file, piece.start, piece.length)


def _part(file: BinaryIO, start: int, length: int) -> Iterator[bytes]:
    file.seek(start)
    while length > 0 and (block := file.read(min(length, _BLOCK))):
        yield block
        length -= len(block)
