"""The lines of a report that say which readings of Clip allow the answers of a runtime.

`sonnx-clip check` prints them, and the page of evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.conform.check_report import ReadingMatch, Report


def behaviour(report: Report) -> list[str]:
    """One line if the same readings fit every type, otherwise a line for each group of types.

    Where a reading allows the answers and no others, readings that leave more open are left out.
    """
    found = {one.type: one.readings for one in report.types if one.readings is not None}
    if not found:
        return []
    every = next(iter(found.values())).allowed_by
    common = tuple(id_ for id_ in every if all(id_ in match.allowed_by for match in found.values()))
    exact = tuple(id_ for id_ in common if all(id_ in match.exactly for match in found.values()))
    common = exact or common
    if common:
        return [_behaves(report.runtime_version, common, list(found.values()), list(found))]
    groups: dict[tuple[str, ...], list[str]] = {}
    for etype, match in found.items():
        no_reading = ("", match.explained_by or "", match.nearest or "", *match.left_in)
        key = match.exactly or match.allowed_by or no_reading
        groups.setdefault(key, []).append(etype)
    return [
        _behaves(report.runtime_version, key, [found[t] for t in types], types)
        for key, types in groups.items()
    ]


def _behaves(runtime: str, readings: tuple[str, ...], found: list[ReadingMatch], types: list[str]) -> str:
    subject, number = f"{runtime}, {', '.join(types)}", f"{sum(match.answers for match in found):,}"
    if readings[0] == "":
        left = f"{sum(match.left for match in found):,}"
        return (
            f"{subject}: no reading allows all {number} answers kept; the nearest, {readings[2]},"
            f" does not allow {left} of them, in {', '.join(readings[3:])}"
            f"{f'; all of them are {readings[1]}' if readings[1] else ''}"
        )
    several = len(readings) > 1
    named = f"readings {', '.join(readings[:-1])} and {readings[-1]}" if several else f"reading {readings[0]}"
    if all(id_ in match.exactly for id_ in readings for match in found):
        required = "require" if several else "requires"
        return f"{subject}: all {number} answers kept are those that the {named} {required}, bit for bit"
    allow, leave = ("allow", "leave") if several else ("allows", "leaves")
    return f"{subject}: the {named} {allow} all {number} answers kept, and {leave} some answers open"
