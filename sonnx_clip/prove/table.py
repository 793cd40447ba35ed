"""The table that `sonnx-clip prove` ends with: what is proved, by whom, in what time, and what is refuted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.prove.run import Proofs
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Property

_FAMILIES = ("real", "int", "float")


def print_table(console: Console, spec: Spec, proofs: Proofs) -> None:
    """One row a requirement: how many obligations are proved in each family, by whom, in what time.

    ``any`` counts the theorems over every ordered element type and those on declared tensors.
    """
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("requirement", no_wrap=True)
    for column in (*_FAMILIES, "any"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("proved by", no_wrap=True)
    table.add_column("CPU", justify="right", no_wrap=True)
    table.add_column("refuted as it stands", overflow="fold")
    family_of = {e.id: e.family for e in spec.element_types}
    for section, ids in _sections(spec):
        rows = [(id_, [o for o in proofs.outcomes if id_ in o.obligation.shows]) for id_ in ids]
        shown = [(id_, outcomes) for id_, outcomes in rows if outcomes]
        if not shown:
            continue
        table.add_row(f"[bold]{section}[/]")
        for id_, outcomes in shown:
            table.add_row(f"  {id_}", *_counts(outcomes, family_of), *_provers(outcomes), _refuted(spec, id_))
    console.print(table)


def _sections(spec: Spec) -> Iterable[tuple[str, tuple[str, ...]]]:
    yield "restrictions", tuple(r.id for r in spec.restrictions)
    yield "constraints", tuple(c.id for c in spec.constraints)
    yield "cases", tuple(c.id for c in spec.cases)
    yield "properties", tuple(p.id for p in spec.properties)
    yield "latitude", tuple(entry.id for entry in spec.latitude)
    yield "worked examples", tuple(e.id for e in spec.examples)
    yield "element types", tuple(e.id for e in spec.element_types)
    yield "soundness", ("smoke",)


def _counts(outcomes: Sequence[Outcome], family_of: Mapping[str, str]) -> list[str]:
    cells = []
    for family in (*_FAMILIES, None):
        mine = [o for o in outcomes if family_of.get(o.obligation.subject) == family]
        good = sum(o.status != "not proved" for o in mine)
        shown = f"{good}" if mine else ""
        cells.append(shown if good == len(mine) else f"[red]{good} of {len(mine)}[/]")
    return cells


def _provers(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    names = [r.prover for o in outcomes for r in o.replies]
    every = list(dict.fromkeys(names))
    parts = []
    for name in every:
        lacking = sum(name not in o.proved_by for o in outcomes)
        parts.append(name if not lacking else f"{name} (but {lacking})")
    return ", ".join(parts), f"{sum(o.cpu for o in outcomes):.1f} s"


def _refuted(spec: Spec, id_: str) -> str:
    parts = []
    entries: list[Property | Constraint] = [*spec.properties, *spec.constraints]
    for p in entries:
        if p.id != id_:
            continue
        for family, witness in p.refuted_for.items():
            x = ", ".join(witness.X) if isinstance(witness.X, tuple) else witness.X
            parts.append(f"{family}: X = {x}, L = {witness.L}, M = {witness.M}")
    return "; ".join(parts)


def summary(proofs: Proofs) -> str:
    """One line: how many obligations, by how many provers, in what time."""
    statuses = [o.status for o in proofs.outcomes if o.obligation.kind != "smoke"]
    smokes = [o for o in proofs.outcomes if o.obligation.kind == "smoke"]
    held = sum(o.status == "proved" for o in smokes)
    refuted = sum(o.obligation.kind == "refutation" and o.status != "not proved" for o in proofs.outcomes)
    single = [o.obligation.id for o in proofs.outcomes if o.status == "proved by one"]
    by_one = f"{len(single)} by one" + (f" ({', '.join(single)})" if single else "")
    return (
        f"{len(statuses)} obligations: {statuses.count('proved')} proved by two provers, {by_one},"
        f" {statuses.count('not proved')} not proved; {refuted} of them are refutations of the source;"
        f" false follows nowhere: {held} of {len(smokes)} smoke tests held"
        f" ({proofs.asked} questions asked, {proofs.wall:.1f} s)"
    )
