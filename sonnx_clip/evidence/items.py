"""The evidence as items with links, for tools that manage requirements: `formats` writes them.

Every link leads from what shows something to what it shows: obligation → entry, class → entry,
test → class, verdict → test or constraint, finding → obligation.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.evidence.runtimes import runtimes_of
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.evidence.evidence_model import Entry, Evidence
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.spec import Spec

Kind: TypeAlias = Literal[
    "requirement", "statement", "class", "obligation", "test", "verdict", "finding"
]

PREFIXES: dict[Kind, str] = {
    "requirement": "REQ", "statement": "STM", "class": "CLS", "obligation": "OBL",
    "test": "TST", "verdict": "VRD", "finding": "FND",
}  # fmt: skip
"""Beginnings of the ids of items, by kind."""


@dataclass(frozen=True)
class Item:
    """Something that a tool for requirements tracks.

    `id` is unique: a prefix and capital letters, digits and underscores. `name` is the id in the evidence of
    the entry or obligation, or names runtime, type and class. `links` are the ids of the items that it shows.
    """

    id: str
    kind: Kind
    name: str
    title: str
    text: str
    status: str
    links: tuple[str, ...] = ()


def items_of(spec: Spec, evidence: Evidence) -> tuple[Item, ...]:
    """All items: entries, obligations, tests, verdicts and findings, in this order."""
    # By the id in the evidence: links are made of these, whatever the kind of the entry is.
    ids = {entry.id: _id(_kind(entry), entry.id) for entry in evidence.all_entries}
    return (
        *_entries(evidence, ids),
        *_obligations(evidence, ids),
        *_tests_and_verdicts(spec, evidence, ids),
        *_findings(evidence),
    )


def _id(kind: Kind, name: str) -> str:
    """The id of an item; the name of an operator ends with two underscores, as nothing else does."""
    # sphinx-needs accepts by default only ids of capital letters, digits and underscores.
    parts = []
    for part in name.upper().split(":"):
        underscored = re.sub(r"[^A-Z0-9]+", "_", part)
        parts.append(underscored.strip("_"))
    return f"{PREFIXES[kind]}_{'__'.join(parts)}"


def _kind(entry: Entry) -> Kind:
    if entry.requirement:
        return "requirement"
    return "class" if entry.section == "classes" else "statement"


def _entries(evidence: Evidence, ids: dict[str, str]) -> Iterator[Item]:
    # By the id of a class: the items of which it is a part. Collected before any item is made,
    # since a class may come before or after the entries that it belongs to.
    shown_by_class: defaultdict[str, list[str]] = defaultdict(list)
    for entry in evidence.all_entries:
        for klass in entry.classes:
            shown_by_class[klass].append(ids[entry.id])
    for entry in evidence.all_entries:
        own_id = ids[entry.id]
        kind = _kind(entry)
        links: list[str] = []
        if kind == "class":
            distinct = dict.fromkeys(shown_by_class[entry.id])
            distinct.pop(own_id, None)  # a class is no part of itself
            links = list(distinct)
        paragraphs = [entry.statement]
        if entry.source:
            paragraphs.append(f"Source: “{entry.source.quote}”")
        text = "\n\n".join(filter(None, paragraphs))
        yield Item(
            id=own_id,
            kind=kind,
            name=entry.id,
            title=entry.title,
            text=text,
            status=_status(entry),
            links=tuple(links),
        )


def _status(entry: Entry) -> str:
    """The worst status of an entry in any element type."""
    statuses = {cell.status for cell in entry.cells}
    worst = "no obligation"
    for status in ("gap", "not proved", "proved by one", "proved"):  # the worst first
        if status in statuses:
            worst = status
            break
    return f"{worst} (refuted as written, proved under a condition)" if entry.refuted else worst


def _obligations(evidence: Evidence, entries: dict[str, str]) -> Iterator[Item]:
    for evidenced in evidence.all_obligations:
        o = evidenced.obligation
        # What an obligation shows may be no entry of the evidence, and then there is no item to
        # link to.
        links = tuple(entries[name] for name in o.shows if name in entries)
        proof = f"{o.file}, goal {o.goal}. {evidenced.answers}."
        yield Item(
            id=_id("obligation", o.id),
            kind="obligation",
            name=o.id,
            title=o.title,
            text=f"{o.statement}\n\n{proof}" if o.statement else proof,
            status=evidenced.status,
            links=links,
        )


def _tests_and_verdicts(spec: Spec, evidence: Evidence, entries: dict[str, str]) -> Iterator[Item]:
    """The tests of each class in each element type, then each runtime's verdict on them."""
    tests: dict[tuple[str, str], str] = {}  # the id of a test by element type and class
    for entry in evidence.entries:
        # Vectors are of the operator of the page alone: other operators have no tests.
        if entry.section == "classes":
            for type_id, number in entry.vectors.items():
                test = _test_of(entry, type_id, number, entries[entry.id])
                tests[type_id, entry.id] = test.id
                yield test
    for runtime in runtimes_of(spec, evidence.runtimes):
        version = runtime.report.runtime_version if runtime.report else "not run"
        compared = _compared_results(runtime)
        for type_id, verdicts in runtime.verdicts.items():
            for class_id, verdict in verdicts.items():
                number = compared.get((type_id, class_id), 0)
                # C1 and C3 have no vectors of their own.
                shown = tests.get((type_id, class_id), entries[class_id])
                name = f"{runtime.name}.{type_id}.{class_id}"
                yield Item(
                    id=_id("verdict", name),
                    kind="verdict",
                    name=name,
                    title=f"{runtime.name} in {type_id}, {class_id}",
                    text=f"{version}: {counted(number, 'result')} compared.",
                    status=verdict,
                    links=(shown,),
                )


def _compared_results(runtime: RuntimeView) -> dict[tuple[str, str], int]:
    """How many results of a runtime were compared, by element type and class."""
    compared = {}
    for of_type in runtime.report.types if runtime.report else ():
        for klass in of_type.classes:
            compared[of_type.type, klass.id] = klass.compared
    return compared


def _test_of(entry: Entry, type_: str, number: int, of_class: str) -> Item:
    """The test of a class in an element type: its vectors."""
    vectors = counted(number, "test vector")
    return Item(
        id=_id("test", f"{type_} {entry.id}"),
        kind="test",
        name=f"{type_}.{entry.id}",
        title=f"{entry.title}, {type_}",
        text=f"{vectors} of the class {entry.id} in generated/vectors/{type_}.json",
        status="generated",  # a vector has no outcome of its own: verdicts link to it
        links=(of_class,),
    )


def _findings(evidence: Evidence) -> Iterator[Item]:
    for finding in evidence.all_findings:
        links: dict[str, None] = {}  # parts of a claim may rest on one obligation
        for claim in finding.claim:
            for obligation_id in claim.obligations:
                links[_id("obligation", obligation_id)] = None
        yield Item(
            id=_id("finding", finding.id),
            kind="finding",
            name=finding.id,
            title=finding.title,
            text=f"{finding.found}\n\nProposed: {finding.proposed}",
            status=f"{finding.kind}, {finding.severity}",
            links=tuple(links),
        )
