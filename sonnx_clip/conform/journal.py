"""The journal of campaigns: a file of SQLite that holds the result of each unit as soon as it is there.

Rows are added and never changed, each in a transaction of its own that is on the disk when it ends. A result
stands under the digest of its unit, beside a digest of itself: what does not fit is not believed, and the
unit is judged again. Any number of campaigns may use one journal, one after the other or side by side; where
two have judged the same unit, both take the result that was there first.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sonnx_clip.conform.units import UnitResult
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, digest_of_parts, make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.conform.units import Unit

FORMAT = 1
APPLICATION = 0x736E7863
"""What SQLite calls the application id, in the head of the file: ``snxc``."""

_ANOTHER = "give the file of check --journal, or the name of a new one to it"
_WAIT = 60.0  # seconds for another process to end its transaction
_MAGIC, _HEAD = b"SQLite format 3\0", 100
_APPLICATION_AT = slice(68, 72)
_TABLES = """
CREATE TABLE campaigns (digest TEXT PRIMARY KEY, made TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE units (
    number INTEGER PRIMARY KEY, digest TEXT NOT NULL, name TEXT NOT NULL, seconds REAL NOT NULL,
    made TEXT NOT NULL, result TEXT NOT NULL, result_digest TEXT NOT NULL);
CREATE INDEX units_by_digest ON units (digest);
"""
_ONLY_ADDED = (
    "CREATE TRIGGER {table}_{change} BEFORE {change} ON {table}"
    " BEGIN SELECT RAISE(ABORT, 'rows are only added'); END"
)


class UnitJournal:
    """An open journal; threads may share it.

    Args:
        file: where it is; it is made if there is none.
        identity: of what is judged here: a part of the digest of each unit.
        warn: told of each row that is damaged.
        create: whether it is made where there is none, and written to.

    Raises:
        UserError: the file is something else, is damaged or newer, or cannot be read or written.
    """

    def __init__(
        self,
        file: Path,
        identity: str = "",
        warn: Callable[[str], None] = lambda _: None,
        *,
        create: bool = True,
    ) -> None:
        self.file, self.identity, self._warn = file, identity, warn
        self._lock = threading.Lock()
        self._warned: set[int] = set()
        check_target(file, "a journal is a regular file")
        if create:
            make_folder(file.parent)
        new = _require_ours(file, create=create)
        with self._told():
            if new:
                file.touch()
            # Who only reads takes back what a killed writer left half done: SQLite needs to write for that.
            mode = "rw" if create or os.access(file, os.W_OK) else "ro"
            uri = f"{file.absolute().as_uri()}?mode={mode}"
            self._base = sqlite3.connect(
                uri, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False
            )
        try:
            with self._told():
                self._base.execute("PRAGMA synchronous = FULL")
                self._base.execute(f"PRAGMA query_only = {int(not create)}")
                self._open(create=create)
        except BaseException:
            self._base.close()
            raise

    def _open(self, *, create: bool) -> None:
        if create:
            self._base.execute("BEGIN IMMEDIATE")  # fails where nothing can be written
        tables, application = (
            self._base.execute(question).fetchone()[0]
            for question in ("SELECT count(*) FROM sqlite_master", "PRAGMA application_id")
        )
        if create and not tables and application in (0, APPLICATION):  # no more than a head, if that
            for statement in filter(str.strip, _TABLES.split(";")):
                self._base.execute(statement)
            for table in ("campaigns", "units"):
                for change in ("UPDATE", "DELETE"):
                    self._base.execute(_ONLY_ADDED.format(table=table, change=change))
            self._base.execute(f"PRAGMA application_id = {APPLICATION}")
            self._base.execute(f"PRAGMA user_version = {FORMAT}")
        elif application != APPLICATION:
            raise _not_ours(self.file)
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if create:
            self._base.execute("COMMIT")
        if version != FORMAT:
            what = f"this journal has the format {version}, and this program knows {FORMAT}"
            raise UserError(what, str(self.file), "use the newer sonnx-clip that wrote it, or another file")

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite or the system cannot do is one message."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            words = error.strerror if isinstance(error, OSError) else str(error)
            todo = "make the file and its folder readable and writable, or give another file"
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                todo = "move it away; the campaign then begins anew"
            raise UserError(f"the journal cannot be used: {words}", str(self.file), todo) from error

    def plan(self, campaign: Mapping[str, object], units: Sequence[Unit]) -> None:
        """Note what a campaign is about to judge: for `check --journal --status`."""
        found = [[unit.digest, unit.etype, unit.part] for unit in units]
        text = json.dumps({"campaign": campaign, "units": found}, sort_keys=True)
        with self._lock, self._told():
            self._base.execute(
                "INSERT OR IGNORE INTO campaigns VALUES (?, ?, ?)", (digest_of_parts([text]), _now(), text)
            )

    def take(self, unit: Unit) -> UnitResult | None:
        """The result of a unit that was judged before; None if there is none that can be believed."""
        return self._take(unit.digest, unit.name)

    def _take(self, digest: str, name: str) -> UnitResult | None:
        with self._lock, self._told():
            rows = self._base.execute(
                "SELECT number, result, result_digest FROM units WHERE digest = ? ORDER BY number", (digest,)
            ).fetchall()
        for number, text, said in rows:
            if (found := _believed(digest, text, said)) is not None:
                return found
            self._warn_of(number, name)
        return None

    def _warn_of(self, number: int, name: str) -> None:
        with self._lock:
            new = number not in self._warned
            self._warned.add(number)
        if new:
            self._warn(f"{self.file}: the result of {name} is damaged (row {number}); it is judged again")

    def keep(self, unit: Unit, result: UnitResult, seconds: float) -> UnitResult:
        """Add a result; the one that stands: this, or that of another campaign that was there before."""
        digest, text = unit.digest, canonical(result)
        row = (digest, unit.name, round(seconds, 3), _now(), text, digest_of_parts([digest, text]))
        with self._lock, self._told():
            self._base.execute(
                "INSERT INTO units (digest, name, seconds, made, result, result_digest)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
        return self._take(digest, unit.name) or result

    def seconds(self) -> dict[str, float]:
        """How long each unit took that has a result, by its digest."""
        with self._lock, self._told():
            return dict(
                self._base.execute("SELECT digest, seconds FROM units ORDER BY number DESC").fetchall()
            )

    def campaigns(self) -> list[tuple[str, str]]:
        """The campaigns in the order in which they began: when, and what was planned, as JSON."""
        with self._lock, self._told():
            return self._base.execute("SELECT made, plan FROM campaigns ORDER BY rowid").fetchall()

    def results(self) -> Iterator[tuple[str, UnitResult | None]]:
        """Every row: the digest of its unit, and the result; None where it is damaged."""
        with self._lock, self._told():
            rows = self._base.execute(
                "SELECT result, result_digest, digest FROM units ORDER BY number"
            ).fetchall()
        for text, said, digest in rows:
            yield digest, _believed(digest, text, said)


def _believed(digest: str, text: object, said: object) -> UnitResult | None:
    """A result as it is stored; None unless it is as it was written."""
    if not isinstance(text, str) or said != digest_of_parts([digest, text]):
        return None
    try:
        return UnitResult.model_validate_json(text)
    except ValueError:
        return None


def canonical(result: UnitResult) -> str:
    """A result as JSON, the same text for the same result."""
    return json.dumps(result.model_dump(mode="json"), sort_keys=False, separators=(",", ":"))


def _require_ours(file: Path, *, create: bool) -> bool:
    """Refuse what is no journal before SQLite touches it; whether there is no file yet."""
    try:
        head = file.open("rb").read(_HEAD) if file.exists() else None
    except OSError as error:
        what = f"the journal cannot be read: {error.strerror}"
        raise UserError(what, str(file), "make it readable, or give another file") from error
    if head is None:
        if not create:
            raise UserError("there is no such journal", str(file), "give the file of check --journal")
        return True
    if not head and create:
        return False  # the program was ended before anything was written
    if not head.startswith(_MAGIC):
        raise UserError("this is no journal but another file", str(file), _ANOTHER)
    if int.from_bytes(head[_APPLICATION_AT], "big") != APPLICATION:
        raise _not_ours(file)
    return False


def _not_ours(file: Path) -> UserError:
    return UserError("this is a database of another program, and no journal", str(file), _ANOTHER)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
