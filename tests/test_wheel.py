"""The wheel outside a checkout, without extras: commands work, or one message names what they need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from sonnx_clip import __version__
from sonnx_clip.root.folders import repo_root
from tests.command import Ended

if TYPE_CHECKING:
    from pathlib import Path

# Read by every interpreter that starts with this folder in its path, a worker of `check` included.
_HIDE = """
import importlib.abc, sys

class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""
_RUN = """
import contextlib, io, json, sys
from sonnx_clip.cli.app import main

found = []
for line in {lines!r}:
    out, err, status = io.StringIO(), io.StringIO(), 0
    sys.argv = ["sonnx-clip", *line]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    found.append((status, out.getvalue(), err.getvalue()))
print(json.dumps(found))
"""
EXTRAS = ("onnx", "onnxruntime", "hypothesis")
_ONNX = f"pip install 'sonnx_clip-{__version__}-py3-none-any.whl[onnx]'"


class Installed:
    """The wheel, unpacked into a folder, with the dependencies of this interpreter but no extras."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.site = root / "site"
        self.work.mkdir()
        build = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
        ]
        done = subprocess.run(
            [*build, "--wheel-dir", str(root), str(repo_root())],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (wheel,) = root.glob(f"sonnx_clip-{__version__}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.site)
        self.hidden = root / "hidden"
        self.hidden.mkdir()
        (self.hidden / "sitecustomize.py").write_text(_HIDE.format(hidden=set(EXTRAS)))

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run code as a user of the wheel would, in an empty folder."""
        environment = os.environ | {
            "PYTHONPATH": f"{self.hidden}{os.pathsep}{self.site}",  # before an editable install
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "COLUMNS": "100",
        }
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.work, env=environment, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip

    def commands(self, lines: list[list[str]]) -> list[Ended]:
        """Run commands one after the other in one process, in which no extra can be imported."""
        done = self.python(_RUN.format(lines=lines))
        assert done.returncode == 0, done.stderr
        return [Ended(*found) for found in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("wheel"))


def test_wheel_has_its_data_and_needs_no_extra(wheel: Installed) -> None:
    done = wheel.python(
        "import numpy as np, sonnx_clip\n"
        "from sonnx_clip.root.folders import repo_root\n"
        "x = np.array([-1, 5, 9], np.float32)\n"
        "print(sonnx_clip.clip(x, np.float32(0), np.float32(6)).tolist(), repo_root())\n"
        f"for name in {EXTRAS}:\n"
        "    try: __import__(name)\n"
        "    except ModuleNotFoundError: print(name)"
    )
    expected = [f"[0.0, 5.0, 6.0] {wheel.site}/sonnx_clip/_data", *EXTRAS]
    assert done.stdout.splitlines() == expected, done.stderr
    for name in (
        "examples/frames.c",
        "examples/clip.toml",
        "examples/cortex_m.c",
        "generated/c/sonnx_clip.h",
    ):
        assert (wheel.site / "sonnx_clip/_data" / name).is_file(), name


WORKS = [
    (["--version"], f"sonnx-clip {__version__}"),
    (["explain", "float32", "--x", "nan", "--min", "1", "--max", "0"], "inverted"),
    (["readings"], "formula-2019"),
    (["dialects"], "onnx-13"),
    (["dialect", "onnx-13", "float16", "--x", "inf"], "= 65504"),
    (["findings"], "proposed"),
    (
        ["check", "--runtime", "sonnx", "--dtype", "int16", "--brief", "-o", "own.json"],
        "conform",
    ),
    (["export", "npz", "-o", "out", "--dtype", "int8"], "1 element type"),
]
REFUSED = [
    (["lint", "model.onnx"], _ONNX),
    (["normalise", "model.onnx", "-o", "out.onnx"], _ONNX),
    (["check", "--runtime", "onnxruntime", "--dtype", "int8"], _ONNX),
    (["check", "--against", "onnx"], _ONNX),
    (["evidence"], "build/proofs.json: the file is missing\n  run: sonnx-clip prove"),
    (["generate"], "installed without a checkout"),
    (["generate", "--check"], "clone the repository"),
    (["findings", "--measure"], "installed without a checkout"),
]


def test_commands_work_without_extras(wheel: Installed) -> None:
    for (arguments, says), done in zip(
        WORKS, wheel.commands([line for line, _ in WORKS]), strict=True
    ):
        assert (done.returncode, says in done.stdout) == (0, True), (arguments, done)
        assert "Traceback" not in done.stderr
    record = json.loads((wheel.work / "own.json").read_text())  # where the user stands
    assert record["runtime"] == "sonnx"


def test_missing_extra_or_checkout_is_one_message(wheel: Installed) -> None:
    before = {path for path in wheel.site.rglob("*") if path.suffix != ".pyc"}
    for (arguments, says), done in zip(
        REFUSED, wheel.commands([line for line, _ in REFUSED]), strict=True
    ):
        assert (done.returncode, done.stdout) == (2, ""), (arguments, done)
        assert done.stderr.startswith("error: ")
        assert says in done.stderr
        assert done.stderr.count("\n") == 2
    after = {path for path in wheel.site.rglob("*") if path.suffix != ".pyc"}
    assert {path for path in after - before if path.name != "__pycache__"} == set()


def test_pytest_finds_the_plugin(wheel: Installed) -> None:
    """By the entry point, which an editable install of an older checkout may lack."""
    done = wheel.python(
        "import sys, pytest\n"
        "sys.exit(pytest.main('-p no:cacheprovider -p no:hypothesispytest --sonnx-clip-runtime=numpy"
        " --sonnx-clip-types=int16'.split()))"
    )
    assert "11 passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0
