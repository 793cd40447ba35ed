"""Findings with a planted mistake: a wrong quotation, witness, obligation or record is caught by name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.pages import render_findings
from sonnx_clip.explain import measure as measuring
from sonnx_clip.explain.measured_record import PATH, read_record
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import check_findings, check_spec, load_spec

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.spec import Spec
    from tests.prove.workbench import Workbench

YAML = "spec/clip.yaml"


def _check_and_render(spec: Spec) -> None:
    check_spec(spec)
    check_findings(spec)
    render_findings(spec)


def _caught(bench: Workbench) -> str:
    with pytest.raises(UserError) as caught:
        _check_and_render(load_spec(bench.root / YAML))
    return str(caught.value)


def test_without_a_mistake_the_page_is_rendered(bench: Workbench) -> None:
    page = render_findings(load_spec(bench.root / YAML))["docs/findings.md"]
    assert all(f"`{finding.id}`" in page for finding in load_spec().findings)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("quote: Comparisons with NaN follow IEEE 754 semantics}",
         "quote: Comparisons with NaN follow IEEE 754-2019 semantics}",
         ("findings[1].words[1].quote", "does not say this")),
        ("{type: float32, X: 5, L: nan, M: 9, refutes: C2}", "{type: float32, X: 5, L: 1, M: 9, refutes: C2}",
         ("findings[0].witnesses[1]", "`C2` holds here")),
        ("{type: float32, X: 0, L: nan, M: 1, answers: [{by: cases}, {by: formula-2019}, {by: numpy}]}",
         "{type: float32, X: 0, L: -1, M: 1, answers: [{by: cases}, {by: formula-2019}, {by: numpy}]}",
         ("findings[1].witnesses[1].answers[1]", "`formula-2019` answers 0 here, as `cases` does")),
    ],
    ids=["a quotation that is wrong", "a witness that refutes nothing", "a witness without a difference"],
)  # fmt: skip
def test_the_loader_refuses(old: str, new: str, says: tuple[str, ...], bench: Workbench) -> None:
    bench.plant(YAML, old, new)
    message = _caught(bench)
    assert re.search(r"clip\.yaml:\d+:\d+ \(findings", message)
    assert all(words in message for words in says)


def test_a_witness_that_nobody_was_asked(bench: Workbench) -> None:
    bench.plant(YAML, "X: 5, L: nan, M: 9, refutes: C2", "X: 6, L: nan, M: 9, refutes: C2")
    message = _caught(bench)
    assert message.startswith(f"{PATH}: no answer of onnxruntime to clip-13 float32 X=0x40c00000")
    assert "run: sonnx-clip findings --measure" in message


def test_a_record_with_another_answer(bench: Workbench) -> None:
    pytest.importorskip("onnxruntime")
    lines = (bench.root / PATH).read_text(encoding="utf-8").splitlines()
    (line,) = [
        line for line in lines
        if '"x":"0xff800000"' in line and '"min":null' in line and '"max":null' in line
        and '"clip-12"' in line and '"onnxruntime"' in line
    ]  # fmt: skip
    bench.plant(PATH, line, line.replace('"0xff7fffff"', '"0xff800000"'))
    spec = load_spec()
    now = measuring.measure(spec, measuring.installed())
    different = [str(a) for a, b in zip(read_record(spec).answers, now, strict=True) if a != b]
    assert different == ["clip-12 float32 X=0xff800000"]


def test_a_runtime_that_has_changed() -> None:
    spec, numpy = load_spec(), measuring.installed()["numpy"]
    wrong = replace(numpy, open=lambda etype: lambda *operands: abs(numpy.open(etype)(*operands)))
    known = set(read_record(spec).answers)
    found = [str(answer) for answer in measuring.measure(spec, {"numpy": wrong}) if answer not in known]
    assert [line for line in found if line.startswith("call float32 X=0x80000000")]


def test_a_page_of_yesterday_is_not_fresh(tmp_path: Path) -> None:
    from sonnx_clip.backends.generate import Generated, differences

    page = repo_file("docs/findings.md").read_text(encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/findings.md").write_text(page.replace("0x7f7fffff", "0x7f7ffffe"), encoding="utf-8")
    found = differences(Generated({"docs/findings.md": page}, ()), tmp_path)
    assert found == ["docs/findings.md differs from what spec/clip.yaml gives"]
