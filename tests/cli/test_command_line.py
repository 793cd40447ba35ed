"""The command line as a whole: help, examples, and one spelling of what several commands take."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import typer.main

from sonnx_clip.cli.app import app
from tests.command import Ended, printed, run

EVERY = typer.main.get_command(app).commands  # type: ignore[attr-defined]
COMMANDS = {name: command for name, command in EVERY.items() if not command.hidden}
RETIRED = [name for name, command in EVERY.items() if command.hidden]
EXAMPLES = {name: command.epilog.split() for name, command in COMMANDS.items()}
QUICK = ("explain", "dialect", "dialects", "readings", "findings")


def ended(*arguments: str) -> Ended:
    return run(*arguments, cwd=Path.cwd())


def test_former_command_names_are_answered_with_the_new_ones() -> None:
    for name in RETIRED:
        done = ended(name, "some", "--json", "-o", "file")
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 2
        assert "run: " in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_example_is_a_call_of_the_command(name: str) -> None:
    """Its options exist and its values are taken, also where running it takes long or needs a model."""
    first, second, *arguments = EXAMPLES[name]
    assert (first, second) == ("sonnx-clip", name)
    COMMANDS[name].make_context(name, [*arguments])
    if name in QUICK:
        assert printed(name, *arguments)


def test_json_is_format_json() -> None:
    printing = [
        name for name, command in COMMANDS.items() for p in command.params if "--format" in p.opts
    ]
    assert len(printing) >= 9
    for name in QUICK:
        arguments = [part for part in EXAMPLES[name][1:] if part != "--json"]
        found = printed(*arguments, "--json")
        assert json.loads(found)
        assert printed(*arguments, "--format", "json") == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("lint", "model.onnx", "--json", "--format", "sarif"),
            "--json and --format sarif contradict",
        ),
        (("check", "--against", "directml-1.0"), "runtimes cannot be compared with `directml-1.0`"),
        (("check", "--against", "onnx", "--so", "lib.so"), "--against allows"),
        (("generate", "--into", "out"), "another operator needs --into"),
        (
            ("generate", "--operator", "spec/clip.yaml", "--into", "out"),
            "this file is about Clip",
        ),
        (("prove", "--road", "coq", "--dtype", "int8"), "--road coq allows only"),
        (("verify", "--replay", "half"), "`half` is not a percentage"),
        (("check", "--runtime", "numpy", "--level", "fast"), "'fast' is not one of"),
        (("check", "--runtime", "numpy", "--jobs", "0"), "--jobs"),
        (("check", "--runtime", "numpy", "--limit", "long"), "--limit"),
        (("export", "c-headers", "-o", "out"), "'c-headers' is not one of"),
        (("normalise", "m.onnx", "--input-shape", "x=-1"), "'x=-1' is not the shape of an input"),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else "",
)
def test_options_that_do_not_fit_are_one_message(arguments: tuple[str, ...], message: str) -> None:
    done = ended(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_missing_extra_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run("check", "--runtime", "numpy", "--scheduler", "tcp://127.0.0.1:1", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install '.[dask]'" in done.stderr
