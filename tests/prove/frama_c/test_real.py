"""The real Frama-C proves what is generated, a kind of element type at a time."""

import pytest

from tests.prove.frama_c.real import copy, frama_c, installed

__all__ = ["copy", "frama_c"]

pytestmark = [pytest.mark.nightly, installed]


@pytest.mark.parametrize("type_id", ["uint8", "float32", "bfloat16"])
def test_a_kernel_is_proved(copy, type_id):
    found, still_open = copy.prove(type_id)
    assert still_open == ()
    assert found.total == found.shown >= 33
    assert found.shown_by("Z3") == found.shown_by("cvc5") == found.total - found.simplified
    assert found.shown_by("Z3") >= 9
    assert all(s.held for s in found.smoke)
    assert found.taken == (("mask", "wrap") if type_id == "bfloat16" else ())
