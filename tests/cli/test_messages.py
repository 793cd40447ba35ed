"""What a newcomer meets first: a wrong option, file or key is one message that names the remedy."""

from __future__ import annotations

import errno
import re
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_file
from tests.command import COMMAND, Ended, run

if TYPE_CHECKING:
    from pathlib import Path

RELU = repo_file("tests/toy/relu.yaml").read_text(encoding="utf-8")
PYDANTIC = re.compile(r"Input should|Field required|Extra inputs|Value error")


def message_of(done: Ended) -> str:
    """The one message of a command that failed."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) <= 2
    assert not PYDANTIC.search(done.stderr)
    assert "docs/" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--runtime", "numpy", "-o", "missing/report.json"),
        ("check", "--runtime", "numpy", "--repro", "missing/repro.sh"),
        ("check", "--runtime", "numpy", "--journal", "missing/journal.sqlite"),
        ("export", "npz", "-o", "missing/vectors"),
        ("normalise", "model.onnx", "-o", "missing/model.onnx"),
    ],
    ids=" ".join,
)
def test_output_in_a_missing_folder_is_an_error(arguments: tuple[str, ...], tmp_path: Path) -> None:
    message = message_of(run(*arguments, cwd=tmp_path))
    assert arguments[-1] in message
    assert "mkdir -p missing" in message
    assert not (tmp_path / "missing").exists()


def test_check_writes_no_file_unless_asked(tmp_path: Path) -> None:
    options = ("--dtype", "int16", "--brief")
    (tmp_path / "mine.py").write_text("from sonnx_clip import clip\n")
    for runtime in ("sonnx", "./mine.py:clip"):
        assert run("check", "--runtime", runtime, *options, cwd=tmp_path).returncode == 0
    assert [file.name for file in tmp_path.iterdir()] == ["mine.py"]
    run("check", "--runtime", "sonnx", *options, "--build", "results", cwd=tmp_path)
    assert list((tmp_path / "results").iterdir())


def test_file_without_a_function_is_named(tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text("")
    assert "./file.py:function" in message_of(run("check", "--runtime", "./file.py", cwd=tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("operands: [", "operand: [", "did you mean `operands`?"),
        ("result: {id: Y", "result: {name: Y", "`name`"),
        ("format: 1", "format: 2", "at most 1"),
        ("when: X < 0", "when: []", "condition"),
        (RELU, "", "empty"),
    ],
    ids=["misspelt key", "unknown key", "format", "no condition", "empty"],
)
def test_mistake_in_a_specification_is_named(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    assert old in RELU
    (tmp_path / "relu.yaml").write_text(RELU.replace(old, new, 1))
    arguments = ("check", "--operator", "relu.yaml", "--runtime", "numpy")
    message = message_of(run(*arguments, cwd=tmp_path))
    assert "relu.yaml" in message
    assert words in message


@pytest.mark.parametrize(
    "arguments",
    [
        ("prove", "--operator", "nope.yaml"),
        ("check", "--runtime", "onnxruntime", "--contexts", "nope.yaml"),
    ],
    ids=" ".join,
)
def test_name_of_no_file_is_an_error(arguments: tuple[str, ...], tmp_path: Path) -> None:
    message = message_of(run(*arguments, cwd=tmp_path))
    assert "nope.yaml: cannot be read: No such file" in message
    assert "name a file that exists" in message


@pytest.mark.parametrize(
    "arguments",
    [
        ("--so", "libclip.so"),
        ("--exec", "true", "--dtype", "int8"),
        ("--so", "libclip.so", "--abi", "empty.toml"),
    ],
    ids=" ".join,
)
def test_remedy_needs_no_page_of_the_checkout(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    done = run("check", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "error: " in done.stderr
    assert "docs/" not in done.stderr


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        ImportError("libonnx.so: failed to map segment from shared object"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_lack_of_memory_is_one_message(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("sonnx_clip.spec.load_spec", fail)
    assert "not enough memory" in message_of(run("dialects", cwd=tmp_path))


@pytest.mark.nightly
def test_limited_memory_is_no_traceback(tmp_path: Path) -> None:
    """NumPy is imported, and threads are started, if the machine has few processors."""
    size = 400_000 * 1024

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "generate", "--check"],
        cwd=tmp_path, preexec_fn=limit, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if done.returncode != 0:
        assert "not enough memory" in message_of(Ended(done.returncode, "", done.stderr))
