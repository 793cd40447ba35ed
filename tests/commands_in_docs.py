"""Reads the code blocks of Markdown pages and runs their commands as a reader would.

tests/test_commands_in_docs.py calls it for README, CONTRIBUTING, SECURITY and docs/. A block is indented by
four spaces, or fenced. What happens to it depends on its lines and on an HTML comment right above it:

    no comment, `$ ` lines     the commands are run, and the lines after each are compared with what it prints
    no comment, no commands    text: nothing to run
    run: status 0 or 1         as above, and each command may end with one of these statuses
    run: given model.onnx      as above, in a folder to which a file of `GIVEN` has been added
    python                     a Python block: each `print(…)  # …` must print its comment
    long: why                  run in a clone with its own .venv, by the tests marked `exhaustive`
    targets: why               a list of `make TARGET`: each target must be in the Makefile
    output: tests/a.py::name   output without its command: that test must exist, and checks the block

`…` alone on a line stands for any number of lines, and within a line for any text. A block that looks like
commands and is none of these, an expectation of nothing but `…`, and a page without blocks where one was
expected are errors: `ValueError`.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
KINDS = ("run", "python", "long", "targets", "output")
PROGRAMS = ("sonnx-clip", "make", "git", "pip", "python", "why3", "pytest", "sh", "tools/", ".venv/")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
TIMEOUT = 600.0

_MODEL = (
    '<ir_version: 8, opset_import: ["": 13]>'
    " g (float[N] x, float l, float m) => (float[N] y) { y = Clip(x, l, m) }"
)
_FUNCTION = """import numpy as np


def clip(x, min, max):
    return np.where(x < min, min, np.where(max < x, max, x)).astype(x.dtype)
"""


def _model(file: Path) -> None:
    onnx_parser = __import__("onnx.parser", fromlist=["parse_model"])
    file.write_bytes(onnx_parser.parse_model(_MODEL).SerializeToString())


GIVEN = {"model.onnx": _model, "mymodule.py": lambda file: file.write_text(_FUNCTION, encoding="utf-8")}


@dataclass(frozen=True)
class Step:
    """A command, and the lines that the page shows after it; none where it shows nothing."""

    command: str
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A block of code: where it stands, what is to be done with it, and its lines without indentation."""

    page: str
    line: int
    kind: str
    note: str
    lines: tuple[str, ...]

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def steps(self) -> tuple[Step, ...]:
        """The commands of a block of `$ ` lines, in order."""
        found: list[tuple[str, list[str]]] = []
        lines = iter(self.lines)
        for line in lines:
            if line.startswith("$ "):
                command = line[2:]
                while command.endswith("\\"):
                    command = command[:-1].rstrip() + " " + next(lines, "").strip()
                found.append((command, []))
            elif found:
                found[-1][1].append(line)
            elif line.strip():
                raise ValueError(f"{self.where}: output before the first command")
        return tuple(Step(command, _trimmed(shown)) for command, shown in found)

    @property
    def statuses(self) -> frozenset[int]:
        """The exit statuses that a command may have."""
        _, _, numbers = self.note.partition("status ")
        return frozenset(map(int, re.findall(r"\d+", numbers))) or frozenset({0})

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the files that the block finds in its folder."""
        _, _, names = self.note.partition("given ")
        return tuple(name for name in re.split(r"[\s,]+", names) if name in GIVEN)


def _trimmed(lines: list[str]) -> tuple[str, ...]:
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return tuple(text.split("\n")) if text else ()


def blocks(text: str, page: str) -> list[Block]:
    """The blocks of a page in order.

    Raises:
        ValueError: a comment asks for what there is not, or a block of commands is run by nobody.
    """
    found = []
    lines = text.splitlines()
    mark, number = "", 0
    while number < len(lines):
        line = lines[number]
        start = number
        if line.lstrip().startswith("```"):
            end = next((k for k in range(number + 1, len(lines)) if lines[k].strip() == "```"), None)
            if end is None:
                raise ValueError(f"{page}:{number + 1}: a fence without end")
            language = line.strip().removeprefix("```")
            body, number = lines[number + 1 : end], end + 1
            found.append(_block(page, start + 1, mark, language, _dedent(body)))
            mark = ""
        elif line.startswith("    ") and line.strip() and (number == 0 or not lines[number - 1].strip()):
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            found.append(_block(page, start + 1, mark, "", _dedent(lines[start:number])))
            mark = ""
        else:
            comment = re.fullmatch(r"<!-- (.*) -->", line.strip())
            if comment:
                mark = comment[1]
            elif line.strip():
                mark = ""
            number += 1
    return found


def _dedent(lines: list[str]) -> tuple[str, ...]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return tuple(line[indent:].rstrip() for line in lines)


def _block(page: str, line: int, mark: str, language: str, lines: tuple[str, ...]) -> Block:
    where = f"{page}:{line}"
    kind, _, note = (part.strip() for part in mark.partition(":"))
    commands = [text for text in lines if text.startswith("$ ")]
    if not any(text.strip() for text in lines):
        raise ValueError(f"{where}: an empty block")
    if kind not in KINDS:
        note = ""
        kind = "run" if commands else "python" if language == "python" else "text"
    if kind == "text" and any(text.startswith(PROGRAMS) for text in lines):
        raise ValueError(
            f"{where}: commands that nobody runs: begin them with `$ `, or say above what they are"
        )
    if kind in ("run", "long") and not commands:
        raise ValueError(f"{where}: `{kind}`, and there is no line with `$ `")
    if kind in ("targets", "output") and commands:
        raise ValueError(f"{where}: `{kind}`, and there is a command that nobody runs")
    if kind in ("long", "targets", "output") and not note:
        raise ValueError(f"{where}: `{kind}` needs to say why, or which test checks it")
    block = Block(page, line, kind, note, lines)
    if commands and any(step.expected and set(step.expected) == {"…"} for step in block.steps):
        raise ValueError(f"{where}: an output of nothing but … compares nothing")
    return block


def matches(expected: tuple[str, ...], printed: str) -> bool:
    """Whether lines fit what was printed: `…` stands for lines where it is alone, for text within a line."""
    real = _trimmed(printed.splitlines())
    pattern = []
    for line in expected:
        if line.strip() == "…":
            pattern.append("(?:.*\n)*")
        else:
            pattern.append(".*".join(re.escape(part) for part in line.rstrip().split("…")) + "\n")
    return re.fullmatch("".join(pattern), "".join(f"{line}\n" for line in real)) is not None


def unknown_targets(block: Block, makefile: str) -> list[str]:
    """The targets of a list that the Makefile does not have; all lines must name one or go on with text."""
    known = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = [re.match(r"make ([a-z-]+)\b", line) for line in block.lines if not line.startswith(" ")]
    if not named or None in named:
        raise ValueError(f"{block.where}: `targets`, and a line is no `make TARGET`")
    return [found[1] for found in named if found is not None and found[1] not in known]


def has_test(note: str) -> bool:
    """Whether ``tests/file.py::name`` is there."""
    path, _, name = note.partition("::")
    file = ROOT / path
    if not (path.startswith("tests/") and file.is_file()):
        return False
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(tree))


def copy_checkout(folder: Path, *, with_venv: bool) -> None:
    """A copy of what git has or would add; with the packages of this Python, or without any."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    if with_venv:
        (folder / ".venv/bin").mkdir(parents=True)
        programs = {
            "python": "",
            "pytest": " -m pytest",
            "sonnx-clip": ' -c "from sonnx_clip.cli.app import main; main()"',
        }
        for name, arguments in programs.items():
            program = folder / ".venv/bin" / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable}{arguments} "$@"\n', encoding="utf-8")
            program.chmod(0o755)


