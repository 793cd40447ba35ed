"""Kept verdicts: one that is stale, damaged, edited or of another machine is never believed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.conform import campaign, conditions
from sonnx_clip.conform import dialect_runs as dialect_run
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.check_report import ClassReport, FormReport, TypeReport
from sonnx_clip.conform.dialect_report import DialectReport
from sonnx_clip.root import installed as installed_here
from sonnx_clip.root.installed import files_behind
from sonnx_clip.runtimes.limits import Limits
from sonnx_clip.runtimes.runtime import RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

VERSION = "numpy as judged"
PLANTED = "tests.meta.planted:right"


def a_report(etype: str, verdict: str = "violates") -> TypeReport:
    found = ClassReport(id="low_tie", case="low", verdict=verdict, compared=7, violating=3)
    return TypeReport(type=etype, verdict=verdict, compared=7, classes=(found,))


class Judge:
    """Stands for a real judgement, which takes seconds; remembers what was judged."""

    def __init__(self) -> None:
        self.judged: list[str] = []
        self.verdict = "violates"
        self.meanwhile: Callable[[], None] = lambda: None

    def __call__(self, etype: object) -> tuple[str, TypeReport]:
        self.judged.append(etype.id)
        self.meanwhile()
        return VERSION, a_report(etype.id, self.verdict)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    found = Judge()
    monkeypatch.setattr(campaign._Work, "judge", lambda _work, etype: found(etype))
    return found


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """NumPy as it could be installed, of one file: every verdict depends on it."""
    site = tmp_path / "site"
    record = site / "numpy-1.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    (record.parent / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    record.write_text("installed_file.py,sha256=x,8\nnumpy-1.0.dist-info/RECORD,,\n")
    (site / "installed_file.py").write_text("x = 1.0\n")
    monkeypatch.syspath_prepend(str(site))
    installed_here._files_of.cache_clear()
    yield site
    installed_here._files_of.cache_clear()


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of which the checker consists, as far as the conditions can see, and a specification."""
    package = tmp_path / "sonnx_clip"
    (package / "conform").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "conform" / "__init__.py").write_text("")
    (package / "conform" / "campaign.py").write_text("def f():\n    from sonnx_clip.deep import limit\n")
    (package / "deep.py").write_text("limit = 1\n")
    (package / "unused.py").write_text("")
    files = files_behind(["sonnx_clip.conform.campaign"], package)
    monkeypatch.setattr(conditions, "_files_behind", lambda _modules: files)
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "clip.yaml").write_text("a: 1\n")
    monkeypatch.setattr(conditions, "repo_file", lambda path: tmp_path / path)
    return tmp_path


def run(folder: Path, *types: str, **options: object):
    return run_campaign("numpy", types or ("int8", "float32"), kept=folder, **options)


def test_verdict_is_cached_and_marked_as_cached(judge: Judge, tmp_path: Path) -> None:
    first = run(tmp_path)
    assert judge.judged == ["int8", "float32"]
    assert first.kept == {}
    second = run(tmp_path)
    assert judge.judged == ["int8", "float32"]
    assert second.types == first.types
    assert second.runtime_version == first.runtime_version == VERSION
    assert set(second.kept) == {"int8", "float32"}
    third = run(tmp_path, "int8", "uint8")
    assert judge.judged == ["int8", "float32", "uint8"]
    assert set(third.kept) == {"int8"}


def test_again_judges_again(judge: Judge, tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, again=True).kept == {}
    assert len(judge.judged) == 4


