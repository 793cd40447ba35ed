"""Everything that the YAML states has its obligations; what has none is named and stops the proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.prove import command
from sonnx_clip.prove.coverage import uncovered
from sonnx_clip.render.generate import all_obligations, ids_of
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from sonnx_clip.render.obligation import Obligation
    from tests.prove.workbench import Workbench

SPEC = load_spec()
ALL = all_obligations(SPEC)


def test_nothing_is_left_out() -> None:
    assert uncovered(SPEC, ALL) == []


def test_ids_are_unique_and_show_what_exists() -> None:
    assert len({o.id for o in ALL}) == len(ALL)
    assert len({(o.file, o.theory, o.goal) for o in ALL}) == len(ALL)
    known = ids_of(SPEC) | {"smoke"}
    assert {id_ for o in ALL for id_ in o.shows} == known


def test_every_requirement_has_an_obligation_in_each_of_its_families() -> None:
    family_of = {e.id: e.family for e in SPEC.element_types}
    for requirement in SPEC.requirements():
        shown = {o.subject for o in ALL if requirement.id in o.shows}
        if requirement.section == "restrictions":
            assert shown == {"restrictions"}
        else:
            assert set(requirement.families) <= {family_of.get(subject) for subject in shown}


LOST = {
    "restrictions.R3_is_written": "no equivalence about restrictions shows R3",
    "restrictions.R5_independent": None,  # `consistent` is a theorem on it, too
    "int8.extremes": "no theorem about int8 shows int8",
    "float16.C2_refuted": None,  # `interval_refuted` shows it on elements
    "float32.idempotent_bitwise_refuted": "no refutation about float32 shows idempotent_bitwise",
    "float32.idempotent_bitwise_repaired": "no theorem about float32 shows idempotent_bitwise",
    "uint8.monotone": "no theorem about uint8 shows monotone",
    "real.C1_is_written": "no equivalence about real shows C1",
    "float64.zero_sign_inhabited": "no theorem about float64 shows zero-sign",
    "int8.example_int_1": "no theorem about int8 shows int_1",
    "clip.smoke_clip": "no smoke test of why3/clip.mlw ClipTheorems",
    "float32.smoke_refutation": "no smoke test of generated/why3/float32.mlw Refutation",
}


@pytest.mark.parametrize("lost", LOST)
def test_a_lost_obligation_is_missed(lost: str) -> None:
    assert any(o.id == lost for o in ALL)
    expected = LOST[lost]
    assert uncovered(SPEC, [o for o in ALL if o.id != lost]) == ([expected] if expected else [])


@pytest.mark.parametrize("kind", ["theorem", "refutation", "instance", "equivalence", "smoke"])
def test_a_lost_kind_is_missed_in_every_type(kind: str) -> None:
    gaps = uncovered(SPEC, [o for o in ALL if o.kind != kind])
    types = [e for e in SPEC.element_types if kind != "refutation" or e.family == "float"]
    for etype in types:
        assert any(etype.id in gap for gap in gaps)


def test_a_class_without_a_goal_is_missed() -> None:
    without = [o for o in ALL if not (o.subject == "float32" and "high_tie" in o.shows)]
    assert "no theorem about float32 shows high_tie" in uncovered(SPEC, without)


def test_a_gap_stops_the_proofs(real_bench: Workbench) -> None:
    def lose(spec: object, obligations: tuple[Obligation, ...]) -> list[str]:
        return uncovered(SPEC, [o for o in obligations if o.id != "uint8.monotone"])

    real_bench.monkeypatch.setattr(command, "uncovered", lose)
    for form in ((), ("--json",)):
        ended = real_bench.prove("--only", "int8.monotone", *form)
        assert ended.status == 1
        assert "what nothing is to prove:\n  no theorem about uint8 shows monotone\n" in ended.out + ended.err
