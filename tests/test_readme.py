"""The README says what is so: its example runs, its help is the real one, its figures are the project's."""

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
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CHANGELOG.md"]


def run(*arguments: str) -> str:
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT
    ).stdout


def test_the_example_prints_what_its_comments_say() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    said = re.findall(r"print\(.*\)\s+# (\[.*?\]|\w+)", code)
    assert run("-c", code).splitlines() == said
    assert len(said) == 3


def test_the_help_is_the_real_one() -> None:
    real = run(
        "-c", "import sys; sys.argv[0] = 'sonnx-clip'; from sonnx_clip.cli import main; main()", "--help"
    )
    words = [line.strip() for line in real.splitlines() if line.strip()]
    quoted = README.partition("$ sonnx-clip --help\n")[2]
    assert words == [line.strip() for line in quoted.splitlines()[: len(words)]]


def test_the_number_of_obligations() -> None:
    from sonnx_clip.render.generate import all_obligations
    from sonnx_clip.spec import load_spec

    kinds = Counter(o.kind for o in all_obligations(load_spec()))
    proofs = sum(kinds.values()) - kinds["smoke"]
    assert f"{proofs} obligations: {proofs} proved by two provers" in README
    assert f"{kinds['refutation']} of them are refutations" in README
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
    from sonnx_clip.render.generate import all_obligations
    from sonnx_clip.spec import load_spec

    spec, obligations = load_spec(), all_obligations(load_spec())
    family_of = {e.id: e.family for e in spec.element_types}
    rows = re.findall(r"^ +(\w+)((?: +\d+)+) +Z3, cvc5", README, re.MULTILINE)
    assert len(rows) >= 6
    for id_, numbers in rows:
        counts = Counter(family_of.get(o.subject, "any") for o in obligations if id_ in o.shows)
        assert [int(n) for n in numbers.split()] == [
            counts[f] for f in ("real", "int", "float", "any") if counts[f]
        ]
