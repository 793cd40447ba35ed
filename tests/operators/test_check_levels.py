"""The levels and the journal of `check` for operators of one and of two tensors."""

import json

import numpy as np
import pytest

from sonnx_clip.conform.call_plan import kinds_of, planned_calls
from sonnx_clip.conform.operator import operator_named
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.folders import repo_root
from tests.command import run

ABOVE_QUICK = {
    "max": ("max_but_of_one_pair", "int16", "first_wins"),
    "relu": ("relu_but_of_one_length", "int32", "below_zero"),
}


def checked(name, function, dtype, *options):
    runtime = f"tests.operators.wrong_runtimes:{function}"
    more = ("--operator", name, "--runtime", runtime, "--dtype", dtype, *options)
    done = run("check", *more, cwd=repo_root())
    assert done.returncode in (0, 1), done.stderr
    return done


def violated(done):
    (report,) = json.loads(done.stdout)["types"]
    return {one["id"] for one in report["classes"] if one["verdict"] == "violates"}


@pytest.mark.parametrize("name", ABOVE_QUICK)
def test_standard_finds_what_quick_does_not(name):
    function, dtype, class_id = ABOVE_QUICK[name]
    assert violated(checked(name, function, dtype, "--json")) == set()
    found = violated(checked(name, function, dtype, "--json", "--level", "standard"))
    assert found == {class_id}


def test_one_wrong_lane_of_eight_is_found():
    done = checked("max", "max_but_in_the_eighth_lane", "int8", "--json")
    assert violated(done) == {"first_wins"}


def test_readings_are_compared_at_every_pair_of_special_values():
    options = ("--operator", "min", "--runtime", "numpy", "--dtype", "float32", "--json")
    (report,) = json.loads(run("check", *options, cwd=repo_root()).stdout)["types"]
    special = len(special_patterns(operator_named("min").spec.element_type("float32")))
    # Each layout has some answers beside: without a quarter of the pairs there would be fewer.
    assert report["readings"]["answers"] > special**2 + 4000


@pytest.mark.parametrize("name", ["max", "neg"])
def test_exhaustive_has_every_choice_of_32_bits(name):
    operator = operator_named(name)
    etype = operator.spec.element_type("int16" if operator.tensors == 2 else "int32")
    ((kind, count),) = [k for k in kinds_of(etype, operator, "exhaustive") if k[0] != "more"]
    firsts = []
    for number in (0, 1, count - 1):
        request, table = next(planned_calls(etype, operator, f"{kind}-{number}"))
        entries = [pool.astype(np.uint64) for pool in request.pools]
        choices = entries[0] if len(entries) == 1 else entries[0] << 16 | entries[1]
        assert np.array_equal(choices, choices[0] + np.arange(2**16, dtype=np.uint64))
        assert table.results.shape == (1, 2**16)
        firsts.append(int(choices[0]))
    assert firsts == [0, 2**32 // count, 2**32 - 2**32 // count]


def test_journal_tells_operators_apart(tmp_path):
    journal = tmp_path / "journal"
    options = ("--journal", str(journal), "--brief")
    checked("neg", "zero_minus", "int8", *options)
    again = checked("neg", "zero_minus", "int8", *options)
    assert "1 of them in" in again.stderr
    other = checked("abs", "abs_of_c", "int8", *options)
    assert "0 of them in" in other.stderr
