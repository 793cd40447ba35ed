"""Reads what Frama-C wrote for machines: WP's report in JSON, and the status of each property in CSV."""

from __future__ import annotations

import csv
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sonnx_clip.framac.frama_c_record import PROVERS, Smoke, WpGoal, WpProperty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TROUBLE = re.compile(r"\b(Warning|User Error|Failure|Fatal error|Unexpected error|aborted)\b")
_LINES = 8  # of trouble that are kept
_SMOKE = "_ensures_smoke"


class UnreadableError(Exception):
    """A report is missing, or is not what Frama-C writes."""


def trouble(output: str) -> tuple[str, ...]:
    """The lines in which Frama-C says that something is not as it should be: an ignored annotation is one."""
    told = [
        f"{line.strip()} {after.strip()}".strip()
        for line, after in pairwise([*output.splitlines(), ""])
        if _TROUBLE.search(line)
    ]
    return tuple(told[:_LINES])


def read_goals(file: Path) -> tuple[WpGoal, ...]:
    """The goals of a run, in the order of the report.

    Raises:
        UnreadableError: there is no report, or it has another form.
    """
    try:
        functions = json.loads(file.read_text(encoding="utf-8"))["wp:functions"]
        found = [
            _goal(function, name, counts)
            for function, properties in functions.items()
            for name, counts in properties.items()
            if not name.startswith("wp:")
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(
            f"WP left no report that can be read ({type(error).__name__}: {error})"
        ) from error
    return tuple(found)


def _goal(function: str, name: str, counts: dict[str, Any]) -> WpGoal:
    by: dict[str, int] = {}
    for who, count in counts.items():
        prover = next((p for p in PROVERS if who.partition(":")[0] == p), None)
        if prover is not None:
            by[prover] = int(count.get("valid", 0))
    return WpGoal(
        function=function,
        name=name,
        total=int(counts["wp:main"]["total"]),
        simplifier=int(counts.get("qed", {}).get("valid", 0)),
        by=by,
    )


def read_properties(file: Path) -> tuple[WpProperty, ...]:
    """The properties of a run with their statuses.

    Raises:
        UnreadableError: there is no report, or it has another form.
    """
    try:
        with file.open(encoding="utf-8", newline="") as text:
            return tuple(_properties(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"Frama-C left no list of properties that can be read ({type(error).__name__}: {error})"
        raise UnreadableError(what) from error


def _properties(rows: csv.DictReader[str]) -> Iterator[WpProperty]:
    for row in rows:
        yield WpProperty(
            function=row["function"], kind=row["property kind"], text=row["property"], status=row["status"]
        )


def read_smoke(file: Path) -> tuple[Smoke, ...]:
    """For each function whether its smoke claim was put to every prover, and shown by none.

    Raises:
        UnreadableError: there is no report, or it has another form.
    """
    return tuple(
        Smoke(
            function=g.function, held=g.total > 0 and g.simplifier == 0 and g.by == dict.fromkeys(PROVERS, 0)
        )
        for g in read_goals(file)
        if g.name.endswith(_SMOKE)
    )
