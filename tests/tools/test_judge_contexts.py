"""The pages on contexts are those of the records, and each statement to file shows a wrong result."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.qualification.context_records import read_context_records, write_context_record
from tests.other_root import use_root
from tools import judge_contexts

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]


def test_the_pages_are_rendered_from_the_records() -> None:
    records = judge_contexts.read_records()
    assert records
    page = (ROOT / "docs/contexts-judged.md").read_text(encoding="utf-8")
    assert page == judge_contexts.page(records)
    for id_, text in judge_contexts.statements(records).items():
        assert (ROOT / f"docs/upstream/{id_}.md").read_text(encoding="utf-8") == text


def test_a_record_is_read_from_where_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "records", tmp_path / "records")
    use_root(tmp_path, monkeypatch)
    first, *others = read_context_records()
    newer = first.model_copy(update={"date": "2030-01-01"})
    write_context_record(newer)
    assert read_context_records() == [newer, *others]


def test_each_statement_shows_a_wrong_result() -> None:
    pages = judge_contexts.statements(judge_contexts.read_records())
    assert len(pages) >= 5
    for id_, text in pages.items():
        if "| got |" in text:
            got = re.findall(r"\| got \| (.*) \|", text)
            assert got != re.findall(r"\| expected \| (.*) \|", text), id_
            assert "```python\nimport" in text
            assert "sonnx_clip" not in text.split("```python")[1] or "adapters" in text
