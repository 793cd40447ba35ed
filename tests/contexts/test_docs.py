"""The command says what docs/contexts.md shows, and gives Python that repeats it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.command import run as run_in

pytest.importorskip("onnxruntime")
PAGE = Path(__file__).parents[2] / "docs/contexts.md"
CHECK = ("check", "--runtime", "onnxruntime", "--dtype", "float32", "--contexts")


def run(*arguments):
    """The command in the checkout."""
    return run_in(*arguments, cwd=PAGE.parents[1])


def words(text):
    return " ".join(text.split())


def test_the_block_on_relu_and_clip():
    done = run(*CHECK, "relu-clip", "--few-calls")
    assert done.returncode == 1
    block = PAGE.read_text().split("test_the_block_on_relu_and_clip -->")[1].split("\n## ")[0]
    counts, rest = words(block).split(" Relu → Clip(nan, 1)")
    assert counts.split(";")[0] in words(done.stdout)  # with few calls there are fewer results
    assert rest in words(done.stdout)


def test_contexts_that_conform_do_not_fail():
    done = run(*CHECK, "clip-relu,reshape-clip", "--few-calls")
    assert done.returncode == 0
    assert "2 contexts of float32: 2 conforms" in done.stdout


def test_without_names_every_context_is_asked(tmp_path):
    file = tmp_path / "report.xml"
    done = run(*CHECK, "--few-calls", "--format", "junit", "-o", str(file))
    assert done.returncode == 1
    text = file.read_text()
    assert text.count('name="context-') > 40


@pytest.mark.nightly
def test_reproducers_run(tmp_path):
    script = tmp_path / "again.sh"
    run(*CHECK, "relu-clip", "--few-calls", "--repro", str(script))
    lines = script.read_text().split("context relu-clip")[1].split("\n", 1)[1]
    again = subprocess.run(["sh", "-c", lines], capture_output=True, text=True, check=True)
    assert again.stdout.split()[-1] == "0xc0000000"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--runtime", "numpy", "--contexts", "relu-clip"), "opens no ONNX models"),
        (("--runtime", "onnxruntime", "--contexts", "relu-klip"), "relu-clip"),
        (("--runtime", "onnxruntime", "--contexts", "nowhere.yaml"), "nowhere.yaml"),
        (("--runtime", "onnxruntime", "--operator", "max", "--contexts"), "of clip"),
        (("--optimiser", "onnxskript", "--contexts"), "onnxscript"),
        (("--optimiser", "./opt {in}", "--contexts"), "{out}"),
        (("--optimiser", "tests.contexts.planted_optimisers:no_such", "--contexts"), "no_such"),
        (("--optimiser", "a:b", "--exec", "./x"), "--optimiser"),
    ],
)
def test_wrong_arguments_get_one_message(arguments, named):
    done = run("check", "--dtype", "float32", *arguments)
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_a_journal_keeps_contexts_and_two_runs_agree(tmp_path):
    """The second run takes the results from the journal, a third one makes them again: the same report."""
    journal = ("--journal", str(tmp_path / "journal"))
    reports = []
    for name, more in (("one", journal), ("two", journal), ("three", ())):
        file = tmp_path / f"{name}.json"
        done = run(*CHECK, "relu-clip,clip-relu", "--few-calls", "-o", str(file), *more)
        assert done.returncode == 1
        if name == "two":
            assert "3 of them in" in done.stderr
        reports.append(json.loads(file.read_text())["types"][0]["contexts"])
    assert reports[0] == reports[1] == reports[2]
    assert [one["id"] for one in reports[0]] == ["relu-clip", "clip-relu"]
