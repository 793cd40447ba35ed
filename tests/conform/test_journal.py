"""A journal: what it holds is taken, what does not fit is judged again, and the report is the same one."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.conform import campaign, units
from sonnx_clip.conform.campaign import InterruptedCampaignError, LocalJudge, run_campaign
from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.identity import CHECKER, files_named, identity
from sonnx_clip.conform.journal import APPLICATION, UnitJournal
from sonnx_clip.conform.journal_status import journal_status
from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.limits import Limits
from tests.conform.small_campaign import SMALL, UNITS
from tests.other_root import use_root

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.conform.check_report import Report

RIGHT, WRONG = "tests.meta.planted:right", "tests.meta.planted:ignores_upper"
SHORT = Limits(call=0.2)


def run(
    runtime: str, file: Path | None, *types: str, warn=lambda _: None, who: str = "me", **options
) -> Report:
    book = None if file is None else UnitJournal(file, who, warn)
    options = {"level": "standard", "limits": SHORT, "calls": SMALL, **options}
    try:
        return run_campaign(runtime, types or ["int16"], journal=book, **options)
    finally:
        if book is not None:
            book.close()


def text(report: Report) -> str:
    """A report as it is written, but for the time that it took."""
    return report.model_copy(update={"seconds": 0}).model_dump_json(indent=1)


def rows(file: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(file)) as base:
        return base.execute("SELECT number, name FROM units ORDER BY number").fetchall()


def change(file: Path, statement: str, *values: object) -> None:
    """Change a journal, as nothing of ours does."""
    with closing(sqlite3.connect(file)) as base:
        for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            base.execute(f"DROP TRIGGER {name}")
        assert base.execute(statement, values).rowcount
        base.commit()


RUNTIMES = (
    WRONG,
    "tests.meta.planted_deaths:segfaults_inverted",
    *(
        pytest.param(runtime, marks=pytest.mark.nightly)
        for runtime in (
            RIGHT,
            "tests.meta.planted_memory:is_wrong_in_call_3",
            "tests.meta.planted:refuses_inverted",
            "tests.meta.planted:refuses_everything",
            "tests.meta.planted_deaths:hangs",
            "tests.meta.planted_deaths:dies_once_in_a_while",
            "tests.meta.planted_forms:right",
        )
    ),
)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_report_is_the_same_with_and_without_a_journal_and_after_any_part_of_it(
    runtime, tmp_path
) -> None:
    whole, part = tmp_path / "whole.sqlite", tmp_path / "part.sqlite"
    without = text(run(runtime, None, jobs=1))
    assert text(run(runtime, whole, jobs=3)) == without
    shutil.copy(whole, part)
    change(part, "DELETE FROM units WHERE number % 2 = (SELECT count(*) FROM units) % 2")
    assert len(rows(part)) < len(rows(whole))
    assert text(run(runtime, part, jobs=2)) == without
    assert text(run(runtime, part, jobs=1)) == without
    assert sorted({name for _, name in rows(part)}) == sorted({name for _, name in rows(whole)})


class Watched(LocalJudge):
    """Judges as this machine does; remembers what."""

    def __init__(self) -> None:
        super().__init__(1, clip_operator(), SMALL)
        self.seen: list[object] = []

    def judge(self, unit):
        self.seen.append(unit)
        return super().judge(unit)


def test_stored_unit_is_not_judged_again(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    run(RIGHT, file, "int16", "float32")
    before = rows(file)
    assert len(before) == 2 * (1 + UNITS)
    judges = Watched()
    run(RIGHT, file, "float32", "int16", judges=judges)
    assert judges.seen == []
    assert rows(file) == before


def test_a_higher_level_takes_what_a_lower_one_has_judged(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    run(RIGHT, file, level="quick")
    run(RIGHT, file, level="standard")
    assert [name for _, name in rows(file)].count("int16") == 1


@pytest.mark.parametrize(
    "options",
    [{"policy": "strict"}, {"limits": Limits(call=0.4)}, {"forms": "all"}, {"who": "another"}],
    ids=str,
)
def test_another_question_is_another_unit(options, tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    run(RIGHT, file, level="quick")
    run(RIGHT, file, level="quick", **options)
    assert [name for _, name in rows(file)] == ["int16", "int16"]


def test_a_unit_says_all_that_is_needed(tmp_path) -> None:
    asked = campaign.CheckOptions(RIGHT, "me", "default", SHORT, "default", "standard")
    (etype,) = campaign.machine_types(["int16"])
    for unit in campaign.units_of(etype, asked, SMALL):
        again = pickle.loads(pickle.dumps(unit))
        assert (again, again.digest) == (unit, unit.digest)


# --------------------------------------------------------------- what a result depends on


def _changed_data(changed: str, folder: Path, patch: pytest.MonkeyPatch) -> str:
    """The identity where a file of the repository has another line."""
    for path in ("spec/clip.yaml", ORACLE_FILE):
        copy = folder / "root" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(repo_file(path).read_bytes() + (b"\n" if path == changed else b""))
    with patch.context() as inner:
        use_root(folder / "root", inner)
        return identity(RIGHT, "1")


def _the_same(folder: Path, patch: pytest.MonkeyPatch) -> str:
    return _changed_data("", folder, patch)


def _another_specification(folder: Path, patch: pytest.MonkeyPatch) -> str:
    return _changed_data("spec/clip.yaml", folder, patch)


def _another_oracle(folder: Path, patch: pytest.MonkeyPatch) -> str:
    return _changed_data(ORACLE_FILE, folder, patch)


def _another_checker(*_: object) -> str:
    return identity(RIGHT, "1", [CHECKER, "sonnx_clip.pytest_plugin"])


def _another_version(*_: object) -> str:
    return identity(RIGHT, "2")


def _another_processor(folder: Path, _: object) -> str:
    (folder / "cpuinfo").write_text("model name : another\n")
    return identity(RIGHT, "1", cpuinfo=folder / "cpuinfo")


def _another_file(*_: object) -> str:
    return identity("tests.meta.planted_forms:right", "1")


CHANGES = (
    _another_specification, _another_oracle, _another_checker, _another_version, _another_processor,
    _another_file,
)  # fmt: skip


def judged_again(change_, patch: pytest.MonkeyPatch, folder: Path) -> bool:
    """Whether what is in a journal is judged again after a change."""
    file = folder / "j.sqlite"
    run(RIGHT, file, level="quick", who=identity(RIGHT, "1"))
    run(RIGHT, file, level="quick", who=change_(folder, patch))
    return len(rows(file)) == 2


@pytest.mark.parametrize("change_", CHANGES)
def test_after_a_change_of_what_it_depends_on_a_unit_is_judged_again(change_, monkeypatch, tmp_path) -> None:
    assert judged_again(change_, monkeypatch, tmp_path)


def test_where_nothing_has_changed_nothing_is_judged_again(monkeypatch, tmp_path) -> None:
    assert not judged_again(_the_same, monkeypatch, tmp_path)


@pytest.mark.parametrize("change_", [_another_specification, _another_version])
def test_a_journal_that_ignores_what_has_changed_is_caught(change_, monkeypatch, tmp_path) -> None:
    kept = [f for f in units.fields(units.Unit) if f.name != "identity"]
    monkeypatch.setattr(units, "fields", lambda _: kept)
    assert not judged_again(change_, monkeypatch, tmp_path)


def test_the_files_that_a_runtime_names_count(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("clip = 1\n")
    (tmp_path / "run").write_text("x")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, files in (
        ("./mine.py:clip", ["mine.py"]),
        ("onnx:./mine.py:clip", ["mine.py"]),
        ("mine:clip", ["mine.py"]),
        ("exec:./run ./mine.py", ["run", "mine.py"]),
        ("onnx-cmd:./run {model} {in} {out}", ["run"]),
        ("so[run]:./mine.py", ["run", "mine.py"]),
    ):
        assert [file.name for file in files_named(name)] == files, name
    before = identity("./mine.py:clip", "1")
    (tmp_path / "mine.py").write_text("clip = 2\n")
    assert identity("./mine.py:clip", "1") != before


# --------------------------------------------------------------- damage


@pytest.mark.parametrize(
    "damage",
    [
        "result = replace(result, '\"violating\":', '\"violating\":1')",
        "result = '{}', result_digest = 'x'",
        "result = NULL",
        "result_digest = ''",
        "result = x'00'",
        "digest = (SELECT digest FROM units WHERE number = 2)",
    ],
)
def test_damaged_row_is_reported_and_judged_again(damage, tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    whole = text(run(WRONG, file))
    count = len(rows(file))
    if "NULL" in damage:
        with closing(sqlite3.connect(file)) as base:
            base.executescript(
                "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql ="
                " replace(sql, 'result TEXT NOT NULL', 'result TEXT') WHERE name = 'units';"
            )
    change(file, f"UPDATE units SET {damage} WHERE number = 3")
    with closing(UnitJournal(file, create=False)) as book:
        assert journal_status(book).damaged == 1
    told: list[str] = []
    assert text(run(WRONG, file, warn=told.append)) == whole
    assert len(rows(file)) == count + 1
    if not damage.startswith("digest"):  # then it is a row of another unit, which has a right one
        assert len(told) == 1
        assert "is damaged (row 3); it is judged again" in told[0]
    assert text(run(WRONG, file)) == whole
    assert len(rows(file)) == count + 1


def test_rows_are_only_added(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    run(RIGHT, file, level="quick")
    with closing(sqlite3.connect(file)) as base:
        for statement in ("UPDATE units SET name = ''", "DELETE FROM units"):
            with pytest.raises(sqlite3.IntegrityError, match="rows are only added"):
                base.execute(statement)


def test_environment_verdict_is_not_kept(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    report = run("tests.meta.planted_environment:runs_out_of_memory", file)
    assert report.types[0].verdict == "environment"
    assert rows(file) == []


def test_an_interrupt_leaves_what_was_judged(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    whole = text(run(WRONG, tmp_path / "other.sqlite", "int16", "uint8"))

    def show(done: int, _: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedCampaignError) as interrupted:
        run(WRONG, file, "int16", "uint8", on_progress=show)
    report = interrupted.value.report
    assert set(report.unfinished) == {"int16", "uint8"}
    assert not {"conforms", "acceptable"} & {c.verdict for one in report.types for c in one.classes}
    assert {one.verdict for one in report.types} == {"violates"}  # what was found stays found
    assert report.failed
    assert report.scope == ()
    before = len(rows(file))
    assert 2 <= before < 2 * (1 + UNITS)
    judges = Watched()
    assert text(run(WRONG, file, "int16", "uint8", judges=judges)) == whole
    assert len(judges.seen) == 2 * (1 + UNITS) - before


def test_of_a_right_runtime_an_interrupt_leaves_no_verdict(monkeypatch) -> None:
    def show(done: int, _: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(InterruptedCampaignError) as interrupted:
        run(RIGHT, None, "int16", "uint8", on_progress=show)
    report = interrupted.value.report
    assert {c.verdict for one in report.types for c in one.classes} == {"unfinished"}
    assert all("before it was interrupted" in words for words in report.unfinished.values())


def test_a_campaign_of_another_operator_is_one_message(tmp_path, monkeypatch) -> None:
    another = CheckedOperator(SimpleNamespace(operator="Relu"), None)
    with pytest.raises(UserError, match="a campaign is of Clip, and not of Relu"):
        run(RIGHT, tmp_path / "j.sqlite", level="quick", of=another)


# --------------------------------------------------------------- files that are no journal


def _text(file: Path) -> None:
    file.write_text("my thesis\n")


def _database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as base:
        base.execute("CREATE TABLE units (digest TEXT)")
        base.commit()


def _newer(file: Path) -> None:
    UnitJournal(file).close()
    with closing(sqlite3.connect(file)) as base:
        base.execute("PRAGMA user_version = 2")


def _cut(file: Path) -> None:
    UnitJournal(file).close()
    file.write_bytes(file.read_bytes()[:5000])


def _fifo(file: Path) -> None:
    os.mkfifo(file)


def _link(file: Path) -> None:
    UnitJournal(file.with_name("other.sqlite")).close()
    file.symlink_to("other.sqlite")


KINDS = {
    _text: "this is no journal but another file",
    _database: "this is a database of another program",
    _newer: "this journal has the format 2, and this program knows 1",
    _cut: "the journal cannot be used: ",
    _fifo: "this is a FIFO",
    _link: "this is a symbolic link",
    lambda file: file.mkdir(): "this is a folder",
}


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("create", [True, False])
def test_other_file_is_refused_as_journal_and_unchanged(make, create, tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    make(file)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(UserError) as told:
        UnitJournal(file, create=create)
    assert told.value.what.startswith(KINDS[make])
    assert str(file) == told.value.where
    assert told.value.todo
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_journal_that_cannot_be_written_is_one_message(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    UnitJournal(file).close()
    file.chmod(0o400)
    with pytest.raises(UserError, match="the journal cannot be used"):
        UnitJournal(file)
    with closing(UnitJournal(file, create=False)) as book:
        assert journal_status(book).results == 0


def test_a_journal_on_a_device_is_one_message() -> None:
    from pathlib import Path

    with pytest.raises(UserError, match="this is a device"):
        UnitJournal(Path("/dev/null"))


def test_a_file_of_which_nothing_was_written_becomes_a_journal(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    file.touch()
    UnitJournal(file).close()
    with closing(sqlite3.connect(file)) as base:
        assert base.execute("PRAGMA application_id").fetchone() == (APPLICATION,)


def test_a_name_with_signs_of_an_address_is_a_name(tmp_path) -> None:
    file = tmp_path / "a?mode=ro#b%20.sqlite"
    UnitJournal(file).close()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


# --------------------------------------------------------------- what is said of it


def test_the_status_says_what_is_done_and_what_is_not(tmp_path, monkeypatch) -> None:
    file = tmp_path / "j.sqlite"
    asked = campaign.CheckOptions(WRONG, "me", "default", SHORT, "default", "standard")
    types = campaign.machine_types(["int16", "uint8"])
    every = [unit for etype in types for unit in campaign.units_of(etype, asked, SMALL)]
    named = {"runtime": WRONG, "version": "planted", "level": "standard", "policy": "default",
             "forms": "default", "types": ["int16", "uint8"]}  # fmt: skip
    with closing(UnitJournal(file, "me")) as book:
        for _ in range(2):
            book.plan(named, every)
    run(WRONG, file, "int16")
    with closing(UnitJournal(file, create=False)) as book:
        found = journal_status(book)
    (one,) = found.campaigns
    assert (one.done, one.units) == (1 + UNITS, 2 * (1 + UNITS))
    assert [(t.type, t.verdict, t.done) for t in one.types] == [
        ("int16", "violates", 1 + UNITS), ("uint8", "unfinished", 0)]  # fmt: skip
    assert one.left is not None
    assert one.left > 0


def test_a_type_that_ends_early_needs_no_more_units(tmp_path) -> None:
    file, runtime = tmp_path / "j.sqlite", "tests.meta.planted_deaths:aborts"
    asked = campaign.CheckOptions(runtime, "me", "default", SHORT, "default", "standard")
    (etype,) = campaign.machine_types(["int16"])
    with closing(UnitJournal(file, "me")) as book:
        book.plan(
            {"runtime": runtime, "version": "", "level": "", "policy": "", "forms": ""},
            campaign.units_of(etype, asked, SMALL),
        )
    run(runtime, file)
    with closing(UnitJournal(file, create=False)) as book:
        (one,) = journal_status(book).campaigns
    assert (one.done, one.units, one.types[0].verdict) == (1, 1, "crashed")
    assert json.loads(one.model_dump_json())["left"] == 0
