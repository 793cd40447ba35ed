"""What the obligations of an entry show in an element type, or in all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.evidence_model import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.prove.outcome import Outcome, Status

_WORST_FIRST: tuple[Status, ...] = ("not proved", "proved by one", "proved")


def cell_of(type_id: str, outcomes: Sequence[Outcome], *, refuted: bool = False) -> Cell:
    """The cell of an entry, with the worst status of its obligations.

    Args:
        type_id: the element type of the cell.
        outcomes: those of the obligations that show the entry there.
        refuted: the entry is refuted there as written; then it needs a refutation and a theorem.
    """
    ids = []
    kinds = set()
    statuses = []
    for outcome in outcomes:
        ids.append(outcome.obligation.id)
        kinds.add(outcome.obligation.kind)
        statuses.append(outcome.status)
    # A smoke test shows that the premises are not contradictory, and nothing of the entry itself.
    kinds.discard("smoke")
    if not kinds:
        return Cell(type=type_id, status="gap", note="no obligation shows it", finding=refuted)

    if refuted:
        missing = ""
        if not kinds & {"refutation", "counterexample"}:
            missing = "refutes it"
        elif "theorem" not in kinds:
            missing = "shows its repaired form"
        if missing:
            return Cell(
                type=type_id,
                status="gap",
                note=f"no obligation {missing}",
                obligations=tuple(ids),
                finding=True,
            )
    # Smoke tests among them: a contradiction of the premises would make every proof worthless.
    status = min(statuses, key=_WORST_FIRST.index)
    return Cell(type=type_id, status=status, finding=refuted, obligations=tuple(ids))
