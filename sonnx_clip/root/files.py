"""Atomic writes (a reader never sees half a file), and SHA-256."""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def digest_of(content: bytes | str) -> str:
    """SHA-256 of bytes, or of a text in UTF-8."""
    return hashlib.sha256(_bytes(content)).hexdigest()


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file; OSError if it cannot be read."""
    return digest_of(path.read_bytes())


def digest_of_parts(parts: Iterable[bytes | str]) -> str:
    """SHA-256 of parts in order, each preceded by its length, so that the boundaries count."""
    digest = hashlib.sha256()
    for part in map(_bytes, parts):
        # Without the length, "ab" and "c" would have the digest of "a" and "bc".
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def _bytes(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


def is_standard_output(target: Path | None) -> bool:
    """Whether a target is standard output, ``-``."""
    return str(target) == "-"


def _no_standard_output(target: Path) -> None:
    if is_standard_output(target):
        message = "this output cannot go to standard output (-)"
        raise UserError(message, todo="name a file or a folder")


def make_folder(folder: Path) -> None:
    """Make a folder and its parents; UserError if that fails."""
    _no_standard_output(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"this folder cannot be created: {error.strerror}"
        raise UserError(message, str(folder), "choose another folder") from error


def read_regular(file: Path) -> str:
    """The text of a regular file that a user names; a device or a FIFO may never end.

    Raises:
        OSError: it is missing, not a regular file, or unreadable; `strerror` has the message.
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_regular_bytes(file).decode("utf-8")


def read_regular_bytes(file: Path) -> bytes:
    """The bytes of a regular file; OSError as for `read_regular`."""
    mode = file.stat().st_mode  # of what a link leads to
    if not stat.S_ISREG(mode):
        words = "this is a folder" if stat.S_ISDIR(mode) else "this is not a regular file"
        raise OSError(errno.EINVAL, words, str(file))
    return file.read_bytes()


def check_target(file: Path, wanted: str = "only a regular file can be replaced") -> None:
    """Refuse to replace anything but a regular file: a rename would turn a device or a FIFO into one.

    UserError if the name is that of anything else, or means standard output.
    """
    _no_standard_output(file)
    try:
        mode = file.lstat().st_mode
    except OSError:
        return  # there is nothing to be replaced, or writing will report why it cannot be
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
    }
    kind = kinds.get(stat.S_IFMT(mode), "a device")
    link = ", or the target of the link" if stat.S_ISLNK(mode) else ""
    raise UserError(f"this is {kind}, and {wanted}", str(file), f"name a regular file{link}")


def require_folder_of(target: Path) -> None:
    """UserError if the folder of an output that a user names is missing: its name may be misspelt."""
    folder = target.absolute().parent
    if folder.is_dir():
        return
    if folder.exists():
        raise UserError(f"{target.parent} is not a folder", str(target), "name another output")
    todo = f"make it: mkdir -p {shlex.quote(str(target.parent))}; or correct its name"
    raise UserError("the folder of this output does not exist", str(target), todo)


def write_whole(file: Path, text: str, mode: int = 0o644) -> None:
    """Write a file atomically, by a rename; UserError if it cannot be written."""
    write_together({file: text}, mode)


def write_together(files: Mapping[Path, str | bytes | Iterable[bytes]], mode: int = 0o644) -> None:
    """Write all files beside their targets, then rename each; UserError if one cannot be written."""
    beside: dict[Path, Path] = {}  # by the target: its new content, which has another name as yet
    for file in files:
        check_target(file)
    try:
        # No target is replaced before all new files are complete.
        for file, content in files.items():
            make_folder(file.parent)
            # In the folder of the target: a rename within one file system is atomic.
            descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
            beside[file] = Path(name)
            parts = [_bytes(content)] if isinstance(content, (bytes, str)) else content
            with os.fdopen(descriptor, "wb") as out:
                out.writelines(parts)
            beside[file].chmod(mode)  # mkstemp lets the owner alone read it
        # Each rename is whole; a failure between two of them leaves some files new and others old.
        for file, new in beside.items():
            new.replace(file)
    except OSError as error:
        todo = "check the folder's permissions, or choose another file"
        message = f"cannot be written: {error.strerror}"
        # The second name of a rename is the target, which the user has named.
        raise UserError(message, str(error.filename2 or file), todo) from error
    finally:
        # What was renamed is gone from here: only what a failure has left is removed.
        for new in beside.values():
            new.unlink(missing_ok=True)
