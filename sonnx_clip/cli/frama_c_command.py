"""`sonnx-clip prove --road frama-c`: a row for each element type, and build/frama-c.json."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from sonnx_clip import __version__
from sonnx_clip.backends.acsl import FOLDER, render_acsl
from sonnx_clip.backends.generate import Generated, differences
from sonnx_clip.prove.frama_c import (
    OPTIONS,
    PROVERS,
    RECORD,
    FramaC,
    FramaCRecord,
    OfType,
    find_frama_c,
    prove_type,
)
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import Spec, load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.language import ElementType

_PLAIN_WIDTH = 100  # of the table where there is no terminal
_SHOWN = 12  # of what is open in an element type


def frama_c(
    *, types: Sequence[str], as_json: bool, build: Path, spec: Spec | None = None, root: Path | None = None
) -> int:
    """Prove the C kernels with Frama-C; print a table, or JSON; returns the exit status.

    Args:
        types: only these element types; then build/frama-c.json stays as it is.
        as_json: print the record instead of the table.
        build: where Why3's configuration and the record go.
        spec: the specification; that of the project, if None.
        root: the checkout whose generated/ is proved; this one, if None.

    Raises:
        UserError: a tool is missing, generated/ is stale, or an element type has no C.
    """
    spec, root = spec or load_spec(), root or repo_root()
    every = tuple(etype for etype in spec.element_types if etype.c is not None)
    chosen = _chosen(spec, every, types)
    if stale := differences(Generated(render_acsl(spec), ()), root, (FOLDER,)):
        raise UserError(f"generated/ is not fresh: {stale[0]}", todo="run: sonnx-clip generate")
    tool = find_frama_c(configure(build), find_provers(PROVERS), build, os.cpu_count() or 1)
    begun = time.monotonic()
    console = Console(stderr=as_json)
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    found = [_prove(console, tool, etype, root) for etype in chosen]
    record = _record(spec, tool, found, complete=chosen == every)
    if record.complete:
        write_whole(build / RECORD, record.model_dump_json(indent=1) + "\n")
    status = 0 if all(_status(spec, one) != "not proved" for one in found) else 1
    if as_json:
        print(record.model_dump_json(indent=1))
        return status
    console.print(_table(spec, found))
    _print_open(console, spec, found)
    if not record.complete:
        console.print(f"partial run: {build / RECORD} is unchanged", highlight=False)
    seconds = time.monotonic() - begun
    console.print(summary(spec, found, seconds), soft_wrap=True, highlight=False)
    return status


def _chosen(spec: Spec, every: tuple[ElementType, ...], types: Sequence[str]) -> tuple[ElementType, ...]:
    wanted = {spec.element_type(id_).id for id_ in types}
    if without := sorted(wanted - {etype.id for etype in every}):
        raise UserError(f"{without[0]} has no C", todo="choose another element type")
    return tuple(etype for etype in every if not wanted or etype.id in wanted)


def _prove(console: Console, tool: FramaC, etype: ElementType, root: Path) -> OfType:
    if console.is_terminal:
        with console.status(f"Frama-C: {etype.id}"):
            return prove_type(tool, etype, root)
    return prove_type(tool, etype, root)


def _record(spec: Spec, tool: FramaC, found: Sequence[OfType], *, complete: bool) -> FramaCRecord:
    return FramaCRecord(
        tool=f"sonnx-clip {__version__}",
        spec_digest=spec.digest,
        tools={"Frama-C": tool.version, **{p.name: p.version for p in tool.provers}},
        options=OPTIONS,
        complete=complete,
        types=tuple(found),
    )


def _status(spec: Spec, one: OfType) -> str:
    return one.status(spec.element_type(one.type))


def _table(spec: Spec, found: Sequence[OfType]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("element type", no_wrap=True)
    for column in ("goals", "WP itself", *PROVERS, "smoke", "axioms"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    for one in found:
        status = _status(spec, one)
        asked = one.total - one.simplified
        table.add_row(
            one.type,
            f"{one.shown} of {one.total}",
            f"{one.simplified}",
            *(f"{one.shown_by(name)} of {asked}" for name in PROVERS),
            f"{sum(s.held for s in one.smoke)} of {len(one.smoke)} held",
            f"{len(one.taken) or ''}",
            f"[{'green' if status == 'proved' else 'red'}]{status}[/]",
            f"{one.seconds:.1f} s",
        )
    return table


def _print_open(console: Console, spec: Spec, found: Sequence[OfType]) -> None:
    for one in found:
        lines = one.open(spec.element_type(one.type))
        for line in lines[:_SHOWN]:
            console.print(f"{one.type}: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
        if len(lines) > _SHOWN:
            console.print(f"{one.type}: … and {len(lines) - _SHOWN} more", highlight=False)
        for goal in one.goals:
            if goal.status == "proved by one":
                by = goal.shown_by[0]
                console.print(f"{one.type}: {goal.name}: proved by {by} only", markup=False, highlight=False)


def summary(spec: Spec, found: Sequence[OfType], seconds: float) -> str:
    """The last line: how many element types are proved, and how many goals by whom."""
    states = [_status(spec, one) for one in found]
    total, shown = sum(one.total for one in found), sum(one.shown for one in found)
    simplified = sum(one.simplified for one in found)
    by = ", ".join(f"{sum(one.shown_by(name) for one in found)} by {name}" for name in PROVERS)
    single = f", {states.count('proved by one')} by one prover" if "proved by one" in states else ""
    smoke = [s.held for one in found for s in one.smoke]
    counts = f"{states.count('proved')} proved{single}, {states.count('not proved')} not proved"
    return (
        f"{len(states)} C kernels: {counts}; {shown} of {total} goals: {simplified} by WP itself, of the"
        f" other {total - simplified}: {by}; {sum(smoke)} of {len(smoke)} smoke tests held ({seconds:.0f} s)"
    )
