"""`sonnx-clip report`: every verdict and deviation of the reports is on the page, and every link leads on."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.evidence.verdicts_page import read_reports_in, render_verdicts
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.conform.check_report import Report

SPEC = load_spec()


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    pytest.importorskip("onnx")
    numpy = run_campaign("numpy", ["int8", "float32"])
    models = run_campaign("tests.meta.planted_forms:wrong_with_initializers", ["int16", "float32"])
    return [numpy, models]


@pytest.fixture(scope="module")
def page(reports: list[Report]) -> str:
    return render_verdicts(reports, SPEC)


def written(folder: Path, name: str, report: Report) -> Path:
    file = folder / f"{name}.json"
    file.write_text(report.model_dump_json())
    return file


def test_every_deviation_is_there_with_the_line_that_repeats_it(page: str, reports: list[Report]) -> None:
    lines = [html.unescape(line) for line in re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)]
    in_classes = [d for r in reports for t in r.types for c in t.classes for d in c.deviations]
    in_forms = [d for r in reports for t in r.types for f in t.forms or () for d in f.deviations.values()]
    assert sorted(lines) == sorted(d.reproduce for d in (*in_classes, *in_forms))
    assert in_classes
    assert in_forms


def test_every_link_leads_to_one_place(page: str) -> None:
    anchors = re.findall(r'\bid="([^"]*)"', page)
    assert len(anchors) == len(set(anchors))
    links = set(re.findall(r'href="#([^"]*)"', page))
    assert len(links) > 20
    assert links <= set(anchors)


def test_every_verdict_is_in_its_cell(page: str, reports: list[Report]) -> None:
    cells = set(re.findall(r'title="([^"]*)"', page))
    for report in reports:
        for one in report.types:
            assert f"{report.runtime_version}, {one.type}: {one.verdict}" in cells
            assert {f"{c.id}, {one.type}: {c.verdict}" for c in one.classes} <= cells
            assert {f"{form.form}, {one.type}: {form.verdict}" for form in one.forms or ()} <= cells


def test_a_cell_that_deviates_leads_to_a_deviation_of_its_class_and_type(page: str) -> None:
    links = re.findall(r'href="#(r\d+-(\w+)-(\w+)[^"]*)" title="(\w+), (\w+): (?!conforms)', page)
    assert len(links) > 10
    for anchor, etype, klass, titled, of_type in links:
        assert (etype, klass) == (of_type, titled)
        row = re.search(rf'<details [^>]*id="{anchor}">', page)
        assert row is not None
        assert f'data-type="{etype}" data-class="{klass}"' in row[0]


def test_texts_of_a_runtime_are_no_markup(reports: list[Report]) -> None:
    types = list(reports[0].types)
    types[0] = types[0].model_copy(update={"remarks": ("<script>alert(1)</script>",)})
    text = render_verdicts([reports[0].model_copy(update={"types": tuple(types)})], SPEC)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_reports_of_other_specifications_and_forged_ones_are_refused(
    tmp_path: Path, reports: list[Report]
) -> None:
    good = written(tmp_path, "good", reports[0])
    assert read_reports_in([good], SPEC) == [reports[0]]
    with pytest.raises(UserError, match="under the same policy"):
        read_reports_in([good, written(tmp_path, "again", reports[0])], SPEC)
    stale = reports[0].model_copy(update={"spec_sha256": "0" * 64})
    with pytest.raises(UserError, match="stale"):
        read_reports_in([written(tmp_path, "stale", stale)], SPEC)
    told = json.loads(good.read_text())
    klass = next(c for t in told["types"] for c in t["classes"] if c["verdict"] == "violates")
    klass["verdict"] = "conforms"
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(told))
    with pytest.raises(UserError, match="its counts say violates"):
        read_reports_in([forged], SPEC)


def called(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sonnx_clip", "report", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_command(tmp_path: Path, reports: list[Report]) -> None:
    done = called(folder=tmp_path)
    assert (done.returncode, "there is no report" in done.stderr) == (2, True)
    assert not (tmp_path / "build").exists()
    (tmp_path / "build" / "verdicts").mkdir(parents=True)
    for name, report in zip(("numpy", "models"), reports, strict=True):
        written(tmp_path / "build" / "verdicts", name, report)
    done = called(folder=tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["build/verdicts.html"])
    assert "2 runtimes judged, 2 with a failure" in (tmp_path / "build" / "verdicts.html").read_text()
    os.mkfifo(tmp_path / "fifo")
    for path, words in (("fifo", "this is no regular file"), ("build", "this is a folder")):
        done = called(path, "-o", "page.html", folder=tmp_path)
        assert (done.returncode, f"{path}: it cannot be read: {words}" in done.stderr) == (2, True)
    done = called("absent.json", "-o", "page.html", folder=tmp_path)
    assert (done.returncode, "absent.json: it is missing" in done.stderr) == (2, True)
    assert not (tmp_path / "page.html").exists()
