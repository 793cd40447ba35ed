"""The C reference as it is extracted: a fault of Why3, or a gap in a driver, is a failure."""

from functools import cache

import pytest

from sonnx_clip.backends import c_reference as extraction
from sonnx_clip.backends.c_reference import extract, kernel_theories
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.prove.tools import fake


@pytest.fixture(autouse=True)
def extract_again(monkeypatch):
    """What is extracted is asked of Why3 again; what others extracted stays remembered."""
    monkeypatch.setattr(extraction, "_extracted", cache(extraction._extracted.__wrapped__))


def _of_int8():
    files = kernel_theories(load_spec()).files
    return "int8", files["generated/why3/c_int8.mlw"], files["generated/c/drivers/int8.drv"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("echo 'warning: nothing' >&2; echo 'void sonnx_clip_int8('", "warning: nothing"),
        ("exit 0", "no sonnx_clip_int8"),
        ("exit 3", "exit status 3"),
        ("sleep 9", "did not end within"),
    ],
)
def test_a_fault_of_the_extraction(fault, words, tmp_path, monkeypatch):
    fake("why3", fault, tmp_path, monkeypatch)
    monkeypatch.setattr(extraction, "_SECONDS", 1)
    with pytest.raises(UserError, match=words):
        extract(*_of_int8())


# Why3 1.7 and later refuses itself what is not defined.
UNDEFINED = r"the C calls write, which is not defined|Unsupported: \[C.translate_decl\]"


@pytest.mark.parametrize(
    ("line", "words"), [("type source", "Unsupported: type"), ("val write", UNDEFINED)]
)
def test_a_driver_that_lacks_a_line_is_a_failure(line, words):
    """Why3 ends with status 0 when it cannot print a type, and prints a call for what it does not know."""
    name, theory, driver = _of_int8()
    without = "".join(text for text in driver.splitlines(keepends=True) if line not in text)
    assert without != driver
    with pytest.raises(UserError, match=words):
        extract(name, theory, without)
