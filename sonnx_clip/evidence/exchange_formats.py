"""The evidence in the formats of other tools: needs.json of sphinx-needs, a matrix in CSV, JUnit XML."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from textwrap import indent
from typing import TYPE_CHECKING, Protocol, TypeAlias
from xml.etree import ElementTree as ET

from sonnx_clip.evidence.control_characters import remove_control_characters
from sonnx_clip.evidence.evidence_model import ALL_TYPES
from sonnx_clip.evidence.items import items_of
from sonnx_clip.evidence.runtimes import runtimes_of
from sonnx_clip.evidence.supply_chain import NO_DATE

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.evidence.evidence_model import Entry, Evidence
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.prove.outcome import Outcome, Status
    from sonnx_clip.spec.coverage import Covered

    Row: TypeAlias = tuple[str | int, ...]


def render_needs(evidence: Evidence, records: Records) -> str:
    """needs.json, for the directive ``needimport`` of sphinx-needs; texts are literal blocks.

    An item's `links` name what it shows, its `links_back` what shows it.
    """
    items = items_of(records.spec, evidence)
    # By the id of what is linked to; every item has an entry, so that a link to no item is an error here.
    back: dict[str, list[str]] = {item.id: [] for item in items}
    for item in items:
        for link in item.links:
            back[link].append(item.id)
    needs = {}
    for item in items:
        # A literal block: formulas and quotations have characters that are markup.
        content = "::\n\n" + indent(item.text or item.title, "   ")
        needs[item.id] = {
            "id": item.id,
            "type": item.kind,
            "title": item.title,
            "status": item.status,
            "content": content,
            "tags": [item.name],
            "links": list(item.links),
            "links_back": back[item.id],
        }
    # The format wants a version of the requirements, which is that of the specification.
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
_NO_ENTRY = ("",) * len(_SHOWN)


def render_matrix(evidence: Evidence, records: Records) -> str:
    """The traceability matrix: a row for each sentence of a source, entry, element type and obligation.

    A sentence that no entry encodes has one row, with its answer. Entries that no sentence states follow,
    then those of other operators, each with the sentence that it quotes. `vectors` counts those of the entry
    in the element type, or in all; `runtimes` has the verdicts of each runtime there in the classes of the
    entry.
    """
    status = {o.obligation.id: o.status for o in evidence.all_obligations}
    runtimes = runtimes_of(records.spec, evidence.runtimes)
    # Before the sentences are gone through, since several of them may state one entry.
    rows_of_entry = {}
    for entry in evidence.entries:
        rows_of_entry[entry.id] = list(_rows(entry, status, runtimes))
    files = {page.id: page.file for page in records.spec.texts}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_SENTENCE, *_SHOWN))

    stated: set[str] = set()  # entries that have their rows beside a sentence
    for sentence in records.coverage:
        names = [name for name in sentence.answer.encoded_by if name in rows_of_entry]
        stated.update(names)
        cells = _sentence_cells(sentence, files[sentence.source], rows_of_entry.keys())
        for name in names:
            _write_rows(writer, cells, rows_of_entry[name])
        if not names:
            # A sentence without an entry has a row too: the file lists the whole source.
            writer.writerow((*cells, *_NO_ENTRY))

    for name, rows in rows_of_entry.items():
        if name not in stated:
            _write_rows(writer, ("", "", "", "stated by no sentence"), rows)

    for operator in evidence.operators:
        for entry in operator.entries:
            # Runtimes are judged on the operator of the page alone.
            _write_rows(writer, _quoted(entry), _rows(entry, status, ()))
    return out.getvalue()


class _RowWriter(Protocol):
    """A writer of the module csv, whose type has no name there."""

    def writerow(self, row: Row, /) -> object: ...


def _write_rows(writer: _RowWriter, sentence: Row, rows: Iterable[Row]) -> None:
    """Write the rows of an entry, the cells of its sentence before each."""
    for row in rows:
        writer.writerow((*sentence, *row))


def _sentence_cells(sentence: Covered, file: str, shown: Container[str]) -> Row:
    """The cells of a sentence under `_SENTENCE`; its answer names the entries that have no rows."""
    # An entry may encode a sentence, and a finding dispute it.
    answer = sentence.answer
    names = (*answer.encoded_by, *answer.disputed_by)
    not_shown = [name for name in names if name not in shown]
    reason = sentence.reason or answer.not_encoded or ", ".join(not_shown)
    return (
        file,
        sentence.line,
        sentence.text.removeprefix("- "),  # a spreadsheet takes it for a formula
        f"{answer.sort}: {reason}" if reason else answer.sort,
    )


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
    for cell in entry.cells:
        is_of_all = cell.type == ALL_TYPES
        vectors = sum(entry.vectors.values()) if is_of_all else entry.vectors.get(cell.type, 0)
        # A runtime that says nothing of the entry is left out, and not listed as passing.
        verdicts = []
        for runtime in runtimes:
            distinct = _distinct_verdicts(entry, cell.type, runtime)
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


def _distinct_verdicts(entry: Entry, type_id: str, runtime: RuntimeView) -> list[str]:
    """The verdicts of a runtime in the classes of an entry, each once, in the order of the classes."""
    # A runtime is judged by class: an entry has the verdicts of the classes in which its vectors
    # lie.
    classes = (entry.id,) if entry.section == "classes" else entry.classes
    types = list(runtime.verdicts) if type_id == ALL_TYPES else [type_id]
    verdicts: dict[str, None] = {}
    for judged_type in types:
        by_class = runtime.verdicts.get(judged_type, {})
        for klass in classes:
            if klass in by_class:
                verdicts[by_class[klass]] = None
    return list(verdicts)


def render_junit(evidence: Evidence, records: Records) -> str:
    """JUnit XML: a suite for each subject, a case for each obligation, false ones (smoke tests) too.

    An obligation that is not proved, or by one prover only, is a failure.
    """
    del records  # every renderer of `FORMATS` takes them
    obligations = evidence.all_obligations
    suites = ET.Element("testsuites", {"name": evidence.tool, **_junit_counts(obligations)})
    by_subject: defaultdict[str, list[Outcome]] = defaultdict(list)
    for evidenced in obligations:
        by_subject[evidenced.obligation.subject].append(evidenced)
    for subject, of_subject in by_subject.items():
        attributes = {"name": subject, **_junit_counts(of_subject)}
        suite = ET.SubElement(suites, "testsuite", attributes)
        for evidenced in of_subject:
            obligation = evidenced.obligation
            seconds = sum(reply.cpu for reply in evidenced.replies)
            case = ET.SubElement(
                suite,
                "testcase",
                classname=obligation.file,
                name=obligation.id,
                time=f"{seconds:.3f}",
            )
            if evidenced.status != "proved":
                message = f"{evidenced.status}: {evidenced.answers}"
                failure = ET.SubElement(case, "failure", message=message)
                failure.text = obligation.statement
    ET.indent(suites)
    # ElementTree writes control characters as they are, and no reader of XML accepts them.
    text = ET.tostring(suites, encoding="unicode", xml_declaration=True)
    return remove_control_characters(text) + "\n"


def _junit_counts(obligations: Sequence[Outcome]) -> dict[str, str]:
    """The attributes with the numbers of a suite."""
    # Proved by one prover only is a failure here too: JUnit has no status between.
    failures = sum(obligation.status != "proved" for obligation in obligations)
    return {"tests": str(len(obligations)), "failures": str(failures)}
