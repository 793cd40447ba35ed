"""Mistakes planted in the generated C, the contracts and the YAML: Frama-C refuses each by name."""

import pytest

from sonnx_clip.spec import load_spec
from tests.prove.frama_c.real import copy, frama_c, installed

__all__ = ["copy", "frama_c"]

pytestmark = [pytest.mark.nightly, installed]

MEANING = "clip_element_ensures_meaning"
EVERY = "clip_elements_ensures_every_element"
DONE, TO_DO = "clip_elements_loop_invariant_done", "clip_elements_loop_invariant_to_do"
WRITES, READS = "clip_elements_assert_rte_mem_access", "clip_elements_assert_rte_mem_access_2"
ASSIGNS, ENDS = "clip_elements_loop_assigns", "clip_elements_loop_variant"
CALL, EXCHANGED = "clip_elements(y, x, min, max, n);", "clip_elements(y, x, max, min, n);"
STORE = "    y[i] = clip_element(x[i], min, max);\n"

# In which element type what is replaced, and what must be open.
PLANTED = {
    "a swapped branch": ("int8", "      return min;", "      return max;", MEANING),
    "< for <=: a zero keeps the sign of X": ("float32", "if (x <= min)", "if (x < min)", MEANING),
    "a comparison that a NaN turns": ("float32", "if (x >= max)", "if (!(x < max))", MEANING),
    "the last element is left out": ("int8", "while (i < n)", "while (i + 1 < n)", EVERY),
    "one element too many": ("int8", "while (i < n)", "while (i <= n)", WRITES),
    "the first element is left out": ("int8", "  i = 0;\n", "  i = 1;\n", DONE),
    "the neighbour is read": ("int8", "clip_element(x[i],", "clip_element(x[i + 1],", READS),
    "the next element is written before it is read": (
        "int8", STORE, STORE + "    if (i + 1 < n) y[i + 1] = min;\n", TO_DO),
    "something else is written": ("int8", STORE, STORE + "    ((int8_t *)x)[i] = 0;\n", ASSIGNS),
    "the loop does not end": ("int8", "i = i + 1;", "i = i + 0;", ENDS),
    "the bounds are exchanged": ("int8", CALL, EXCHANGED, "sonnx_clip_int8_ensures_every_element"),
    "a wrong NaN constant": ("float16", "if (a <= 0xF800)", "if (a <= 0xF801)", "limit_ensures_nan"),
    "a limit that a NaN reaches": ("float16", "rank(a) < limit(rank(b))", "rank(a) <= limit(rank(b))",
                                   "less_equal_ensures_meaning"),
    "counted from above, the first NaN comes round": (
        "float16", "return (uint16_t)(0xF800 - rank(a)) <", "return (uint16_t)(0xF801 - rank(a)) <",
        "at_least_ensures_meaning"),
    "the sign is forgotten": ("float16", "(uint16_t)(0x7C00 - (uint16_t)", "(uint16_t)(0x7C00 + (uint16_t)",
                              "rank_ensures_number"),
}  # fmt: skip

QUICK_SECONDS = 2  # a wrong claim uses all the time that it gets


@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_in_the_c_is_refused_by_name(copy, name):
    type_id, old, new, goal = PLANTED[name]
    copy.plant(f"generated/c/sonnx_clip_{type_id}.c", old, new)
    _, still_open = copy.prove(type_id, QUICK_SECONDS)
    assert goal in still_open


def test_swapped_results_in_the_yaml_are_refused_by_name(copy):
    spec = load_spec()
    result_of = {case.id: case.result for case in spec.cases}
    swapped = {**result_of, "low": result_of["high"], "high": result_of["low"]}
    cases = tuple(case.model_copy(update={"result": swapped[case.id]}) for case in spec.cases)
    copy.render(spec.model_copy(update={"cases": cases}))
    _, still_open = copy.prove("int8", QUICK_SECONDS)
    assert MEANING in still_open


def test_axioms_that_contradict_themselves_are_found(copy):
    said = "(a & 0x7FFF) == a - 0x8000"
    copy.plant("generated/c/acsl/float16.h", said, f"{said} && (a & 0x7FFF) == a")
    _, still_open = copy.prove("float16", QUICK_SECONDS)
    assert "rank_smoke: false was proved" in still_open


def test_preconditions_that_nobody_can_meet_are_found(copy):
    path = "generated/c/acsl/int8.h"
    text = (copy.folder / path).read_text()
    (copy.folder / path).write_text(
        text.replace("requires x_readable:", "requires n < 0;\n    requires x_readable:")
    )
    _, still_open = copy.prove("int8", QUICK_SECONDS)
    assert "sonnx_clip_int8_smoke: false was proved" in still_open


def test_an_annotation_that_frama_c_ignores_is_a_failure(copy):
    copy.plant("generated/c/acsl/loop.acsl", "loop variant n - i;", "loop variant n - j;")
    _, still_open = copy.prove("int8", QUICK_SECONDS)
    assert any("unbound logic variable j" in line for line in still_open)
