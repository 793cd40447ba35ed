"""The store of results: an SQLite file that holds the result of each unit as soon as it is judged.

Rows are only added, each in a transaction that is on the disk when it ends, under the digest of the unit and
beside a digest of the row: a row that does not match is ignored, and its unit is judged again. Any number of
campaigns may share a store; where two judge the same unit, both use the result that was stored first.
`check --journal FILE` resumes from one; `check` keeps the verdicts on known runtimes in another, in the build
folder.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.check_report import Verdict
from sonnx_clip.conform.options import CheckOptions, Unit
from sonnx_clip.conform.results import UnitResult
from sonnx_clip.conform.verdicts import merged, needed
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, digest_of_parts, make_folder
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

CACHE = "kept/verdicts.sqlite"
"""The store of verdicts in the build folder."""
FORMAT = 1
APPLICATION = 0x736E7863
"""SQLite's application id in the head of the file: ``snxc``."""

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
_SELECT = "SELECT number, made, result, result_digest FROM units WHERE digest = ? ORDER BY number DESC"
_INSERT = "INSERT INTO units (digest, name, seconds, made, result, result_digest) VALUES (?, ?, ?, ?, ?, ?)"


class Store:
    """An open store; threads may share it.

    Args:
        file: its path; it is created if missing.
        identity: a digest of what is judged and by what: part of the digest of each unit.
        warn: called with a warning for each damaged row.
        is_cache: whether it holds verdicts to be used again, not a journal to be resumed: what may be the
            fault of the machine is not stored, and the report says when a verdict was made.
        create: whether it is created where it is missing, and written to.

    Raises:
        UserError: the file is something else, is damaged or newer, or cannot be read or written.
    """

    def __init__(
        self, file: Path, identity: str = "", warn: Callable[[str], None] = lambda _: None, *,
        is_cache: bool = False, create: bool = True,
    ) -> None:  # fmt: skip
        self.file, self.identity, self._warn, self.is_cache = file, identity, warn, is_cache
        self._lock = threading.RLock()
        self._warned: set[int] = set()
        check_target(file, "a journal is a regular file")
        if create:
            make_folder(file.parent)
        new = _require_ours(file, create=create)
        with self._errors():
            if new:
                file.touch()
            # A reader rolls back what a killed writer left unfinished, for which SQLite has to write.
            mode = "rw" if create or os.access(file, os.W_OK) else "ro"
            uri = f"{file.absolute().as_uri()}?mode={mode}"
            self._base = sqlite3.connect(
                uri, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors():
                self._base.execute("PRAGMA synchronous = FULL")
                self._base.execute(f"PRAGMA query_only = {int(not create)}")
                self._open(create=create)
        except BaseException:
            self._base.close()
            raise

    def _open(self, *, create: bool) -> None:
        if create:
            self._base.execute("BEGIN IMMEDIATE")  # fails where nothing can be written
            if not self._rows("SELECT 1 FROM sqlite_master"):
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._base.execute(statement)
                self._base.execute(f"PRAGMA application_id = {APPLICATION}")
                self._base.execute(f"PRAGMA user_version = {FORMAT}")
        version = self._rows("PRAGMA user_version")[0][0]
        if create:
            self._base.execute("COMMIT")
        if version != FORMAT:
            what = f"this journal has the format {version}, and this program knows {FORMAT}"
            raise UserError(what, str(self.file), "use the newer sonnx-clip that wrote it, or another file")

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of SQLite and of the system as one message."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            words = error.strerror if isinstance(error, OSError) else str(error)
            todo = "make the file and its folder readable and writable, or give another file"
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                todo = "move it away; the campaign then begins anew"
            raise UserError(f"the journal cannot be used: {words}", str(self.file), todo) from error

    def take(self, digest: str, name: str) -> tuple[UnitResult, str] | None:
        """The newest undamaged result under a digest, and when it was made; None if there is none."""
        with self._errors():
            rows = self._base.execute(_SELECT, (digest,)).fetchall()
        for number, made, text, row_digest in rows:
            if (found := _parsed(digest, made, text, row_digest)) is not None:
                return found, made
            with self._lock:
                new = number not in self._warned
                self._warned.add(number)
            if new:
                self._warn(f"{self.file}: the result of {name} is damaged (row {number}); it is judged again")
        return None

    def keep(
        self, digest: str, name: str, result: UnitResult, seconds: float, *, replace: bool = False
    ) -> UnitResult:
        """Add a result; it, or the one that another campaign has stored, unless this one replaces it."""
        with self._errors():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                found = None if replace else self.take(digest, name)
                if found is None:
                    made, text = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), result.model_dump_json()
                    row = digest, name, round(seconds, 3), made, text, digest_of_parts([digest, made, text])
                    self._base.execute(_INSERT, row)
            finally:
                self._base.execute("COMMIT")
        return result if found is None else found[0]

    def plan(self, campaign: Mapping[str, object], units: Sequence[Unit]) -> None:
        """Record what a campaign is about to judge, for `status_of`."""
        found = [[unit.digest, unit.etype, unit.part] for unit in units]
        text = json.dumps({"campaign": campaign, "units": found}, sort_keys=True)
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        with self._errors():
            row = digest_of_parts([text]), made, text
            self._base.execute("INSERT OR IGNORE INTO campaigns VALUES (?, ?, ?)", row)

    def seconds(self) -> dict[str, float]:
        """How long each stored unit took, by its digest."""
        return dict(self._rows("SELECT digest, seconds FROM units ORDER BY number"))

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._base.execute(query).fetchall()

    def status(self) -> StoreStatus:
        """The progress of every campaign in it."""
        rows = self._rows("SELECT digest, made, result, result_digest FROM units ORDER BY number")
        parsed = [(row[0], _parsed(*row)) for row in rows]
        results = {digest: result for digest, result in parsed if result is not None}
        plans = self._rows("SELECT made, plan FROM campaigns ORDER BY rowid")
        return StoreStatus(
            campaigns=tuple(
                _campaign(made, json.loads(plan), results, self.seconds()) for made, plan in plans
            ),
            results=len(parsed),
            damaged=sum(result is None for _, result in parsed),
        )


