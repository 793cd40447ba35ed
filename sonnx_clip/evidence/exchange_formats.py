"""The evidence in the formats of other tools: needs.json of sphinx-needs, a matrix in CSV, JUnit XML."""

from __future__ import annotations

import csv
import io
import json
from itertools import chain
from textwrap import indent
from typing import TYPE_CHECKING, TypeAlias
from xml.etree import ElementTree as ET

from sonnx_clip.evidence.control_characters import remove_control_characters
from sonnx_clip.evidence.evidence_model import ALL_TYPES
from sonnx_clip.evidence.items import items_of
from sonnx_clip.evidence.runtimes import runtimes_of
from sonnx_clip.evidence.supply_chain import NO_DATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.evidence.evidence_model import Entry, Evidence, ObligationEvidence
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.prove.outcome import Status

    Row: TypeAlias = tuple[str | int, ...]


def render_needs(evidence: Evidence, records: Records) -> str:
    """needs.json, for the directive ``needimport`` of sphinx-needs; texts are literal blocks.

    An item's `links` name what it shows, its `links_back` what shows it.
    """
    items = items_of(records.spec, evidence)
    back: dict[str, list[str]] = {item.id: [] for item in items}
    for item in items:
        for link in item.links:
            back[link].append(item.id)
    needs = {
        item.id: {
            "id": item.id,
            "type": item.kind,
            "title": item.title,
            "status": item.status,
            "content": "::\n\n" + indent(item.text or item.title, "   "),
            "tags": [item.name],
            "links": list(item.links),
            "links_back": back[item.id],
        }
        for item in items
    }
    version = evidence.spec_sha256[:12]
    document = {
        "created": NO_DATE,
        "project": f"sonnx-clip {evidence.operator}",
        "current_version": version,
        "versions": {version: {"created": NO_DATE, "needs": needs, "needs_amount": len(needs)}},
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


_SENTENCE = ("source", "line", "sentence", "answer")
_SHOWN = ("entry", "section", "element type", "status",
          "obligation", "obligation status", "vectors", "runtimes")  # fmt: skip


def render_matrix(evidence: Evidence, records: Records) -> str:
    """The traceability matrix: a row for each sentence of a source, entry, element type and obligation.

    A sentence that no entry encodes has one row, with its answer. Entries that no sentence states follow,
    then those of other operators, each with the sentence that it quotes. `vectors` counts those of the entry
    in the element type, or in all; `runtimes` has the verdicts of each runtime there in the classes of the
    entry.
    """
    status = {o.obligation.id: o.status for o in evidence.all_obligations}
    runtimes = runtimes_of(records.spec, evidence.runtimes)
    shown = {entry.id: list(_rows(entry, status, runtimes)) for entry in evidence.entries}
    files = {page.id: page.file for page in records.spec.texts}
    rows: list[Row] = [(*_SENTENCE, *_SHOWN)]
    stated: set[str] = set()
    for sentence in records.coverage:
        answer = sentence.answer
        named = [name for name in answer.encoded_by if name in shown]
        others = [n for n in (*answer.encoded_by, *answer.disputed_by) if n not in shown]
        stated.update(named)
        rows_of_entries = list(chain.from_iterable(shown[name] for name in named))
        reason = sentence.reason or answer.not_encoded or ", ".join(others)
        cells = (
            files[sentence.source],
            sentence.line,
            sentence.text.removeprefix("- "),  # a spreadsheet takes it for a formula
            f"{answer.sort}: {reason}" if reason else answer.sort,
        )
        rows += [(*cells, *row) for row in rows_of_entries or [("",) * len(_SHOWN)]]
    for name, rows_of_entry in shown.items():
        if name not in stated:
            rows += [("", "", "", "stated by no sentence", *row) for row in rows_of_entry]
    for operator in evidence.operators:
        for entry in operator.entries:
            quoted = _quoted(entry)
            rows += [(*quoted, *row) for row in _rows(entry, status, ())]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _quoted(entry: Entry) -> Row:
    """The sentence that an entry quotes; where none is stored, its source in our words."""
    if entry.source is None:
        return ("", "", "", "no source")
    answer = "in our words" if entry.source.cited else "quoted"
    return (entry.source.file, ", ".join(map(str, entry.lines)), entry.source.quote, answer)


def _rows(
    entry: Entry, status: Mapping[str, Status], runtimes: Sequence[RuntimeView]
) -> Iterator[Row]:
    """An entry's rows: a row for each obligation of each element type, one row where there is none."""
    classes = (entry.id,) if entry.section == "classes" else entry.classes
    for cell in entry.cells:
        is_of_all = cell.type == ALL_TYPES
        vectors = sum(entry.vectors.values()) if is_of_all else entry.vectors.get(cell.type, 0)
        verdicts = []
        for runtime in runtimes:
            distinct: dict[str, None] = {}
            for type_id in runtime.verdicts if is_of_all else [cell.type]:
                by_class = runtime.verdicts.get(type_id, {})
                distinct |= {by_class[klass]: None for klass in classes if klass in by_class}
            if distinct:
                verdicts.append(f"{runtime.name}: {', '.join(distinct)}")
        for obligation in cell.obligations or ("",):
            yield (
                entry.id,
                entry.section,
                cell.type,
                cell.status,
                obligation,
                status.get(obligation, ""),
                vectors,
                "; ".join(verdicts),
            )


def render_junit(evidence: Evidence, records: Records) -> str:
    """JUnit XML: a suite for each subject, a case for each obligation, false ones (smoke tests) too.

    An obligation that is not proved, or by one prover only, is a failure.
    """
    del records

    def counts(some: Sequence[ObligationEvidence]) -> dict[str, str]:
        return {
            "tests": str(len(some)),
            "failures": str(sum(obligation.status != "proved" for obligation in some)),
        }

    obligations = evidence.all_obligations
    suites = ET.Element("testsuites", {"name": evidence.tool, **counts(obligations)})
    by_subject: dict[str, list[ObligationEvidence]] = {}
    for evidenced in obligations:
        by_subject.setdefault(evidenced.obligation.subject, []).append(evidenced)
    for subject, some in by_subject.items():
        suite = ET.SubElement(suites, "testsuite", {"name": subject, **counts(some)})
        for evidenced in some:
            o, seconds = evidenced.obligation, sum(r.cpu for r in evidenced.replies)
            case = ET.SubElement(
                suite, "testcase", classname=o.file, name=o.id, time=f"{seconds:.3f}"
            )
            if evidenced.status != "proved":
                ET.SubElement(
                    case, "failure", message=f"{evidenced.status}: {evidenced.answers}"
                ).text = o.statement
    ET.indent(suites)
    text = ET.tostring(suites, encoding="unicode", xml_declaration=True)
    return remove_control_characters(text) + "\n"
