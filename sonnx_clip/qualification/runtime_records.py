"""The records of judged runtimes in records/runtimes: `make runtimes` writes them, and pages show them.

records/runtimes/NAME.json is about Clip, and records/runtimes/OPERATOR/NAME.json about another operator of
spec/.
A record is the part of a report that readers of another machine need: verdicts by element type, differences
from the cases, readings that fit the answers, and one reproducer.
"""

from __future__ import annotations

import platform
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import ReadingMatch
from sonnx_clip.conform.report_lines import notes
from sonnx_clip.conform.report_text import reading_groups, values_by_key
from sonnx_clip.conform.verdict_table import Verdict
from sonnx_clip.root.files import digest_of_file
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.installed import processor
from sonnx_clip.root.stored import Stored, read_record
from sonnx_clip.runtimes.words import printable
from sonnx_clip.spec.operators import DEFAULT_OPERATOR, specification

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.operator import Operator

FOLDER = "records/runtimes"
# What no latitude accepts, in the order of a record.
_PROBLEMS = (
    "violates",
    "raises",
    "depends on the form",
    "refused",
    "unsupported",
    "crashed",
    "environment",
)
_LONGEST = 160  # characters of the words of a runtime
_NAMED = 4  # classes that a table names


class Behaviour(Stored):
    """A difference from the cases.

    Args:
        verdict: a verdict, a kind of deviation, or the latitude that accepts it.
        types: the element types in which it occurs.
        classes: the classes in which it occurs; empty if it is of whole types or forms.
        text: its explanation, or the words of the runtime; empty if there are none.
        example: operands, result and expected result of one call.
    """

    verdict: str
    types: tuple[str, ...]
    classes: tuple[str, ...] = ()
    text: str = ""
    example: str = ""

    def __str__(self) -> str:
        """One line for a table of Markdown."""
        text = self.text or f"for example {self.example}"
        if self.classes:
            classes = ", ".join(self.classes[:_NAMED])
            more = len(self.classes) - _NAMED
            if more > 0:
                classes += f" and {more} more"
            text = f"{classes}: {text}"
        return text.replace("|", "/")  # a bar would end the cell of a table


class RuntimeRecord(Stored):
    """What was found of a runtime in one version on one machine.

    Args:
        operator: the name of the operator in spec/.
        oracle_sha256: of the oracle, generated/numpy/clip_oracle.py, with which the results were compared;
            None if the conditions of the specification were evaluated instead.
        behaviours: the differences from the cases; accepted ones last.
        readings: by element type, the readings that fit the answers.
        remarks: observations beside the results.
        reproduce: Python that repeats the first deviation that fails, else the first; None if there is none.
    """

    operator: str = DEFAULT_OPERATOR
    runtime: str
    version: str
    date: str
    spec_sha256: str
    oracle_sha256: str | None
    python: str
    numpy: str
    machine: str
    compared: int
    verdicts: dict[str, Verdict]
    behaviours: tuple[Behaviour, ...]
    readings: dict[str, ReadingMatch]
    remarks: tuple[str, ...]
    reproduce: str | None

    def is_current(self, oracle_sha256: str) -> bool:
        """Whether the results were compared with what this oracle, or the specification, gives now.

        Args:
            oracle_sha256: of generated/numpy/clip_oracle.py, as it is or is about to be written.
        """
        if self.oracle_sha256 is None:
            return self.spec_sha256 == specification(self.operator).digest
        # The specification has words too, whose change leaves the record as good as it was.
        return self.oracle_sha256 == oracle_sha256

    @property
    def problems(self) -> tuple[Behaviour, ...]:
        """The differences that no latitude accepts."""
        return tuple(behaviour for behaviour in self.behaviours if behaviour.verdict in _PROBLEMS)

    @property
    def fitting(self) -> dict[str, list[str]]:
        """The readings that allow the answers, in words, each with its element types."""
        descriptions: list[tuple[str, str]] = []
        # A group may give exact bits in some types alone, so that its text depends on all of them.
        for (readings, explained_by, *_), types in reading_groups(self.readings).items():
            matches = [self.readings[etype] for etype in types]
            text = _fitting(readings, explained_by, matches)
            descriptions += [(text, etype) for etype in types]
        return values_by_key(descriptions)


