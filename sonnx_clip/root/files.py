"""Files written as a whole: a reader sees the old ones or the new ones, never half of one. And SHA-256."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STANDARD_OUTPUT = "-"
"""Stands for standard output where a command takes a file to write to."""


def digest_of(content: bytes | str) -> str:
    """SHA-256 of bytes, or of a text in UTF-8."""
    return hashlib.sha256(_bytes(content)).hexdigest()


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file; OSError if it cannot be read."""
    return digest_of(path.read_bytes())


def digest_of_parts(parts: Iterable[bytes | str]) -> str:
    """SHA-256 of parts in their order, each behind its length: where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in map(_bytes, parts):
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def _bytes(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


def is_standard_output(target: Path | None) -> bool:
    """Whether a target is standard output."""
    return str(target) == STANDARD_OUTPUT


def _no_standard_output(target: Path) -> None:
    if is_standard_output(target):
        what = "this output cannot go to standard output (-)"
        raise UserError(what, todo="give the name of a file or folder")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; UserError if that cannot be."""
    _no_standard_output(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"this folder cannot be made: {error.strerror}"
        raise UserError(what, str(folder), "write elsewhere") from error


def read_regular(file: Path) -> str:
    """The text of a regular file, which a user has named: a device or a FIFO may never end.

    Raises:
        OSError: it is missing, no regular file, or cannot be read; the words are in `strerror`.
        UnicodeDecodeError: it is no UTF-8.
    """
    return read_regular_bytes(file).decode("utf-8")


def read_regular_bytes(file: Path) -> bytes:
    """Its content; it raises the same OSError."""
    mode = file.stat().st_mode
    if not stat.S_ISREG(mode):
        words = "this is a folder" if stat.S_ISDIR(mode) else "this is no regular file"
        raise OSError(errno.EINVAL, words, str(file))
    return file.read_bytes()


def check_target(file: Path, wanted: str = "only a regular file is replaced") -> None:
    """Refuse to replace what is no regular file: a rename would turn a device or a FIFO into one.

    Args:
        file: what is to be written.
        wanted: what must be a regular file, in words.

    Raises:
        UserError: something else than a regular file has this name, or it stands for standard output.
    """
    _no_standard_output(file)
    try:
        mode = file.lstat().st_mode
    except OSError:
        return  # there is nothing to be replaced, or writing will report why it cannot be
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a FIFO"}
    kind = kinds.get(stat.S_IFMT(mode), "a socket" if stat.S_ISSOCK(mode) else "a device")
    link = ", or the name that the link leads to" if stat.S_ISLNK(mode) else ""
    raise UserError(f"this is {kind}, and {wanted}", str(file), f"give the name of a file{link}")


def write_whole(file: Path, text: str, mode: int = 0o644) -> None:
    """Write a file beside its place and rename it there; UserError if it cannot be written."""
    write_together({file: text}, mode)


def write_together(files: Mapping[Path, str | bytes | Iterable[bytes]], mode: int = 0o644) -> None:
    """Write all files beside their places, and only then rename each; UserError if one cannot be written."""
    beside: dict[Path, Path] = {}
    for file in files:
        check_target(file)
    try:
        for file, content in files.items():
            make_folder(file.parent)
            descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
            beside[file] = Path(name)
            with os.fdopen(descriptor, "wb") as out:
                out.writelines([_bytes(content)] if isinstance(content, (bytes, str)) else content)
            beside[file].chmod(mode)
        for file, new in beside.items():
            new.replace(file)
    except OSError as error:
        what, todo = (
            f"it cannot be written: {error.strerror}",
            "check the folder's permissions, or write elsewhere",
        )
        raise UserError(what, str(error.filename2 or file), todo) from error
    finally:
        for new in beside.values():
            new.unlink(missing_ok=True)
