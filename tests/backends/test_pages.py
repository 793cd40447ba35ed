"""The generated pages of docs/: complete, ranked, short, and prose of the YAML never becomes markup."""

import csv
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
    assert all(row["encoded by"] or row["disputed by"] or row["reason"] for row in rows)
    page = render_coverage(SPEC, (o.id for o in obligations()))[COVERAGE]
    assert f"| {len(rows)} |" in page.partition("| all | ")[2].splitlines()[0] + "|"
