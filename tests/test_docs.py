"""The pages: what a reader may paste does what they say, and nothing is unfinished or private."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CHANGELOG.md"]
NAMES = [page.name for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_nothing_is_left_to_do(page: Path) -> None:
    assert not re.findall(r"\b(TODO|FIXME|XXX|TBD)\b", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_path_of_one_machine(page: Path) -> None:
    paths = r"(?<![\w.~-])/(?:work|root|home|tmp|usr|opt|mnt|Users|private)/\S*"
    assert not re.findall(paths, page.read_text(encoding="utf-8"))


def test_the_line_that_the_checker_printed_does_what_the_readme_says() -> None:
    pytest.importorskip("onnxruntime")
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (pasted,) = [line.strip() for line in lines if line.strip().startswith("python -c ")]
    (said,) = [line.strip() for line in lines if line.strip().startswith("int64 (2,) [")]
    _, *arguments = shlex.split(pasted)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    # What onnxruntime answers depends on the processor's vector instructions; what is due does not.
    form, due = re.escape(said.partition("[")[0]), re.escape(said.partition("due:")[2])
    assert re.fullmatch(rf"{form}\['0x[0-9a-f]+', '0x[0-9a-f]+'\] due:{due}", done.stdout.strip())


def test_the_proof_by_hand_is_a_proof(tmp_path: Path) -> None:
    text = (ROOT / "docs/reading-guide.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^ +(why3 prove .*)$", text, re.MULTILINE)
    assert line.count("build/why3/") == 1  # a folder that other tests may be writing
    words = shlex.split(line.replace("build/why3/", f"{tmp_path}/"))
    subprocess.run(["sh", str(ROOT / "why3/configure.sh"), str(tmp_path)], check=True)
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.findall(r"^Goal (\w+)\.\nProver result is: (\w+)", done.stdout, re.MULTILINE) == [
        ("clip_is_cases", "Valid")
    ]
