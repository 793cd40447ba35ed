"""How far a stage is: lines where there is no terminal, numbers for the command that started it."""

import io
import os

import pytest
from rich.console import Console

from sonnx_clip.root.terminal import VARIABLE, progress


def test_progress_in_plain_lines(capfd):
    with progress("proving", 10, "answers", Console(file=io.StringIO())) as show:
        for count in range(11):
            show(count, "")
    assert capfd.readouterr().err.splitlines() == [f"proving: {n} of 10 answers" for n in (2, 4, 6, 8, 10)]


def test_progress_on_a_terminal_leaves_nothing_behind(capfd):
    screen = io.StringIO()
    with progress("proving", 3, "answers", Console(file=screen, force_terminal=True, width=80)) as show:
        show(2, "int8")
    assert "2/3" in screen.getvalue()
    assert capfd.readouterr() == ("", "")


def test_progress_for_the_command_that_started_this_one(monkeypatch, capfd):
    reader, writer = os.pipe()
    monkeypatch.setenv(VARIABLE, str(writer))
    with progress("proving", 3, "answers", Console(file=io.StringIO())) as show:
        show(2, "int8")
    assert os.read(reader, 1000) == b"0 3 \n2 3 int8\n"
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        show(3, "")
    os.close(writer)
    assert capfd.readouterr() == ("", "")
