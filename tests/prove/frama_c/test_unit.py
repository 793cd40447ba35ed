"""Joining contracts and C: the C stays as it is, byte for byte."""

import pytest

from sonnx_clip.backends.acsl import LOOP, contract_path, functions
from sonnx_clip.prove.frama_c import join, with_smoke
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

TYPES = [etype for etype in load_spec().element_types if etype.c is not None]
LOOP_TEXT = repo_file(LOOP).read_text()


def texts(etype):
    return (
        repo_file(contract_path(etype)).read_text(),
        repo_file(f"generated/c/sonnx_clip_{etype.id}.c").read_text(),
    )


@pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)
def test_the_c_is_found_whole_in_what_frama_c_gets(etype):
    contract, c = texts(etype)
    unit = join(contract, LOOP_TEXT, c, "x.c")
    assert unit.startswith(contract)
    assert unit[len(contract) :].replace(LOOP_TEXT, "") == c
    assert unit.count("loop invariant") == 3


@pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)
def test_each_contract_gets_its_smoke_claim(etype):
    contract, c = texts(etype)
    unit = with_smoke(join(contract, LOOP_TEXT, c, "x.c"), len(functions(etype)))
    assert unit.count(r"check ensures smoke: \false; */") == len(functions(etype))


def test_a_contract_that_the_smoke_claim_misses_is_noticed():
    contract, c = texts(TYPES[0])
    with pytest.raises(UserError, match="3 contracts were found instead of 4"):
        with_smoke(join(contract, LOOP_TEXT, c, "x.c"), 4)


@pytest.mark.parametrize("annotation", ["/*@ admit \\false; */", "//@ assert \\false;"])
def test_a_c_with_annotations_of_its_own_is_refused(annotation):
    contract, c = texts(TYPES[0])
    with pytest.raises(UserError, match="has an annotation"):
        join(contract, LOOP_TEXT, c.replace("  size_t i;", f"  size_t i; {annotation}"), "x.c")


@pytest.mark.parametrize(("old", "new", "found"), [("while (", "if (", 0), ("  i = 0;", "  while (0);", 2)])
def test_a_c_with_another_number_of_loops_is_refused(old, new, found):
    contract, c = texts(TYPES[0])
    with pytest.raises(UserError, match=f"it has {found} loops"):
        join(contract, LOOP_TEXT, c.replace(old, new), "x.c")


def test_a_loop_annotation_that_is_more_than_an_annotation_is_refused():
    contract, c = texts(TYPES[0])
    with pytest.raises(UserError, match="the annotated C is not the generated C"):
        join(contract, LOOP_TEXT + "  n = 0;\n", c, "x.c")


@pytest.mark.parametrize("line", ["#define n 0", "static inline int one(void) { return 1; }", "int n;"])
def test_contracts_that_hold_code_are_refused(line):
    contract, c = texts(TYPES[0])
    with pytest.raises(UserError, match="the contracts contain code"):
        join(f"{contract}{line}\n", LOOP_TEXT, c, "x.c")
