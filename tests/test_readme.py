"""Figures, links and ids in README and docs/ are those of the specification, obligations and records."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sonnx_clip.language import unparse
from sonnx_clip.spec import load_spec
from tests.command import run
from tests.obligations import obligations

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def test_the_measured_answers() -> None:
    """The table of answers is what spec/measured/runtimes.json recorded."""
    record = json.loads((ROOT / "spec/measured/runtimes.json").read_text(encoding="utf-8"))
    assert f"float32 on an {record['machine']}:" in README
    sonnx = record["runtimes"]["sonnx"].split(",")[0]
    found = {}
    for answer in record["answers"]:
        if (answer["operator"], answer["type"]) == ("clip", "float32"):
            runtime = record["runtimes"][answer["runtime"]].split(",")[0]
            numbers = [answer["operands"].get(name) for name in ("X", "min", "max")]
            found[runtime, answer["form"], *numbers] = answer["bits"]
    inputs = [
        ("0x00000000", "0x7fc00000", "0x3f800000"),
        ("0x7fc00000", "0x3f800000", "0x00000000"),
        ("0x7f800000", "0x00000000", None),
    ]
    forms = {"Clip-13": "clip-13", "function body of Clip-13": "body-13"}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in README.splitlines()]
    rows = [row for row in rows if len(row) == 4 and row[0] not in ("implementation", "---")]
    assert len(rows) == 5
    for name, *printed in rows:
        of, _, form = name.partition(", ")
        runtime = sonnx if of == "SONNX" else of.removesuffix(" reference")
        for numbers, shown in zip(inputs, printed, strict=True):
            bits = found.get((runtime, forms.get(form, "call"), *numbers))
            assert shown == _shown(bits), (name, numbers)


def _shown(bits: list[str] | None) -> str:
    """Recorded bits as the README prints them."""
    if not bits:
        return "not measured" if bits is None else "rejected"
    (of,) = bits
    value = np.array(int(of, 16), np.uint32).view(np.float32)
    return f"{value:.8g}" if np.isfinite(value) else str(value)


@pytest.mark.nightly
def test_the_verdict_on_numpy() -> None:
    """Of the version that the README names, the printed lines are those of the command."""
    if f"of NumPy {np.__version__}:" not in README:
        pytest.skip("another version of NumPy")
    printed = run("check", "--runtime", "numpy", "--dtype", "float32", cwd=ROOT).stdout
    quoted = re.search(r" {4}(violates, .*)\n {8}(.*)\n", README)
    assert quoted is not None
    for line in quoted.groups():
        assert line in printed


def test_numbers_of_findings_readings_and_dialects() -> None:
    spec = load_spec()
    words = {7: "seven", 8: "eight", 11: "eleven", 12: "twelve", 13: "thirteen"}
    assert f"{len(spec.findings)} [defects, ambiguities and gaps]" in README
    assert f"{words[len(spec.readings) - 1]} other readings" in README
    assert f"{words[len(spec.dialects)]} dialects" in README
    assert (
        f"{sum(e.id != 'real' for e in spec.element_types)} element types and the reals" in README
    )


def test_the_number_of_obligations() -> None:
    kinds = Counter(one.kind for one in obligations())
    proofs = sum(kinds.values()) - kinds["smoke"]
    line = " ".join(README.split())
    assert re.search(
        rf"{proofs} obligations \(\d+ distinct tasks\): {proofs} proved by two provers", line
    )
    refuted = f"{kinds['refutation']} refutations of the source, {kinds['counterexample']} counterexamples"
    assert refuted in line
    assert f"{kinds['smoke']} of {kinds['smoke']} smoke tests" in README


def test_the_rows_of_the_table_are_those_that_prove_prints() -> None:
    family_of = {e.id: e.family for e in load_spec().element_types}
    rows = [
        row
        for page in PAGES
        for row in re.findall(
            r"^ +(\w+)((?: +\d+)+) +Z3, cvc5", page.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert rows
    for id_, numbers in rows:
        counts = Counter(
            family_of.get(one.subject, "any") for one in obligations() if id_ in one.shows
        )
        expected = [counts[family] for family in ("real", "int", "float", "any") if counts[family]]
        assert [int(number) for number in numbers.split()] == expected


def test_the_refuted_constraint() -> None:
    quoted = re.search(
        r"^ +(\w+) \((\w+)\): X = (.+), L = (.+), M = (.+); holds if (.+)$", README, re.MULTILINE
    )
    assert quoted is not None
    id_, family, x, lower, upper, condition = quoted.groups()
    (entry,) = (one for one in load_spec().constraints if one.id == id_)
    witness = entry.refuted_for[family]
    assert (x, lower, upper) == (witness.X, witness.L, witness.M)
    assert condition == unparse(entry.repaired[family])


def test_links_lead_to_files() -> None:
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8"))
    ]
    local = [(page, link) for page, link in links if not link.startswith("https://")]
    assert local
    assert not [(page.name, link) for page, link in local if not (page.parent / link).exists()]


def test_named_obligations_exist() -> None:
    ids = {one.id for one in obligations()}
    subjects = {one.subject for one in obligations()} - {
        "restrictions"
    }  # a section of the YAML as well
    named = {
        (page.name, f"{subject}.{goal}")
        for page in PAGES
        for subject, goal in re.findall(r"`(\w+)\.(\w+)`", page.read_text("utf-8"))
        if subject in subjects and goal not in ("mlw", "json")
    }
    assert named
    assert not {(page, id_) for page, id_ in named if id_ not in ids}


def test_the_wrong_rewrite() -> None:
    """The lines that `sonnx-clip rewrites` prints of two Clips that are made one."""
    bounds = ("--A", "0", "--B", "1", "--C", "2", "--D", "3")
    theorem = run("rewrites", "clip-clip-by-max-min", cwd=ROOT)
    witness = run("rewrites", "clip-clip-by-max-min", "float32", *bounds, cwd=ROOT)
    lines = (theorem.stdout + witness.stdout).splitlines()
    # After `make prove` a condition is marked as proved.
    printed = {line.strip().removesuffix(" [proved]") for line in lines}
    quoted = re.search(r"^ {4}clip\(clip.*\n {4}.*\n {4}by value: differs.*$", README, re.MULTILINE)
    assert quoted is not None
    assert {line.strip() for line in quoted[0].splitlines()} <= printed
