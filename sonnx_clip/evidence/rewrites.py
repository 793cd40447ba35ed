"""The rewrites of spec/rewrites.yaml as entries of the evidence, with the obligations that show each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.cells import cell_of
from sonnx_clip.evidence.evidence_model import ALL_TYPES, Entry
from sonnx_clip.rewrites.rewrite import known_rewrites, known_theorems
from sonnx_clip.rewrites.views import words_of_condition
from sonnx_clip.root.terminal import capitalised

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.rewrites.rewrite import Rewrite, RewriteEntry, RewriteTheorem

SECTION = "rewrites"


def rewrite_entries(
    shown_by: Mapping[str, Mapping[str, Sequence[Outcome]]],
) -> Iterator[Entry]:
    """An entry for each rewrite that some obligation is about; none where the operator has no rewrites.

    Args:
        shown_by: the obligations by the id of what they show, and by element type.
    """
    if not any(rewrite.id in shown_by for rewrite in known_rewrites()):
        return

    # Their obligations are about the abstract theory of a family, and so about all types at once.
    def obligations_of(id_: str) -> Sequence[Outcome]:
        return shown_by.get(id_, {}).get(ALL_TYPES, ())

    for rewrite in known_rewrites():
        families = tuple(rewrite.entry.legal_when)
        conditions = _conditions(rewrite)
        yield _entry(rewrite.entry, families, conditions, obligations_of(rewrite.id))
    for theorem in known_theorems():
        conditions = [("holds", theorem.holds)]
        yield _entry(theorem, (), conditions, obligations_of(theorem.id))


def _conditions(rewrite: Rewrite) -> list[tuple[str, str]]:
    entry = rewrite.entry
    facts = [("for constants with", entry.given)] if entry.given else []
    # A condition for each strength in which results may be equal, the strictest first.
    for family, strength in rewrite.stated():
        text = entry.legal_when[family][strength]
        facts.append(("condition", words_of_condition(family, strength, text)))
    return facts


def _entry(
    entry: RewriteEntry | RewriteTheorem,
    families: tuple[str, ...],
    conditions: Sequence[tuple[str, str]],
    obligations: Sequence[Outcome],
) -> Entry:
    facts = [("before", entry.before), ("after", entry.after), *conditions]
    facts += [("seen in", str(seen)) for seen in entry.seen]
    return Entry(
        id=entry.id,
        section=SECTION,
        title=capitalised(entry.title),
        statement=f"{entry.before} becomes {entry.after}. {entry.why}",
        role="rewrite",
        requirement=False,
        families=families,
        facts=tuple(facts),
        source=None,
        lines=(),
        cells=(cell_of(ALL_TYPES, obligations),),
    )
