"""`sonnx-clip check`: real runtimes, real verdicts, and what the command prints and writes."""

import json
import re
import subprocess
import sys
import tempfile

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.conform import judge
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes import runtime
from tests.meta.judged import three_layouts


def run(*arguments):
    """Run `check` where no verdict has been kept."""
    with tempfile.TemporaryDirectory() as build:
        return CliRunner().invoke(
            app, ["check", "--build", build, *arguments], catch_exceptions=False
        )


def verdicts(report, type_id):
    (found,) = [found for found in report.types if found.type == type_id]
    return {c.id: c.verdict for c in found.classes}


def report_of(name, *types, **options):
    """A report on a real runtime by calls of three layouts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "chosen", three_layouts)
        return run_campaign(CheckOptions(name, types, of=clip_operator(), **options))


@pytest.fixture(scope="module")
def onnxruntime_report():
    return report_of("onnxruntime", "float32")


@pytest.fixture(scope="module")
def numpy_report():
    return report_of("numpy", "float32", "bfloat16", "int16")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("sonnx", "bfloat16"),
        ("sonnx-c", "float16"),
        pytest.param("sonnx", "uint8", marks=pytest.mark.nightly),
    ],
)
def test_ours_conforms_in_every_call(name, dtype):
    report = run_campaign(CheckOptions(name, [dtype], policy="strict", of=clip_operator()))
    assert set(verdicts(report, dtype).values()) == {"conforms"}


def test_onnxruntime_deviates_in_nan_with_inverted_bounds_and_in_zeros_alone(onnxruntime_report):
    assert "violates" not in verdicts(onnxruntime_report, "float32").values()
    (float32,) = [t for t in onnxruntime_report.types if t.type == "float32"]
    used = {latitude: c.id for c in float32.classes for latitude in c.latitude}
    assert set(used) == {"nan-inverted", "zero-sign"}
    assert used["nan-inverted"] == "inverted_nan"


def test_np_clip_violates_on_nan_bounds_and_returns_another_type_for_bfloat16(numpy_report):
    found = verdicts(numpy_report, "float32")
    wrong = {id_ for id_, verdict in found.items() if verdict == "violates"}
    assert wrong == {
        "low_max_nan",
        "high_min_nan",
        "inside_min_nan",
        "inside_max_nan",
        "inside_both_nan",
    }
    assert verdicts(numpy_report, "bfloat16")["C3"] == "violates"
    assert set(verdicts(numpy_report, "int16").values()) == {"conforms"}


def test_every_deviation_is_repeated_by_its_line(onnxruntime_report, numpy_report):
    """One Python for all lines: each prints bits and what is expected."""
    reports = onnxruntime_report, numpy_report
    deviations = [
        d for report in reports for t in report.types for c in t.classes for d in c.deviations
    ]
    assert deviations
    program = "\n".join(d.reproduce for d in deviations)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=repo_root(), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    for line, deviation in zip(done.stdout.splitlines(), deviations, strict=True):
        expected = f"expected: {deviation.expected}", "no entries", "expected: ndarray"
        assert any(words in line for words in expected)
        if deviation.got is not None:
            assert hex(deviation.got) in line


def test_the_reproducers_go_to_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "chosen", three_layouts)
    script = tmp_path / "repro.sh"
    done = run("--runtime", "numpy", "--dtype", "float32", "--repro", str(script))
    assert done.exit_code == 1
    assert " -c " not in done.output
    assert f"reproducers: sh {script}" in done.output.splitlines()
    text = script.read_text()
    named = set(re.findall(r"^# float32, (\w+), ", text, re.MULTILINE))
    assert {"low_max_nan", "inside_both_nan", "low_zero_tie"} <= named
    ran = subprocess.run(["sh", str(script)], capture_output=True, text=True, check=True)
    assert len(ran.stdout.splitlines()) == text.count(f"\n{sys.executable} -c ") >= 6
    assert all(" expected: 0x" in line for line in ran.stdout.splitlines())


def test_json_is_the_report_and_the_file_is_the_same(tmp_path):
    target = tmp_path / "numpy.json"
    types = ("--dtype", "uint16", "--dtype", "int16")
    done = run(
        "--runtime", "numpy", *types, "--policy", "strict", "--json", "--again", "-o", str(target)
    )
    assert done.exit_code == 0
    report = Report.model_validate_json(done.stdout)
    assert json.loads(target.read_text()) == json.loads(done.stdout)
    assert (report.format, report.policy, report.runtime) == (3, "strict", "numpy")
    assert (
        report.types[0].compared
        == sum(c.compared for c in report.types[0].classes if c.case)
        > 100_000
    )
    assert [path.name for path in tmp_path.iterdir()] == ["numpy.json"]
    compared, unseen = report.scope
    assert "every X of 16 bits under 24 pairs of bounds" in compared
    assert "any above 65,537" in unseen


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--runtime", "numpyy"], "did you mean `numpy`? known: sonnx, "),
        (["--runtime", "./clip.c:clip"], "unknown runtime `./clip.c:clip`"),
        (["--runtime", "./mine:clip"], "module:function or ./file.py:function"),
        (["--runtime", "lib/libclip.so:clip"], "a library: --so"),
        (["--runtime", "onnxruntim\u0435:clip"], "U+0435"),
        (["--runtime", "numpy", "--dtype", "float31"], "float31"),
        (["--runtime", "numpy", "--dtype", "real"], "real is not a machine type"),
        (["--runtime", "numpy", "-o", "pyproject.toml/x.json"], "pyproject.toml is not a folder"),
        (
            ["--runtime", "numpy", "-o", "docs"],
            "this is a folder, and only a regular file can be replaced",
        ),
    ],
)
def test_bad_input_is_one_message(arguments, words):
    with pytest.raises(UserError) as caught:
        run(*arguments)
    assert words in str(caught.value)


def test_verdict_on_ours_names_the_code_that_was_judged(tmp_path, monkeypatch):
    before = {name: runtime.code_digest(name) for name in ("sonnx", "sonnx-c")}
    assert len(set(before.values())) == 2
    assert runtime.code_digest("numpy") is None
    (tmp_path / "oracle").mkdir()
    (tmp_path / "oracle/strict.py").write_text("def clip(): ...")
    monkeypatch.setattr(runtime, "package", lambda: tmp_path)
    assert runtime.code_digest("sonnx") != before["sonnx"]
