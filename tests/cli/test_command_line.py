"""The command line as a whole: help, examples, and one spelling of what several commands take."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
import typer.main

from sonnx_clip.cli import app

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY = typer.main.get_command(app.app).commands  # type: ignore[attr-defined]
COMMANDS = {name: command for name, command in EVERY.items() if not command.hidden}
RETIRED = [name for name, command in EVERY.items() if command.hidden]
EXAMPLES = {name: command.epilog for name, command in COMMANDS.items()}
PRINTING = [name for name, command in COMMANDS.items() if "json" in {p.name for p in command.params}]
QUICK = ("explain", "dialect", "dialects", "readings", "findings")


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    def command(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["sonnx-clip", *arguments])
        status: int | str | None = 0
        try:
            app.main()
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        assert isinstance(status, int) or status is None
        return status or 0, said.out + said.err

    return command


@pytest.mark.parametrize("name", [None, *COMMANDS])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_fits_a_terminal_and_begins_with_an_example(
    name: str | None, option: str, run: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    status, said = run(*([name] if name else []), option)
    assert status == 0
    assert "Usage: " in said
    assert len(said.splitlines()) <= 30
    assert max(map(len, said.splitlines())) <= 80
    if name is not None:
        assert said.splitlines()[1].startswith(f"Example: sonnx-clip {name} ")


@pytest.mark.parametrize("name", RETIRED)
@pytest.mark.parametrize("arguments", [[], ["--help"], ["some", "--json", "-o", "file"]])
def test_a_former_command_name_answers_with_the_new_one(
    name: str, arguments: list[str], run: Callable[..., tuple[int, str]]
) -> None:
    status, said = run(name, *arguments)
    assert status == 2
    assert len(said.splitlines()) == 2
    assert "run: " in said


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_is_a_call_of_the_command(name: str) -> None:
    """Its options exist and its values are taken, also where running it takes long or needs a model."""
    first, second, *arguments = EXAMPLES[name].split()
    assert (first, second) == ("sonnx-clip", name)
    COMMANDS[name].make_context(name, arguments)


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_example_runs(name: str, run: Callable[..., tuple[int, str]]) -> None:
    status, said = run(*EXAMPLES[name].split()[1:])
    assert status == 0
    assert said


def test_every_command_with_json_has_both_spellings() -> None:
    assert len(PRINTING) >= 9
    for name in PRINTING:
        options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {"--json", "--format"} <= options, name


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "int8", "--x", "1", "--min", "0", "--max", "2"),
        ("dialect", "onnx-6", "float16", "--x", "inf"),
        ("dialects",),
        ("readings",),
        ("findings",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_json_is_format_json(arguments: tuple[str, ...], run: Callable[..., tuple[int, str]]) -> None:
    by_flag, by_format = run(*arguments, "--json"), run(*arguments, "--format", "json")
    assert by_flag == by_format
    assert by_flag[0] == 0
    json.loads(by_flag[1])
    assert run(*arguments, "--json", "--format", "json") == by_flag


def test_json_and_another_format_contradict(run: Callable[..., tuple[int, str]]) -> None:
    status, said = run("lint", "model.onnx", "--json", "--format", "sarif")
    assert status == 2
    assert said == "error: --json and --format sarif contradict each other\n  leave one of them out\n"


def test_shared_options_have_one_help_text() -> None:
    texts: dict[str, set[str | None]] = {}
    for command in COMMANDS.values():
        for parameter in command.params:
            texts.setdefault(parameter.opts[0], set()).add(parameter.help)
    assert all(
        len(texts[name]) == 1 for name in ("--build", "--jobs", "--brief", "--again", "--json", "--forms")
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "--status"), "--status reads a journal"),
        (("check", "--against", "directml-1.0"), "runtimes cannot be compared with `directml-1.0`"),
        (("check", "--against", "onnx", "--so", "lib.so"), "--against takes"),
    ],
)
def test_options_that_do_not_fit_are_one_message(
    arguments: tuple[str, ...], message: str, run: Callable[..., tuple[int, str]]
) -> None:
    status, said = run(*arguments)
    assert status == 2
    assert message in said
    assert len(said.splitlines()) <= 2
