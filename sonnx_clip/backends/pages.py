"""Renders docs/findings.md and docs/coverage.md: what was found in the sources, and the sources with their
answers.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sonnx_clip.explain.findings_text import markdown as findings_markdown
from sonnx_clip.explain.findings_told import tell
from sonnx_clip.explain.measured_record import read_record
from sonnx_clip.explain.readings_matrix import require_shown
from sonnx_clip.spec.coverage import require_coverage
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.coverage import Coverage, Covered, Sort


FINDINGS = "docs/findings.md"


def render_findings(spec: Spec) -> dict[str, str]:
    """The page by its path.

    Raises:
        UserError: the record of what runtimes answered is missing or does not fit the findings.
    """
    record = read_record(spec)
    require_shown(spec, record)
    return {FINDINGS: findings_markdown(spec, tell(spec, record), record)}


# --- Renders docs/coverage.md: each source with its answers beside it, and from each id back to the text ----


COVERAGE = "docs/coverage.md"
SORTS: tuple[Sort, ...] = ("encoded", "encoded and disputed", "disputed", "descriptive", "not encoded")
_WHAT = """\
All words of the texts in spec/sources, in order, each part with its answer in spec/coverage.yaml.
`sonnx-clip generate` and `sonnx-clip prove` stop at words that have no answer, at an answer to words that are
gone, at an id that does not exist, and where spec/clip.yaml quotes words that are answered without the entry
that quotes them. People choose the parts, and read and judge the answers.

- **encoded by**: entries of spec/clip.yaml, aspects of its dialects (`onnx-13/bounds`) or obligations.
- **disputed by**: findings about the sources ([findings.md](findings.md)) that quote these words, or the same
  words elsewhere: as what is wrong, or as what stands against it.
- **descriptive**: the words state nothing that could be encoded; the reason is given.
- **not encoded**: the words state something that is not encoded here; the reason is given.
"""


def render_coverage(spec: Spec, obligations: Iterable[str]) -> dict[str, str]:
    """The page by its path; UserError as `require_coverage`."""
    return {COVERAGE: markdown(spec, require_coverage(spec, obligations))}


def markdown(spec: Spec, coverage: Coverage) -> str:
    """The text of docs/coverage.md."""
    head = "\n".join([*header_lines(spec), "The answers: spec/coverage.yaml"])
    parts = [f"<!--\n{head}\n-->\n", "# What becomes of each sentence of the sources\n", _WHAT]
    parts.append("".join(_counts(spec, coverage)))
    parts += [
        f"Not encoded, {_place(one)}: “{_cell(one.item.text)}”: {one.answer.not_encoded}.\n"
        for one in coverage.of_sort("not encoded")
    ]
    for page in spec.sources:
        parts.append(f"## {_cell(page.title)}\n\nThe source `{page.id}`: [{page.file}](../{page.file}).\n")
        parts.append("".join(_table(coverage.of(page.id))))
    parts.append("## From each id to the text\n")
    parts.append("".join(_back(coverage)))
    return "\n".join(parts)


def _counts(spec: Spec, coverage: Coverage) -> Iterator[str]:
    yield _row("source", *SORTS, "all")
    yield _row(*("---",) * (len(SORTS) + 2))
    for page in spec.sources:
        found = Counter(one.answer.sort for one in coverage.of(page.id))
        yield _row(f"`{page.id}`", *(str(found[sort]) for sort in SORTS), str(found.total()))
    found = Counter(one.answer.sort for one in coverage.covered)
    yield _row("all", *(str(found[sort]) for sort in SORTS), str(found.total()))


def _table(covered: Iterable[Covered]) -> Iterator[str]:
    """A table for each section of a source; a line that holds several sentences is an anchor once."""
    section: tuple[str, ...] | None = None
    lines = set()
    for one in covered:
        if section is None or one.item.section != section:
            section = one.item.section
            yield f"\n**{_cell(' › '.join(section))}**\n\n" if section else "\n"
            yield _row("line", "the source", "the answer")
            yield _row("---", "---", "---")
        line = str(one.item.line)
        anchor = "" if one.item.line in lines else f'<a id="{_anchor(one)}"></a>'
        lines.add(one.item.line)
        yield _row(f"{anchor}{line}", _cell(one.item.text), answer_in_words(one))


def answer_in_words(one: Covered) -> str:
    """An answer, as Markdown in a cell."""
    answer, parts = one.answer, []
    if answer.encoded_by:
        parts.append("encoded by " + ", ".join(f"`{name}`" for name in answer.encoded_by))
    if answer.disputed_by:
        named = ", ".join(f"[{name}](findings.md#{name})" for name in answer.disputed_by)
        parts.append(f"**disputed by** {named}")
    if answer.descriptive is not None:
        parts.append(f"descriptive: {_cell(one.reason or '')}")
    if answer.not_encoded is not None:
        parts.append(f"**not encoded**: {_cell(answer.not_encoded)}")
    if answer.note is not None:
        parts[-1] += f" ({_cell(answer.note)})"
    return "; ".join(parts)


def _back(coverage: Coverage) -> Iterator[str]:
    yield _row("id", "lines")
    yield _row("---", "---")
    for name, answered in sorted(coverage.names()):
        by_source: dict[str, dict[int, str]] = {}
        for one in answered:
            by_source.setdefault(one.source, {})[one.item.line] = f"[{one.item.line}](#{_anchor(one)})"
        told = (f"{source} {', '.join(lines.values())}" for source, lines in by_source.items())
        yield _row(f"`{name}`", "; ".join(told))


def _anchor(one: Covered) -> str:
    return f"{one.source}-{one.item.line}"


def _place(one: Covered) -> str:
    return f"[{one.source} line {one.item.line}](#{_anchor(one)})"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cell(text: str) -> str:
    """As Markdown that shows the text as it is, in a cell too."""
    for mark in ("\\", "|", "*", "_", "`", "$", "<", ">", "[", "]", "#"):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("](", "]\\(")  # what looks like a link is words of the source
