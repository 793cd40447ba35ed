"""The pages: what a reader may paste does what they say, and nothing is unfinished or private."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.spec import load_spec

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "CITATION.cff", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [page.name for page in PAGES]


def named_modules(text: str) -> list[str]:
    """The modules and names of ours that a text writes with dots, between backquotes."""
    return re.findall(r"`(sonnx_clip(?:\.\w+)+)[`(]", text)


def _is_there(name: str) -> bool:
    """Whether a dotted name is a module, or stands in the module before its last dot."""
    above, _, last = name.rpartition(".")
    return bool(_source_of(name)) or re.search(rf"\b{last}\b", _source_of(above)) is not None


def _source_of(name: str) -> str:
    """The text of a module, which is empty where there is none."""
    path = ROOT / name.replace(".", "/")
    files = (path / "__init__.py", path.with_suffix(".py"))
    return "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def test_modules_that_are_named_are_there() -> None:
    texts = [*PAGES, *sorted((ROOT / "sonnx_clip").rglob("*.py"))]
    named = {(path, name) for path in texts for name in named_modules(path.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert not [(path.name, name) for path, name in sorted(named) if not _is_there(name)]
    assert not _is_there("sonnx_clip.render.kernels")  # once named so in sonnx_clip/trace


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_path_of_one_machine(page: Path) -> None:
    paths = r"(?<![\w.~-])/(?:work|root|home|tmp|usr|opt|mnt|Users|private)/\S*"
    assert not re.findall(paths, page.read_text(encoding="utf-8"))


def test_the_line_that_the_checker_printed_does_what_the_guide_says() -> None:
    pytest.importorskip("onnxruntime")
    lines = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8").splitlines()
    (pasted,) = [line.strip() for line in lines if line.strip().startswith("python -c ")]
    (said,) = [line.strip() for line in lines if line.strip().startswith("int64 (2,) [")]
    _, *arguments = shlex.split(pasted)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    # What onnxruntime answers depends on the processor's vector instructions; what is expected does not.
    form, expected = re.escape(said.partition("[")[0]), re.escape(said.partition("expected:")[2])
    assert re.fullmatch(rf"{form}\['0x[0-9a-f]+', '0x[0-9a-f]+'\] expected:{expected}", done.stdout.strip())


def test_that_line_is_what_the_checker_writes(tmp_path: Path) -> None:
    """The guide's line is the checker's for the same call, onnxruntime right or wrong."""
    pytest.importorskip("onnxruntime")
    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.conform.reproduce import reproducer
    from sonnx_clip.runtimes.runtime import LIMITS
    from sonnx_clip.runtimes.worker import Worker

    text = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
    (pasted,) = [line.strip() for line in text.splitlines() if line.strip().startswith("python -c ")]
    worker = Worker("onnxruntime", "int64", LIMITS)
    try:
        found = Deviation(
            kind="violates", operands={"X": "0x0", "min": "0x0", "max": "0x80000000"}, expected="0x0",
            got="0x80000000", shown="", layout="contiguous", length=2, entries=(("0x0",),),
        )  # fmt: skip
        line = reproducer(found, load_spec().element_type("int64"), worker)
    finally:
        worker.close()
    assert pasted == f"python -c {shlex.quote(line)}"


def test_commands_and_picture_are_fresh() -> None:
    """docs/commands.md is what --help prints, docs/clip.svg what the specification draws."""
    from tools.render_docs import rendered

    files = rendered()
    assert set(files) == {"docs/commands.md", "docs/clip.svg"}
    stale = [name for name, text in files.items() if (ROOT / name).read_text(encoding="utf-8") != text]
    assert not stale, "run: make docs"


def test_the_proof_by_hand_is_a_proof(tmp_path: Path) -> None:
    text = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^ +(why3 prove .*)$", text, re.MULTILINE)
    assert line.count("build/why3/") == 1  # a folder that other tests may be writing
    words = shlex.split(line.replace("build/why3/", f"{tmp_path}/why3/"))
    words[words.index("Z3,4.8.12,")] = find_provers(("Z3",))[0].why3_name  # the version that is installed
    configure(tmp_path)
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.findall(r"^Goal (\w+)\.\nProver result is: (\w+)", done.stdout, re.MULTILINE) == [
        ("clip_is_cases", "Valid")
    ]
