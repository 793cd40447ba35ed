"""The generated pages of docs/: complete, ranked, short, and prose of the YAML never becomes markup."""

import csv
import re
from functools import cache

import pytest
from markdown_it import MarkdownIt

from sonnx_clip.backends.pages import (
    COVERAGE,
    COVERAGE_TABLE,
    DIALECTS,
    FINDINGS,
    READINGS,
    render_coverage,
    render_dialects,
    render_findings,
    render_readings,
)
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.coverage import require_coverage
from tests.backends.test_prose import hostile
from tests.obligations import obligations

SPEC = load_spec()
MARKDOWN = MarkdownIt("commonmark").enable("table")
RENDERERS = {FINDINGS: render_findings, READINGS: render_readings, DIALECTS: render_dialects}
HOSTILE = (
    "<script>alert(1)</script> | `code` **bold** [link](https://example.org) &lt; $x$",
    "- a list\n\n# a heading\n\n| a | b |",
    "1. first ``` ~~~ ![image](x.png) <!-- \\",
    "=== > quoted <a id='x'>",
)


@cache
def page_with(path, prose):
    """A page of a specification with this text for each prose."""
    return RENDERERS[path](hostile(SPEC, prose))[path]


def structure(text):
    """What a reader of Markdown makes of the page, without its words."""
    return [
        token.type
        for block in MARKDOWN.parse(text)
        for token in (block, *(block.children or ()))
        if token.type not in ("text", "text_special", "softbreak")
    ]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("path", RENDERERS)
def test_hostile_prose_adds_no_markup(path, text):
    assert structure(page_with(path, text)) == structure(page_with(path, "plain"))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("path", [FINDINGS, READINGS])
def test_a_reader_sees_hostile_prose_as_it_is_written(path, text):
    shown = [
        "".join(token.content for token in block.children or ())
        for block in MARKDOWN.parse(page_with(path, text))
    ]
    assert any(" ".join(text.split()) in words for words in shown)


def test_table_of_coverage_has_every_word_of_every_source():
    coverage = require_coverage(SPEC, (o.id for o in obligations()))
    rows = list(csv.DictReader(repo_file(COVERAGE_TABLE).read_text(encoding="utf-8").splitlines()))
    assert [(row["source"], row["line"], row["words"]) for row in rows] == [
        (one.source, str(one.line), one.text) for one in coverage
    ]
    for row, one in zip(rows, coverage, strict=True):
        assert row["encoded by"].split() == list(one.answer.encoded_by)
        assert row["disputed by"].split() == list(one.answer.disputed_by)
        assert any(row[column] for column in ("encoded by", "disputed by", "reason"))


def test_summary_of_coverage_counts_every_row():
    page = render_coverage(SPEC, (o.id for o in obligations()))[COVERAGE]
    rows = repo_file(COVERAGE_TABLE).read_text(encoding="utf-8").splitlines()[1:]
    assert f"| {len(rows)} |" in page.partition("| all | ")[2].splitlines()[0] + "|"
    listed = page.partition("Not encoded:")[2].strip().splitlines()
    assert len(listed) == sum(",not encoded," in row for row in rows)


def test_page_of_readings_counts_each_class_once():
    text = render_readings(SPEC)[READINGS]
    counts = {id_: map(int, numbers) for id_, *numbers in re.findall(COUNTS, text, re.MULTILINE)}
    classes = len(SPEC.classes_of("float"))
    assert {id_: sum(numbers) for id_, numbers in counts.items()} == {r.id: classes for r in SPEC.readings}


COUNTS = r"^\| ([\w.-]+) \| .* \| (\d+) \| (\d+) \| (\d+) \|$"
