"""The ledger: keeps each prover's answer under the digest of its task, so that no task is proved twice.

An answer is kept under the digest of the exact task text, the prover's name, version and digest, and the
command with its limits. A change of any of these makes it a new question. Each answer is committed as it
arrives: a run that is killed goes on where it was.

What Why3 printed of a theory file is kept under the digest of everything that Why3 read.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.prove.provers import Prover, ProverLimits, reply
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sonnx_clip.prove.accounts import Said
    from sonnx_clip.prove.outcome import Reply

Goal: TypeAlias = tuple[str, str]  # theory and goal

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    task TEXT NOT NULL, prover TEXT NOT NULL, version TEXT NOT NULL, command TEXT NOT NULL,
    verdict TEXT NOT NULL, words TEXT NOT NULL, cpu REAL NOT NULL,
    PRIMARY KEY (task, prover, version, command)
) STRICT;
CREATE TABLE IF NOT EXISTS printed (
    source TEXT NOT NULL, prover TEXT NOT NULL, tasks TEXT NOT NULL, said TEXT NOT NULL,
    PRIMARY KEY (source, prover)
) STRICT;
"""
_FORM = 2  # of the tables; kept in the file
_OUTSIDE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
          sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)  # fmt: skip


@dataclass(frozen=True)
class Listing:
    """What Why3 printed of a theory file for a prover.

    Args:
        tasks: the digest of each task.
        said: what the tasks say besides premises and goals; all of it was accounted for.
    """

    tasks: Mapping[Goal, str]
    said: frozenset[Said]


class Ledger:
    """The ledger in an SQLite file; threads may share it.

    Args:
        path: the file; made when it is missing.

    Raises:
        UserError: the file is no ledger, or is damaged, or cannot be written; from every method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        with self._readable():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=30
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            form: int = self._db.execute("PRAGMA user_version").fetchone()[0]
            tables: int = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if form != _FORM and (form, tables) != (0, 0):
                raise sqlite3.DatabaseError(f"its tables have form {form}, not {_FORM}")
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_FORM}; COMMIT;")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except (sqlite3.DatabaseError, OSError, ValueError, TypeError) as error:
            if isinstance(error, OSError) or getattr(error, "sqlite_errorcode", None) in _OUTSIDE:
                todo = "check the folder; another run may be using the file"
                raise UserError(
                    f"the ledger cannot be used: {error}", str(self.path), todo
                ) from error
            todo = "remove the file and run again"
            raise UserError(f"this file is not a ledger: {error}", str(self.path), todo) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def answer(self, task: str, prover: Prover, limits: ProverLimits) -> Reply | None:
        """The answer of a prover to exactly this task, or None."""
        with self._readable():
            row = self._db.execute(
                "SELECT verdict, words, cpu FROM answers WHERE task = ? AND prover = ? AND version = ?"
                " AND command = ?",
                _key(task, prover, limits),
            ).fetchone()
            if row is None:
                return None
            verdict, words, cpu = row
            return reply(prover, task, verdict, words, cpu, limits.resources)

    def record(self, answer: Reply, prover: Prover, limits: ProverLimits) -> None:
        """Keep an answer."""
        with self._readable():
            self._db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*_key(answer.task, prover, limits), answer.verdict, answer.words, answer.cpu),
            )

    def forget(self, task: str, prover: Prover, limits: ProverLimits) -> None:
        """Remove an answer: the prover now returns another, or none."""
        with self._readable():
            self._db.execute(
                "DELETE FROM answers WHERE task = ? AND prover = ? AND version = ? AND command = ?",
                _key(task, prover, limits),
            )

    def listing(self, source: str, prover: str) -> Listing | None:
        """What Why3 printed from a source for a prover, or None."""
        with self._readable():
            query = "SELECT tasks, said FROM printed WHERE source = ? AND prover = ?"
            row = self._db.execute(query, (source, prover)).fetchone()
            return _listing(*map(json.loads, row)) if row else None

    def record_listing(self, source: str, prover: str, listing: Listing) -> None:
        """Keep what Why3 printed."""
        tasks = json.dumps([(*goal, digest) for goal, digest in listing.tasks.items()])
        row = (source, prover, tasks, json.dumps(sorted(listing.said)))
        with self._readable():
            self._db.execute("INSERT OR REPLACE INTO printed VALUES (?, ?, ?, ?)", row)


def _listing(tasks: list[tuple[str, str, str]], said: list[Said]) -> Listing:
    return Listing(
        {(theory, goal): digest for theory, goal, digest in tasks},
        frozenset((kind, name, text) for kind, name, text in said),
    )


def _key(task: str, prover: Prover, limits: ProverLimits) -> tuple[str, str, str, str]:
    # A program or library that is replaced has given no answer yet.
    version = f"{prover.version} {prover.digest} {prover.libraries}"
    return (task, prover.name, version, " ".join(prover.within(limits)))
