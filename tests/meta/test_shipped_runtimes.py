"""Runtimes that other packages ship as entry points: found by name; what is wrong with a package is told."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from sonnx_clip.root.folders import repo_root

CODE = """
import numpy as np
from sonnx_clip.runtimes.runtime import Runtime


def clip(x, l, m):
    return np.where(m < l, m, np.where(x <= l, l, np.where(m <= x, m, x))).astype(x.dtype)


class Wrong:
    @staticmethod
    def ignores_max(x, l, m):
        return np.maximum(x, l)


IMPORTS = "import fastclip.code"
RUNTIME = Runtime("whole 9.1", lambda etype: clip, IMPORTS, lambda etype: "fastclip.code.clip(x, l, m)")
answer = 42


def of_two(x, l):
    return x
"""
POINTS = """
[console_scripts]
numpy = other.package:main

[sonnx_clip.runtimes]
# each of them is one line
fast = fastclip.code:clip
whole = fastclip.code:RUNTIME
wrong = fastclip.code : Wrong.ignores_max [extra]
lacks = fastclip.lacks:clip
raises = fastclip.raises:clip
dies = fastclip.dies:clip
nothing = fastclip.code:no_such
number = fastclip.code:answer
two = fastclip.code:of_two
bad value = no module at all
twice = fastclip.code:clip
"""


def lay_out(folder, package, points):
    info = folder / f"{package}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, "fast-clip", POINTS)
    lay_out(folder, "second", "[sonnx_clip.runtimes]\ntwice = fastclip.code:clip\n")
    lay_out(folder, "taker", "[sonnx_clip.runtimes]\nnumpy = fastclip.code:clip\n")
    (folder / "fastclip").mkdir()
    for name, text in {
        "__init__": "", "code": CODE, "lacks": "import no_such_package",
        "raises": "raise ValueError('no licence')", "dies": "import os; os.abort()",
    }.items():  # fmt: skip
        (folder / f"fastclip/{name}.py").write_text(text)
    return folder


def run(site, command):
    path = os.pathsep.join([str(site), str(repo_root())])
    return subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=site, timeout=100,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def check(site, name, *arguments):
    command = [sys.executable, "-m", "sonnx_clip", "check", "--runtime", name, "--dtype", "int8"]
    return run(site, [*command, "--build", str(site / "build"), *arguments])


@pytest.mark.parametrize(("name", "version"), [("fast", "fast of fast-clip 1.2"), ("whole", "whole 9.1")])
def test_a_right_one_conforms(site, name, version):
    done = check(site, name, "--brief")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{version} (default policy): 1 conforms of 1 type")


def test_a_wrong_one_violates_with_a_line_that_repeats_it(site):
    done = check(site, "wrong")
    assert done.returncode == 1
    line, *_ = [line for line in done.stdout.splitlines() if line.strip().startswith(f"{sys.executable} -c ")]
    _, *words = shlex.split(line)
    repeated = run(site, [sys.executable, *words])
    bits, expected = re.search(r"\['(0x[0-9a-f]+)'.*expected: (0x[0-9a-f]+)", repeated.stdout).groups()
    assert int(bits, 16) != int(expected, 16)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lacks", "cannot be loaded: No module named 'no_such_package'"),
        ("raises", "cannot be loaded: ValueError: no licence"),
        ("dies", "cannot be loaded: while it was imported: killed by SIGABRT"),
        ("nothing", "has no attribute 'no_such'"),
        ("number", "fastclip.code.answer is neither a function nor a Runtime"),
        ("two", "fastclip.code.of_two cannot be called with (x, min, max): too many positional arguments"),
    ],
)
def test_a_broken_one_is_the_environment_with_its_package(site, name, words):
    done = check(site, name)
    assert (done.returncode, done.stdout) == (2, "")
    first, todo = done.stderr.splitlines()[-2:]
    assert first.startswith(f"error: environment: the runtime {name} of the package fast-clip 1.2 ")
    assert words in first
    assert todo.startswith("  mend or update that package: its entry point is fastclip.")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("numpy", "the package taker 1.2 ships a runtime `numpy`, which is the name of one of sonnx-clip"),
        ("twice", "two packages ship a runtime `twice`: fast-clip 1.2 and second 1.2"),
        ("bad value", "fast-clip 1.2 ships a runtime `bad value` that names no module:function"),
    ],
)
def test_ambiguous_name_is_refused(site, name, words):
    done = check(site, name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_names_stand_in_the_message_on_a_name_that_is_not_there(site):
    done = check(site, "slow")
    assert done.returncode == 2
    assert "there is no runtime `slow`" in done.stderr
    for name in ("litert", "fast (fast-clip 1.2)", "whole (fast-clip 1.2)"):
        assert f", {name}," in done.stderr


def test_a_shipped_function_opens_no_models(site):
    arguments = [
        "check",
        "--against",
        "onnx",
        "--runtime",
        "fast",
        "--dtype",
        "int8",
        "--build",
        str(site / "build"),
    ]
    done = run(site, [sys.executable, "-m", "sonnx_clip", *arguments])
    assert done.returncode == 2
    assert "the runtime fast" in done.stderr
    assert "runs no ONNX models" in done.stderr