def test_without_a_folder_nothing_is_kept(judge: Judge, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        run_campaign("numpy", ["int8"])
    assert len(judge.judged) == 2
    assert not list(tmp_path.iterdir())


# What changes between two runs; each makes all verdicts new.
def _another_version(installed: Path, _sources: Path, _patch: pytest.MonkeyPatch) -> None:
    folder = installed / "numpy-1.0.dist-info"
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.1\n")
    folder.rename(installed / "numpy-1.1.dist-info")


def _another_build(installed: Path, _sources: Path, _patch: pytest.MonkeyPatch) -> None:
    record = installed / "numpy-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text().replace("sha256=x", "sha256=y"))


def _edited_where_it_is_installed(installed: Path, _sources: Path, _patch: pytest.MonkeyPatch) -> None:
    (installed / "installed_file.py").write_text("x = 2.0\n")


def _gone(installed: Path, _sources: Path, _patch: pytest.MonkeyPatch) -> None:
    (installed / "installed_file.py").unlink()


def _another_checker(_installed: Path, sources: Path, _patch: pytest.MonkeyPatch) -> None:
    (sources / "sonnx_clip" / "deep.py").write_text("limit = 2\n")


def _another_specification(_installed: Path, sources: Path, _patch: pytest.MonkeyPatch) -> None:
    (sources / "spec" / "clip.yaml").write_text("a: 2\n")


def _another_processor(_installed: Path, sources: Path, patch: pytest.MonkeyPatch) -> None:
    (sources / "cpuinfo").write_text("model name : other\nflags : fpu sse\n")
    other = installed_here.processor(sources / "cpuinfo")
    patch.setattr(conditions, "processor", lambda *_: other)


def _another_system(_installed: Path, _sources: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(conditions.platform, "platform", lambda: "Linux-0.1")


def _another_python(_installed: Path, _sources: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(conditions.sys, "version", "3.99.0 (main, Jan  1 2030, 00:00:00) [GCC 1.0]")


def _another_environment(_installed: Path, _sources: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2")


def _another_library(_installed: Path, _sources: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(conditions, "_library", lambda _runtime: "built anew")


CHANGES = (
    _another_library,
    _another_version, _another_build, _edited_where_it_is_installed, _gone, _another_checker,
    _another_specification, _another_processor, _another_system, _another_python, _another_environment,
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_stale_verdict_is_not_believed(
    change, judge: Judge, installed: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sources / "kept"
    run(folder)
    assert set(run(folder).kept) == {"int8", "float32"}
    change(installed, sources, monkeypatch)
    installed_here._files_of.cache_clear()  # another process has not read it
    assert run(folder).kept == {}
    assert len(judge.judged) == 4


@pytest.mark.parametrize("options", [{"policy": "strict"}, {"limits": Limits(call=7.0)}, {"forms": "all"}])
def test_other_options_are_another_question(options, judge: Judge, tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, **options).kept == {}
    assert len(judge.judged) == 4


def test_a_flag_of_the_processor_counts(tmp_path: Path) -> None:
    said = "processor : 0\nmodel name : P\nflags : fpu avx2\ncpu MHz : 1\n"
    (tmp_path / "a").write_text(said)
    (tmp_path / "b").write_text(said.replace(" avx2", ""))
    (tmp_path / "c").write_text(said.replace("MHz : 1", "MHz : 2"))
    a, b, c = (installed_here.processor(tmp_path / name) for name in "abc")
    assert a != b
    assert a == c


def test_change_of_a_module_of_the_checker_invalidates_verdicts(sources: Path) -> None:
    files = files_behind(["sonnx_clip.conform.campaign"], sources / "sonnx_clip")
    names = [file.relative_to(sources / "sonnx_clip").as_posix() for file in files]
    assert names == ["__init__.py", "conform/__init__.py", "conform/campaign.py", "deep.py"]


def test_the_real_checker_is_among_its_conditions() -> None:
    names = {file.name for file in files_behind([campaign.__name__, RUNTIMES["onnxruntime"]])}
    assert {"campaign.py", "compare.py", "tally.py", "worker.py", "supervisor.py", "calls.py",
            "chosen_triples.py", "clip_model.py", "model_forms.py", "judge_forms.py", "describe.py",
            "onnxruntime.py", "verdicts.py", "load.py"} <= names  # fmt: skip
    names = {file.name for file in files_behind([dialect_run.__name__])}
    assert {"dialect_forms.py", "dialect_report.py", "model_process.py", "dialect.py"} <= names


# What somebody does to the file of a verdict.
DAMAGE = {
    "its verdict is edited": lambda text: text.replace("violates", "conforms"),
    "a count is edited": lambda text: text.replace('"violating":3', '"violating":0'),
    "its time is edited": lambda text: text.replace("20", "19", 1) if '"made": "20' not in text
    else text.replace('"made": "20', '"made": "19'),
    "its end is cut off": lambda text: text[:-20],
    "its head is gone": lambda text: text.partition("\n")[2],
    "it is empty": lambda _text: "",
    "it is something else": lambda _text: "\x00 no verdict",
    "its head is no object": lambda text: "[1]\n" + text.partition("\n")[2],
    "its head lacks the digest": lambda text: json.dumps(
        {k: v for k, v in json.loads(text.partition("\n")[0]).items() if k != "digest"}
    ) + "\n" + text.partition("\n")[2],
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_verdict_is_not_believed(name: str, judge: Judge, tmp_path: Path) -> None:
    run(tmp_path, "int8")
    (file,) = tmp_path.iterdir()
    before = file.read_text()
    file.write_text(DAMAGE[name](before))
    assert file.read_text() != before
    report = run(tmp_path, "int8")
    assert report.kept == {}
    assert judge.judged == ["int8", "int8"]
    assert report.types == (a_report("int8"),)
    assert set(run(tmp_path, "int8").kept) == {"int8"}  # it was written anew


def test_the_verdict_on_another_type_is_not_taken(judge: Judge, tmp_path: Path) -> None:
    run(tmp_path)
    int8, float32 = (tmp_path / f"check-numpy-{etype}-default.txt" for etype in ("int8", "float32"))
    float32.write_text(int8.read_text())
    report = run(tmp_path)
    assert set(report.kept) == {"int8"}
    assert [found.type for found in report.types] == ["int8", "float32"]


@pytest.mark.parametrize("verdict", ["crashed", "unreached", "environment"])
def test_interrupted_verdict_is_not_cached(verdict: str, judge: Judge, tmp_path: Path) -> None:
    judge.verdict = verdict
    for _ in range(2):
        assert run(tmp_path).kept == {}
    assert len(judge.judged) == 4


def test_verdict_interrupted_in_a_form_is_not_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    form = FormReport(
        bounds="inputs", shape="static", rank=1, opset=13, optimised=True,
        verdict="crashed", compared=7, calls=1,
    )  # fmt: skip
    whole = a_report("int8")
    for forms, kept in (((form,), {}), ((form.model_copy(update={"verdict": "violates"}),), {"int8"})):
        found = whole.model_copy(update={"forms": forms})
        monkeypatch.setattr(campaign._Work, "judge", lambda *_, found=found: (VERSION, found))
        run(tmp_path, "int8")
        assert set(run(tmp_path, "int8").kept) == set(kept)


def test_verdict_on_files_changed_meanwhile_is_not_cached(judge: Judge, sources: Path) -> None:
    judge.meanwhile = lambda: _another_checker(sources, sources, None)
    run(sources / "kept", "int8")
    judge.meanwhile = lambda: None
    assert run(sources / "kept", "int8").kept == {}


def test_code_of_ones_own_is_judged_each_time(judge: Judge, tmp_path: Path) -> None:
    for _ in range(2):
        assert run_campaign(PLANTED, ["int8"], kept=tmp_path).kept == {}
    assert len(judge.judged) == 2


# ---------------------------------------------------------------------- records of the dialects


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands for a real comparison; lists the runtimes that were compared."""
    found: list[str] = []

    def compare(runtime: str, *_: object, **__: object) -> DialectReport:
        found.append(runtime)
        return DialectReport(
            tool="t", spec_sha256="s", oracle_sha256="o", runtime=runtime, runtime_version="v", onnx="1",
            python="3", numpy="2", machine="m", complete=True, seconds=1.0, cells=(),
        )  # fmt: skip

    monkeypatch.setattr(dialect_run, "compare_dialects", compare)
    return found


def dialect_record(
    folder: Path, runtime: str = "onnxruntime", *, versions=(), again: bool = False
) -> DialectReport:
    return dialect_run.kept_or_compared(
        runtime, versions, (), kept=folder, again=again, on_opset=lambda _: None
    )


def test_a_record_is_kept_and_says_so(compared: list[str], tmp_path: Path) -> None:
    first, second = dialect_record(tmp_path), dialect_record(tmp_path)
    assert compared == ["onnxruntime"]
    assert first.kept is None
    assert second.kept is not None
    assert second.model_copy(update={"kept": None}) == first
    dialect_record(tmp_path, again=True)
    dialect_record(tmp_path, versions=[13])
    dialect_record(tmp_path, "tests.meta.planted_models:right")
    dialect_record(tmp_path, "tests.meta.planted_models:right")
    assert len(compared) == 5


def test_a_stale_or_edited_record_is_not_believed(
    compared: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect_record(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text().replace('"complete":true', '"complete":false'))
    assert dialect_record(tmp_path).kept is None
    assert dialect_record(tmp_path).kept is not None
    monkeypatch.setattr(conditions, "processor", lambda *_: "another")
    assert dialect_record(tmp_path).kept is None
    other = tmp_path / "obligations.json"
    other.write_text("{}")
    real = conditions.repo_file
    monkeypatch.setattr(
        conditions, "repo_file", lambda path: other if path == dialect_run.OBLIGATIONS else real(path)
    )
    assert dialect_record(tmp_path).kept is None
    assert len(compared) == 4
