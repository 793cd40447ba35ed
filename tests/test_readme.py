"""The README and the reading guide quote real outputs, and their figures are the project's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs/reading-guide.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def run(*arguments: str, check: bool = True) -> str:
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=check, env=environment, cwd=ROOT
    ).stdout


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 110


def test_the_verdict_on_onnxruntime() -> None:
    """Line by line but for the signs of the classes: those depend on the processor, and the text says so."""
    pytest.importorskip("onnxruntime")
    code = "from sonnx_clip.cli.app import main; main()"
    arguments = ("check", "--runtime", "onnxruntime", "--dtype", "int64")
    printed = run("-c", code, *arguments, check=False).splitlines()
    quoted = [line.strip() for line in README.splitlines() if re.match(r" {4}[\w=].*", line)]
    quoted = quoted[quoted.index("class                    i64") :]
    quoted = quoted[: next(k for k, line in enumerate(quoted) if line.startswith("= conforms")) + 1]
    start = next(k for k, line in enumerate(printed) if line.split() == ["class", "i64"])
    real = [line.rstrip() for line in printed[start : start + len(quoted)]]
    assert real[0] == quoted[0]
    assert real[-1] == quoted[-1]
    assert len(quoted) == 13
    for said, found in zip(quoted[1:-1], real[1:-1], strict=True):
        assert said[:-1] == found[:-1]
        assert {said[-1], found[-1]} <= set("=X")


def test_the_numbers_of_findings_readings_and_dialects() -> None:
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    words = {7: "seven", 8: "eight", 11: "eleven", 12: "twelve", 13: "thirteen"}
    assert f"{len(spec.findings)} [findings]" in README
    assert f"{words[len(spec.readings) - 1]} other readings" in README
    assert f"{words[len(spec.dialects)]}\ndialects" in README
    assert f"{sum(e.id != 'real' for e in spec.element_types)} element types and the reals" in README


def test_the_number_of_obligations() -> None:
    from sonnx_clip.backends.generate import all_obligations
    from sonnx_clip.spec import load_spec

    kinds = Counter(o.kind for o in all_obligations(load_spec()))
    proofs = sum(kinds.values()) - kinds["smoke"]
    line = " ".join(README.split())
    assert re.search(rf"questions in {proofs} obligations \(.*?\): {proofs} proved by two provers", line)
    assert f"{kinds['refutation']} refutations of the source" in README
    assert f"{kinds['smoke']} of {kinds['smoke']} smoke tests" in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_obligations_that_are_named_exist(page: Path) -> None:
    rows = json.loads((ROOT / "generated/why3/obligations.json").read_text(encoding="utf-8"))["obligations"]
    ids = {row["id"] for row in rows}
    subjects = {row["subject"] for row in rows} - {"restrictions"}  # a section of the YAML as well
    named = re.findall(r"`(\w+)\.(\w+)`", page.read_text(encoding="utf-8"))
    wrong = [
        f"{s}.{g}" for s, g in named if s in subjects and f"{s}.{g}" not in ids and g not in ("mlw", "json")
    ]
    assert not wrong


def test_the_rows_of_the_table_are_those_that_prove_prints() -> None:
    from sonnx_clip.backends.generate import all_obligations
    from sonnx_clip.spec import load_spec

    spec, obligations = load_spec(), all_obligations(load_spec())
    family_of = {e.id: e.family for e in spec.element_types}
    rows = re.findall(r"^ +(\w+)((?: +\d+)+) +Z3, cvc5", GUIDE, re.MULTILINE)
    assert len(rows) >= 6
    for id_, numbers in rows:
        counts = Counter(family_of.get(o.subject, "any") for o in obligations if id_ in o.shows)
        assert [int(n) for n in numbers.split()] == [
            counts[f] for f in ("real", "int", "float", "any") if counts[f]
        ]
