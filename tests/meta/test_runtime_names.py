"""Runtimes are found by name: files, modules, entry points, programs; a name that is wrong is one message."""

import re
import tomllib

import pytest

from sonnx_clip.root.folders import repo_file
from tests.command import run

pytestmark = pytest.mark.usefixtures("brief")

FILES = {
    "mine": """
import numpy as np
import beside
from sonnx_clip.runtimes.runtime import Runtime

__version__ = "7.1"


def clip(x, l, m):
    return np.where(m < l, m, np.where(x <= l, l, np.where(m <= x, m, x))).astype(x.dtype)


def ignores_max(x, l, m):
    return np.maximum(x, l)


def of_two(x, l):
    return x


WHOLE = Runtime("whole 9.1", lambda etype: clip, "import mine", lambda etype: "mine.clip(x, l, m)")
answer = 42
""",
    "beside": "",
    "fastclip": "from mine import clip\n",
    "lib/numpy": "import math\n\n\ndef clip(x, l, m):\n    return math.nan\n",
    "raises": "raise ValueError('no licence')",
    "lacks": "import no_such_package",
    "syntax": "def clip(x, l, m:\n    return x\n",
    "dies": "import os; os.abort()",
    "hangs": "import time; time.sleep(999)",
}
POINTS = """
[console_scripts]
numpy = other.package:main

[sonnx_clip.runtimes]
# each of them is one line
fast = fastclip:clip
whole = mine:WHOLE
lacking = lacks:clip
bad value = no module at all
twice = mine:clip
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of runtimes, of which three packages name some as entry points."""
    found = tmp_path_factory.mktemp("runtimes")
    (found / "lib").mkdir()
    for name, text in FILES.items():
        (found / f"{name}.py").write_text(text)
    ours = "[sonnx_clip.runtimes]\n"
    packages = {
        "fast-clip": POINTS,
        "second": f"{ours}twice = mine:clip\n",
        "taker": f"{ours}numpy = mine:clip\n",
    }
    for package, points in packages.items():
        info = found / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(points)
    (found / "broken").write_text("#!/no/such/interpreter\n")
    (found / "broken").chmod(0o755)
    (found / "clip.toml").write_text(
        'operands = ["y", "x", "min", "max", "n"]\n[symbols]\nint8 = "right"\n'
    )
    return found


@pytest.fixture
def check(folder, monkeypatch):
    """`check` in that folder, which is on the path of Python too."""
    monkeypatch.syspath_prepend(str(folder))

    def checked(*arguments):
        options = ("--dtype", "int8", "--start-limit", "3", "--build", str(folder / "build"))
        return run("check", *options, *arguments, cwd=folder)

    return checked


@pytest.mark.parametrize(
    ("name", "status", "headline"),
    [
        ("./mine.py:clip", 0, "./mine.py:clip 7.1 (default policy): 1 of 1 type conforms"),
        ("./lib/numpy.py:clip", 1, "./lib/numpy.py:clip (default policy): 1 of 1 type violates"),
        ("fast", 0, "fast of fast-clip 1.2 (default policy): 1 of 1 type conforms"),
        ("whole", 0, "whole 9.1 (default policy): 1 of 1 type conforms"),
    ],
)
def test_named_runtime_is_judged(check, name, status, headline):
    done = check("--runtime", name, "--brief")
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith(headline)


def test_the_entry_point_of_the_page_is_judged(check):
    page = repo_file("docs/integrations.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    ((name, value),) = tomllib.loads(block)["project"]["entry-points"][
        "sonnx_clip.runtimes"
    ].items()
    assert f"\n{name} = {value}\n" in POINTS
    assert check("--runtime", name, "--brief").returncode == 0


UNLOADABLE = [
    ("mine:nothing", "has no attribute 'nothing'"),
    ("mine:answer", "answer is not a function"),
    ("mine:of_two", "of_two cannot be called with (x, min, max): too many positional"),
    ("raises:clip", "make `python -c 'import raises'` work"),
    ("./nowhere.py:clip", "./nowhere.py: no such file"),
    ("./mine.py:klip", "it has clip, ignores_max"),
    ("./beside.py:clip", "it has no function"),
    ("./raises.py:clip", "ValueError: no licence"),
    ("./syntax.py:clip", "SyntaxError: "),
    ("./dies.py:clip", "while it was imported: killed by SIGABRT"),
    (
        "./hangs.py:clip",
        "while it was imported: no answer within 3 s of its own time (--start-limit",
    ),
]


@pytest.mark.parametrize(("name", "words"), UNLOADABLE)
def test_unloadable_runtime_is_an_environment_failure(check, name, words):
    done = check("--runtime", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: environment: the runtime {name} cannot be loaded: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


MODEL_COMMAND = "{model} {in} {out}"
WRONG = [
    ((), "no runtime is named"),
    (("--runtime", "numpy"), "taker 1.2 ships a runtime `numpy`, a name that sonnx-clip reserves"),
    (("--runtime", "twice"), "two packages ship a runtime `twice`: fast-clip 1.2 and second 1.2"),
    (("--runtime", "bad value"), "fast-clip 1.2 ships a runtime `bad value` that is not module:function"),
    (("--runtime", "lacking"), "fast-clip 1.2 cannot be loaded: No module named 'no_such_package'"),
    (("--runtime", "slow"), ", litert, "),
    (("--runtime", "sonnx", "--exec", "x"), "--runtime and --exec exclude each other"),
    (("--runtime", "sonnx", "--endian", "big"), "--endian needs --exec"),
    (("--exec", "'x"), "No closing quotation"),
    (("--exec", "./no-such-harness"), "./no-such-harness cannot be started: No such file or directory"),
    (("--so", "nowhere.so", "--abi", "clip.toml"), "nowhere.so: environment: "),
    (("--so", "libplanted.so"), "--so LIBRARY needs --abi FILE"),
    (("--runtime", "sonnx", "--abi", "clip.toml"), "--abi FILE needs --so LIBRARY"),
    (("--so", "libplanted.so", "--abi", "nowhere.toml"), "nowhere.toml: --abi cannot be read: No such"),
    (("--onnx", "onnx"), "--onnx onnx is not a function"),
    (("--onnx", "mine:answer"), "mine:answer is not a function"),
    (("--onnx", "mine.py:no_such"), "mine.py has no function `no_such`"),
    (("--onnx-cmd", ""), "--onnx-cmd needs a program"),
    (("--onnx-cmd", "x {in} {out}"), "--onnx-cmd: placeholder {model} is missing"),
    (("--onnx-cmd", f"./no-such {MODEL_COMMAND}"), "environment: the runtime onnx-cmd:./no-such"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_wrong_command_line_is_one_message(check, arguments, words):
    done = check(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")


def test_program_that_cannot_start_is_an_environment_failure(check):
    done = check("--onnx-cmd", f"./broken {MODEL_COMMAND}")
    assert done.returncode == 2
    assert "environment: int8 could not be judged: FileNotFoundError" in done.stderr
