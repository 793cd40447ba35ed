"""What the page needs beyond the evidence itself: rows of its figures, and the anchors of its links."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.pages import SORTS
from sonnx_clip.evidence.evidence_model import ALL_TYPES
from sonnx_clip.evidence.runtime_verdicts import FORMS, worst_shown
from sonnx_clip.prove.frama_c_record import PROVERS
from sonnx_clip.spec.sections import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.evidence.evidence_model import (
        Cell,
        CellStatus,
        Entry,
        Evidence,
        ObligationEvidence,
        RuntimeEvidence,
        Shown,
        SourceItem,
        VectorEvidence,
    )  # fmt: skip

    WordsRow = tuple[tuple[str, ...] | None, SourceItem, bool]

_GLYPHS = {"proved": "2", "proved by one": "1", "not proved": "×", "gap": "?", "does not apply": ""}
VERDICT_GLYPHS = {
    "conforms": "·", "acceptable": "≈", "violates": "×", "refused": "r", "unsupported": "–", "crashed": "!",
    "depends": "f", "unreached": "?", "environment": "e", "unfinished": "u",
    "undecided": "○", "not run": "",
}  # fmt: skip
_STATUS_ORDER: tuple[CellStatus, ...] = ("gap", "not proved", "proved by one", "proved")
_ORDER: tuple[Shown, ...] = (
    "conforms",
    "acceptable",
    "violates",
    "depends",
    "crashed",
    "unreached",
    "environment",
    "unfinished",
    "refused",
    "unsupported",
    "undecided",
    "not run",
)


@dataclass(frozen=True)
class MatrixRow:
    """A class, or C1 or C3: by runtime the verdict in each machine type, None where it has no such class."""

    id: str
    anchor: str
    cells: tuple[tuple[str, tuple[tuple[str, Shown | None], ...]], ...]


@dataclass(frozen=True)
class RuntimeLine:
    """A runtime in the summary: how many classes (over all element types) got each verdict."""

    runtime: RuntimeEvidence
    worst: Shown
    counts: tuple[tuple[str, int], ...]


class View:
    """The evidence in the order of the page."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._obligations = {o.id: o for o in evidence.obligations}
        self._findings = {finding.id for finding in evidence.findings}
        self._entries: dict[str, Entry] = {}
        for entry in evidence.entries:
            self._entries.setdefault(entry.id, entry)
        self.machine_types = tuple(evidence.vectors)

    def obligation(self, id_: str) -> ObligationEvidence:
        """The obligation with this id."""
        return self._obligations[id_]

    def has_obligation(self, id_: str) -> bool:
        """Whether the page has an obligation."""
        return id_ in self._obligations

    def sections(self) -> Iterator[tuple[str, str, tuple[Entry, ...]]]:
        """The id and title of each section, with its entries."""
        for section in SHOWN:
            entries = tuple(e for e in self.evidence.entries if e.section == section.name)
            yield section.name, section.title, entries

    def anchor(self, id_: str) -> str | None:
        """Where an entry or a finding stands on the page; None for what is neither."""
        entry = self._entries.get(id_)
        if entry is None:
            return f"finding-{id_}" if id_ in self._findings else None
        return f"{entry.section}-{entry.id}"

    def glyph(self, cell: Cell) -> str:
        """The sign of a cell, so that colour is not all that tells them apart."""
        sign = _GLYPHS[cell.status]
        return f"◇{'' if cell.status == 'proved' else sign}" if cell.finding else sign

    def proved_by(self, id_: str) -> str:
        """The provers that proved an obligation, or its status where there are none."""
        found = self._obligations[id_]
        proved = dict.fromkeys(reply.prover for reply in found.replies if reply.verdict == "valid")
        return " and ".join(proved) or found.status

    def provers(self, cell: Cell) -> tuple[str, ...]:
        """The provers that replied on the obligations of a cell."""
        replies = (reply for id_ in cell.obligations for reply in self._obligations[id_].replies)
        return tuple(dict.fromkeys(reply.prover for reply in replies))

    def cells_in_words(self, entry: Entry) -> str:
        """The statuses of an entry, the worst first: ``9 proved, 4 refuted and repaired``."""
        counts: Counter[CellStatus] = Counter(
            cell.status for cell in entry.cells if cell.status != "does not apply"
        )
        repaired = sum(cell.finding and cell.status == "proved" for cell in entry.cells)
        counts["proved"] -= repaired
        parts = [f"{counts[status]} {status}" for status in _STATUS_ORDER if counts[status]]
        return ", ".join([*parts, f"{repaired} refuted and repaired"] if repaired else parts)

    def worst(self, entry: Entry) -> dict[str, Shown]:
        """By runtime, the worst verdict of an entry over all element types."""
        return {name: worst_shown(of_type.values()) for name, of_type in entry.verdicts.items() if of_type}

    def finding(self, entry: Entry) -> str | None:
        """The anchor of the first finding about an entry."""
        found = (f for f in self.evidence.findings if entry.id in (f.about, *f.names))
        return next((f"finding-{f.id}" for f in found), None)

    def has_finding(self, id_: str) -> bool:
        """Whether the page has a finding of the specification's own."""
        return any(finding.id == id_ for finding in self.evidence.findings)

    def answer_counts(self, source: str | None = None) -> tuple[tuple[str, int], ...]:
        """How many words of one source, or of all, have which kind of answer."""
        counts = Counter(words.answer for words in self.evidence.sources if source in (None, words.source))
        return tuple((sort, counts[sort]) for sort in SORTS if counts[sort])

    def words_anchor(self, words: SourceItem) -> str:
        """Where the words of a line stand on the page."""
        return f"source-{words.source}-{words.line}"

    def words_by_source(self) -> Iterator[tuple[str, tuple[WordsRow, ...]]]:
        """Each source with its words; each with the section that begins there, and whether its line does."""
        for source in dict.fromkeys(words.source for words in self.evidence.sources):
            rows: list[WordsRow] = []
            for words in self.evidence.sources:
                if words.source == source:
                    before = rows[-1][1] if rows else None
                    begins = before is None or before.section != words.section
                    first = before is None or before.line != words.line
                    rows.append((words.section if begins else None, words, first))
            yield source, tuple(rows)

    def answered_by(self) -> Iterator[tuple[str, tuple[tuple[str, tuple[SourceItem, ...]], ...]]]:
        """What answers words, sorted; by source the words that it answers, those of a line once."""
        found: dict[str, dict[str, dict[int, SourceItem]]] = {}
        for words in self.evidence.sources:
            for name in (*words.encoded_by, *words.disputed_by):
                found.setdefault(name, {}).setdefault(words.source, {}).setdefault(words.line, words)
        for name in sorted(found):
            yield name, tuple((source, tuple(lines.values())) for source, lines in found[name].items())

    def by_subject(self) -> Iterator[tuple[str, tuple[ObligationEvidence, ...]]]:
        """The obligations of each element type or theory."""
        for subject in dict.fromkeys(o.subject for o in self.evidence.obligations):
            yield subject, tuple(o for o in self.evidence.obligations if o.subject == subject)

    def unproved(self) -> tuple[ObligationEvidence, ...]:
        """What is not proved: it stands on top of the page."""
        return tuple(o for o in self.evidence.obligations if o.status == "not proved")

    def by_one(self) -> tuple[ObligationEvidence, ...]:
        """What only one prover shows."""
        return tuple(o for o in self.evidence.obligations if o.status == "proved by one")

    def gaps(self) -> tuple[Entry, ...]:
        """The entries for which something is expected and no obligation is there."""
        return tuple(e for e in self.evidence.entries if e.gaps)

    def general(self, entry: Entry) -> Cell | None:
        """The cell that speaks of all element types at once."""
        return next((cell for cell in entry.cells if cell.type == ALL_TYPES), None)

    def by_type(self, entry: Entry) -> tuple[Cell, ...]:
        """The cells of single element types."""
        return tuple(cell for cell in entry.cells if cell.type != ALL_TYPES)

    def matrix(self) -> Iterator[MatrixRow]:
        """The verdicts, a row for each class and for C1 and C3."""
        ids = [e.id for e in self.evidence.entries if e.section == "classes"]
        for id_ in (*ids, *FORMS):
            cells = tuple(
                (r.name, tuple((t, r.verdicts[t].get(id_)) for t in self.machine_types))
                for r in self.evidence.runtimes
            )
            yield MatrixRow(id_, self.anchor(id_) or "", cells)

    def runtime_lines(self) -> Iterator[RuntimeLine]:
        """The runtimes of the summary."""
        for runtime in self.evidence.runtimes:
            every = [v for of_type in runtime.verdicts.values() for v in of_type.values()]
            counts = Counter(every)
            yield RuntimeLine(runtime, worst_shown(every), tuple((v, counts[v]) for v in _ORDER if counts[v]))

    def frama_c_provers(self) -> tuple[str, ...]:
        """The provers that Frama-C asks."""
        return PROVERS

    def frama_c_in_words(self) -> str:
        """How many C kernels have which status, and how many goals are shown."""
        kernels = self.evidence.c_kernels
        counts = Counter(kernel.status for kernel in kernels)
        words = ", ".join(f"{count} of {len(kernels)} {status}" for status, count in counts.items())
        goals, shown = sum(k.goals for k in kernels), sum(k.shown for k in kernels)
        return f"{words}; {shown} of {goals} goals" if goals else words

    def vectors_of(self, type_id: str) -> Iterator[tuple[str, tuple[VectorEvidence, ...]]]:
        """The vectors of an element type, by class."""
        yield from self.evidence.vectors[type_id].items()
