"""Programs that speak frames, called in this process without a supervisor."""

import ast

import numpy as np
import psutil
import pytest

from sonnx_clip.runtimes.board import Board
from sonnx_clip.runtimes.calls import EndedError, Request, call_once, read_answer
from sonnx_clip.runtimes.find_runtime import find_runtime, quoted
from sonnx_clip.runtimes.program import Unsupported, program
from sonnx_clip.runtimes.worker import open_runtime
from tests.meta.test_programs import named as named_program

X = np.array([-3, 1, 9], np.int16)
PROGRAM = "planted_programs.py"
LOW, HIGH = np.array(0, np.int16), np.array(5, np.int16)


def named(fault, **options):
    return named_program(fault, "0", **options)


def request(calls=3, length=4, layout="contiguous"):
    pool = np.array([-3, 1, 9, 30], np.int16).view(np.uint16)
    lower, upper = np.zeros(calls, np.uint16), np.full(calls, 5, np.uint16)
    return Request(
        layout=layout, length=length, pool=pool, starts=np.zeros(calls, int), scalars=(lower, upper)
    )


def asked_of(name, etype="int16", **changes):
    """What a runtime greets with, and its answer to a request."""
    board, asked = Board(), request(**changes)
    greeting, handle = open_runtime(board, name, etype)
    assert handle is not None, greeting
    try:
        handle(asked, board)
    finally:
        for child in psutil.Process().children():  # as the end of the runtime's process does
            if PROGRAM in " ".join(child.cmdline()):
                child.kill()
                child.wait()
    return greeting, read_answer(board, asked)


@pytest.mark.parametrize("options", [{}, {"order": "big"}])
def test_a_program_greets_and_answers(options):
    greeting, answer = asked_of(named("big" if "order" in options else "right", **options))
    assert (greeting["word"], greeting["version"]) == ("ready", "planted")
    assert not answer.failures
    assert answer.bits.view(np.int16).tolist() == [[0, 1, 5, 5]] * 3


@pytest.mark.parametrize("text", ["exec:./a", 'a "b" \\ c', "two\nlines", "é", "\U0001f600.py:clip"])
def test_a_name_stands_in_a_line_of_python_as_it_is(text):
    assert ast.literal_eval(quoted(text)) == text
    assert "\n" not in quoted(text)


def test_a_line_that_repeats_a_call_asks_the_program():
    name = named("right")
    found = program(name)
    assert found(X, LOW, HIGH).tolist() == [0, 1, 5]
    assert program(name) is found  # it is started once
    with pytest.raises(Unsupported, match="no such type here"):
        found(np.float32([1]), np.float32(0), np.float32(2))


def test_a_program_that_dies_is_not_judged_by_its_function():
    clip = find_runtime(named("exits_at_a_triple")).open("int16")
    assert clip(X, LOW, HIGH).tolist() == [0, 1, 5]
    with pytest.raises(EndedError, match="exited with status 5"):
        call_once(clip, (X, LOW, np.array(-1, np.int16)))
