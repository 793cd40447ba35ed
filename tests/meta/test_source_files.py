"""`--runtime ./file.py:function`: judged as a function of a module; what is wrong with the file is told."""

import os
import subprocess
import sys

import pytest

from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.find_runtime import find_runtime
from tests.command import run

RIGHT = """
import numpy as np
import beside

__version__ = "7.1"


def clip(x, l, m):
    return np.where(m < l, m, np.where(x <= l, l, np.where(m <= x, m, x))).astype(x.dtype)


def ignores_max(x, l, m):
    return np.maximum(x, l)


answer = 42
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(RIGHT)
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/numpy.py").write_text("import math\n\n\ndef clip(x, l, m):\n    return math.nan\n")
    for name, text in {
        "raises": "raise ValueError('no licence')", "exits": "import sys; sys.exit('needs a GPU')",
        "lacks": "import no_such_package", "syntax": "def clip(x, l, m:\n    return x\n",
        "dies": "import os; os.abort()", "hangs": "import time; time.sleep(999)",
    }.items():  # fmt: skip
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def check(folder, runtime, *arguments):
    options = ("--runtime", runtime, "--dtype", "int8", "--start-limit", "3")
    return run("check", *options, *arguments, cwd=folder)


def test_a_right_function_of_a_file_conforms(folder):
    done = check(folder, "./mine.py:clip", "--brief")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("./mine.py:clip 7.1 (default policy): 1 conforms of 1 type")


def test_a_wrong_one_violates_with_a_line_that_repeats_it(folder):
    done = check(folder, "./mine.py:ignores_max")
    assert done.returncode == 1
    line, *_ = [line for line in done.stdout.splitlines() if line.strip().startswith(f"{sys.executable} -c ")]
    repeated = subprocess.run(
        ["sh", "-c", line.strip()], check=True, capture_output=True,
        text=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(repo_root())},
    )  # fmt: skip
    assert repeated.stdout.startswith("int8 (")
    assert "expected: " in repeated.stdout


@pytest.mark.parametrize(
    ("runtime", "words"),
    [
        ("./nowhere.py:clip", "./nowhere.py: there is no such file"),
        (".py:clip", ".py: there is no such file"),
        ("./mine.py:klip", "there is no `klip` in ./mine.py"),
        ("./mine.py:klip", "it has clip, ignores_max"),
        ("./beside.py:clip", "it has no function at all"),
        ("./mine.py:answer", "answer is no function"),
        ("./raises.py:clip", "ValueError: no licence"),
        ("./exits.py:clip", "SystemExit: needs a GPU"),
        ("./lacks.py:clip", "No module named 'no_such_package'"),
        ("./syntax.py:clip", "SyntaxError: "),
        ("./syntax.py:clip", "make `python ./syntax.py` work in this folder"),
        ("./dies.py:clip", "while it was imported: killed by SIGABRT"),
        ("./hangs.py:clip", "while it was imported: no answer within 3 s of its own time (--start-limit"),
    ],
)
def test_unloadable_runtime_is_an_environment_failure(folder, runtime, words):
    done = check(folder, runtime)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: environment: the runtime {runtime} cannot be loaded: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_called_as_a_module_is_that_file(folder):
    done = check(folder, "./lib/numpy.py:clip", "--brief")
    assert done.returncode == 1
    assert done.stdout.startswith("./lib/numpy.py:clip (default policy): 1 violates of 1 type")


def test_it_is_found_without_a_worker_too(folder):
    name = f"{folder}/mine.py:clip"
    assert find_runtime(name).version == f"{name} 7.1"
