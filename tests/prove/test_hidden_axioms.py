"""No theory hides what it assumes: random ones, written in every lexical way that Why3 accepts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.prove import whyml
from sonnx_clip.prove.declared import differences_from_why3
from tests.prove import hidden_axioms
from tests.prove.hidden_axioms import ASSUMES, Theory, accepted, missed, theories

if TYPE_CHECKING:
    from pathlib import Path

QUICK, ALL = 96, 1600  # of each hundred, Why3 accepts about eighty


def _look(seed: int, count: int, folder: Path) -> tuple[Counter[str], list[Theory]]:
    """How many of each kind Why3 accepts, and those among them that are missed."""
    taken: Counter[str] = Counter()
    unseen = []
    for theory in theories(seed, count):
        if accepted(theory, folder / "hidden.mlw"):
            taken[theory.what] += 1
            if missed(theory):
                unseen.append(theory)
    return taken, unseen


def test_no_theory_hides_what_it_assumes(tmp_path: Path) -> None:
    taken, unseen = _look(1, QUICK, tmp_path)
    assert sum(taken.values()) >= QUICK // 4
    assert [t.text for t in unseen] == []
    # Here even what stands in a theory that is refused is found.
    assert [t.text for t in theories(1, QUICK) if missed(t, refusing=False)] == []


@pytest.mark.exhaustive
def test_no_theory_of_very_many_hides_what_it_assumes(tmp_path: Path) -> None:
    taken, unseen = _look(2, ALL, tmp_path)
    print(f"{sum(taken.values())} theories that Why3 accepts, of {ALL}: {dict(taken)}")
    assert sum(taken.values()) >= 1000
    assert set(taken) == set(ASSUMES)  # Why3 accepts each kind in some form
    assert [t.text for t in unseen] == []


@pytest.mark.parametrize("overlooked", ["axiom", "val", "clone"])
def test_the_fuzzer_finds_a_reader_that_overlooks(overlooked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even without Why3: what is missed counts as missed."""

    def overlooks(text: str) -> tuple[whyml.Found, ...]:
        return tuple(f for f in whyml.read_theories(text) if f.kind not in (overlooked, "refused"))

    assert not any(missed(t) for t in theories(3, 200))
    monkeypatch.setattr(hidden_axioms, "read_theories", overlooks)
    assert {t.what for t in theories(3, 200) if missed(t)} == {
        what for what, (_, kinds) in ASSUMES.items() if kinds[0] == overlooked and "undefined" not in kinds
    }


@pytest.mark.exhaustive
def test_why3_prints_what_the_reader_reads(tmp_path: Path) -> None:
    """The comparison with Why3's own printing does not complain where nothing is refused."""
    compared = 0
    for theory in theories(4, 300):
        file = tmp_path / "hidden.mlw"
        refused = any(f.kind == "refused" for f in whyml.read_theories(theory.text))
        if refused or not accepted(theory, file):
            continue
        found = differences_from_why3({str(file): theory.text}, [str(file)], 1)
        # Of a val function, a val lemma or a type with an invariant, Why3's typing has one axiom more.
        misread = [t.line for t in found if "reads an axiom" not in t.line]
        assert misread == [], theory.text
        compared += 1
    assert compared >= 50
