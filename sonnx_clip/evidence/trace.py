"""Every entry of the specification with the obligations that show it, by element type."""

from __future__ import annotations

from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING

from sonnx_clip.evidence.evidence_model import ALL_TYPES, Cell, CellStatus, ObligationEvidence, ReplyEvidence
from sonnx_clip.evidence.proof_records import OutcomeRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.evidence.proof_records import ReplyRecord
    from sonnx_clip.language import ElementType

_WORST_FIRST: tuple[CellStatus, ...] = ("gap", "not proved", "proved by one", "proved", "does not apply")
_OF_THE_RUN = ("cpu", "from_ledger")  # of a reply: another run has others


def all_obligations(
    wanted: Iterable[Obligation],
    outcomes: Sequence[OutcomeRecord],
    kills: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> tuple[ObligationEvidence, ...]:
    """Every obligation that is wanted or was proved; one that nobody was asked about is not proved.

    Args:
        wanted: what the theories hold.
        outcomes: what was proved.
        kills: a mutant that makes an obligation fail, and the values, by the obligation's id.
    """
    by_id = {outcome.id: outcome for outcome in outcomes}
    unasked = [o for o in wanted if o.id not in by_id]
    asked = [
        ObligationEvidence(
            **{name: getattr(outcome, name) for name in OutcomeRecord.model_fields if name != "replies"},
            replies=tuple(_said(reply) for reply in outcome.replies),
            asked=bool(outcome.replies),
            fails_for=kills.get(outcome.id),
        )
        for outcome in outcomes
    ]
    missing = [
        ObligationEvidence(**asdict(o), status="not proved", asked=False, commands={}, replies=())
        for o in unasked
    ]
    return (*asked, *missing)


def _said(reply: ReplyRecord) -> ReplyEvidence:
    return ReplyEvidence(**{name: value for name, value in reply if name not in _OF_THE_RUN})


def weakest(statuses: Iterable[CellStatus]) -> CellStatus:
    """The status of the whole, that of its weakest part; ``does not apply`` if there is no part."""
    return min(statuses, key=_WORST_FIRST.index, default="does not apply")


class Trace:
    """Finds the obligations of an entry.

    Args:
        obligations: all of them.
        types: the element types; the subject of an obligation is one of them, or a theory that speaks of all.
    """

    def __init__(self, obligations: Sequence[ObligationEvidence], types: Sequence[ElementType]) -> None:
        self.types = tuple(types)
        self._names = {etype.id for etype in types}
        self._of: dict[tuple[str, str], list[ObligationEvidence]] = {}
        for o in obligations:
            subject = o.subject if o.subject in self._names else ALL_TYPES
            for id_ in o.shows:
                self._of.setdefault((id_, subject), []).append(o)

    def of(self, id_: str, type_id: str) -> tuple[ObligationEvidence, ...]:
        """The obligations that show an entry in an element type, or in all at once."""
        return tuple(self._of.get((id_, type_id), ()))

    def cells(
        self,
        id_: str,
        families: Sequence[str],
        *,
        refuted: Sequence[str] = (),
        except_types: Sequence[str] = (),
        once: bool = False,
    ) -> tuple[Cell, ...]:
        """What is shown of an entry.

        Args:
            id_: the entry.
            families: those of which it speaks.
            refuted: those for which it is refuted as it stands; each needs a refutation and a theorem.
            except_types: element types of these families of which it does not speak.
            once: whether it speaks of no element type, so that one proof for all is expected.
        """
        general = self.of(id_, ALL_TYPES)
        cells = [_cell(ALL_TYPES, general)] if general or once else []
        for etype in self.types:
            if once or etype.family not in families or etype.id in except_types:
                cells.append(Cell(type=etype.id, status="does not apply"))
            else:
                cells.append(_cell(etype.id, self.of(id_, etype.id), refuted=etype.family in refuted))
        return tuple(cells)


def _cell(type_id: str, found: Sequence[ObligationEvidence], *, refuted: bool = False) -> Cell:
    ids = tuple(o.id for o in found)
    kinds = {o.kind for o in found} - {"smoke"}
    if not kinds:
        return Cell(type=type_id, status="gap", note="no obligation shows it", finding=refuted)
    if refuted and not {"refutation", "theorem"} <= kinds:
        lack = "refutes it" if "refutation" not in kinds else "shows its repaired form"
        return Cell(type=type_id, status="gap", note=f"no obligation {lack}", obligations=ids, finding=True)
    status = weakest(o.status for o in found)
    return Cell(type=type_id, status=status, finding=refuted, obligations=ids)
