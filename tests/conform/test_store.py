"""The store: stored results are used, what does not match is judged again, and the report is the same."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.conform import campaign
from sonnx_clip.conform import identity as identities
from sonnx_clip.conform.campaign import InterruptedCampaignError, run_campaign
from sonnx_clip.conform.identity import cache_identity, files_named, identity
from sonnx_clip.conform.judge import LocalJudge
from sonnx_clip.conform.operator import clip_operator, operator_named
from sonnx_clip.conform.unit_store import UnitStore
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.root import installed
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import Limits
from tests.command import run as command
from tests.conform.small_campaign import UNITS, make_small
from tests.other_root import use_root

if TYPE_CHECKING:
    from sonnx_clip.conform.check_report import Report

CLIP = clip_operator()
RIGHT, WRONG = "tests.meta.planted:right", "tests.meta.planted:ignores_upper"
DIES = "tests.meta.planted_deaths:segfaults_inverted"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch.setattr)


def asked(runtime: str, *types: str, **options) -> CheckOptions:
    options = {"level": "standard", "limits": Limits(call=0.2), "identity": "me", **options}
    return CheckOptions(runtime, types or ["int16"], of=clip_operator(), **options)


def run(
    runtime: str, file: Path | None, *types: str, warn=lambda _: None, is_cache=False, **options
) -> Report:
    store = None if file is None else UnitStore(file, "me", warn, is_cache=is_cache)
    outer = {
        name: options.pop(name)
        for name in ("jobs", "again", "judge", "on_progress")
        if name in options
    }
    try:
        return run_campaign(asked(runtime, *types, **options), store=store, **outer)
    finally:
        if store is not None:
            store.close()


def text(report: Report) -> str:
    """A report as it is written, but for the time that it took."""
    return report.model_copy(update={"seconds": 0}).model_dump_json(indent=1)


def rows(file: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(file)) as base:
        return base.execute("SELECT number, name FROM results ORDER BY number").fetchall()


def change(file: Path, statement: str) -> None:
    """Change a store, as nothing of ours does."""
    with closing(sqlite3.connect(file)) as base:
        assert base.execute(statement).rowcount
        base.commit()


class Watched(LocalJudge):
    """Judges as this machine does; remembers what."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[object] = []

    def judge(self, unit):
        self.seen.append(unit)
        return super().judge(unit)


NIGHTLY = ("planted_memory:is_wrong_in_call_3", "planted:refuses_inverted", "planted_deaths:hangs",
           "planted_deaths:dies_once_in_a_while", "planted_deaths:segfaults_inverted",
           "planted_forms:right")  # fmt: skip


@pytest.mark.parametrize(
    "runtime",
    [WRONG, *(pytest.param(f"tests.meta.{name}", marks=pytest.mark.nightly) for name in NIGHTLY)],
)
def test_report_is_the_same_with_and_without_a_store_and_after_any_part_of_it(
    runtime, tmp_path
) -> None:
    whole, part = tmp_path / "whole.sqlite", tmp_path / "part.sqlite"
    without = text(run(runtime, None, jobs=1))
    assert text(run(runtime, whole, jobs=3)) == without
    shutil.copy(whole, part)
    change(part, "DELETE FROM results WHERE number % 2 = (SELECT count(*) FROM results) % 2")
    assert len(rows(part)) < len(rows(whole))
    assert text(run(runtime, part, jobs=2)) == without
    judge = Watched()
    assert text(run(runtime, part, judge=judge)) == without
    assert judge.seen == []
    assert sorted({name for _, name in rows(part)}) == sorted({name for _, name in rows(whole)})


