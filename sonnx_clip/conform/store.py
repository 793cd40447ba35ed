"""The store of results: an SQLite file with the result of each unit, written as soon as it is judged.

Rows are only added, each in a durable transaction; several campaigns may add some. A row has the digest of
its unit and one of its content: a damaged row is ignored, and its unit is judged again. `check --journal
FILE` resumes from a store; `check` caches the verdicts on known runtimes in another one, in the build folder.
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
from sonnx_clip.conform.units import CheckOptions, Unit, UnitResult
from sonnx_clip.conform.verdicts import merged, needed
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, digest_of_parts, make_folder
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec.operators import DEFAULT_OPERATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.conform.operator import Operator

CACHE = "kept/verdicts.sqlite"
"""The store of verdicts in the build folder."""
FORMAT = 1
APPLICATION = 0x736E7863
"""SQLite's application id in the head of the file: ``snxc``."""

_WAIT = 60.0  # seconds for another process to end its transaction
_MAGIC, _HEAD, _FORMAT_AT, _APPLICATION_AT = b"SQLite format 3\0", 100, slice(60, 64), slice(68, 72)
_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS campaigns (digest TEXT PRIMARY KEY, made TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS units (
    number INTEGER PRIMARY KEY, digest TEXT NOT NULL, name TEXT NOT NULL, seconds REAL NOT NULL,
    made TEXT NOT NULL, result TEXT NOT NULL, result_digest TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS units_by_digest ON units (digest);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
COMMIT;
"""
_ROWS = "SELECT number, digest, made, result, result_digest FROM units"
_OF_UNIT = f"{_ROWS} WHERE digest = ? ORDER BY number DESC"
_INSERT = "INSERT INTO units (digest, name, seconds, made, result, result_digest) VALUES (?, ?, ?, ?, ?, ?)"


class Store:
    """An open store; threads may share it.

    Args:
        file: its path; it is created if missing.
        identity: the identity of the verdicts, part of the digest of each unit.
        warn: called with a warning for each damaged row.
        is_cache: whether it is a cache of verdicts and not a journal: crashes are not stored, and the report
            shows when a verdict was made.
        create: whether a missing file is created, and the store is writable.

    Raises:
        UserError: the file is of another kind, damaged or newer, or cannot be read or written.
    """

    def __init__(
        self, file: Path, identity: str = "", warn: Callable[[str], None] = lambda _: None, *,
        is_cache: bool = False, create: bool = True,
    ) -> None:  # fmt: skip
        self.file, self.identity, self._warn, self.is_cache = file, identity, warn, is_cache
        self._lock = threading.RLock()
        check_target(file, "a journal is a regular file")
        if create:
            make_folder(file.parent)
        with self._errors():
            _require_ours(file, create=create)
            # A reader rolls back the unfinished transaction of a killed writer, so SQLite needs to write.
            mode = "rwc" if create else "rw" if os.access(file, os.W_OK) else "ro"
            self._base = sqlite3.connect(
                f"{file.absolute().as_uri()}?mode={mode}", uri=True, timeout=_WAIT, isolation_level=None,
                check_same_thread=False,
            )  # fmt: skip
        try:
            with self._errors():
                self._base.execute("PRAGMA synchronous = FULL")
                if create:
                    self._base.executescript(_TABLES)  # fails if the file cannot be written
                self._base.execute(f"PRAGMA query_only = {int(not create)}")
                self._rows(f"{_ROWS} LIMIT 1")
        except BaseException:
            self._base.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of the system into a UserError."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            words = error.strerror if isinstance(error, OSError) else str(error)
            todo = "make the file and its folder readable and writable, or name another file"
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(
                error, sqlite3.OperationalError
            ):
                todo = "move it away; the campaign then restarts"
            raise UserError(f"the journal cannot be used: {words}", str(self.file), todo) from error

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._base.execute(query, values).fetchall()

    def take(self, digest: str, name: str) -> UnitResult | None:
        """The newest undamaged result under a digest, or None."""
        for row in self._rows(_OF_UNIT, digest):
            if (found := _parsed(*row)) is not None:
                return found.model_copy(update={"made": row[2]}) if self.is_cache else found
            self._warn(
                f"{self.file}: the result of {name} is damaged (row {row[0]}); it is judged again"
            )
        return None

    def keep(self, digest: str, name: str, result: UnitResult, seconds: float) -> None:
        """Add a result, which is the newest under its digest."""
        made, text = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), result.model_dump_json()
        row = digest, name, round(seconds, 3), made, text, digest_of_parts([digest, made, text])
        self._rows(_INSERT, *row)

    def plan(self, campaign: Mapping[str, object], units: Sequence[Unit]) -> None:
        """Record the units of a campaign, for `status`."""
        found = [[unit.digest, unit.etype, unit.part] for unit in units]
        text = json.dumps({"campaign": campaign, "units": found}, sort_keys=True)
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        self._rows(
            "INSERT OR IGNORE INTO campaigns VALUES (?, ?, ?)", digest_of_parts([text]), made, text
        )

    def seconds(self) -> dict[str, float]:
        """How long each stored unit took, by its digest."""
        return dict(self._rows("SELECT digest, seconds FROM units ORDER BY number"))

    def status(self, operator_named: Callable[[str], Operator]) -> StoreStatus:
        """The progress of every campaign in it, given what finds its operator by name or file."""
        rows = [(row[1], _parsed(*row)) for row in self._rows(f"{_ROWS} ORDER BY number")]
        results = {digest: result for digest, result in rows if result is not None}
        plans = self._rows("SELECT made, plan FROM campaigns ORDER BY rowid")
        took = self.seconds()
        campaigns = []
        for made, text in plans:
            plan = json.loads(text)
            # A journal of an earlier version of this program names no operator: it is about Clip.
            operator = operator_named(plan["campaign"].get("operator", DEFAULT_OPERATOR))
            campaigns.append(_campaign(made, plan, operator, results, took))
        damaged = sum(result is None for _, result in rows)
        return StoreStatus(campaigns=tuple(campaigns), results=len(rows), damaged=damaged)


def _parsed(_: int, digest: str, made: str, text: object, row_digest: object) -> UnitResult | None:
    """A result as it was written; None if the row is damaged."""
    if not isinstance(text, str) or row_digest != digest_of_parts([digest, made, text]):
        return None
    try:
        return UnitResult.model_validate_json(text)
    except ValueError:
        return None


def _require_ours(file: Path, *, create: bool) -> None:
    """Reject a missing file, unless it is created, and a file of another kind before SQLite opens it."""
    if not file.exists():
        if not create:
            raise UserError(
                "the journal does not exist", str(file), "name the file of check --journal"
            )
        return
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    if create and not head:  # the program was killed before anything was written
        return
    if not head.startswith(_MAGIC) or int.from_bytes(head[_APPLICATION_AT], "big") != APPLICATION:
        todo = "name the file of check --journal, or a new file"
        raise UserError("this file is not a journal", str(file), todo)
    if (version := int.from_bytes(head[_FORMAT_AT], "big")) != FORMAT:
        what = f"this journal has the format {version}, but this program reads {FORMAT}"
        raise UserError(what, str(file), "use the newer sonnx-clip that wrote it, or another file")


# --- The progress of campaigns: `check --journal FILE --status` ---------------------------------------------


class TypeStatus(Stored):
    """One element type: the units with a result, and the units that are known to be needed."""

    type: str
    verdict: Verdict
    done: int
    units: int
    compared: int
    seconds: float


class CampaignStatus(Stored):
    """One campaign. `left` is the estimated seconds of judging left; None before the first result."""

    made: str
    operator: str
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
    made: str, plan: dict[str, Any], operator: Operator,
    results: Mapping[str, UnitResult], took: Mapping[str, float],
) -> CampaignStatus:  # fmt: skip
    named = {
        key: plan["campaign"][key] for key in ("runtime", "version", "level", "policy", "forms")
    }
    types = []
    for name in dict.fromkeys(etype for _, etype, _ in plan["units"]):
        digests = {part: digest for digest, etype, part in plan["units"] if etype == name}
        every = [Unit(CheckOptions("", of=operator), name, part) for part in digests]
        found = {part: results[digest] for part, digest in digests.items() if digest in results}
        wanted = needed(every, found)
        report = merged(operator.spec.element_type(name), every, found, operator)
        types.append(TypeStatus(
            type=name,
            verdict=report.verdict,
            done=sum(unit.part in found for unit in wanted),
            units=len(wanted),
            compared=report.compared + sum(form.compared for form in report.forms or ()),
            seconds=round(sum(took[digests[part]] for part in found), 3),
        ))  # fmt: skip
    done, units = sum(one.done for one in types), sum(one.units for one in types)
    seconds = sum(one.seconds for one in types)
    return CampaignStatus(
        made=made, operator=operator.name, **named, done=done, units=units, seconds=round(seconds, 1),
        types=tuple(types),
        left=round(seconds / done * (units - done), 1) if done else None,
    )  # fmt: skip
