"""What an earlier `sonnx-clip prove` showed of some obligations, read from build/proofs.json.

`sonnx-clip explain` calls it to say by whom each obligation is proved. It starts no prover and no Why3. A
status is derived from the recorded replies, and only where the record speaks of this specification, of the
theories as they are now and of the same statement. The evidence checks the record further.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.obligation import Obligation
from sonnx_clip.prove.outcome import Outcome, ProverReply, Status
from sonnx_clip.prove.proofs_report import theory_digests
from sonnx_clip.prove.provers import ProverAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Known:
    """What the provers showed of an obligation: its status, and the names of those that proved it."""

    status: Status
    proved_by: tuple[str, ...]


def known(build: Path, spec_digest: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Known]:
    """What is known of obligations, by id; one that the record does not fit is left out.

    Args:
        build: the folder that holds proofs.json.
        spec_digest: SHA-256 of the specification that is explained.
        rows: the obligations, as in generated/why3/obligations.json.
    """
    try:
        record = json.loads((build / "proofs.json").read_text(encoding="utf-8"))
        about, outcomes = record["about"], {outcome["id"]: outcome for outcome in record["outcomes"]}
        if about["spec_digest"] != spec_digest or about["files"] != theory_digests():
            return {}
        return {
            str(row["id"]): _derived(row, outcomes[row["id"]])
            for row in rows
            if row["id"] in outcomes and _same(row, outcomes[row["id"]])
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # no record, or none that can be read: nothing is known


def _same(row: Mapping[str, Any], outcome: Mapping[str, Any]) -> bool:
    """Whether what was proved under an id is what the id stands for now."""
    return all(outcome[name] == row[name] for name in ("kind", "file", "theory", "goal", "statement"))


def _derived(row: Mapping[str, Any], outcome: Mapping[str, Any]) -> Known:
    obligation = Obligation(**{name: row[name] for name in Obligation.__dataclass_fields__})
    replies = tuple(
        ProverReply(
            r["prover"], r["version"], r["task"], ProverAnswer(r["verdict"], "", r["cpu"]), from_ledger=True
        )
        for r in outcome["replies"]
        if r["task"]
    )
    found = Outcome(obligation, replies)
    return Known(found.status, tuple(dict.fromkeys(found.proved_by)))
