"""Figures in the pages that are written by hand: what the project's own files decide is compared with them.

Other tests compare the figures of the README (test_readme.py, meta/test_standing.py); what a machine took is
dated where it stands.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.targets import TARGETS
from sonnx_clip.backends.targets import FILES
from sonnx_clip.conform import chosen_triples, describe, session
from sonnx_clip.explain import measured_models
from sonnx_clip.graph import ask_onnx, expand, load_model, self_check
from sonnx_clip.runtimes import limits
from sonnx_clip.runtimes.limits import LIMITS
from sonnx_clip.spec import load_spec
from tests.c.targets import OTHERS
from tests.meta.numpy_bugs import BUGS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
WORDS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
SPEC = load_spec()
TRUSTED = (ROOT / "why3/trusted.txt").read_text(encoding="utf-8")
MACHINE_TYPES = sum(e.id != "real" for e in SPEC.element_types)


def lines(pattern: str) -> int:
    """How many lines of why3/trusted.txt begin so."""
    return len(re.findall(rf"^{pattern}", TRUSTED, re.MULTILINE))


def axioms_of_coq() -> int:
    """The most axioms that a theorem of coq/ rests on."""
    rows = (ROOT / "coq/assumptions.txt").read_text(encoding="utf-8").splitlines()
    on = [row.partition(": ")[2] for row in rows if ": " in row and not row.startswith("#")]
    return max(text.count(",") + 1 for text in on if not text.startswith("closed"))


def figures() -> Iterator[tuple[str, str]]:
    """Page, and words that must stand there with today's figure."""
    page = "CONTRIBUTING.md"
    yield page, f"here {len(SPEC.element_types)} obligations, one for each element type"
    pages = [target for target in FILES if target.paths.startswith("docs/")]
    yield "docs/architecture.md", f"the printers of generated/ and {WORDS[len(pages)]} pages of docs/"
    page = "docs/trusted-base.md"
    yield page, f"each of the {len(SPEC.element_types)} types proves them"
    floats, bits = lines(r"symbol elements\.B?Float"), lines(r"symbol elements\.Bits")
    yield page, f"{floats} lines for floats, {bits} for bits; its digest"
    conversions = lines(r"symbol (?:convert|scale_bias)\.")
    yield page, f"{conversions} lines of the same driver"
    operations = lines(r"assumption numpy\.")
    yield page, f"(why3/numpy.mlw, {operations} of them)"
    contracts = lines(r"symbol (?:kernel|memory)\.[\w.]+: val ")
    yield page, f"{contracts} lines, each in why3/trusted.txt with its contract"
    run = 1 + sum(not target.bare for target in OTHERS)
    yield page, f"the vectors on {WORDS[run]} processors"
    yield page, f"GCC and Clang, {WORDS[run]} processors"
    yield page, f"each of the {MACHINE_TYPES} element types, and the reals"
    yield page, f"at most {WORDS[axioms_of_coq()]}, named in coq/assumptions.txt"
    page = "docs/kernels.md"
    yield page, f"one file for each of the {MACHINE_TYPES} element types"
    yield page, f"a table of {operations} lines"
    yield page, f"tests/meta/test_trace.py plants {len(BUGS)} mistakes"
    yield "docs/frama-c.md", f"for each of the {MACHINE_TYPES} element types"
    page = "docs/models.md"
    assert ask_onnx.CHECKER_SECONDS == self_check.SECONDS
    yield page, f"limits of time ({self_check.SECONDS:.0f} s)"
    yield page, f"does not end within its {self_check.SECONDS:.0f} s"
    yield page, f"more than {expand.MAX_EXPANDED:,} nodes, nothing is inferred"
    yield page, f"of more than {load_model._LARGE / 1e6:.0f} MB the data"
    page = "docs/semantics.md"
    yield page, f"The YAML has {WORDS[len(SPEC.readings)]} such readings"
    yield page, f"X has {measured_models.ENTRIES} equal entries"
    yield page, f"all {2**16:,} X are tried under {chosen_triples._MORE_BOUNDS} pairs of bounds"
    yield page, f"A call hangs after {limits.CALL:.0f} s"
    yield page, f"dies {WORDS[session._WITHOUT_ANSWER]} times before any answer, or {LIMITS.deaths} times"
    yield page, f"or hangs {WORDS[session._HANGS]} times, is given up"
    yield page, f"again {WORDS[describe._AGAIN]} times, and then in a new process, {describe._IN_A_ROW} times"
    ort = json.loads((ROOT / "spec/measured/runtimes.json").read_text(encoding="utf-8"))["runtimes"][
        "onnxruntime"
    ]
    yield "README.md", f"{ort} computed int64 Clip wrongly"
    yield "docs/reading-guide.md", f"one of {ort}:"


