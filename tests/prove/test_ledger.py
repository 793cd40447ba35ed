"""The ledger remembers an answer under everything that shaped it, and nothing else."""

import contextlib
import sqlite3
from dataclasses import replace

import pytest

from sonnx_clip.prove.ledger import Ledger, Listing
from sonnx_clip.prove.provers import Prover, ProverLimits, reply
from sonnx_clip.root.errors import UserError

Z3 = Prover("Z3", ("z3", "rlimit={resources}", "-T:{seconds}", "-memory:{megabytes}"), "4.8.12")
ANSWER = reply(Z3, "d", "valid", "unsat", 0.25, 1000)
LIMITS = ProverLimits(1000, 60)


@pytest.fixture
def ledger(tmp_path):
    with contextlib.closing(Ledger(tmp_path / "build" / "ledger.sqlite")) as opened:
        yield opened


def test_an_answer_survives_the_process(ledger):
    ledger.record(ANSWER, Z3, LIMITS)  # not closed: as if it were killed
    with contextlib.closing(Ledger(ledger.path)) as second:
        assert second.answer("d", Z3, LIMITS) == ANSWER


@pytest.mark.parametrize(
    ("task", "prover", "limits"),
    [
        ("e", Z3, LIMITS),
        ("d", replace(Z3, name="cvc5"), LIMITS),
        ("d", replace(Z3, version="4.8.13"), LIMITS),
        ("d", replace(Z3, digest="1"), LIMITS),
        ("d", replace(Z3, libraries="1"), LIMITS),
        ("d", replace(Z3, command=("z3", "sat.random_seed=1")), LIMITS),
        ("d", Z3, ProverLimits(1001, 60)),
        ("d", Z3, ProverLimits(1000, 61)),
        ("d", Z3, ProverLimits(1000, 60, 2000)),
    ],
)
def test_a_change_of_anything_is_another_question(task, prover, limits, ledger):
    ledger.record(ANSWER, Z3, LIMITS)
    assert ledger.answer(task, prover, limits) is None


def test_the_last_answer_counts_until_it_is_forgotten(ledger):
    ledger.record(ANSWER, Z3, LIMITS)
    last = reply(Z3, "d", "countermodel", "sat", 1.0, 1000)
    ledger.record(last, Z3, LIMITS)
    assert ledger.answer("d", Z3, LIMITS) == last
    ledger.forget("d", Z3, LIMITS)
    assert ledger.answer("d", Z3, LIMITS) is None


def test_listing_is_kept_by_source_and_prover(ledger):
    listing = Listing({("Meaning", "a"): "1"}, frozenset({("assertion", "total", "true")}))
    ledger.record_listing("s", "Z3", listing)
    assert ledger.listing("s", "Z3") == listing
    assert ledger.listing("s", "cvc5") is ledger.listing("t", "Z3") is None


def test_ledger_that_cannot_be_opened_is_one_message(tmp_path):
    (tmp_path / "build").write_text("a file")
    (tmp_path / "ledger.sqlite").mkdir()
    for path in (tmp_path / "build" / "ledger.sqlite", tmp_path / "ledger.sqlite"):
        with pytest.raises(UserError) as caught:
            Ledger(path)
        assert caught.value.todo


def _changed(path, statement):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(statement)


def _damaged_inside(path):
    """The head of the file is whole, the pages behind it are not."""
    with contextlib.closing(Ledger(path)) as ledger:
        ledger.record(ANSWER, Z3, LIMITS)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


BROKEN = {
    "another file": lambda path: path.write_bytes(b"no database at all " * 100),
    "another table": lambda path: _changed(path, "CREATE TABLE answers (task TEXT)"),
    "a newer version": lambda path: _changed(path, "PRAGMA user_version = 99"),
    "damaged inside": _damaged_inside,
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_ledger_gives_one_message(name, tmp_path):
    path = tmp_path / "ledger.sqlite"
    BROKEN[name](path)
    with pytest.raises(UserError, match="ledger") as caught:
        Ledger(path).answer("d", Z3, LIMITS)
    assert "remove the file and run again" in str(caught.value)
