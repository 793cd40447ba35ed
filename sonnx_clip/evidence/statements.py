"""What of the page is formal, and which roads of argument were gone: no count says more than it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.runtimes import RUNTIMES
from sonnx_clip.evidence.model import Obligations, Road, Statements, Unformal
from sonnx_clip.paths import repo_file
from sonnx_clip.spec.sonnx_checks import PAGE
from sonnx_clip.spec.sonnx_page import chapters
from sonnx_clip.spec.texts import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.evidence.model import (
        CKernelEvidence,
        CoqEvidence,
        DialectRunEvidence,
        Entry,
        ObligationEvidence,
        ReplayEvidence,
    )
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.types import Source

OF_THE_PAGE = ("restrictions", "constraints", "cases", "examples")
"""The sections whose entries are statements of the page; `properties` are what we conclude from them."""

_STRUCTURE = ("#", ">", "|--", "| Restriction", "```", "$$", "\\", "<a id", "- **clip** operator", "where:")


def statements_of(spec: Spec, entries: Sequence[Entry]) -> Statements:
    """How many statements of the page and conclusions of ours hold, are repaired, are not formal."""
    of_page = [e for e in entries if e.requirement and e.section in OF_THE_PAGE]
    ours = [e for e in entries if e.requirement and e.section not in OF_THE_PAGE]
    unformal = tuple(_unformal(spec))
    return Statements(
        of_page=len(of_page),
        of_page_refuted=sum(_refuted(e) for e in of_page),
        ours=len(ours),
        ours_refuted=sum(_refuted(e) for e in ours),
        unformal=unformal,
    )


def _refuted(entry: Entry) -> bool:
    return any(cell.finding for cell in entry.cells)


def obligations_of(spec: Spec, obligations: Sequence[ObligationEvidence]) -> Obligations:
    """Of what the obligations speak: each is counted once, under the first of these that fits."""
    by_section: Mapping[str, set[str]] = {
        "of_page": {r.id for r in spec.requirements() if r.section in OF_THE_PAGE},
        "ours": {r.id for r in spec.requirements() if r.section not in OF_THE_PAGE},
        "findings": {e.id for e in spec.findings},
        "readings": {e.id for e in spec.readings} | {e.id for e in spec.dialects},
    }
    counts = dict.fromkeys((*by_section, "others"), 0)
    for o in obligations:
        if o.kind != "smoke":
            counts[next((name for name, ids in by_section.items() if ids & set(o.shows)), "others")] += 1
    return Obligations(**counts)


def _unformal(spec: Spec) -> Iterator[Unformal]:
    """The lines of the page that say something, and that no entry quotes and no check reads; once each."""
    path = repo_file(spec.page(PAGE).file)
    lines = path.read_text(encoding="utf-8").splitlines()
    taken = set(_quoted(spec, lines))
    for chapter in chapters(path):
        taken |= {line for line, _ in chapter.types}
        taken |= {row.line for row in chapter.rows} | {s.line for s in chapter.sentences}
        taken |= {line for t in chapter.tagged for line in (t.line, t.line + 1)}
        taken |= {branch.line for branch in chapter.branches}
        for example in chapter.examples:
            taken |= set(range(example.line, example.line + 14))
    seen = set()
    first = chapters(path)[0].line
    for number, line in enumerate(lines, 1):
        text = fold(line)
        if number < first or number in taken or not text or text.startswith(_STRUCTURE) or text in seen:
            continue
        if any(character.isalpha() for character in text) and "begin{" not in text:
            seen.add(text)
            yield Unformal(line=number, text=text)


def _quoted(spec: Spec, lines: Sequence[str]) -> Iterator[int]:
    """The lines over which quotations of the page reach."""
    for source in _sources(spec):
        if source.page != PAGE:
            continue
        words = len(source.quote.split())
        for at in source.at:
            left, number = words, at
            while left > 0 and number <= len(lines):
                yield number
                left -= len(lines[number - 1].split())
                number += 1


def _sources(spec: Spec) -> Iterator[Source]:
    for section in ("families", "restrictions", "constraints", "cases", "properties", "readings", "examples"):
        for entry in getattr(spec, section):
            yield from (s for s in (entry.source, *getattr(entry, "also", ())) if s is not None)
    for finding in spec.findings:
        yield from finding.words
    for dialect in spec.whole_dialects:
        yield from dialect.says.values()


def roads_of(
    *,
    complete: bool,
    coq: CoqEvidence,
    c_kernels: Sequence[CKernelEvidence],
    replays: Sequence[ReplayEvidence],
    runtimes: Mapping[str, bool],
    dialect_runs: Sequence[DialectRunEvidence],
) -> tuple[Road, ...]:
    """Every road of argument, and whether it was gone for what is here."""
    kernels = {kernel.status for kernel in c_kernels}
    frama_c = "not run" if kernels == {"not run"} else "in part" if kernels & {"not run", "stale"} else "run"
    roads = [
        ("Z3 and cvc5 on every obligation", "run" if complete else "in part"),
        ("Coq’s kernel", {"checked": "run", "not proved": "run, not proved"}.get(coq.status, coq.status)),
        ("Frama-C on the C kernels", frama_c),
        ("replay without our Python", "run" if replays else "not run"),
        *((f"runtime {name}", "run" if runtimes.get(name) else "not run") for name in (*RUNTIMES,)),
        *((f"dialects in {run.name}", "run" if run.run else "not run") for run in dialect_runs),
        ("DirectML", "not run"),
    ]
    return tuple(Road(name=name, status=status) for name, status in roads)
