"""The report of the checker as text: `sonnx-clip check` prints it, and the evidence has its notes.

Deviations with one cause are one block with one reproducer, a line of Python; `reproducers` has all of them,
as a shell script.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sonnx_clip.conform.check_report import DEVIATION_KINDS
from sonnx_clip.conform.context_text import context_lines, failing_contexts
from sonnx_clip.conform.report_lines import FORMS, Share, deviating, has_several_verdicts, notes
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.simplicity import complexity
from sonnx_clip.conform.verdict_table import FAILING, VERDICT_TABLE, Verdict
from sonnx_clip.conform.verdicts import TAGS, failing_forms, forms_of
from sonnx_clip.root.dtypes import bits_type
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.model_forms import described

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        FormReport,
        ReadingMatch,
        Report,
        TypeReport,
    )
    from sonnx_clip.conform.report_lines import ReportLine
    from sonnx_clip.spec import Spec

_K = TypeVar("_K")
_V = TypeVar("_V")
_TAGS = {"C1": "C1 (shape of the result)", "C3": "C3 (its type)"}
_SHORT = {"uint": "u", "int": "i", "bfloat": "bf", "float": "f"}


def print_report(report: Report, console: Console, spec: Spec, repro: str | None = None) -> None:
    """Print a report: verdicts, one block for each cause of deviations, what was compared; then the summary.

    Args:
        report: the report.
        console: where it is printed; lines to be pasted are never wrapped.
        spec: the specification of the operator.
        repro: the file that holds the reproducers, which are then not printed.
    """
    pasted = repro is None

    def show(text: str, *, wrap: bool = False, markup: bool = True) -> None:
        console.print(text, soft_wrap=not wrap, highlight=False, markup=markup)

    head = f"[bold]{escape(report.runtime_version)}[/]"
    if report.dialect:
        head += f" against {report.dialect}"
    if len(report.types) == 1:
        show(f"{head}, {report.types[0].type}")
        console.print(_verdicts(report.types[0]))
    else:
        show(f"{head}: class by element type")
        console.print(_table(report, spec))
        show(f"[dim]{_legend(report)}[/]")
    console.print()
    for line in _notes(report, pasted=pasted):
        show(line)
    for line in _deviations(report, spec, pasted=pasted):
        show(line)
    # From here on brackets are those of calls, paths and words of runtimes, and no styles of Rich.
    by_type = {of_type.type: of_type.contexts for of_type in report.types}
    for line in context_lines(by_type, pasted=pasted):
        show(line, markup=False)
    if repro is not None:
        show(f"reproducers: sh {repro}", markup=False)
    # The summary is last: it stays in view however long the report is.
    for line in (*report_closing_lines(report), *report.scope, report_summary(report)):
        show(line, wrap=console.is_terminal, markup=False)


def report_summary(report: Report) -> str:
    """The last line: the runtime, the options, the number of types with each verdict."""
    options = []
    if report.dialect:
        options.append(f"against {report.dialect}")
    options.append(f"{report.policy} policy")
    if report.level != "quick":
        options.append(report.level)
    counts = ", ".join(_type_counts(report))
    judged = f"{report.runtime_version} ({', '.join(options)}): {counts}"

    compared = f"{report.compared:,} results compared"
    # Stored verdicts took no time: of a run that has no others, the time would say nothing.
    if len(report.kept) != len(report.types):
        compared += f" in {report.seconds:g} s"
    return "; ".join([judged, compared, *_remarks(report)])


def _remarks(report: Report) -> Iterator[str]:
    """What the last line says beside the verdicts: contexts, an interrupt, stored verdicts."""
    contexts = sum(len(of_type.contexts) for of_type in report.types)
    if contexts:
        yield f"{failing_contexts(report)} of {counted(contexts, 'context')} wrong"
    if report.compared == 0:
        yield "nothing was compared"
    if report.unfinished:
        yield "unfinished: it was interrupted"
    if report.kept:
        dates = report.kept.values()
        first_and_last = {min(dates), max(dates)}  # one date, if all are of it
        when = " to ".join(sorted(first_and_last))
        number = f"{len(report.kept)} of {len(report.types)}"
        yield f"{number} verdicts stored on {when} (--again repeats them)"


def _type_counts(report: Report) -> Iterator[str]:
    """How many types have each verdict: ``8 of 12 types conform``, ``4 violate``."""
    numbers = Counter(of_type.verdict for of_type in report.types)
    of_all = f" of {counted(len(report.types), 'type')}"
    for verdict, row in VERDICT_TABLE.items():
        number = numbers[verdict]
        if number:
            words = row.of_one if number == 1 else row.of_several
            yield f"{number}{of_all} {words}"
            of_all = ""  # the first count alone says of how many


def reproducers(report: Report) -> str:
    """A shell script of all reproducers: for each class and element type the first deviation of each kind."""
    lines = [
        "# Repeats what `sonnx-clip check` reported. Run it where the runtime is installed: sh FILE",
        "# A line on one node prints type, shape and bits of the result, and what is expected.",
        "# Lines on a context print the wrong entry and its bits; what is expected is above them.",
    ]
    for etype, class_id, form, deviation in report.deviations:
        place = f"{etype}, {class_id}, {deviation.key}"
        if form:
            place += f", model with {form}"

        # In one line: a runtime's own words would leave the comment otherwise.
        shown = " ".join(deviation.shown.split())
        lines.append(f"\n# {place}: {shown}")
        if deviation.reproduce:
            lines.append(command_line(deviation.reproduce))
        else:
            lines.append(f"# {deviation.words}")

    for of_type in report.types:
        for context in of_type.contexts:
            for wrong in context.deviations:
                answers = f"got {wrong.got}, expected {wrong.expected}"
                place = f"{of_type.type}, context {context.id}"
                lines.append(f"\n# {place}: {wrong.asked}, X = {wrong.x}: {answers}")
                line = "# no line repeats it"
                if wrong.reproduce:
                    line = command_line(wrong.reproduce)
                lines.append(line)
    return "\n".join([*lines, ""])


# --- Verdicts -----------------------------------------------------------------------------------------------


def verdict_words(label: Verdict) -> str:
    """A verdict in words."""
    return "depends on the form" if label == "depends" else label


def _verdicts(report: TypeReport) -> Table:
    """The classes of one element type by verdict, the worst first."""
    ids = values_by_key((c.verdict, c.id) for c in report.classes)
    table = Table(box=None, show_header=False, padding=0)
    table.add_column(no_wrap=True)
    for label, row in reversed(VERDICT_TABLE.items()):
        if label in ids:
            # As wide as the longest words, "depends on the form", and a blank.
            head = Text(f"  {verdict_words(label):20} ", row.style)
            classes = Text(", ".join(ids[label]))
            table.add_row(head, classes)
    return table


def _table(report: Report, spec: Spec) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("class", no_wrap=True)
    columns = []
    for of_type in report.types:
        table.add_column(short_type(of_type.type), justify="center", no_wrap=True)
        columns.append(_signs_by_class(of_type))
    ids = [klass.id for klass in spec.classes]
    for id_ in (*ids, *TAGS):
        # A class of another family has no sign in a column; one of no judged family has no row.
        row = [column.get(id_, "") for column in columns]
        if any(row):
            table.add_row(_TAGS.get(id_, id_), *row)
    return table


def _signs_by_class(report: TypeReport) -> dict[str, Text]:
    """The sign of the verdict in each class of an element type."""
    signs = {}
    for c in report.classes:
        row = VERDICT_TABLE[c.verdict]
        signs[c.id] = Text(row.sign, row.style)
    return signs


def _legend(report: Report) -> str:
    """The signs that a table shows, in words."""
    shown: set[Verdict] = set()
    for of_type in report.types:
        shown.update(c.verdict for c in of_type.classes)
    explained = []
    for verdict, row in VERDICT_TABLE.items():
        if verdict in shown:
            explained.append(f"{row.sign} {verdict_words(verdict)}")
    return "  ".join(explained)


def short_type(etype: str) -> str:
    """An element type as the head of a narrow column: ``f32``."""
    name = etype.rstrip("0123456789")
    return _SHORT[name] + etype.removeprefix(name)


# --- Notes -----------------------------------------------------------------------------------------------


def _notes(report: Report, *, pasted: bool) -> Iterator[str]:
    for note in notes(report):
        style = "bold red" if note.failing else "dim"
        text = note.sentence.removeprefix(note.head)
        yield f"[{style}]{note.head}[/]{escape(text)}"
        for deviation in note.deviations:
            yield from _example(note, deviation, pasted=pasted)


def _example(note: ReportLine, first: Deviation, *, pasted: bool) -> Iterator[str]:
    """The lines on the deviation that shows a note; if `pasted`, with its reproducer."""
    call = f"model with {note.form}" if note.form else first.layout
    yield f"    {note.etype}, {call}: {escape(first.shown)}"
    # The text of a note may be these very words.
    if first.reason and first.reason not in note.text:
        yield f"    {escape(first.reason)}"
    if first.reproduce and pasted:
        command = command_line(first.reproduce)
        yield f"    {escape(command)}"


def values_by_key(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """The values of each key, in order."""
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


# --- Deviations, a block for each cause ---------------------------------------------------------------------


class _Block(NamedTuple):
    """What deviations of one block share."""

    kind: str
    cause: str
    in_forms: bool  # whether only forms of a model show it


def _deviations(report: Report, spec: Spec, *, pasted: bool) -> Iterator[str]:
    """A block for each cause, the worst kind first; if `pasted`, with a reproducer of what violates."""
    # Within a kind the lines keep the order of the report, and so do blocks: the sort is stable.
    kinds: Sequence[str] = DEVIATION_KINDS
    lines = sorted(deviating(report, spec), key=lambda line: kinds.index(line.head))

    blocks: dict[_Block, list[ReportLine]] = {}
    unprinted = 0  # reproducers
    for line in lines:
        in_forms = line.share is not None and line.share.unit == FORMS
        block = _Block(line.head, line.text, in_forms)
        blocks.setdefault(block, []).append(line)
        if line.deviations[0].reproduce:
            unprinted += 1

    for block, alike in blocks.items():
        example = min(alike, key=_complexity)
        yield from _block(block, alike, example, spec)
        (first,) = example.deviations
        # What a latitude accepts is no defect to look into at once: --repro has its line.
        if pasted and first.reproduce and first.kind != "acceptable":
            unprinted -= 1
            command = command_line(first.reproduce)
            yield f"    {escape(command)}"
    if pasted and unprinted:
        yield f"[dim]{counted(unprinted, 'more reproducer')}: --repro FILE writes them[/]"


def _complexity(line: ReportLine) -> float:
    """How complex the operands of a deviation are: a block shows the simplest."""
    (deviation,) = line.deviations
    bits = np.array([*deviation.operands.values()], bits_type(line.etype))
    return float(complexity(bits, line.etype).sum())


def _block(
    block: _Block, lines: Sequence[ReportLine], example: ReportLine, spec: Spec
) -> Iterator[str]:
    """The lines of a cause: how many results deviate, the meaning of the class, and an example."""
    (first,) = example.deviations
    style = "yellow" if first.kind == "acceptable" else "bold red"
    classes = list(dict.fromkeys(line.id for line in lines))
    # Without a known cause the class is named as one (`report_lines._cause`), and not again.
    within = "" if classes == [block.cause] else f" in {', '.join(classes)}"
    yield f"[{style}]{first.kind}[/], {escape(block.cause)}: {_shares(lines)}{within}"
    yield from _meaning(example, first, spec, is_named=len(classes) > 1)

    reason = first.reason
    if not reason and first.kind == "violates":
        reason = "no known cause"
    shown = escape(first.shown)
    if reason and reason != block.cause:
        shown += f"; {escape(reason)}"
    call = f"model with {first.form}" if block.in_forms else first.layout
    yield f"    {example.etype}, {call}: {shown}"


def _meaning(example: ReportLine, first: Deviation, spec: Spec, *, is_named: bool) -> Iterator[str]:
    """Why a latitude is granted, or why the class of an example matters; C1 and C3 have no such line."""
    if first.latitude is not None:
        # The latitude of a dialect is its text, which has no reason here.
        for latitude in spec.latitude:
            if latitude.id == first.latitude:
                yield f"    {escape(latitude.reason)}"
        return
    for known in spec.classes:
        if known.id == example.id:
            name = f"{known.id}: " if is_named else ""
            title = escape(known.title)
            matters = escape(known.matters)
            yield f"    {name}{title}: {matters}"


def _shares(lines: Sequence[ReportLine]) -> str:
    """How many results, calls (for C1 and C3) or forms of a model deviate, by element type."""
    shares = [(line.etype, line.share) for line in lines if line.share is not None]
    # Results and calls cannot be added: C1 and C3 count only where nothing else deviates.
    of_results = [(etype, share) for etype, share in shares if share.unit != "calls"]
    sums: dict[str, Share] = {}
    for etype, share in of_results or shares:
        known = sums.get(etype)
        # The forms are those of the element type, whatever the class.
        if known is None or share.unit == FORMS:
            sums[etype] = share
        else:
            sums[etype] = known.plus(share)
    return ", ".join(f"{etype} {share}" for etype, share in sums.items())


# --- The last lines: readings, and forms of a model ---------------------------------------------------------


def report_closing_lines(report: Report) -> list[str]:
    """Which readings allow the answers; how many forms of a model were compared, and whether they agree."""
    return [*behaviour(report), *form_lines(report)]


def form_lines(report: Report) -> Iterator[str]:
    """How many forms of a model were compared, and whether they agree."""
    for of_type in report.types:
        if of_type.has_blind_forms:
            yield f"{of_type.type}: nothing was compared in any form of a model"
    judged = [of_type for of_type in report.types if _compared_forms(of_type)]
    if not judged:
        return
    numbers = []  # of the forms that were compared, for each type
    differing = []
    better = []
    for of_type in judged:
        served = len(_compared_forms(of_type))
        numbers.append(served)
        by_class = forms_of(of_type).values()
        if any(has_several_verdicts(entries) for entries in by_class):
            differing.append(of_type.type)
        # `forms_of` leaves out forms of rank 0 that are better than all others.
        if any(len(entries) < served for entries in by_class):
            better.append(of_type.type)
    fewest, most = min(numbers), max(numbers)
    number = f"{most}" if fewest == most else f"{fewest} to {most}"
    agree = f"the verdicts differ in {', '.join(differing)}" if differing else "all agree"
    # In a dialect, forms that lack a bound are left out, too.
    if better and not report.dialect:
        agree += f" (rank 0 passes more in {', '.join(better)}: it has one entry)"
    types = counted(len(judged), "type")
    yield f"forms of a model: {number} compared in {types}{_only_forms(report)}, {agree}"


def _compared_forms(report: TypeReport) -> list[FormReport]:
    return [form for form in report.served_forms if form.compared]


def _only_forms(report: Report) -> str:
    """The forms that were compared where all other calls were refused, in words; empty if none were."""
    constant = [of_type for of_type in report.types if of_type.serves_forms_only]
    if not constant:
        return ""
    first = constant[0]
    served = [form.form for form in first.served_forms]
    tried = [form.form for form in first.forms or ()]
    types = ""
    if len(constant) < len(report.types):
        names = ", ".join(of_type.type for of_type in constant)
        types = f"{names} "
    return f" ({types}only {described(served, tried)})"


def behaviour(report: Report) -> Iterator[str]:
    """The readings that fit the answers: a line for each group of element types."""
    matches: dict[str, ReadingMatch] = {}
    for of_type in report.types:
        if of_type.readings is not None:
            matches[of_type.type] = of_type.readings
    for group, types in reading_groups(matches).items():
        in_group = [matches[etype] for etype in types]
        answers = sum(match.answers for match in in_group)
        number = f"{answers:,}"
        subject = f"{report.runtime_version}, {', '.join(types)}"
        if group.readings:
            allowed = _allowed(group.readings, in_group, number)
            failure = _other_failure(report, group.readings, types)
            yield f"{subject}: {allowed}{failure}"
        else:
            left = sum(match.left for match in in_group)
            yield f"{subject}: {_nearest_reading(group, number, left)}"


def _nearest_reading(group: ReadingGroup, number: str, left: int) -> str:
    """How far the nearest reading is from the answers, where none allows all of them."""
    distance = f"does not allow {left:,} that deviate, in {', '.join(group.left_in)}"
    # A reading may allow what deviates, and forbid right answers.
    if not group.left_in:
        distance = "allows all that deviate, but not all others"
    explained = ""
    if group.explained_by:
        explained = f"; but all {number} follow from {group.explained_by}"
    return (
        f"no reading allows all {number} answers kept; the nearest, {group.nearest},"
        f" {distance}{explained}"
    )


class ReadingGroup(NamedTuple):
    """What element types share: the readings that allow all answers, or else what comes nearest.

    Args:
        readings: those that allow all answers.
        explained_by: what all answers follow from, beside the readings.
        nearest: the nearest reading, if none allows all answers.
        left_in: the classes with answers that the nearest reading does not allow.
    """

    readings: tuple[str, ...]
    explained_by: str | None
    nearest: str | None
    left_in: tuple[str, ...]


def reading_groups(matches: Mapping[str, ReadingMatch]) -> dict[ReadingGroup, list[str]]:
    """Element types by group.

    Readings that fit every type are named for every type. Where a reading allows the answers and no others,
    readings that leave more open are left out.
    """
    shared = _shared_readings(list(matches.values()))
    groups: dict[ReadingGroup, list[str]] = {}
    for etype, match in matches.items():
        group = ReadingGroup(
            readings=shared or match.exactly or match.allowed_by,
            explained_by=match.explained_by,
            nearest=match.nearest,
            left_in=match.left_in,
        )
        groups.setdefault(group, []).append(etype)
    return groups


def _shared_readings(matches: Sequence[ReadingMatch]) -> tuple[str, ...]:
    """The readings that allow the answers of every type; those that allow no others, if there are any."""
    if not matches:
        return ()
    common = []
    exact = []
    for id_ in matches[0].allowed_by:
        if all(id_ in match.allowed_by for match in matches):
            common.append(id_)
            if all(id_ in match.exactly for match in matches):
                exact.append(id_)
    return tuple(exact or common)


def _allowed(readings: Sequence[str], matches: Sequence[ReadingMatch], number: str) -> str:
    named = f"reading {readings[0]}"
    s = "s"  # of the verb
    if len(readings) > 1:
        *others, last = readings
        named = f"readings {', '.join(others)} and {last}"
        s = ""
    if all(set(readings).issubset(match.exactly) for match in matches):
        return f"all {number} answers kept are those that the {named} require{s}, bit for bit"
    return f"the {named} allow{s} all {number} answers kept, and leave{s} some answers open"


def _other_failure(report: Report, readings: Sequence[str], types: Sequence[str]) -> str:
    """What fails although the reading of this specification allows every answer.

    Answers in forms of a model are not among those that are compared with readings.
    """
    # The reading of this specification. Whoever follows another one is expected to fail somewhere.
    if "cases" not in readings:
        return ""
    # A wrong value in a form of a model is a failure in a compared value, too.
    for etype, _, _, deviation in report.deviations:
        if etype in types and deviation.kind == "violates" and deviation.got is not None:
            return ""
    for of_type in report.types:
        if of_type.type not in types:
            continue
        for c in of_type.classes:
            if c.verdict in FAILING:
                words = _words_on_failure(of_type, c)
                return f"; the failure is not in a compared value: {words}"
    return ""


def _words_on_failure(report: TypeReport, klass: ClassReport) -> str:
    """The runtime's words on a class that fails: of its own calls, of a form, or of the type."""
    of_forms = [form.words for form in failing_forms(report, klass.id) if form.words]
    return klass.words or next(iter(of_forms), None) or report.words or klass.verdict
