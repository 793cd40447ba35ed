"""The pages on contexts are those of the records, and each statement to file shows a wrong result."""

from __future__ import annotations

import re
from pathlib import Path

from tools import judge_contexts

ROOT = Path(__file__).parents[2]


def test_the_pages_are_rendered_from_the_records() -> None:
    records = judge_contexts.read_records()
    assert records
    page = (ROOT / "docs/contexts-judged.md").read_text(encoding="utf-8")
    assert page == judge_contexts.page(records)
    for id_, text in judge_contexts.statements(records).items():
        assert (ROOT / f"docs/upstream/{id_}.md").read_text(encoding="utf-8") == text


def test_each_statement_shows_a_wrong_result() -> None:
    pages = judge_contexts.statements(judge_contexts.read_records())
    assert len(pages) >= 5
    for id_, text in pages.items():
        if "| got |" in text:
            got = re.findall(r"\| got \| (.*) \|", text)
            assert got != re.findall(r"\| expected \| (.*) \|", text), id_
            assert "```python\nimport" in text
            assert "sonnx_clip" not in text.split("```python")[1] or "adapters" in text
