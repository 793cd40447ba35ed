"""Mistakes planted in pages: the reader of the pages must find each."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from tests.commands_in_docs import Block, blocks, has_test, matches, run_block, unknown_targets

if TYPE_CHECKING:
    from pathlib import Path

BAD = {
    "commands that nobody runs": "text\n\n    sonnx-clip readings\n",
    "fenced commands that nobody runs": "```sh\nmake prove\n```\n",
    "an empty block": "```text\n\n```\n",
    "a fence without end": "```text\nhello\n",
    "run without a command": "<!-- run: status 0 -->\n\n    hello\n",
    "long without a command": "<!-- long: an hour -->\n\n    hello\n",
    "output with a command": "<!-- output: tests/test_docs.py::test_links -->\n\n    $ true\n",
    "output that nothing checks": "<!-- output: -->\n\n    hello\n",
    "an output of nothing but dots": "    $ echo hello\n    …\n",
    "output before the command": "    hello\n    $ echo hello\n    hello\n",
}


@pytest.mark.parametrize("page", BAD.values(), ids=BAD.keys())
def test_a_page_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match=r"^page\.md:\d+: "):
        blocks(page, "page.md")


def only(page: str) -> Block:
    (block,) = blocks(page, "page.md")
    return block


@pytest.mark.parametrize(
    "page",
    [
        "    $ echo hello\n    hullo\n",
        "    $ echo hello\n    hello\n    world\n",
        "    $ printf 'hello\\nworld\\n'\n    hello\n",
        "    $ printf 'hello\\nworld\\n'\n    …\n    word\n",
        "    $ echo hello | tr l r; false\n",
        "    $ no-such-program\n",
        "    $ exit 2\n",
        "<!-- run: status 1 -->\n\n    $ true\n",
        "```python\nprint(1 + 1)  # 3\n```\n",
        "```python\nprint(1 + 1)\n```\n",
        "```python\nraise SystemExit(1)\nprint(2)  # 2\n```\n",
    ],
)
def test_a_wrong_output_or_status_is_reported(page: str, tmp_path: Path) -> None:
    (problem,) = run_block(only(page), tmp_path)
    assert problem.startswith("page.md:")


@pytest.mark.parametrize(
    "page",
    [
        "    $ echo hello\n    hello\n",
        "    $ printf 'a\\nb\\nc\\n'\n    …\n    c\n",
        "    $ printf 'a 17 c\\n'\n    a … c\n",
        "<!-- run: status 0 or 1 -->\n\n    $ false\n    $ true\n",
        "<!-- run: given mymodule.py -->\n\n    $ test -s mymodule.py\n",
        "    $ echo one \\\n      two\n    one two\n",
        "```python\nprint(1 + 1)  # 2\n```\n",
    ],
)
def test_a_right_page_passes(page: str, tmp_path: Path) -> None:
    assert run_block(only(page), tmp_path) == []


def test_each_command_of_a_block_is_run_and_reported(tmp_path: Path) -> None:
    block = only("    $ echo a > file\n    $ false\n    $ cat file\n    b\n")
    assert len(run_block(block, tmp_path)) == 2


def test_the_programs_of_the_checkout_are_found_only_where_the_page_says(tmp_path: Path) -> None:
    program = tmp_path / ".venv/bin/hello"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert run_block(only("    $ hello\n    hello\n"), tmp_path) == []
    assert run_block(only("    $ .venv/bin/hello\n    hello\n"), tmp_path) == []
    assert run_block(only("    $ git version > version; hello\n"), tmp_path) != []


def test_a_target_that_the_makefile_lacks() -> None:
    block = only("<!-- targets: planted -->\n\n    make prove   proves\n    make coffee  none\n")
    assert unknown_targets(block, "prove: setup\n\ttrue\n") == ["coffee"]
    with pytest.raises(ValueError, match="no `make TARGET`"):
        unknown_targets(only("<!-- targets: planted -->\n\n    prove   proves\n"), "prove:\n")


def test_a_check_that_does_not_exist() -> None:
    assert has_test("tests/test_commands_in_docs.py::test_the_targets_are_in_the_makefile")
    assert not has_test("tests/test_commands_in_docs.py::test_of_nothing")
    assert not has_test("tests/no_such_file.py::test_of_nothing")
    assert not has_test("README.md::test_of_nothing")


def test_dots_stand_for_text_and_for_lines_only_where_they_are() -> None:
    assert matches(("a", "…", "z"), "a\nz\n")
    assert matches(("a", "…", "z"), "a\nb\nc\nz\n")
    assert not matches(("a", "…", "z"), "a\nb\n")
    assert not matches(("a … z",), "a b\nc z\n")
    assert not matches((), "a\n")
