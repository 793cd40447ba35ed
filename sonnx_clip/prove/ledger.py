"""The ledger: keeps each prover's answer under the digest of its task, so that no task is proved twice.

An answer is kept under the digest of the exact task text, the prover's name, version, digest, command and
limits. A change of any of these makes it a new question. Each answer is committed as it arrives: a run that
is killed goes on where it was.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from sonnx_clip.prove.provers import Prover, ProverAnswer, ProverLimits, ProverVerdict, follows
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sonnx_clip.prove.accounts import Said

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    task TEXT NOT NULL, prover TEXT NOT NULL, version TEXT NOT NULL, command TEXT NOT NULL,
    seconds INTEGER NOT NULL, megabytes INTEGER NOT NULL,
    verdict TEXT NOT NULL, words TEXT NOT NULL, cpu REAL NOT NULL,
    PRIMARY KEY (task, prover, version, command, seconds, megabytes)
) STRICT;
CREATE TABLE IF NOT EXISTS tasks (
    source TEXT NOT NULL, prover TEXT NOT NULL, theory TEXT NOT NULL, goal TEXT NOT NULL, task TEXT NOT NULL,
    PRIMARY KEY (source, prover, theory, goal)
) STRICT;
"""
_ACCOUNTS = """
CREATE TABLE IF NOT EXISTS accounts (
    source TEXT NOT NULL, prover TEXT NOT NULL, said TEXT NOT NULL, PRIMARY KEY (source, prover)
) STRICT;
"""
_FORM = 1  # of the tables; kept in the file
_OUTSIDE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
          sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)  # fmt: skip


@dataclass(frozen=True)
class TaskName:
    """One goal as Why3 printed it for one prover: the digest of its text stands for it."""

    theory: str
    goal: str
    digest: str


class Ledger:
    """The ledger in an SQLite file.

    Args:
        path: the file; made when it is missing.

    Raises:
        UserError: the file is no ledger, or is damaged, or cannot be written; from every method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._readable():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._open()

    def _open(self) -> None:
        form: int = self._db.execute("PRAGMA user_version").fetchone()[0]
        tables: int = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if form == 0 and tables == 0:
            self._db.executescript(f"BEGIN; {_SCHEMA} {_ACCOUNTS} PRAGMA user_version = {_FORM}; COMMIT;")
        elif form == _FORM:
            self._db.execute(_ACCOUNTS)  # a ledger from before there were accounts goes on
        else:
            raise sqlite3.DatabaseError(f"its tables have form {form}, not {_FORM}")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            if isinstance(error, OSError) or getattr(error, "sqlite_errorcode", None) in _OUTSIDE:
                todo = "check the folder, and whether another run uses the file"
                raise UserError(f"the ledger cannot be used: {error}", str(self.path), todo) from error
            todo = "remove the file and run again"
            raise UserError(f"this is no ledger: {error}", str(self.path), todo) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def answer(self, task: str, prover: Prover, limits: ProverLimits) -> ProverAnswer | None:
        """The answer that this prover gave about this task under these limits, if it was asked.

        A verdict that does not follow from the prover's last words is no answer.
        """
        with self._readable():
            row = self._db.execute(
                "SELECT verdict, words, cpu FROM answers WHERE task = ? AND prover = ? AND version = ?"
                " AND command = ? AND seconds = ? AND megabytes = ?",
                _key(task, prover, limits),
            ).fetchone()
        if row is None or row[0] not in get_args(ProverVerdict) or not follows(row[0], row[1]):
            return None  # what a prover did not say is asked again
        return ProverAnswer(*row)

    def record(self, task: str, prover: Prover, limits: ProverLimits, answer: ProverAnswer) -> None:
        """Keep an answer."""
        with self._readable():
            self._db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*_key(task, prover, limits), answer.verdict, answer.words, answer.cpu),
            )

    def tasks(self, source: str, prover: str) -> tuple[TaskName, ...]:
        """The tasks that Why3 printed from a source for a prover; empty when it was not asked."""
        with self._readable():
            rows = self._db.execute(
                "SELECT theory, goal, task FROM tasks WHERE source = ? AND prover = ?", (source, prover)
            ).fetchall()
        return tuple(TaskName(*row) for row in rows)

    def record_tasks(self, source: str, prover: str, tasks: Iterable[TaskName]) -> None:
        """Keep which tasks Why3 printed, all or none."""
        with self._readable(), self._db:
            self._db.execute("BEGIN")
            self._db.executemany(
                "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?)",
                [(source, prover, t.theory, t.goal, t.digest) for t in tasks],
            )

    def account(self, source: str, prover: str) -> frozenset[Said] | None:
        """What the tasks from a source say besides premises and goals, if all of it was accounted for."""
        with self._readable():
            query = "SELECT said FROM accounts WHERE source = ? AND prover = ?"
            row = self._db.execute(query, (source, prover)).fetchone()
            try:
                return (
                    frozenset((kind, name, text) for kind, name, text in json.loads(row[0])) if row else None
                )
            except (ValueError, TypeError) as error:
                raise sqlite3.DatabaseError("an account is damaged") from error

    def record_account(self, source: str, prover: str, said: Iterable[Said]) -> None:
        """Keep what the tasks from a source say: all of it is accounted for."""
        with self._readable():
            self._db.execute(
                "INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)", (source, prover, json.dumps(sorted(said)))
            )


def _key(task: str, prover: Prover, limits: ProverLimits) -> tuple[str, str, str, str, int, int]:
    version = f"{prover.version} {prover.digest}"  # a program that is replaced has given no answer yet
    return (task, prover.name, version, " ".join(prover.command), limits.seconds, limits.megabytes)
