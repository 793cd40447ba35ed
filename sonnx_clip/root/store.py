"""A store: values by key in an SQLite file, each written at once. The ledger, journals and caches are stores.

Rows are only added, each in a transaction of its own; threads and processes may share a store. A row has a
digest of its content: a damaged row is passed over, and what it held is computed again.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, digest_of_parts, make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True)
class StoreKind:
    """What a store is for.

    Args:
        noun: what messages call it: ``journal``.
        application: SQLite's application id in the head of the file.
        format: the version of the content, in the head of the file, too.
        if_other: what to do where the file is of another kind or version.
        if_damaged: what to do where SQLite cannot read the file.
        is_durable: whether each row is on the disk when `add` returns; else a power cut may lose the last
            ones, and rows are written faster.
    """

    noun: str
    application: int
    format: int
    if_other: str
    if_damaged: str
    is_durable: bool = True


class Row(NamedTuple):
    """A row as it was written."""

    number: int
    value: str
    made: str  # when: 2026-11-29 05:43 UTC


_WAIT = 60.0  # seconds for another process to end its transaction
# Of the head of an SQLite file.
_MAGIC, _HEAD, _FORMAT_AT, _APPLICATION_AT = b"SQLite format 3\0", 100, slice(60, 64), slice(68, 72)
_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL, made TEXT NOT NULL,
    value TEXT NOT NULL, digest TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS results_by_key ON results (key);
"""
# Not the file is at fault, but what it is in: a folder that cannot be written, a disk that is full.
_OUTSIDE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
            sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)  # fmt: skip


class Store:
    """An open store.

    Args:
        file: its path; it is created if missing.
        kind: what it is for.
        warn: called with a warning for each damaged row.

    Raises:
        UserError: the file is of another kind or version, damaged, or cannot be read or written; from every
            method, too.
    """

    def __init__(
        self, file: Path, kind: StoreKind, warn: Callable[[str], None] = lambda _: None
    ) -> None:
        self.file = file
        self.kind = kind
        self._warn = warn
        # One connection for all threads: SQLite's transactions are those of a connection.
        self._lock = threading.RLock()
        check_target(file, f"a {kind.noun} is a regular file")
        make_folder(file.parent)
        with self._errors():
            self._require_kind()
            # Another process may end the program at any time: nothing waits for a commit.
            self._base = sqlite3.connect(
                file, timeout=_WAIT, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors():
                synchronous = "FULL" if kind.is_durable else "NORMAL"
                self._base.execute(f"PRAGMA synchronous = {synchronous}")
                if not self._is_made():  # a store that is only asked stays the same, byte for byte
                    marks = f"PRAGMA application_id = {kind.application};"
                    marks += f"PRAGMA user_version = {kind.format};"
                    self._base.executescript(f"BEGIN IMMEDIATE; {_TABLES} {marks} COMMIT;")
                # A file that has the marks of a store and other tables is refused here, not later.
                self._base.execute(
                    "SELECT number, key, name, made, value, digest FROM results LIMIT 1"
                )
                if not kind.is_durable:
                    # Only now: `_require_kind` reads the head from the file, and not from what is beside it.
                    self._base.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            self._base.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def newest(self, key: str, name: str) -> Row | None:
        """The newest undamaged row under a key, or None; `name` is for the warning of a damaged one."""
        query = "SELECT number, made, value, digest FROM results WHERE key = ? ORDER BY number DESC"
        for number, made, value, digest in self._execute(query, key):
            if isinstance(value, str) and digest == digest_of_parts([key, made, value]):
                return Row(number, value, made)
            # An older row under the key may be whole: the search goes on.
            self._warn(f"{self.file}: {name} is damaged (row {number}); it is computed again")
        return None

    def add(self, key: str, value: str, name: str = "") -> None:
        """Add a value, which is the newest under its key; `name` is for readers of the file."""
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        self._execute(
            "INSERT INTO results (key, name, made, value, digest) VALUES (?, ?, ?, ?, ?)",
            # The name is left out of the digest: it is for people, and decides nothing.
            key, name, made, value, digest_of_parts([key, made, value]),
        )  # fmt: skip

    def remove(self, key: str) -> None:
        """Remove every value under a key."""
        self._execute("DELETE FROM results WHERE key = ?", key)

    def keys(self) -> set[str]:
        """The keys under which there are values."""
        return {key for (key,) in self._execute("SELECT DISTINCT key FROM results")}

    def _is_made(self) -> bool:
        (application,) = self._base.execute("PRAGMA application_id").fetchone()
        return bool(application == self.kind.application)

    def _execute(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._base.execute(query, values).fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of the system into a UserError."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            words = error.strerror if isinstance(error, OSError) else str(error)
            # Errors of Python's own module, such as that of a closed base, have no code.
            is_outside = getattr(error, "sqlite_errorcode", None) in _OUTSIDE
            todo = self.kind.if_damaged
            if isinstance(error, OSError) or is_outside:
                todo = "make the file and its folder readable and writable, or use another file"
            message = f"the {self.kind.noun} cannot be used: {words}"
            raise UserError(message, str(self.file), todo) from error

    def _require_kind(self) -> None:
        """Reject a file of another kind before SQLite opens it, which would write to it."""
        if not self.file.exists():
            return
        with self.file.open("rb") as opened:
            head = opened.read(_HEAD)
        if not head:  # the program was killed before anything was written
            return
        noun = self.kind.noun
        application = int.from_bytes(head[_APPLICATION_AT], "big")
        # An empty database of SQLite has no application id: it is another file, too.
        if not head.startswith(_MAGIC) or application != self.kind.application:
            raise UserError(f"this file is not a {noun}", str(self.file), self.kind.if_other)
        version = int.from_bytes(head[_FORMAT_AT], "big")
        if version != self.kind.format:
            message = (
                f"this {noun} has the format {version}, but this program reads {self.kind.format}"
            )
            raise UserError(message, str(self.file), self.kind.if_other)
