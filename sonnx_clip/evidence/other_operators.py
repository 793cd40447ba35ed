"""The evidence of the other operators of spec/, under ids that begin with the name of the operator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sonnx_clip.evidence.entry_evidence import entries_of
from sonnx_clip.evidence.evidence_model import TAKEN, Argument, OperatorEvidence
from sonnx_clip.evidence.proved import (
    open_points,
    operator_totals,
    proof_results,
    statements_not_reviewed,
)
from sonnx_clip.explain.finding_views import tell
from sonnx_clip.prove.proofs_record import RECORD, prove_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.evidence.evidence_model import Basis, Cell, Entry
    from sonnx_clip.evidence.records import OtherOperator, ProvedOperator
    from sonnx_clip.explain.finding_views import ClaimView, FindingView
    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.spec import Spec


def operator_evidence(other: OtherOperator) -> OperatorEvidence:
    """The evidence of an operator that was proved; of another one, what is missing."""
    if other.proved:
        return _proved(other.proved)
    # Neither ends the command: the evidence of the page's operator is whole without the others.
    if other.stale:
        return _described(other.spec, "stale", problem=other.stale.what)
    return _described(other.spec, "not run")


def _described(spec: Spec, basis: Basis, problem: str = "") -> OperatorEvidence:
    name = spec.signature.function  # also of its folder in build/
    return OperatorEvidence(
        name=name,
        operator=spec.operator,
        spec=spec.file,
        spec_sha256=spec.digest,
        record=f"build/{name}/{RECORD}",
        command=prove_command(spec),
        basis=basis,
        problem=problem,
    )


def _proved(operator: ProvedOperator) -> OperatorEvidence:
    spec = operator.spec
    results = proof_results(operator)
    entries = tuple(entries_of(operator, results.obligations))
    unaccounted = (*results.unaccounted, *statements_not_reviewed(operator))
    opened = open_points(operator, results, entries, unaccounted)
    # Last: all above looks entries and outcomes up by the ids of the operator's own records.
    ids = _Prefix(spec.signature.function)
    return _described(spec, TAKEN).model_copy(
        update={
            "totals": operator_totals(operator, results.obligations, entries, opened),
            "element_types": {etype.id: etype.family for etype in spec.element_types},
            "entries": tuple(ids.of_entry(entry) for entry in entries),
            "obligations": tuple(ids.of_outcome(o) for o in results.obligations),
            "findings": tuple(ids.of_finding(f) for f in tell(spec, operator.measured)),
            "tools": operator.proofs.tools,
            "programs": operator.proofs.programs,
        }
    )


def argument_line(operator: OperatorEvidence) -> Argument:
    """The line of argument of another operator."""
    return Argument(
        name=f"Operator {operator.operator}",
        shows=f"the requirements of {operator.spec}, for all inputs",
        result=_result(operator),
        record=operator.record,
        basis=operator.basis,
    )


def _result(operator: OperatorEvidence) -> str:
    # Without totals it was not proved as it is: the command is then the result.
    totals = operator.totals
    if totals is None:
        todo = f"run: {operator.command}"
        return f"{operator.problem}; {todo}" if operator.problem else todo
    return (
        f"{totals.requirements} requirements; {totals.by_two} of {totals.obligations} obligations "
        f"proved by two provers, {totals.by_one} by one"
    )


class _Prefix:
    """Puts the name of an operator before ids, which are unique within an operator alone.

    A method for each kind of object that has ids, own ones or of what it refers to.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def of_id(self, id_: str) -> str:
        return f"{self.name}:{id_}"

    def of_ids(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.of_id(id_) for id_ in ids)

    def of_entry(self, entry: Entry) -> Entry:
        changed = {
            "id": self.of_id(entry.id),
            "cells": tuple(self._of_cell(cell) for cell in entry.cells),
            "classes": self.of_ids(entry.classes),
        }
        return entry.model_copy(update=changed)

    def _of_cell(self, cell: Cell) -> Cell:
        return cell.model_copy(update={"obligations": self.of_ids(cell.obligations)})

    def of_outcome(self, outcome: Outcome) -> Outcome:
        o = outcome.obligation
        changed = replace(
            o,
            id=self.of_id(o.id),
            subject=self.of_id(o.subject),
            shows=self.of_ids(o.shows),
            # Where `prove` leaves the theories of the operator: the repository has those of Clip alone.
            file=f"build/{self.name}/{o.file}",
        )
        return outcome.model_copy(update={"obligation": changed})

    def of_finding(self, finding: FindingView) -> FindingView:
        claim = tuple(self._of_claim(part) for part in finding.claim)
        return finding.model_copy(update={"id": self.of_id(finding.id), "claim": claim})

    def _of_claim(self, claim: ClaimView) -> ClaimView:
        return claim.model_copy(update={"obligations": self.of_ids(claim.obligations)})
