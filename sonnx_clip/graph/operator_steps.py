"""The table of operators: what each of them means in its next version (operator_steps.toml).

normalise raises the operator set of a model by these rows alone; `normalise_opset` applies them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sonnx_clip.graph.schemas import version_of

TABLE = Path(__file__).with_name("operator_steps.toml")
TYPES_ADDED = "types added"


@dataclass(frozen=True)
class OperatorStep:
    """One row: an operator from one of its versions to the next.

    Attributes:
        operator: its name in the old version.
        old: the version of the operator before.
        new: the one after.
        words: words of both versions, from their schemas.
        differs: what of the two schemas differs.
        why: why the meaning is the same.
        condition: when the row holds, for people; None where always.
        check: the function of operator_checks.py that decides the condition.
        rewritten: what is changed in the node, for people; None where nothing.
        by: the function of operator_rewrites.py that changes it.
        becomes: the name of the operator in the new version.
        unrun: why no runtime can compare the two versions; None where one does.
    """

    operator: str
    old: int
    new: int
    words: tuple[str, str]
    differs: tuple[str, ...]
    why: str
    condition: str | None = None
    check: str | None = None
    rewritten: str | None = None
    by: str | None = None
    becomes: str = ""
    unrun: str | None = None

    @property
    def title(self) -> str:
        """For people: ``Conv-1 to Conv-11``."""
        return f"{self.operator}-{self.old} to {self.becomes}-{self.new}"

    @property
    def kind(self) -> str:
        """identical, identical if, rewritten, or rewritten if."""
        return f"{'rewritten' if self.rewritten else 'identical'}{' if' if self.condition else ''}"


@cache
def operator_steps() -> dict[tuple[str, int], OperatorStep]:
    """All rows, by the name and the old version of the operator."""
    with TABLE.open("rb") as file:
        table = tomllib.load(file)
    rows = [_types_added(title, words) for title, words in table["types_added"].items()]
    rows += [_row(entry) for entry in table["step"]]
    found = {(row.operator, row.old): row for row in rows}
    assert len(found) == len(rows)
    return found


def _types_added(title: str, words: str) -> OperatorStep:
    operator, _, versions = title.partition(" ")
    old, new = map(int, versions.split("-"))
    why = "element types are added, and no word is changed"
    return OperatorStep(operator, old, new, (words, words), (TYPES_ADDED,), why, becomes=operator)


def _row(entry: dict[str, Any]) -> OperatorStep:
    both = entry.get("both")
    return OperatorStep(
        operator=entry["operator"],
        old=entry["versions"][0],
        new=entry["versions"][1],
        words=(both, both) if both else (entry["old"], entry["new"]),
        differs=tuple(entry["differs"]),
        why=entry["why"],
        condition=entry.get("if"),
        check=entry.get("check"),
        rewritten=entry.get("rewritten"),
        by=entry.get("by"),
        becomes=entry.get("becomes", entry["operator"]),
        unrun=entry.get("unrun"),
    )


def steps_between(operator: str, old: int, new: int) -> list[OperatorStep] | str:
    """The rows from one operator set to another; empty where the operator is the same in both.

    Returns:
        The rows in order, or the reason why there is none for a step.
    """
    rows: list[OperatorStep] = []
    version = version_of(operator, old)
    if version is None:
        return f"ai.onnx {old} has no operator {operator}"
    while True:
        wanted = version_of(operator, new)
        if wanted is None:
            return f"ai.onnx {new} has no operator {operator}"
        if version >= wanted:
            return rows
        row = operator_steps().get((operator, version))
        if row is None or row.new > new:
            return f"the table of operators has no row for {operator}-{version} to a later version"
        rows.append(row)
        operator, version = row.becomes, row.new
