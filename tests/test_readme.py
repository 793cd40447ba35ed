"""The README and the reading guide quote real outputs, and their figures are the project's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def run(*arguments: str, check: bool = True) -> str:
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=check, env=environment, cwd=ROOT
    ).stdout


def test_the_measured_answers() -> None:
    """The table of answers is what spec/measured/runtimes.json recorded."""
    record = json.loads((ROOT / "spec/measured/runtimes.json").read_text(encoding="utf-8"))
    assert f"float32; recorded on an {record['machine']} by" in README
    found = {
        (record["runtimes"][a["runtime"]].split(",")[0], a["form"], a["x"], a["min"], a["max"]): a["bits"]
        for a in record["answers"]
        if a["type"] == "float32"
    }
    inputs = [
        ("0x00000000", "0x7fc00000", "0x3f800000"),
        ("0x7fc00000", "0x3f800000", "0x00000000"),
        ("0x7f800000", "0x00000000", None),
    ]
    forms = {"Clip-13": "clip-13", "function body of Clip-13": "body-13"}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in README.splitlines()]
    rows = [row for row in rows if len(row) == 4 and row[0] not in ("runtime", "---")]
    assert len(rows) == 5
    for name, *printed in rows:
        of, _, form = name.partition(", ")
        runtime = "sonnx-clip 0.1.0" if of == "SONNX" else of.removesuffix(" reference")
        for numbers, shown in zip(inputs, printed, strict=True):
            bits = found.get((runtime, forms.get(form, "call"), *numbers), "not asked")
            assert shown == (bits if bits == "not asked" else _number(bits)), (name, numbers)


def _number(bits: list[str]) -> str:
    """The one number of recorded bits, as the README prints it."""
    if not bits:
        return "refused"
    (of,) = bits
    value = np.array(int(of, 16), np.uint32).view(np.float32)
    return f"{value:.8g}" if np.isfinite(value) else str(value)


def test_the_verdict_on_numpy() -> None:
    """Of the version that the README names, the printed lines are those of the command."""
    if f"of NumPy {np.__version__}:" not in README:
        pytest.skip("another version of NumPy")
    code = "from sonnx_clip.cli.app import main; main()"
    printed = run("-c", code, "check", "--runtime", "numpy", "--dtype", "float32", check=False)
    quoted = re.search(r" {4}(violates, .*)\n {8}(.*)\n", README)
    assert quoted is not None
    for line in quoted.groups():
        assert line in printed


def test_the_numbers_of_findings_readings_and_dialects() -> None:
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    words = {7: "seven", 8: "eight", 11: "eleven", 12: "twelve", 13: "thirteen"}
    assert f"{len(spec.findings)} [findings]" in README
    assert f"{words[len(spec.readings) - 1]} other readings" in README
    assert f"{words[len(spec.dialects)]}\ndialects" in README
    assert f"{sum(e.id != 'real' for e in spec.element_types)} element types and the reals" in README


def test_the_number_of_obligations() -> None:
    from sonnx_clip.backends.generate import render_theories
    from sonnx_clip.spec import load_spec

    kinds = Counter(o.kind for o in render_theories(load_spec()).obligations)
    proofs = sum(kinds.values()) - kinds["smoke"]
    line = " ".join(README.split())
    assert re.search(rf"{proofs} obligations \(\d+ distinct tasks\): {proofs} proved by two provers", line)
    assert (
        f"{kinds['refutation']} refutations of the source, {kinds['counterexample']} counterexamples" in line
    )
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
    from sonnx_clip.backends.generate import render_theories
    from sonnx_clip.spec import load_spec

    spec, obligations = load_spec(), render_theories(load_spec()).obligations
    family_of = {e.id: e.family for e in spec.element_types}
    rows = re.findall(r"^ +(\w+)((?: +\d+)+) +Z3, cvc5", GUIDE, re.MULTILINE)
    assert len(rows) >= 6
    for id_, numbers in rows:
        counts = Counter(family_of.get(o.subject, "any") for o in obligations if id_ in o.shows)
        assert [int(n) for n in numbers.split()] == [
            counts[f] for f in ("real", "int", "float", "any") if counts[f]
        ]
