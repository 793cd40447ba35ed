"""What the obligations of an entry show in an element type, or in all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.evidence_model import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.evidence.evidence_model import ObligationEvidence
    from sonnx_clip.prove.outcome import Status

_WORST_FIRST: tuple[Status, ...] = ("not proved", "proved by one", "proved")


def cell_of(
    type_id: str, obligations: Sequence[ObligationEvidence], *, refuted: bool = False
) -> Cell:
    """A refuted entry needs a refutation and a theorem."""
    ids = tuple(o.obligation.id for o in obligations)
    kinds = {o.obligation.kind for o in obligations} - {"smoke"}
    if not kinds:
        return Cell(type=type_id, status="gap", note="no obligation shows it", finding=refuted)
    refutes = bool({"refutation", "counterexample"} & kinds)
    if refuted and not (refutes and "theorem" in kinds):
        lack = "refutes it" if not refutes else "shows its repaired form"
        return Cell(
            type=type_id, status="gap", note=f"no obligation {lack}", obligations=ids, finding=True
        )
    status = min((o.status for o in obligations), key=_WORST_FIRST.index)
    return Cell(type=type_id, status=status, finding=refuted, obligations=ids)
