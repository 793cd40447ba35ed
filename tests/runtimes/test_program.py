"""Programs that speak frames, called in this process by the line of a reproducer."""

import ast

import numpy as np
import pytest

from sonnx_clip.runtimes.calls import EndedError, call_once
from sonnx_clip.runtimes.find_runtime import find_runtime, quoted
from sonnx_clip.runtimes.program import Unsupported, program
from tests.meta.test_programs import named

X = np.array([-3, 1, 9], np.int16)
LOW, HIGH = np.array(0, np.int16), np.array(5, np.int16)


@pytest.mark.parametrize("text", ["exec:./a", 'a "b" \\ c', "two\nlines", "é", "\U0001f600.py:clip"])
def test_name_stands_in_a_line_of_python_as_it_is(text):
    assert ast.literal_eval(quoted(text)) == text
    assert "\n" not in quoted(text)


def test_line_that_repeats_a_call_asks_the_program():
    name = named("right", "0")
    found = program(name)
    assert found(X, LOW, HIGH).tolist() == [0, 1, 5]
    assert program(name) is found  # it is started once
    with pytest.raises(Unsupported, match="no such type here"):
        found(np.float32([1]), np.float32(0), np.float32(2))


def test_program_that_dies_gives_no_answer():
    clip = find_runtime(named("exits_at_a_triple", "0")).open("int16")
    assert clip(X, LOW, HIGH).tolist() == [0, 1, 5]
    with pytest.raises(EndedError, match="exited with status 5"):
        call_once(clip, (X, LOW, np.array(-1, np.int16)))
