"""Joining contracts and C: the C stays as it is, byte for byte."""

import pytest

from sonnx_clip.backends.acsl import LOOP, c_functions, contract_path
from sonnx_clip.prove.frama_c import c_path, join, with_smoke
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

TYPES = [etype for etype in load_spec().element_types if etype.c is not None]
LOOP_TEXT = repo_file(LOOP).read_text()


def texts(etype):
    return repo_file(contract_path(etype)).read_text(), repo_file(c_path(etype)).read_text()


@pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)
def test_the_c_is_found_whole_and_each_contract_gets_its_smoke_claim(etype):
    contract, c = texts(etype)
    unit = join(contract, LOOP_TEXT, c, "x.c")
    assert unit.startswith(contract)
    assert unit[len(contract) :].replace(LOOP_TEXT, "") == c
    assert unit.count("loop invariant") == 3
    count = len(c_functions(etype))
    assert with_smoke(unit, count).count(r"check ensures smoke: \false; */") == count


def test_a_contract_that_the_smoke_claim_misses_is_noticed():
    contract, c = texts(TYPES[0])
    with pytest.raises(UserError, match="3 contracts were found instead of 4"):
        with_smoke(join(contract, LOOP_TEXT, c, "x.c"), 4)


@pytest.mark.parametrize(
    ("message", "old", "new"),
    [
        ("the C has an annotation", "  size_t i;", r"  size_t i; /*@ admit \false; */"),
        ("the C has an annotation", "  size_t i;", r"  size_t i; //@ assert \false;"),
        ("it has 0 loops", "while (", "if ("),
        ("it has 2 loops", "  i = 0;", "  while (0);"),
    ],
)
def test_a_c_with_annotations_or_another_number_of_loops_is_refused(message, old, new):
    contract, c = texts(TYPES[0])
    with pytest.raises(UserError, match=message):
        join(contract, LOOP_TEXT, c.replace(old, new), "x.c")
