"""What a journal says of its campaigns: what is done, what is not, how fast it went, the verdicts so far."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import Verdict
from sonnx_clip.conform.merging import merged, needed
from sonnx_clip.conform.units import Unit
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.limits import LIMITS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from sonnx_clip.conform.journal import UnitJournal
    from sonnx_clip.conform.units import UnitResult


class TypeStatus(Stored):
    """One element type: units that have a result, and all that are needed as far as is known."""

    type: str
    verdict: Verdict
    done: int
    units: int
    compared: int
    seconds: float


class CampaignStatus(Stored):
    """One campaign: what it judges, and how far it is. `made` is when it was first begun.

    `left` are about how many seconds of judging are left, by what the units that are done took; None where
    none of them is.
    """

    made: str
    runtime: str
    version: str
    level: str
    policy: str
    forms: str
    done: int
    units: int
    seconds: float
    left: float | None
    types: tuple[TypeStatus, ...]


class JournalStatus(Stored):
    """A journal: its campaigns in the order in which they were begun, and how many results are damaged."""

    format: int = 1
    campaigns: tuple[CampaignStatus, ...]
    results: int
    damaged: int


def journal_status(journal: UnitJournal) -> JournalStatus:
    """What an open journal says."""
    results: dict[str, UnitResult] = {}
    count = damaged = 0
    for digest, result in journal.results():
        count += 1
        if result is None:
            damaged += 1
        else:
            results.setdefault(digest, result)
    took = journal.seconds()
    campaigns = tuple(_campaign(made, plan, results, took) for made, plan in journal.campaigns())
    return JournalStatus(campaigns=campaigns, results=count, damaged=damaged)


def _campaign(made: str, plan: str, results: dict[str, UnitResult], took: dict[str, float]) -> CampaignStatus:
    said = json.loads(plan)
    what, by_type = said["campaign"], dict[str, list[list[str]]]()
    for row in said["units"]:
        by_type.setdefault(row[1], []).append(row)
    types = tuple(_type(id_, rows, results, took) for id_, rows in by_type.items())
    done, units = sum(one.done for one in types), sum(one.units for one in types)
    seconds = sum(one.seconds for one in types)
    return CampaignStatus(
        made=made,
        **{key: what[key] for key in ("runtime", "version", "level", "policy", "forms")},
        done=done,
        units=units,
        seconds=round(seconds, 1),
        left=round(seconds / done * (units - done), 1) if done else None,
        types=types,
    )


def _type(
    etype: str, rows: list[list[str]], results: dict[str, UnitResult], took: dict[str, float]
) -> TypeStatus:
    units = [Unit("", "", etype, part, "default", LIMITS, "default") for _, _, part in rows]
    digests = {part: digest for digest, _, part in rows}
    found = {part: results[digest] for part, digest in digests.items() if digest in results}
    wanted = needed(units, found)
    report = merged(load_spec().element_type(etype), units, found)
    return TypeStatus(
        type=etype,
        verdict=report.verdict,
        done=sum(unit.part in found for unit in wanted),
        units=len(wanted),
        compared=report.compared + sum(form.compared for form in report.forms or ()),
        seconds=round(sum(took[digests[part]] for part in found), 3),
    )
