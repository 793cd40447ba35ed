"""Programs that speak frames, called in this process by the line of a reproducer."""

import ast

import numpy as np
import pytest

from sonnx_clip.runtimes.find_runtime import quoted
from sonnx_clip.runtimes.program import Unsupported, program
from tests.meta.test_programs import named


@pytest.mark.parametrize("text", ["exec:./a", 'a "b" \\ c', "two\nlines", "é", "\U0001f600.py:clip"])
def test_name_stands_in_a_line_of_python_as_it_is(text):
    assert ast.literal_eval(quoted(text)) == text
    assert "\n" not in quoted(text)


def test_line_that_repeats_a_call_asks_the_program():
    name = named("right", "0")
    found = program(name)
    assert found(np.int16([-3, 1, 9]), np.int16(0), np.int16(5)).tolist() == [0, 1, 5]
    assert program(name) is found  # it is started once
    with pytest.raises(Unsupported, match="no such type here"):
        found(np.float32([1]), np.float32(0), np.float32(2))