def read(page: str) -> str:
    """The text of a page with one space between words."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("page", "words"), [*figures()], ids=lambda value: str(value)[:60])
def test_the_figure_is_that_of_the_files(page: str, words: str) -> None:
    assert words in read(page)


COUNTED = re.compile(
    r"\b(\d[\d,]*|" + "|".join(WORDS[4:]) + r"|thirteen|fourteen|fifteen|sixteen|twenty)"
    r" (?:(?:small|other|such|node|smoke|planted|worked|element|equal|hand-written) )?"
    r"(obligations|findings|readings|dialects|types|theorems|goals|mistakes|lines|vectors|kernels|classes"
    r"|properties|tests|models|builds|tasks|files|pages|operations|examples|processors|axioms|targets)\b"
)
"""A number of things of which the project has some."""

HISTORY = ("CHANGELOG.md", "docs/cost.md", "docs/portability.md")
"""Pages of what was so once: each figure stands beside a date, a commit or a release."""

NOTES, KERNELS = "docs/design-notes.md", "docs/kernels.md"
README = "README.md"
CLOSING = "what a command printed when it was last run, and the page says of what it is"
# What else the pages count, and what holds it.
ELSEWHERE = {
    (README, "4258 obligations"): "tests/test_readme.py::test_the_number_of_obligations",
    (README, "147 smoke tests"): "tests/test_readme.py::test_the_number_of_obligations",
    (README, "12 element types"): "tests/test_readme.py::test_the_numbers_of_findings_readings_and_dialects",
    (
        README,
        "eleven other readings",
    ): "tests/test_readme.py::test_the_numbers_of_findings_readings_and_dialects",
    (README, "twelve dialects"): "tests/test_readme.py::test_the_numbers_of_findings_readings_and_dialects",
    ("docs/export.md", "515 vectors"): "the command of the page is run by tests/test_commands_in_docs.py",
    ("docs/export.md", "2 element types"): "the command of the page is run by tests/test_commands_in_docs.py",
    ("docs/export.md", "404 vectors"): "the command of the page is run by tests/test_commands_in_docs.py",
    (NOTES, "5,000 tasks"): "measured on 2026-11-22",
    (NOTES, "5,154 tasks"): "measured on 2026-11-22",
    (NOTES, "50 tasks"): "measured on 2026-11-22",
    (NOTES, "114 smoke tasks"): "measured on 2026-11-22",
    (NOTES, "ten tasks"): "measured",
    (NOTES, "2,602 tasks"): "measured on 2026-11-23",
    (NOTES, "26 models"): "measured on 2026-11-24",
    (NOTES, "1,884 node tests"): "measured on 2026-11-24",
    (NOTES, "497 theorems"): "measured on 2026-11-21",
    (NOTES, "344 theorems"): "measured before that",
    ("docs/frama-c.md", "516 goals"): CLOSING,
    ("docs/frama-c.md", "46 smoke tests"): CLOSING,
    (KERNELS, "516 goals"): CLOSING,
    (KERNELS, "46 smoke tests"): CLOSING,
    (KERNELS, "27 builds"): CLOSING,
    (KERNELS, "9 targets"): CLOSING,
    (KERNELS, "2,504 vectors"): CLOSING,
    ("docs/frames.md", "150 lines"): "tests/c/test_harness.py",
    (KERNELS, "6 types"): CLOSING,
}


def counted(text: str) -> list[str]:
    """Each count of things of the project in a text."""
    return [match[0] for match in COUNTED.finditer(" ".join(text.split()))]


def pages() -> Iterator[tuple[str, str]]:
    """The pages that are written by hand, with their text."""
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        if "Generated by" not in text[:200] and "Rendered from" not in text[:200] and name not in HISTORY:
            yield name, text


def test_every_count_of_the_pages_is_held() -> None:
    here = [*figures()]
    left = {
        (page, count)
        for page, text in pages()
        for count in counted(text)
        if not any(name == page and count in words for name, words in here)
    }
    assert left == set(ELSEWHERE)


@pytest.mark.parametrize(
    "text", ["It has 31 findings.", "with eleven other\nreadings", "of 4,254 obligations"]
)
def test_a_count_that_nothing_holds_is_seen(text: str) -> None:
    assert len(counted(text)) == 1


def test_the_targets_of_the_speed_page_are_those_that_are_measured() -> None:
    """A ratio's limit, and whether the figures beside it meet it."""
    text = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if " × | " in line]
    shown = {
        row[0]: row for row in rows if row[3].startswith(("≥", "≤")) and not row[0].startswith("checker")
    }
    assert set(shown) == {target.what for target in TARGETS}
    for target in TARGETS:
        _, *figures_of, limit, verdict = shown[target.what]
        sign = {"at least": "≥", "at most": "≤"}[target.sense]
        assert limit == f"{sign} {target.limit:g} ×"
        found = [float(figure.removesuffix(" ×")) for figure in figures_of]
        met = [f >= target.limit if target.sense == "at least" else f <= target.limit for f in found]
        assert verdict.startswith("met" if all(met) else "missed"), target.what
