"""As which reading of Clip a runtime behaves, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.conform.report import ReadingMatch, Report


def behaviour(report: Report) -> list[str]:
    """What the runtime behaves as: one reading in every type, or what holds of some types each.

    Where a reading allows the answers and no others, those that leave more open are not told.
    """
    found = {one.type: one.readings for one in report.types if one.readings is not None}
    if not found:
        return []
    every = next(iter(found.values())).allowed_by
    common = tuple(id_ for id_ in every if all(id_ in match.allowed_by for match in found.values()))
    exact = tuple(id_ for id_ in common if all(id_ in match.exactly for match in found.values()))
    common = exact or common
    if common:
        return [f"{report.runtime_version} {_behaves(common, list(found.values()), list(found))}"]
    groups: dict[tuple[str, ...], list[str]] = {}
    for etype, match in found.items():
        key = match.exactly or match.allowed_by or ("", match.nearest or "", *match.left_in)
        groups.setdefault(key, []).append(etype)
    return [
        f"{report.runtime_version} {_behaves(key, [found[t] for t in types], types)}"
        for key, types in groups.items()
    ]


def _behaves(readings: tuple[str, ...], found: list[ReadingMatch], types: list[str]) -> str:
    where = f"({', '.join(types)}; {sum(match.answers for match in found):,} different answers)"
    if readings[0] == "":
        left = f"{sum(match.left for match in found):,} of them"
        return (
            f"behaves as none of the readings {where}: nearest {readings[1]},"
            f" which does not allow {left}, in classes {', '.join(readings[2:])}"
        )
    named = f"{', '.join(readings[:-1])} and {readings[-1]}" if len(readings) > 1 else readings[0]
    if all(id_ in match.exactly for id_ in readings for match in found):
        return f"behaves as {named}, bit for bit {where}"
    verbs = (
        "leaves some answers open and allows" if len(readings) == 1 else "leave some answers open and allow"
    )
    return f"behaves as {named}, which {verbs} these {where}"