def _parsed(digest: str, made: str, text: object, row_digest: object) -> UnitResult | None:
    """A result as it was written; None if the row is damaged."""
    if not isinstance(text, str) or row_digest != digest_of_parts([digest, made, text]):
        return None
    try:
        return UnitResult.model_validate_json(text)
    except ValueError:
        return None


def _require_ours(file: Path, *, create: bool) -> bool:
    """Refuse another file before SQLite touches it; whether there is no file yet."""
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
        raise UserError("this is a database of another program, and no journal", str(file), _ANOTHER)
    return False


# --- The progress of campaigns: `check --journal FILE --status` ---------------------------------------------


class TypeStatus(Stored):
    """One element type: units with a result, and all that are needed as far as is known."""

    type: str
    verdict: Verdict
    done: int
    units: int
    compared: int
    seconds: float


class CampaignStatus(Stored):
    """One campaign. `left` estimates the seconds of judging left from the units done; None if none is."""

    made: str
    runtime: str
    version: str
    level: str
    policy: str
    forms: str
    done: int
    units: int
    seconds: float
    left: float | None
    types: tuple[TypeStatus, ...]


class StoreStatus(Stored):
    """The campaigns of a store, oldest first, and how many of its results are damaged."""

    format: int = 1
    campaigns: tuple[CampaignStatus, ...]
    results: int
    damaged: int


def _campaign(
    made: str, plan: dict[str, Any], results: Mapping[str, UnitResult], took: Mapping[str, float]
) -> CampaignStatus:
    types = []
    for name in dict.fromkeys(etype for _, etype, _ in plan["units"]):
        digests = {part: digest for digest, etype, part in plan["units"] if etype == name}
        units = [Unit(CheckOptions(""), name, part) for part in digests]
        found = {part: results[digest] for part, digest in digests.items() if digest in results}
        wanted, report = needed(units, found), merged(load_spec().element_type(name), units, found)
        types.append(TypeStatus(
            type=name,
            verdict=report.verdict,
            done=sum(unit.part in found for unit in wanted),
            units=len(wanted),
            compared=report.compared + sum(form.compared for form in report.forms or ()),
            seconds=round(sum(took[digests[part]] for part in found), 3),
        ))  # fmt: skip
    done, units_of_all = sum(one.done for one in types), sum(one.units for one in types)
    seconds = sum(one.seconds for one in types)
    return CampaignStatus(
        made=made,
        **{key: plan["campaign"][key] for key in ("runtime", "version", "level", "policy", "forms")},
        done=done,
        units=units_of_all,
        seconds=round(seconds, 1),
        left=round(seconds / done * (units_of_all - done), 1) if done else None,
        types=tuple(types),
    )
