"""Traces an entry to the obligations that show it, by element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.model import ALL_TYPES, Cell, CellStatus, ObligationEvidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.language import ElementType

_WORST_FIRST: tuple[CellStatus, ...] = ("gap", "not proved", "proved by one", "proved", "does not apply")


class Trace:
    """Finds the obligations of an entry.

    Args:
        obligations: all of them.
        types: the element types; the subject of an obligation is one of them, or a theory that speaks of all.
    """

    def __init__(self, obligations: Sequence[ObligationEvidence], types: Sequence[ElementType]) -> None:
        self._types = tuple(types)
        names = {etype.id for etype in types}
        self._of: dict[tuple[str, str], list[ObligationEvidence]] = {}
        for o in obligations:
            subject = o.obligation.subject if o.obligation.subject in names else ALL_TYPES
            for id_ in o.obligation.shows:
                self._of.setdefault((id_, subject), []).append(o)

    def cells(
        self, id_: str, families: Sequence[str], *,
        refuted: Iterable[str] = (), except_types: Sequence[str] = (), once: bool = False,
    ) -> tuple[Cell, ...]:  # fmt: skip
        """What is shown of an entry: for all element types at once, where there is such, then for each.

        Args:
            id_: the entry.
            families: those of which it speaks.
            refuted: those for which it is refuted as it stands; each needs a refutation and a theorem.
            except_types: element types of these families of which it does not speak.
            once: whether it speaks of no element type, so that one proof for all is expected.
        """
        general = self._of.get((id_, ALL_TYPES), ())
        cells = [_cell(ALL_TYPES, general)] if general or once else []
        for etype in self._types:
            if once or etype.family not in families or etype.id in except_types:
                cells.append(Cell(type=etype.id, status="does not apply"))
            else:
                found = self._of.get((id_, etype.id), ())
                cells.append(_cell(etype.id, found, refuted=etype.family in refuted))
        return tuple(cells)


def _cell(type_id: str, found: Sequence[ObligationEvidence], *, refuted: bool = False) -> Cell:
    ids = tuple(o.obligation.id for o in found)
    kinds = {o.obligation.kind for o in found} - {"smoke"}
    if not kinds:
        return Cell(type=type_id, status="gap", note="no obligation shows it", finding=refuted)
    refutes = bool({"refutation", "counterexample"} & kinds)
    if refuted and not (refutes and "theorem" in kinds):
        lack = "refutes it" if not refutes else "shows its repaired form"
        return Cell(type=type_id, status="gap", note=f"no obligation {lack}", obligations=ids, finding=True)
    status = min((o.status for o in found), key=_WORST_FIRST.index)
    return Cell(type=type_id, status=status, finding=refuted, obligations=ids)
