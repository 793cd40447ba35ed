"""docs/coverage.md: the sources whole, each part with its answer, and links that lead somewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.backends.pages import COVERAGE, markdown
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.coverage import require_coverage

if TYPE_CHECKING:
    from sonnx_clip.spec.coverage import Coverage


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    spec = load_spec()
    return require_coverage(spec, (o.id for o in all_obligations(spec)))


@pytest.fixture(scope="module")
def page(coverage: Coverage) -> str:
    text = markdown(load_spec(), coverage)
    assert text == repo_file(COVERAGE).read_text(encoding="utf-8")
    return text


def _cells(line: str) -> list[str]:
    """The cells of a row, as a reader sees them."""
    parts = re.split(r"(?<!\\)\|", line)[1:-1]
    return [re.sub(r"\\(.)", r"\1", re.sub(r'<a id="[^"]*"></a>', "", part)).strip() for part in parts]


def test_a_reader_sees_every_word_of_every_source(page: str, coverage: Coverage) -> None:
    rows = [_cells(line) for line in page.splitlines() if line.startswith("| ")]
    shown = [(cells[0], cells[1]) for cells in rows if len(cells) == 3 and cells[0].isdecimal()]
    assert shown == [(str(one.item.line), one.item.text) for one in coverage.covered]


def test_each_link_has_its_place(page: str) -> None:
    anchors = re.findall(r'<a id="([^"]*)"></a>', page)
    assert len(anchors) == len(set(anchors)) > 400
    links = set(re.findall(r"\]\(#([^)]*)\)", page))
    assert links <= set(anchors)
    found = set(re.findall(r"\]\(findings\.md#([^)]*)\)", page))
    assert found
    findings = repo_file("docs/findings.md").read_text(encoding="utf-8")
    assert all(f'<a id="{id_}"></a>' in findings for id_ in found)


def test_every_answer_is_listed_in_both_directions(page: str, coverage: Coverage) -> None:
    back = page.partition("## From each id to the text")[2]
    rows = {cells[0].strip("`"): cells[1] for line in back.splitlines() if len(cells := _cells(line)) == 2}
    for one in coverage.covered:
        for name in (*one.answer.encoded_by, *one.answer.disputed_by):
            assert f"#{one.source}-{one.item.line})" in rows[name]


def test_what_is_not_encoded_stands_on_top(page: str, coverage: Coverage) -> None:
    head = page.partition("\n## ")[0]
    for one in coverage.of_sort("not encoded"):
        assert f"[{one.source} line {one.item.line}]" in head
    total = head.partition("| all | ")[2].splitlines()[0]
    assert total.endswith(f"| {len(coverage.covered)} |")
