"""The name of a runtime in the line of a reproducer."""

import ast

import pytest

from sonnx_clip.runtimes.find_runtime import python_quoted


@pytest.mark.parametrize(
    "text", ["exec:./a", 'a "b" \\ c', "two\nlines", "é", "\U0001f600.py:clip"]
)
def test_name_stands_in_a_line_of_python_as_it_is(text):
    assert ast.literal_eval(python_quoted(text)) == text
    assert "\n" not in python_quoted(text)