def test_higher_level_uses_what_a_lower_one_has_judged(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    run(RIGHT, file, level="quick")
    run(RIGHT, file, level="standard")
    assert [name for _, name in rows(file)].count("int16") == 1


@pytest.mark.parametrize(
    "options",
    [{"policy": "strict"}, {"limits": Limits(call=0.4)}, {"forms": "all"}, {"identity": "another"},
     {"few_calls": True}],
    ids=str,
)  # fmt: skip
def test_other_options_are_another_unit(options) -> None:
    (unit,) = asked(RIGHT, level="quick").every_unit
    (other,) = asked(RIGHT, level="quick", **options).every_unit
    assert unit.digest != other.digest


@pytest.fixture
def known(monkeypatch) -> None:
    """A cache is for known runtimes; here it holds verdicts on planted ones."""
    monkeypatch.setattr(campaign, "cache_identity", lambda *_: "me")


@pytest.mark.usefixtures("known")
def test_cached_verdict_is_used_and_marked_but_no_crash(tmp_path) -> None:
    file = tmp_path / "c.sqlite"
    first = run(WRONG, file, is_cache=True)
    judge = Watched()
    second = run(WRONG, file, "int16", "uint8", is_cache=True, judge=judge)
    assert {unit.etype for unit in judge.seen} == {"uint8"}
    assert (first.kept, set(second.kept)) == ({}, {"int16"})
    assert second.types[0] == first.types[0]
    again = Watched()
    assert run(WRONG, file, is_cache=True, again=True, judge=again).kept == {}
    assert len(again.seen) == 1 + UNITS
    assert set(run(WRONG, file, is_cache=True).kept) == {"int16"}
    for _ in range(2):
        assert run(DIES, file, is_cache=True, level="quick").kept == {}


def test_verdict_on_own_code_or_on_files_changed_meanwhile_is_not_cached(
    tmp_path, monkeypatch
) -> None:
    assert cache_identity(RIGHT, CLIP) is None
    monkeypatch.setattr(campaign, "cache_identity", lambda *_: "changed meanwhile")
    run(WRONG, tmp_path / "c.sqlite", is_cache=True)
    assert rows(tmp_path / "c.sqlite") == []


def _changed_data(changed: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    for path in ("spec/clip.yaml", ORACLE_FILE):
        copy = folder / "root" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(repo_file(path).read_bytes() + (b"\n" if path == changed else b""))
    use_root(folder / "root", patch)


CHANGES = {
    "oracle": lambda folder, patch: _changed_data(ORACLE_FILE, folder, patch),
    "processor": lambda _, patch: patch.setattr(identities, "processor", lambda: "another"),
    "system": lambda _, patch: patch.setattr(identities.platform, "platform", lambda: "Linux-0.1"),
    "Python": lambda _, patch: patch.setattr(identities.sys, "version", "3.99.0"),
    "environment": lambda _, patch: patch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2"),
    "library": lambda _, patch: patch.setattr(identities, "_library", lambda _: "built anew"),
    "packages": lambda _, patch: patch.setattr(
        identities, "distribution", lambda name: f"{name} 9.9 x"
    ),
    "a package is gone": lambda _, patch: patch.setattr(identities, "distribution", lambda _: None),
    "checker": lambda _, patch: patch.setattr(identities, "our_code", lambda: "edited"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_identity_changes_with_everything_it_depends_on(what, monkeypatch, tmp_path) -> None:
    before = cache_identity("numpy", CLIP)
    assert cache_identity("numpy", CLIP) == before
    CHANGES[what](tmp_path, monkeypatch)
    assert cache_identity("numpy", CLIP) != before


def test_identity_has_the_specification(tmp_path) -> None:
    file = repo_file("spec/relu.yaml")
    changed = tmp_path / "relu.yaml"
    changed.write_text(f"{file.read_text(encoding='utf-8')}# changed\n", encoding="utf-8")
    operators = [CLIP, *map(operator_named, ("relu", "neg", str(changed)))]
    assert len({cache_identity("onnxruntime", operator) for operator in operators}) == 4


def test_identity_of_own_code_has_version_and_files(tmp_path, monkeypatch) -> None:
    found = {
        identity(RIGHT, "1", CLIP),
        identity(RIGHT, "2", CLIP),
        identity("tests.meta.planted_forms:right", "1", CLIP),
    }
    assert len(found) == 3
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
    before = identity("./mine.py:clip", "1", CLIP)
    (tmp_path / "mine.py").write_text("clip = 2\n")
    assert identity("./mine.py:clip", "1", CLIP) != before


def test_edits_of_our_code_and_of_a_package_are_seen(tmp_path, monkeypatch) -> None:
    record = tmp_path / "numpy-1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    (record.parent / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    record.write_text("code.py,sha256=x,8\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(installed, "package", lambda: tmp_path)
    ours, packages = set(), set()
    installed._own_files.cache_clear()
    for content in ("x = 1.0\n", "x = 2.00\n"):
        (tmp_path / "code.py").write_text(content)
        ours.add(installed.our_code())
        packages.add(installed.distribution("numpy"))
    installed._own_files.cache_clear()
    assert (len(ours), len(packages)) == (2, 2)


def test_flags_of_the_processor_count(tmp_path: Path) -> None:
    found = []
    for flags, frequency in (("fpu avx2", 1), ("fpu avx2", 2), ("fpu", 1)):
        (tmp_path / "cpuinfo").write_text(
            f"processor : 0\nflags : {flags}\ncpu MHz : {frequency}\n"
        )
        found.append(installed.processor(tmp_path / "cpuinfo"))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    "damage",
    [
        "value = replace(value, '\"violating\":', '\"violating\":1')",
        "value = x'00'",
        "key = (SELECT key FROM results WHERE number = 2)",
    ],
)
def test_damaged_row_is_reported_and_judged_again(damage, tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    whole = text(run(WRONG, file))
    count = len(rows(file))
    change(file, f"UPDATE results SET {damage} WHERE number = 3")
    warnings: list[str] = []
    assert text(run(WRONG, file, warn=warnings.append)) == whole
    assert len(rows(file)) == count + 1
    assert any("is damaged (row 3); it is computed again" in words for words in warnings)
    assert text(run(WRONG, file)) == whole
    assert len(rows(file)) == count + 1


def test_environment_verdict_is_not_stored(tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    report = run("tests.meta.planted_environment:runs_out_of_memory", file)
    assert report.types[0].verdict == "environment"
    assert rows(file) == []


def test_interrupt_leaves_what_was_judged(tmp_path) -> None:
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
    assert "violates" in {one.verdict for one in report.types}  # what was found stays found
    assert (report.failed, report.scope) == (True, ())
    before = len(rows(file))
    assert 2 <= before < 2 * (1 + UNITS)
    judge = Watched()
    assert text(run(WRONG, file, "int16", "uint8", judge=judge)) == whole
    assert len(judge.seen) == 2 * (1 + UNITS) - before


def _newer(file: Path) -> None:
    UnitStore(file).close()
    with closing(sqlite3.connect(file)) as base:
        base.execute("PRAGMA user_version = 99")


def _cut(file: Path) -> None:
    UnitStore(file).close()
    file.write_bytes(file.read_bytes()[:5000])


KINDS = {
    "this file is not a journal": lambda file: file.write_text("my thesis\n"),
    "this journal has the format 99, but this program reads 2": _newer,
    "the journal cannot be used: ": _cut,
    "this is a symbolic link": lambda file: file.symlink_to("elsewhere"),
}


@pytest.mark.parametrize("words", KINDS)
def test_other_file_is_refused_and_unchanged(words, tmp_path) -> None:
    file = tmp_path / "j.sqlite"
    UnitStore(tmp_path / "elsewhere").close()
    KINDS[words](file)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(UserError) as refused:
        UnitStore(file)
    assert refused.value.what.startswith(words)
    assert str(file) == refused.value.where
    assert refused.value.todo
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_empty_file_and_odd_names_become_stores(tmp_path) -> None:
    with pytest.raises(UserError, match="this is a device"):
        UnitStore(Path("/dev/null"))
    file = tmp_path / "a?mode=ro#b%20.sqlite"
    file.touch()
    UnitStore(file).close()
    UnitStore(file).close()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_file_that_is_no_journal_is_refused_by_the_command(tmp_path) -> None:
    other = tmp_path / "report.json"
    other.write_text("{}")
    refused = command("check", "--runtime", "sonnx", "--journal", str(other), cwd=tmp_path)
    assert (refused.returncode, refused.stdout, other.read_text()) == (2, "", "{}")
    assert refused.stderr.startswith("error: ")


def test_store_killed_while_writing_can_be_read(tmp_path) -> None:
    """A copy in the middle of a transaction is what a kill there leaves: SQLite calls its journal hot."""
    file, left = tmp_path / "j.sqlite", tmp_path / "left.sqlite"
    run(WRONG, file, level="quick")
    with closing(sqlite3.connect(file, isolation_level=None)) as base:
        base.execute("PRAGMA cache_size = 1")  # what is changed is written before the end
        base.execute("BEGIN IMMEDIATE")
        base.execute("CREATE TABLE more (words TEXT)")
        base.executemany("INSERT INTO more VALUES (?)", [("x" * 4000,)] * 100)
        for end in ("", "-journal"):
            shutil.copy(f"{file}{end}", f"{left}{end}")
    judge = Watched()
    run(WRONG, left, level="quick", judge=judge)
    assert judge.seen == []
    assert not Path(f"{left}-journal").exists()