def run_block(block: Block, folder: Path) -> list[str]:
    """Run the commands of a block in a checkout; returns what does not fit the page, a message each.

    A line that begins with `.venv/bin/`, `make` or `git` runs with the PATH of a fresh account, any other as
    in the shell that `make shell` opens.
    """
    if block.kind == "python":
        return _run_python(block, folder)
    for name in block.given:
        GIVEN[name](folder / name)
    problems = []
    for step in block.steps:
        status, printed = _run(step.command, folder)
        if status not in block.statuses:
            problems.append(f"{block.where}: `{step.command}` ended with status {status}:\n{printed}")
        elif step.expected and not matches(step.expected, printed):
            problems.append(f"{block.where}: `{step.command}` printed something else:\n{printed}")
    return problems


def _environment(command: str, folder: Path) -> dict[str, str]:
    bare = command.startswith((".venv/bin/", "make ", "git "))
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    kept |= {name: text for name, text in os.environ.items() if name.startswith("PIP_")}
    path = SYSTEM_PATH if bare else f"{folder}/.venv/bin:{SYSTEM_PATH}"
    # The checkout's own modules, not those of the tree that this test runs in.
    return {**kept, "PATH": path, "PYTHONPATH": str(folder), "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}


def _run(command: str, folder: Path) -> tuple[int, str]:
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=_environment(command, folder), text=True, encoding="utf-8",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=TIMEOUT)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, printed


def _run_python(block: Block, folder: Path) -> list[str]:
    code = "\n".join(block.lines)
    said = re.findall(r"print\(.*\)\s+# (\[.*?\]|\w+)", code)
    if not said:
        return [f"{block.where}: no `print(…)  # …` says what comes out"]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder, env=_environment("", folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode or done.stdout.splitlines() != said:
        return [f"{block.where}: printed something else:\n{done.stdout}{done.stderr}"]
    return []
