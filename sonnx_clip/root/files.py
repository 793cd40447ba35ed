"""Files are written as a whole: a reader sees the old ones or the new ones, never half of one. And SHA-256,
by which records name what they speak of.
"""

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


def digest_of(content: bytes | str) -> str:
    """Of bytes, or of a text in UTF-8."""
    return hashlib.sha256(_bytes(content)).hexdigest()


def digest_of_file(path: Path) -> str:
    """Of what a file holds; OSError if it cannot be read."""
    return digest_of(path.read_bytes())


def digest_of_parts(parts: Iterable[bytes | str]) -> str:
    """Of several parts in their order, each behind its length: where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in map(_bytes, parts):
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def _bytes(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


# --- Files are written as a whole: a reader sees the old ones or the new ones, never half of one ------------


STANDARD_OUTPUT = "-"
"""What stands for standard output where a command takes a file to write to."""


def is_standard_output(target: Path | None) -> bool:
    """Whether a target is no file but standard output."""
    return target is not None and str(target) == STANDARD_OUTPUT


def _no_standard_output(target: Path) -> None:
    if is_standard_output(target):
        raise UserError(
            "this output cannot go to standard output (-)",
            todo="give the name of a file or folder",
        )


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; UserError if that cannot be."""
    _no_standard_output(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"this folder cannot be made: {error.strerror}", str(folder), "write elsewhere"
        ) from error


def read_regular(file: Path) -> str:
    """The text of a regular file, which a user has named: a device or a FIFO may never end.

    Raises:
        OSError: it is missing, no regular file, or cannot be read; the words are in `strerror`.
        UnicodeDecodeError: it is no UTF-8.
    """
    _require_regular(file)
    return file.read_text(encoding="utf-8")


def read_regular_bytes(file: Path) -> bytes:
    """Its content; it raises the same OSError."""
    _require_regular(file)
    return file.read_bytes()


def _require_regular(file: Path) -> None:
    mode = file.stat().st_mode
    if not stat.S_ISREG(mode):
        words = "this is a folder" if stat.S_ISDIR(mode) else "this is no regular file"
        raise OSError(errno.EINVAL, words, str(file))


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
        return  # there is nothing to be replaced, or the writing will say why it cannot be
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a FIFO"}
    kind = kinds.get(stat.S_IFMT(mode), "a socket" if stat.S_ISSOCK(mode) else "a device")
    raise UserError(
        f"this is {kind}, and {wanted}",
        str(file),
        "give the name of a file" + (", or the name that the link leads to" if stat.S_ISLNK(mode) else ""),
    )


def write_whole(file: Path, text: str, mode: int = 0o644) -> None:
    """Write a file beside its place and rename it there; UserError if it cannot be written."""
    write_together({file: text}, mode)


def write_whole_bytes(file: Path, data: bytes | Iterable[bytes], mode: int = 0o644) -> None:
    """Write a binary file beside its place and rename it there; UserError if it cannot be written."""
    write_together({file: data}, mode)


def write_together(files: Mapping[Path, str | bytes | Iterable[bytes]], mode: int = 0o644) -> None:
    """Write all files beside their places, and only then rename each; UserError if one cannot be written."""
    beside: dict[Path, Path] = {}
    for file in files:
        check_target(file)
    try:
        for file, content in files.items():
            make_folder(file.parent)
            beside[file] = _write_beside(file, content, mode)
        for file, new in beside.items():
            new.replace(file)
    except OSError as error:
        where = str(error.filename2 or file)
        raise UserError(
            f"it cannot be written: {error.strerror}",
            where,
            "check the folder's permissions, or write elsewhere",
        ) from error
    finally:
        for new in beside.values():
            new.unlink(missing_ok=True)


def _write_beside(file: Path, content: str | bytes | Iterable[bytes], mode: int) -> Path:
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as out:
            if isinstance(content, str):
                out.write(content.encode("utf-8"))
            elif isinstance(content, bytes):
                out.write(content)
            else:
                out.writelines(content)
        Path(name).chmod(mode)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
