"""The C reference as it is rendered and extracted."""

from functools import cache

import pytest

from sonnx_clip.backends import c_reference as extraction
from sonnx_clip.backends.c_reference import extract, kernel_theories
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.prove.tools import fake

SPEC = load_spec()
INT8_DRIVER = "generated/c/drivers/int8.drv"


@pytest.fixture
def extract_again(monkeypatch):
    """What is extracted is asked of Why3 again; what others extracted stays remembered."""
    monkeypatch.setattr(extraction, "_extracted", cache(extraction._extracted.__wrapped__))


def _of_int8():
    files, _ = kernel_theories(SPEC)
    return "int8", files["generated/why3/c_int8.mlw"], files[INT8_DRIVER]


@pytest.mark.usefixtures("extract_again")
def test_a_word_on_standard_error_is_a_failure(tmp_path, monkeypatch):
    fake("why3", "echo 'warning: nothing' >&2; echo 'void sonnx_clip_int8('", tmp_path, monkeypatch)
    with pytest.raises(UserError, match="warning: nothing"):
        extract(*_of_int8())


@pytest.mark.usefixtures("extract_again")
@pytest.mark.parametrize(
    ("fault", "words"),
    [("exit 0", "no sonnx_clip_int8"), ("exit 3", "exit status 3"), ("sleep 9", "did not end within")],
)
def test_a_fault_of_the_extraction(fault, words, tmp_path, monkeypatch):
    fake("why3", fault, tmp_path, monkeypatch)
    with pytest.raises(UserError, match=words):
        extract(*_of_int8(), seconds=1)


REFUSED = r"Unsupported: \[C.translate_decl\]"  # by Why3 1.7 and later itself


@pytest.mark.usefixtures("extract_again")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("type source", "Unsupported: type"),
        ("val write", rf"the C calls write, which is not defined|{REFUSED}"),
        ("val less_equal", rf"the C calls less_equal, which is not defined|{REFUSED}"),
    ],
)
def test_a_driver_that_lacks_a_line_is_a_failure(line, words):
    """Why3 ends with status 0 when it cannot print a type, and prints a call for what it does not know."""
    name, theory, driver = _of_int8()
    without = "".join(text for text in driver.splitlines(keepends=True) if line not in text)
    assert without != driver
    with pytest.raises(UserError, match=words):
        extract(name, theory, without)


# Why3 1.7 and later looks for a driver among its own too, and stops where it finds two.
