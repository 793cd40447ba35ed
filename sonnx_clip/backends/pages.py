"""Generated pages of docs/: findings, coverage, readings and dialects, each from a template."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import header_lines, template
from sonnx_clip.explain.dialects_table import dialect_table
from sonnx_clip.explain.finding_views import tell
from sonnx_clip.explain.findings_text import finding_summary
from sonnx_clip.explain.measured_record import read_measured
from sonnx_clip.explain.readings_matrix import MEANINGS, SIGNS, interpreted, matrix
from sonnx_clip.rewrites.rewrite import FILE as REWRITES_FILE
from sonnx_clip.rewrites.rewrite import known_rewrites, known_theorems
from sonnx_clip.rewrites.views import WORDS, theorem_views, view
from sonnx_clip.spec.coverage import require_coverage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.coverage import Covered, Sort

FINDINGS = "docs/findings.md"
COVERAGE = "docs/coverage.md"
COVERAGE_TABLE = "generated/coverage.csv"
READINGS = "docs/readings.md"
DIALECTS = "docs/dialects.md"
REWRITES = "docs/rewrites.md"
SORTS: tuple[Sort, ...] = (
    "encoded", "encoded and disputed", "disputed", "descriptive", "not encoded",
)  # fmt: skip
# One of each family: the matrix is the same for all of a family.
SHOWN = ("float32", "int32", "real")
_SEVERITIES = ("high", "medium", "low")


def render_findings(spec: Spec) -> dict[str, str]:
    """The page of findings, the most severe first.

    Raises:
        UserError: the record of what runtimes answered is missing or does not fit the findings.
    """
    record = read_measured(spec)
    # A stable sort: those of one severity stay in the order of the YAML.
    ranked = sorted(tell(spec, record), key=lambda finding: _SEVERITIES.index(finding.severity))
    findings = []
    for finding in ranked:
        fields = finding.model_dump()
        findings.append({**fields, "summary": finding_summary(finding)})
    # A remark may follow the version: by which kernels, of our own.
    versions = [version.partition(",")[0] for version in record.runtimes.values()]
    text = template("findings.md.j2").render(
        header=header_lines(spec),
        findings=findings,
        versions=versions,
        machine=record.machine,
    )
    return {FINDINGS: text}


def render_rewrites(spec: Spec) -> dict[str, str]:
    """The page of rewrites: when each is legal, and constants for which it is wrong."""
    # Without statuses: the page is generated, and must not depend on what a build folder proved.
    shown = view(known_rewrites(), {}, {}, witnesses=True)
    text = template("rewrites.md.j2").render(
        header=[*header_lines(spec)[:1], f"Source: {REWRITES_FILE}"],
        rewrites=shown.rewrites,
        theorems=theorem_views(known_theorems()),
        words=WORDS,
    )
    return {REWRITES: text}


def render_coverage(spec: Spec, obligations: Iterable[str]) -> dict[str, str]:
    """The summary page and the table of all words; UserError as `require_coverage`."""
    covered = require_coverage(spec, obligations)
    counts: dict[str, Counter[str]] = {}  # of each sort of answer, by source
    for page in spec.texts:
        counts[page.id] = Counter()
    total: Counter[str] = Counter()
    not_encoded = []
    for sentence in covered:
        sort = sentence.answer.sort
        counts[sentence.source][sort] += 1
        total[sort] += 1
        if sort == "not encoded":
            not_encoded.append(sentence)

    rows = []
    for name, sorts in {**counts, "all": total}.items():
        numbers = [sorts[sort] for sort in SORTS]
        rows.append((name, [*numbers, sorts.total()]))
    text = template("coverage.md.j2").render(
        header=[*header_lines(spec), "The answers: spec/clip.coverage.yaml"],
        sorts=SORTS,
        rows=rows,
        not_encoded=not_encoded,
    )
    return {COVERAGE: text, COVERAGE_TABLE: coverage_table(covered)}


def coverage_table(covered: Iterable[Covered]) -> str:
    """All words of all sources in order, a row for each answer."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(
        ("source", "line", "section", "words", "answer", "encoded by", "disputed by", "reason")
    )
    for sentence in covered:
        answer = sentence.answer
        reasons = filter(None, (sentence.reason, answer.not_encoded, answer.note))
        rows.writerow(
            (
                sentence.source,
                sentence.line,
                " > ".join(sentence.section),
                sentence.text,
                answer.sort,
                " ".join(answer.encoded_by),
                " ".join(answer.disputed_by),
                "; ".join(reasons),
            )
        )
    return text.getvalue()


def render_readings(spec: Spec) -> dict[str, str]:
    """The page of readings: the matrix of floats, and the exceptions in the other families."""
    # Readings differ most where there are NaNs and signs of zero: other families have exceptions only.
    floats, *others = [matrix(spec, spec.element_type(type_id)) for type_id in SHOWN]
    agreements: Counter[tuple[str, str]] = Counter()
    for row in floats.rows:
        for cell in row.cells:
            agreements[cell.reading, cell.agreement] += 1
    counts = {}
    for reading in spec.readings:
        counts[reading.id] = [agreements[reading.id, sign] for sign in SIGNS]
    # The cases are the reading that the others are compared with: a column without counts.
    readings = [id_ for id_ in floats.titles if id_ != "cases"]
    text = template("readings.md.j2").render(
        header=header_lines(spec),
        spec=spec,
        signs=SIGNS,
        meanings=MEANINGS,
        interpreted=interpreted,
        readings=readings,
        matrix=floats,
        others=others,
        counts=counts,
    )
    return {READINGS: text}


def render_dialects(spec: Spec) -> dict[str, str]:
    """The page of dialects: one table, and links to the theorems."""
    table = dialect_table(spec)
    rows = [[row.id, *row.words.values()] for row in table.rows]
    text = template("dialects.md.j2").render(
        header=header_lines(spec),
        spec=spec,
        columns=["dialect", *table.rows[0].words],
        rows=rows,
        types=[etype.id for etype in spec.element_types],
    )
    return {DIALECTS: text}
