"""Every mistake a person can make in spec/clip.yaml gives one message, at the place of the mistake."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.claims.evaluation import check_claims
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import check_findings, check_spec, load_spec
from tests.spec.mistakes_of_bounds import BOUNDS, CAUSES
from tests.spec.mistakes_of_dialects import DIALECTS
from tests.spec.mistakes_of_findings import FINDINGS
from tests.spec.mistakes_of_form import REFERENCES, STRUCTURE, YAML
from tests.spec.mistakes_of_meaning import EVALUATED, LANGUAGE, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sonnx_clip.spec import Spec
    from tests.spec.mistake import Mistake

TEXT = repo_file("spec/clip.yaml").read_text(encoding="utf-8")


def _check(path: Path, further: Callable[[Spec], None]) -> None:
    spec = load_spec(path)
    check_spec(spec)
    further(spec)


def _counted(text: str) -> str:
    """Without the number of an entry in its section, which changes as entries are added."""
    return re.sub(r"\((\w+)\[\d+\]", r"(\1[…]", text)


OF_MEANING = [*LANGUAGE, *NUMBERS, *CAUSES, *BOUNDS, *EVALUATED]
ALL = [*YAML, *STRUCTURE, *REFERENCES, *OF_MEANING, *DIALECTS, *FINDINGS]


@pytest.mark.parametrize("mistake", ALL, ids=lambda mistake: mistake.name)
def test_one_message_at_the_place(mistake: Mistake, tmp_path: Path) -> None:
    assert mistake.old in TEXT
    marked = TEXT.replace(mistake.old, mistake.new, 1)
    path = tmp_path / "clip.yaml"
    path.write_text(marked.replace("§", ""), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        _check(path, check_claims if mistake in EVALUATED else check_findings)
    message = str(caught.value)
    if "§" in marked:
        before = marked[: marked.index("§")]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        assert f"{path}:{line}:{column}" in message
    assert mistake.where in _counted(message)
    for words in mistake.says:
        assert words in message
    assert len(message.splitlines()) <= 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "file.yaml: cannot be read: No such file or directory\n  name a file that exists"),
        (b"", "the file is empty"),
        (b"# nothing\n", "the file is empty"),
        (b"---\n", "a mapping is expected"),
        (b"- a\n- b\n", "file.yaml:1:1: a mapping is expected"),
        (b"format: 1\noperator: \xe9\n", "file.yaml:2:11: byte 0xe9 is not UTF-8"),
        (b"a: 1\n---\nb: 2\n", "not YAML"),
        (b"a: \x01\n", "not YAML"),
    ],
)
def test_file_that_holds_no_specification_is_one_message(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "file.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=re.escape(message)):
        load_spec(path)


def test_nesting_that_would_exhaust_the_stack_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text("\n".join(" " * depth + "-" for depth in range(3000)))
    load = "import sys, pathlib, sonnx_clip.spec as s; s.load_spec(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", load, str(path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 1, "a crash of the process would be a negative status"
    assert ended.stderr.rstrip().endswith("deep.yaml: not YAML: nested too deeply")