def runtime_record(report: Report, operator: Operator) -> RuntimeRecord:
    """The record of a report on an operator."""
    keyed = []
    for behaviour in _behaviours(report):
        # Behaviours whose texts differ in numbers alone are one.
        key = (behaviour.verdict, re.sub(r"\d+", "", behaviour.text))
        keyed.append((key, behaviour))
    behaviours = [_merged(alike) for alike in values_by_key(keyed).values()]
    readings = {}
    # Each once: a runtime does the same in every element type.
    remarks: set[str] = set()
    for result in report.types:
        if result.readings is not None:
            readings[result.type] = result.readings
        remarks.update(result.remarks)
    oracle_file = getattr(operator.oracle, "__file__", None)  # None if conditions are evaluated
    return RuntimeRecord(
        operator=operator.name,
        runtime=report.runtime,
        version=report.runtime_version,
        date=datetime.now(UTC).date().isoformat(),
        spec_sha256=report.spec_sha256,
        oracle_sha256=digest_of_file(Path(oracle_file)) if oracle_file else None,
        python=report.python,
        numpy=report.numpy,
        machine=f"{platform.system()} on {processor().rpartition(' ')[0]}",  # without the digest
        compared=report.compared,
        verdicts={result.type: result.verdict for result in report.types},
        behaviours=tuple(sorted(behaviours, key=_rank)),
        readings=readings,
        remarks=tuple(sorted(remarks)),
        reproduce=_first_reproducer(report),
    )


def _first_reproducer(report: Report) -> str | None:
    """Python that repeats the first deviation that fails, else the first; None if there is none."""
    accepted = None  # the first that a latitude accepts, for a runtime without others
    for *_, deviation in report.deviations:
        if not deviation.reproduce:
            continue
        if not deviation.latitude and deviation.kind != "acceptable":
            return deviation.reproduce
        accepted = accepted or deviation.reproduce
    return accepted


def _behaviours(report: Report) -> Iterator[Behaviour]:
    """The differences, each of one element type."""
    for result in report.types:
        if result.verdict == "refused":
            # Where the type as a whole has no words, those of the first class that was refused.
            messages_of_classes = (klass.words for klass in result.classes if klass.words)
            message = result.words or next(messages_of_classes, "")
            # The verdict is on the whole type, so that no class is named.
            yield Behaviour(verdict="refused", types=(result.type,), text=_shortened(message))
        for klass in result.classes:
            for deviation in klass.deviations:
                # A note says under which condition it refuses; one refused call says less.
                if deviation.kind == "raises" and result.refusal is not None:
                    continue
                yield Behaviour(
                    verdict=deviation.key,
                    types=(result.type,),
                    classes=(klass.id,),
                    text=_shortened(deviation.reason),
                    example=f"{result.type} {' '.join(deviation.shown.split())}",
                )
    for note in notes(report):
        if note.head in _PROBLEMS:
            for etype, ids in note.places.items():
                text = _shortened(note.text)
                yield Behaviour(
                    verdict=note.head,
                    types=(etype,),
                    classes=ids,
                    text=text,
                )


def _merged(alike: list[Behaviour]) -> Behaviour:
    types: dict[str, None] = {}
    classes: dict[str, None] = {}
    for behaviour in alike:
        types |= dict.fromkeys(behaviour.types)
        classes |= dict.fromkeys(behaviour.classes)
    return alike[0].model_copy(update={"types": tuple(types), "classes": tuple(classes)})


def _rank(behaviour: Behaviour) -> int:
    """The place of a behaviour in a record: problems in their order, then what is accepted."""
    if behaviour.verdict in _PROBLEMS:
        return _PROBLEMS.index(behaviour.verdict)
    return len(_PROBLEMS)


def _shortened(message: str) -> str:
    return printable(" ".join(message.split()), _LONGEST)


def _fitting(
    readings: tuple[str, ...], explained_by: str | None, matches: Sequence[ReadingMatch]
) -> str:
    """Which readings allow the answers, and whether they give their bits in all types."""
    if not readings:
        if explained_by:
            return f"no reading; all follow from {explained_by}"
        return "no reading"
    named = "the cases" if "cases" in readings else ", ".join(readings)
    exact = all(set(match.exactly).issuperset(readings) for match in matches)
    return f"the bits of {named}" if exact else f"allowed by {named}"


def records_folder(operator: str) -> Path:
    """The folder of the records about an operator of spec/: records/runtimes, or one in it but for Clip."""
    folder = repo_file(FOLDER)
    return folder if operator == DEFAULT_OPERATOR else folder / operator


def read_runtime_records(operator: str = DEFAULT_OPERATOR) -> list[RuntimeRecord]:
    """The records about an operator, by name of the runtime; UserError for one that cannot be read."""
    files = sorted(records_folder(operator).glob("*.json"))
    return [read_record(path, RuntimeRecord, "run: make runtimes") for path in files]


def types_in_words(types: Iterable[str], every: Iterable[str]) -> str:
    """Element types, in which all integer types of `every` are `integers`, and all float types `floats`."""
    known = list(every)
    shown = set(types)
    if shown == set(known):
        return "all"
    names: list[str] = []
    # By their names: signed and unsigned integers have `int` in them, all floats `float`.
    for family_name, part in (("integers", "int"), ("floats", "float")):
        of_family = [etype for etype in known if part in etype]
        shown_of_family = [etype for etype in of_family if etype in shown]
        if len(shown_of_family) == len(of_family):
            names.append(family_name)
        else:
            names += shown_of_family
    return ", ".join(names)
