"""build/dialects/*.json, what `sonnx-clip compare-dialects` found: read, recounted, and shown as a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sonnx_clip.conform.dialects.comparison_record import FOLDER, RUNTIMES, ComparisonRecord, oracle_digest
from sonnx_clip.conform.dialects.comparison_table import table_of
from sonnx_clip.conform.dialects.comparison_text import crashes, refusals, summary
from sonnx_clip.evidence.evidence_model import DialectRow, DialectRunEvidence
from sonnx_clip.evidence.read import read_record, require_digest
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sonnx_clip.spec import Spec


def read_dialect_runs(build: Path, spec: Spec) -> dict[str, ComparisonRecord]:
    """The record of each runtime that was compared, by its name.

    Raises:
        UserError: a file is damaged or stale, or its groups do not account for what its forms count.
    """
    found: dict[str, ComparisonRecord] = {}
    for path in sorted((build / FOLDER).glob("*.json")):
        again = "run `sonnx-clip compare-dialects`, or remove the file"
        record, _ = read_record(path, ComparisonRecord, again)
        require_digest(record.spec_sha256, spec, path, again)
        if record.oracle_sha256 != oracle_digest():
            raise UserError("stale: what judges the dialects has changed since", str(path), again)
        if record.runtime in found:
            raise UserError(f"another file speaks of {record.runtime} too", str(path), "remove one of them")
        _check(record, path, again)
        found[record.runtime] = record
    return found


def _check(record: ComparisonRecord, path: Path, again: str) -> None:
    """Every disagreement that a form counts is accounted for by one group, and nothing else is."""
    told: Counter[tuple[int, str, str]] = Counter()
    unexplained: Counter[tuple[int, str, str]] = Counter()
    for group in record.groups:
        for place in group.places:
            told[place.opset, place.type, place.form] += place.count
            if group.kind == "unexplained":
                unexplained[place.opset, place.type, place.form] += place.count
    for cell in record.cells:
        key = (cell.opset, cell.type, cell.form)
        where = f"opset {cell.opset}, {cell.type}, {cell.form}"
        if cell.compared != cell.same + cell.payload + cell.allowed + cell.differing:
            raise UserError(f"{where}: its counts do not add up", str(path), again)
        if told.pop(key, 0) != cell.explaining or unexplained[key] != cell.unexplained:
            raise UserError(f"{where}: its disagreements are not those of the groups", str(path), again)
    if told:
        raise UserError("a group speaks of a form that is not there", str(path), again)


def dialect_runs_of(spec: Spec, records: Mapping[str, ComparisonRecord]) -> tuple[DialectRunEvidence, ...]:
    """One entry for each known runtime of models and each record; what was not compared is not run."""
    return tuple(_run(spec, name, records.get(name)) for name in dict.fromkeys([*RUNTIMES, *records]))


def _run(spec: Spec, name: str, record: ComparisonRecord | None) -> DialectRunEvidence:
    if record is None:
        return DialectRunEvidence(name=name, run=False)
    table = table_of(record, [etype.id for etype in spec.element_types])
    return DialectRunEvidence(
        name=name,
        run=True,
        version=record.runtime_version,
        environment=f"onnx {record.onnx}, Python {record.python}, NumPy {record.numpy}, {record.machine}",
        summary=summary(record),
        complete=record.complete,
        types=table.types,
        rows=tuple(
            DialectRow(opsets=row.opsets, dialect=row.dialect, form=row.form, states=row.states)
            for row in table.rows
        ),
        refusals=(*refusals(record), *crashes(record)),
        explained=record.groups,
    )
