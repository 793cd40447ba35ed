"""Mutants that no statement can tell from their original, and those that only seem to be such."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.mutants.equivalence import _users, by_provers, reached, renamed
from sonnx_clip.mutants.theories import Theories, TheoryMutant
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.formulas import parse_formula
from sonnx_clip.whyml.node import shown

if TYPE_CHECKING:
    from pathlib import Path

MODULE = "readings_int8.Readings"


@pytest.fixture(scope="module")
def theories() -> Theories:
    spec = load_spec()
    return Theories(spec, all_obligations(spec))


def mutant(name: str, body: str) -> TheoryMutant:
    return TheoryMutant("yaml", f"int8.{name}", body, {(MODULE, name): parse_formula(body)})


def test_what_a_definition_reaches(theories: Theories) -> None:
    found = reached(theories, MODULE, "is_max_2008")
    assert [d.name for d in found.definitions] == ["is_max_2008", "is_formula_2008", "formula_2008_returns"]
    assert found.spoken_of == ("formula_2008_returns",)


def test_what_a_goal_speaks_of_itself_is_not_asked_about_its_users(theories: Theories) -> None:
    assert "same_value" in reached(theories, MODULE, "same_value").spoken_of
    assert _users(theories, mutant("same_value", "le a b")) == ()


def test_a_change_that_nothing_sees_is_proved_and_one_that_is_seen_is_not(
    theories: Theories, tmp_path: Path
) -> None:
    """The relation is asked of answers that are one of its operands: at a tie both are the same integer."""
    d = reached(theories, MODULE, "is_max_2008").definitions[0]
    assert d.body is not None
    text = shown(d.body)
    tie = "((y = a) \\/ (y = b))"
    assert text.count(tie) == 1
    unseen = mutant("is_max_2008", text.replace(tie, "((y <> a) \\/ (y = b))"))
    seen = mutant("is_max_2008", text.replace("(lt a b)", "(lt b a)", 1))
    found = by_provers(theories, [unseen, seen], tmp_path, lambda _: None)
    assert found == {unseen: ("Z3", "cvc5")}


def test_names_of_definitions_are_changed_and_variables_are_not() -> None:
    node = parse_formula("forall a: t. low a /\\ a = high")
    assert shown(renamed(node, {"low": "low__1", "high": "high__1"})) == shown(
        parse_formula("forall a: t. low__1 a /\\ a = high__1")
    )
