"""Renders build/evidence/index.html: the summary and the trace as HTML, details as JSON for page.js."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections import Counter, defaultdict
from dataclasses import asdict
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup, escape

from sonnx_clip.backends.templating import templates
from sonnx_clip.evidence import picture
from sonnx_clip.evidence.control_characters import escape_control_characters, escape_in_data
from sonnx_clip.evidence.evidence_model import SHOWN
from sonnx_clip.evidence.first_screen import (
    assessed,
    headline,
    remaining,
    tasks,
    tiles,
)
from sonnx_clip.evidence.review import SOURCE, review_parts
from sonnx_clip.evidence.runtimes import dialects_of, runtimes_of
from sonnx_clip.evidence.trace_cells import (
    PARTIAL_SIGN,
    VERDICT_SIGNS,
    SentenceAnchors,
    runtime_cell,
)
from sonnx_clip.evidence.witness_inputs import witness_inputs
from sonnx_clip.explain.dialects_table import dialect_table
from sonnx_clip.explain.readings_matrix import MEANINGS, SIGNS, matrix
from sonnx_clip.prove.frama_c import PROVERS
from sonnx_clip.spec.quotation import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jinja2 import Environment

    from sonnx_clip.evidence.evidence_model import Cell, Entry, Evidence, OperatorEvidence
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.explain.finding_views import FindingView
    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.coverage import Covered

_SEVERITIES = ("high", "medium", "low")
# How many provers proved it, readable without colours.
_STATUS_SIGNS = {"proved": "2", "proved by one": "1", "not proved": "×", "gap": "?"}


class EntryGroup(NamedTuple):
    """A group of entries on the page: the key of its data, its title, and how many there are."""

    key: str
    title: str
    size: int


def render_page(evidence: Evidence, records: Records, digest: str) -> str:
    """The page as text; `digest` is the SHA-256 of evidence.json."""
    spec = records.spec
    runtimes = runtimes_of(spec, evidence.runtimes)
    compared = dialects_of(spec, evidence.dialects)
    by_section: dict[str, list[Entry]] = {section.name: [] for section in SHOWN}  # empty ones too
    for entry in evidence.entries:
        by_section[entry.section].append(entry)
    judged_classes: dict[str, None] = {}  # in the order of the specification, then those of calls
    judged_classes |= dict.fromkeys(entry.id for entry in spec.classes)
    for runtime in runtimes:
        for by_class in runtime.verdicts.values():
            judged_classes |= dict.fromkeys(by_class)
    subjects_of = {}
    for operator in evidence.operators:
        subjects_of[operator.name] = _counted_subjects(operator.obligations)
    return render_template(
        "index.html.j2",
        evidence=evidence,
        runtimes=runtimes,
        digest=digest,
        data=packed(_data(evidence, records, runtimes, compared)),
        sections=[(section, by_section[section.name]) for section in SHOWN],
        subjects=_subjects(evidence),
        sources=Counter(sentence.source for sentence in records.coverage),
        machine_types=list(records.vectors),
        classes=list(judged_classes),
        anchors=_anchors(evidence),
        obligations={o.obligation.id: o for o in evidence.all_obligations},
        groups={operator.name: _groups(operator) for operator in evidence.operators},
        subjects_of=subjects_of,
        tiles=tiles(evidence, runtimes),
        tasks=tuple(tasks(evidence)),
        with_code=with_code,
        headline=headline(evidence),
        assessed=assessed(evidence, spec.page(SOURCE).title, _machines(runtimes)),
        remaining=remaining(evidence),
        ranked=ranked,
        runtime_cell=runtime_cell,
        partial_sign=PARTIAL_SIGN,
        sentences=SentenceAnchors.of(records.coverage),
        readable=readable,
        witness_inputs=witness_inputs(spec, (other.spec for other in records.others)),
        status_sign=status_sign,
        verdict_signs=VERDICT_SIGNS,
        panels=picture.panels(spec),
        special=picture.special_values_table(spec),
        readings=matrix(spec, spec.element_type(picture.TYPE)),
        reading_signs=SIGNS,
        reading_meanings=MEANINGS,
        dialects=dialect_table(spec),
        compared=compared,
        c_provers=PROVERS,
        picture=picture,
    )


def render_picture(spec: Spec) -> str:
    """The picture of Clip by itself, as SVG: docs/clip.svg."""
    columns = 3  # the six kinds of bounds are two rows
    step_x = picture.WIDTH + 16
    step_y = picture.HEIGHT + 40
    panels = picture.panels(spec)
    placed = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        # The first row begins below the legend and its own title.
        placed.append((panel, 8 + step_x * column, 76 + step_y * row))
    rows = math.ceil(len(panels) / columns)

    legend = []
    characters = 0
    for case in spec.cases:
        text = f"{case.id}: {case.title}"
        # SVG breaks no lines and measures no text: 6.2 is the mean width of a letter at this size,
        # and five letters are left free between two entries.
        legend.append((case.id, round(16 + 6.2 * characters), text))
        characters += len(text) + 5
    return render_template(
        "clip.svg.j2",
        legend=legend,
        placed=placed,
        width=16 + step_x * columns,
        height=52 + step_y * rows,
        picture=picture,
    )


def render_review(spec: Spec) -> str:
    """The page for the SONNX group beside the page of its source."""
    return render_template(
        "review.html.j2", spec=spec, source=spec.page(SOURCE), parts=review_parts(spec)
    )


def render_template(template: str, **values: object) -> str:
    """A template of the page with its values, each of them escaped, control characters too."""
    return _page_templates().get_template(template).render(values)


@cache
def _page_templates() -> Environment:
    # By `finalize` and not by a filter: no template can forget it.
    return templates("sonnx_clip.evidence", html=True).overlay(finalize=_without_control_characters)


def _without_control_characters(value: object) -> object:
    """What a template prints in place of a value; numbers and lists are left to Jinja."""
    if isinstance(value, Markup):  # it has been escaped as HTML, and is not to be again
        return Markup(escape_control_characters(value))  # noqa: S704
    return escape_control_characters(value) if isinstance(value, str) else value


def packed(data: Any) -> str:
    """JSON, compressed by gzip and written in base64, in which no text can end a script element."""
    text = json.dumps(escape_in_data(data), ensure_ascii=False, separators=(",", ":"))
    # Without a time of its own: equal data gives an equal page, which `verify` compares.
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def with_code(text: str) -> Markup:
    """A text of the specification as HTML: what stands between backticks is code."""
    parts = escape_control_characters(text).split("`")
    marked = []
    # Built from parts that are escaped one by one, so that no text can close the element.
    for number, part in enumerate(parts):
        is_code = number % 2 == 1  # text and code alternate, and the first part is text
        marked.append(Markup("<code>{}</code>").format(part) if is_code else escape(part))
    return Markup("").join(marked)


def _machines(runtimes: Iterable[RuntimeView]) -> list[str]:
    """The processors on which runtimes were judged."""
    return sorted({runtime.report.machine for runtime in runtimes if runtime.report})


def ranked(findings: Iterable[FindingView]) -> list[FindingView]:
    """Findings by their severity, the highest first."""
    return sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))


def status_sign(cell: Cell) -> str:
    """The sign of a cell, so that cells differ by more than colour."""
    sign = _STATUS_SIGNS[cell.status]
    if not cell.finding:
        return sign
    # A refuted entry has its own sign, and beside it how well the repaired form is proved, if not fully.
    return "◇" if cell.status == "proved" else f"◇{sign}"


def _subjects(evidence: Evidence) -> dict[str, int]:
    """How many obligations each subject has: element types first, in the order of the specification."""
    # Other subjects, which are no element types, follow in the order of the proofs.
    counts = _counted_subjects(evidence.obligations)
    in_order: dict[str, int] = {}
    for subject in (*evidence.element_types, *counts):
        if counts[subject]:
            in_order[subject] = counts[subject]
    return in_order


def _counted_subjects(obligations: Iterable[Outcome]) -> Counter[str]:
    return Counter(o.obligation.subject for o in obligations)


def _groups(operator: OperatorEvidence) -> list[EntryGroup]:
    """The entries of another operator, section by section."""
    counts = Counter(entry.section for entry in operator.entries)
    groups = []
    for section in SHOWN:
        size = counts[section.name]
        if size:
            groups.append(EntryGroup(f"{operator.name}:{section.name}", section.title, size))
    return groups


def _anchors(evidence: Evidence) -> dict[str, str]:
    """The anchor of an entry, a finding or an obligation on the page, by its id."""
    anchors = {}
    for evidenced in evidence.all_obligations:
        id_ = evidenced.obligation.id
        anchors[id_] = f"o-{id_}"
    for finding in evidence.all_findings:
        anchors[finding.id] = f"finding-{finding.id}"
    # Entries of two sections may have one id: the one that comes first on the page has the anchor.
    for entry in reversed(evidence.all_entries):
        anchors[entry.id] = f"{entry.section}-{entry.id}"
    return anchors


# --- What page.js renders on demand -------------------------------------------------------------------------


def _data(
    evidence: Evidence,
    records: Records,
    runtimes: Sequence[RuntimeView],
    compared: Sequence[RuntimeView],
) -> dict[str, Any]:
    # The order of the keys is that of the groups on the page.
    obligations: dict[str, list[dict[str, Any]]] = {subject: [] for subject in _subjects(evidence)}
    for evidenced in evidence.all_obligations:
        obligations.setdefault(evidenced.obligation.subject, []).append(_obligation(evidenced))

    sources: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for sentence in records.coverage:
        sources[sentence.source].append(_sentence(sentence))

    trusted: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in sorted(evidence.trusted, key=attrgetter("where")):
        trusted[item.where].append(asdict(item))

    # To repeat one proof by hand; the page adds the theory and the goal.
    commands = {}
    for prover in records.proofs.provers:
        version = evidence.tools[prover]
        commands[prover] = f"why3 prove -C build/why3/why3.conf -L why3 -P {prover},{version},"

    # page.js derives those of obligations, of which there are thousands, from their ids.
    all_anchors = _anchors(evidence).items()
    anchors = {id_: anchor for id_, anchor in all_anchors if not anchor.startswith("o-")}
    return {
        "anchors": anchors,
        "types": list(evidence.element_types),
        "commands": commands,
        "entries": _entry_groups(evidence),
        "obligations": obligations,
        "vectors": _vectors_by_class(records),
        "sources": sources,
        "deviations": {runtime.name: runtime.deviations for runtime in (*runtimes, *compared)},
        "verdicts": {runtime.name: runtime.verdicts for runtime in runtimes},
        "trusted": trusted,
        "files": evidence.files,
        "operands": list(records.spec.signature.keys),
    }


def _vectors_by_class(records: Records) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The test vectors by machine type and class."""
    vectors: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for type_id, of_type in records.vectors.items():
        by_class: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for vector in of_type:
            by_class[vector["class"]].append(vector)
        vectors[type_id] = by_class
    return vectors


