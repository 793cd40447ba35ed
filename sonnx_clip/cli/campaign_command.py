"""`sonnx-clip campaign status`: what a journal of `sonnx-clip check` says of its campaigns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sonnx_clip.conform.campaigns.journal import UnitJournal
from sonnx_clip.conform.campaigns.journal_status import journal_status
from sonnx_clip.root.counts import counted
from sonnx_clip.root.progress import duration

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.conform.campaigns.journal_status import CampaignStatus

_PLAIN_WIDTH = 110


def show_status(file: Path, *, as_json: bool) -> None:
    """Print what a journal says; nothing is written to it.

    Args:
        file: the journal.
        as_json: print JSON instead of tables.

    Raises:
        UserError: it is no journal, or cannot be read.
    """
    journal = UnitJournal(file, create=False)
    try:
        status = journal_status(journal)
    finally:
        journal.close()
    if as_json:
        sys.stdout.write(status.model_dump_json(indent=1) + "\n")
        return
    console = Console()
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    for campaign in status.campaigns:
        _print(console, campaign)
    damaged = f", {status.damaged} of them damaged: they are judged again" if status.damaged else ""
    words = f"{counted(len(status.campaigns), 'campaign')}, {counted(status.results, 'result')}{damaged}"
    console.print(words, highlight=False)


def _print(console: Console, found: CampaignStatus) -> None:
    head = f"{found.version} ({found.policy} policy, {found.level}), begun {found.made}"
    console.print(f"[bold]{escape(head)}[/]", highlight=False, soft_wrap=True)
    table = Table(box=None)
    table.add_column("type")
    for name in ("units done", "of", "results compared", "a minute"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for one in found.types:
        rate = f"{one.done * 60 / one.seconds:.0f}" if one.seconds else ""
        table.add_row(one.type, str(one.done), str(one.units), f"{one.compared:,}", rate, one.verdict)
    console.print(table)
    console.print(_far(found), highlight=False, soft_wrap=True)


def _far(found: CampaignStatus) -> str:
    done = f"{found.done} of {counted(found.units, 'unit')} done in {duration(found.seconds)} of judging"
    if found.done == found.units:
        return f"finished: {done}"
    if found.left is None:
        return f"not finished: {done}"
    return f"not finished: {done}; about {duration(found.left)} of judging left, divided by the jobs"
