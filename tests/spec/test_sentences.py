"""A text is split into all that it says, each part once and in its order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.sentences import Item, items, places_of

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {page.id: repo_file(page.file) for page in load_spec().sources}
MARKDOWN = """\
# Title (real)
Two sentences. The second, by IEEE 754.
It goes on here... and there.
- first: `x`
  goes on
  - Second. Third
> A remark. Of two sentences
> and two lines.
| `[R1]` | Text |
|--------|------|
<a id="here"></a>
For any $i$,
$$
Y = 1

$$
```math
L = 0
```
"""
RESTRUCTURED = """\
.. _label:

=====
Title
=====

**Bold**

Words that
go on. Then more.

* **a**: one
* **b** (two) - **T**:
  Three. Four
* **T** in (
  x,
  y
  ):
  Five.

::

    x = 1

    expect(x,
           name='first')

    expect(y,
           name='second')
"""
PLAIN = """\
Clip - 2

Version

  • name: Clip

f(x) = max(x)

First one. Second
one.

Kind Types
Input A, B

struct S {
  FLOAT a;
};"""


def _split(tmp_path: Path, name: str, text: str) -> tuple[Item, ...]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return items(path)


def _told(found: tuple[Item, ...]) -> list[tuple[int, str, str]]:
    return [(item.line, item.kind, item.text) for item in found]


def test_markdown(tmp_path: Path) -> None:
    found = _split(tmp_path, "page.md", MARKDOWN)
    assert _told(found) == [
        (1, "heading", "# Title (real)"),
        (2, "sentence", "Two sentences."),
        (2, "sentence", "The second, by IEEE 754."),
        (3, "sentence", "It goes on here... and there."),
        (4, "list item", "- first: `x` goes on"),
        (6, "list item", "- Second."),
        (6, "list item", "Third"),
        (7, "remark", "> A remark. Of two sentences > and two lines."),
        (9, "table row", "| `[R1]` | Text |"),
        (11, "anchor", '<a id="here"></a>'),
        (12, "sentence", "For any $i$,"),
        (13, "formula", "$$ Y = 1 $$"),
        (17, "formula", "```math L = 0 ```"),
    ]
    assert {item.section for item in found} == {("Title (real)",)}


def test_restructured_text(tmp_path: Path) -> None:
    found = _split(tmp_path, "page.rst", RESTRUCTURED)
    assert _told(found) == [
        (1, "directive", ".. _label:"),
        (4, "heading", "Title"),
        (7, "heading", "**Bold**"),
        (9, "sentence", "Words that go on."),
        (10, "sentence", "Then more."),
        (12, "list item", "* **a**: one"),
        (13, "list item", "* **b** (two) - **T**:"),
        (14, "list item", "Three."),
        (14, "list item", "Four"),
        (15, "list item", "* **T** in ( x, y ):"),
        (19, "list item", "Five."),
        (23, "code", "x = 1 expect(x, name='first')"),
        (28, "code", "expect(y, name='second')"),
    ]
    assert found[-1].section == ("Title", "Bold")


def test_a_text_without_marks(tmp_path: Path) -> None:
    found = _split(tmp_path, "page.txt", PLAIN)
    assert _told(found) == [
        (1, "heading", "Clip - 2"),
        (3, "heading", "Version"),
        (5, "list item", "• name: Clip"),
        (7, "formula", "f(x) = max(x)"),
        (9, "sentence", "First one."),
        (9, "sentence", "Second one."),
        (12, "table row", "Kind Types"),
        (13, "table row", "Input A, B"),
        (15, "code", "struct S {"),
        (16, "code", "FLOAT a;"),
    ]
    assert found[-1].section == ("Clip - 2", "Version")


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_left_out_and_nothing_is_there_twice(page: str) -> None:
    text = " ".join(PAGES[page].read_text(encoding="utf-8").split())
    at = 0
    for item in items(PAGES[page]):
        assert at <= item.start < item.end
        assert text[item.start : item.end] == item.text
        between = text[at : item.start]
        assert not any(character.isalnum() for character in between), between
        at = item.end
    assert not any(character.isalnum() for character in text[at:])


@pytest.mark.parametrize("page", PAGES)
def test_each_line_is_that_of_the_first_word(page: str) -> None:
    lines = PAGES[page].read_text(encoding="utf-8").splitlines()
    for item in items(PAGES[page]):
        assert item.text.split()[0] in lines[item.line - 1]


def test_the_pages_have_what_people_see_in_them() -> None:
    kinds = Counter(item.kind for item in items(PAGES["sonnx-clip"]))
    assert kinds["remark"] == 8
    assert kinds["table row"] == 3 + 4 + 5 + 5
    assert kinds["formula"] == 3 * (2 + 3 + 4)
    tests = [item for item in items(PAGES["onnx-clip-examples"]) if item.kind == "code"]
    assert len(tests) == 6
    assert all(test.text.endswith("')") for test in tests)
    rows = [item for item in items(PAGES["directml-clip"]) if item.kind == "table row"]
    assert len(rows) == 4 * 3 + 2


def test_a_quotation_has_the_places_of_the_items_that_it_takes() -> None:
    path = PAGES["sonnx-clip"]
    quote = r"Y[i] = \min(M, \max(X[i], L)) $$ Wich is equivalent to:"
    ((start, end),) = places_of(path, quote, (357,))
    taken = [item.text for item in items(path) if item.start < end and start < item.end]
    assert taken == [r"$$ Y[i] = \min(M, \max(X[i], L)) $$", "Wich is equivalent to:"]
    assert not list(places_of(path, quote, (358,)))
