"""`rewrites --before --after` has the provers show that the critical points suffice, or says why not."""

import json
import tempfile

import pytest

from sonnx_clip.prove.on_the_spot import prove_sufficiency
from sonnx_clip.rewrites.terms import read_term
from sonnx_clip.root.folders import repo_root
from tests.command import run

AMPLE = 500  # seconds: the machine of the tests may be busy


def sufficiency(before, after, type_id, seconds=AMPLE):
    return prove_sufficiency(
        read_term(before, "before"), read_term(after, "after"), type_id, seconds
    )


def test_both_provers_show_that_the_points_suffice_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("sonnx_clip.prove.on_the_spot.SECONDS", AMPLE)
    terms = ("--before", "clip(X, 0, 6)", "--after", "min(relu(X), 6)")
    done = run("rewrites", "float32", *terms, "--json", cwd=repo_root())
    decision = json.loads(done.stdout)
    assert (decision["suffice"], decision["provers"]) == ("proved", ["Z3", "cvc5"])
    assert set(decision["differs"]) == {"bits"}
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_points_without_the_neighbours_do_not_suffice_for_strict_comparisons():
    """Between A and B the left side is A: the neighbours of A are tried, and the provers do not know them."""
    inside = "if A < X then (if X < B then A else X) else X"
    answer = sufficiency(inside, "X", "float32")
    assert (answer.status, answer.provers) == ("argued", ())
    assert "Z3" in answer.reason


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("before", "after", "type_id"),
    [
        ("clip(clip(X, A, B), C, D)", "clip(X, max(A, C), min(B, D))", "float32"),
        ("abs(clip(X, neg(A), B))", "min(abs(X), B)", "float32"),
        ("abs(clip(X, neg(A), B))", "min(abs(X), B)", "real"),
        ("clip(X, lowest, 6)", "min(X, 6)", "int32"),
        ("neg(clip(X, A, B))", "clip(neg(X), neg(B), neg(A))", "int64"),
        ("clip(abs(X), 0, 6)", "clip(X, 0, 6)", "uint8"),
    ],
)
def test_points_suffice_in_every_family(before, after, type_id):
    assert sufficiency(before, after, type_id).provers == ("Z3", "cvc5")


def test_points_suffice_for_terms_that_are_not_defined_for_the_least_integer():
    assert sufficiency("neg(X)", "if X == lowest then 0 else neg(X)", "int8").status == "proved"


def test_points_do_not_suffice_where_an_integer_beside_a_constant_is_not_reached():
    """Above A alone `after` differs, and the next integer is tried but not stated."""
    answer = sufficiency(
        "neg(X)", "if A < X then (if X < B then 0 else neg(X)) else neg(X)", "int8"
    )
    assert answer.status == "argued"


def test_a_function_without_a_theory_is_named():
    answer = sufficiency("if is_signalling(X) then A else X", "X", "float32")
    assert answer.status == "argued"
    assert "has no is_signalling" in answer.reason


def test_provers_that_take_too_long_are_stopped():
    answer = sufficiency("clip(X, A, B)", "X", "float32", seconds=0.01)
    assert answer.status == "argued"
    assert "no answer within 0.01 s" in answer.reason
