"""Pages that are rendered are fresh, and the proof by hand on docs/proving.md is one."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure

ROOT = Path(__file__).parent.parent
PROVING = (ROOT / "docs/proving.md").read_text(encoding="utf-8")


def test_commands_and_picture_are_fresh() -> None:
    """docs/commands.md is what --help prints, docs/clip.svg what the specification draws."""
    from tools.render_docs import rendered

    files = rendered()
    assert set(files) == {"docs/commands.md", "docs/clip.svg"}
    stale = [
        name for name, text in files.items() if (ROOT / name).read_text(encoding="utf-8") != text
    ]
    assert not stale, "run: make docs"


@pytest.mark.nightly
def test_the_proof_by_hand_is_a_proof(tmp_path: Path) -> None:
    (line,) = re.findall(r"^ *(why3 prove .*)$", PROVING, re.MULTILINE)
    assert line.count("build/why3/") == 1  # a folder that other tests may be writing
    words = shlex.split(line.replace("build/why3/", f"{tmp_path}/why3/"))
    words[words.index("Z3,4.8.12,")] = find_provers(("Z3",))[
        0
    ].why3_name  # the version that is installed
    configure(tmp_path)
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.findall(r"^Goal (\w+)\.\nProver result is: (\w+)", done.stdout, re.MULTILINE) == [
        ("clip_is_cases", "Valid")
    ]