def _entry_groups(evidence: Evidence) -> dict[str, list[dict[str, Any]]]:
    """The entries by the key of their group: the section, after the name of another operator."""
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in evidence.entries:
        groups[entry.section].append(_entry(entry))
    for operator in evidence.operators:
        for entry in operator.entries:
            groups[f"{operator.name}:{entry.section}"].append(_entry(entry))
    return groups


def _sentence(covered: Covered) -> dict[str, Any]:
    answer = covered.answer
    reason = covered.reason or answer.not_encoded
    return {
        "line": covered.line, "section": covered.section, "text": covered.text,
        "encoded_by": answer.encoded_by, "disputed_by": answer.disputed_by, "note": answer.note,
        "answer": f"{answer.sort}: {reason}" if reason else "",
    }  # fmt: skip


def _obligation(outcome: Outcome) -> dict[str, Any]:
    # The page shows no times, and there are thousands of replies.
    replies = [reply.model_dump(exclude={"cpu"}) for reply in outcome.replies]
    return {**asdict(outcome.obligation), "status": outcome.status, "replies": replies}


def _entry(entry: Entry) -> dict[str, Any]:
    """An entry without the obligations of its cells, which page.js finds by what they show."""
    document = entry.model_dump(exclude={"cells": {"__all__": {"obligations"}}})
    for cell in document["cells"]:
        if cell["finding"]:
            # One text for page.js, which does not know the flag.
            cell["status"] = f"refuted, repaired: {cell['status']}"
    if entry.source:
        document["source"]["readable"] = readable(entry.source.quote)
    return document
