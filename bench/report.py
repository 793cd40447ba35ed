"""What a run leaves: a table on the terminal, a table in Markdown, and all figures as JSON."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

import sonnx_clip
from bench import native, peers
from bench.contestants import CONTESTANTS
from bench.inputs import TYPES
from bench.targets import MIDDLE, Row, relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench.measure import Cell

_SOME_TYPES = ("int8", "float16", "bfloat16", "float32")


@dataclass(frozen=True)
class Machine:
    """Where it was measured."""

    processor: str
    cores: int
    system: str
    versions: Mapping[str, str]
    compiled: str
    load_before: float
    load_after: float
    limited: Mapping[str, str] = field(default_factory=dict)

    def sentence(self) -> str:
        """One line for a caption."""
        limits = "; ".join(f"{name}: {limit}" for name, limit in self.limited.items())
        less = f", limited in this run ({limits})" if limits else ""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        load = f"load {self.load_before:.1f} before and {self.load_after:.1f} after"
        return (
            f"{self.processor}{less}, {self.cores} cores, one used; {load}; {versions}; C by {self.compiled}"
        )


def load() -> float:
    """How many processes want a core, over the last minute."""
    return os.getloadavg()[0]


def describe_machine(load_before: float, limited: Mapping[str, str]) -> Machine:
    """The processor and what each contestant is limited to, the packages and the compiler."""
    names = ("numpy", "ml_dtypes", "torch", "onnxruntime")
    versions = {"sonnx-clip": sonnx_clip.__version__, "Python": platform.python_version()}
    versions |= {name: peers.version(name) for name in names}
    try:
        compiled = native.compiler()
    except peers.NotThereError as error:
        compiled = str(error)
    return Machine(
        processor_name(),
        len(os.sched_getaffinity(0)),
        platform.platform(),
        versions,
        compiled,
        load_before,
        load(),
        limited,
    )


def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's own name, or the architecture where there is none to read."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        lines = []
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    known = {key.strip(): value.strip() for key, value in fields.items()}
    name = known.get("model name", "")
    if not name:
        return platform.processor() or platform.machine()
    family = [known.get(key) for key in ("cpu family", "model")]
    return f"{name} (family {family[0]}, model {family[1]})" if all(family) else name


def targets_table(rows: Iterable[Row]) -> Table:
    """The targets for the terminal: what, figure, target, verdict."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("what")
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("target", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("worst of", overflow="fold")
    for row in rows:
        colour = {True: "green", False: "yellow", None: "dim"}[row.met if row.goal else None]
        table.add_row(row.what, _figure(row), _limit(row), f"[{colour}]{row.verdict}[/]", _worst(row))
    return table


def times_table(cells: Iterable[Cell], size: int = MIDDLE, kind: str = "ordinary") -> Table:
    """Microseconds of all contestants for the terminal, a row a type; ! marks wrong answers."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column(f"µs at {size:,}, {kind}")
    for name in CONTESTANTS:
        table.add_column(name, justify="right")
    for cell in cells:
        if (cell.size, cell.kind) == (size, kind):
            table.add_row(cell.etype, *(_time(cell, name) for name in CONTESTANTS))
    return table


def markdown(rows: Sequence[Row], cells: Sequence[Cell], machine: Machine) -> str:
    """Tables for docs/speed.md: the targets, and the times over a copy at each size."""
    targets = [f"{row.what} | {_figure(row)} | {_limit(row)} | {row.verdict} | {_worst(row)}" for row in rows]
    lines = [
        f"| what, at {MIDDLE:,} elements | measured | target | | worst of |",
        "| --- | ---: | ---: | --- | --- |",
        *(f"| {line} |" for line in targets),
        "",
        f"Time over that of the faster copy, {MIDDLE:,} ordinary values; ! marks wrong answers:",
        "",
        *_ratios(cells, MIDDLE),
    ]
    for size in dict.fromkeys(cell.size for cell in cells if cell.size != MIDDLE):
        lines += ["", f"The same at {size:,} elements:", "", *_ratios(cells, size, _SOME_TYPES)]
    return "\n".join([*lines, "", f"{machine.sentence()}.", ""])


def _ratios(cells: Iterable[Cell], size: int, types: Sequence[str] = TYPES) -> list[str]:
    """A Markdown table of the times over a copy, one row a type."""
    shown = [cell for cell in cells if (cell.size, cell.kind) == (size, "ordinary") and cell.etype in types]
    return [
        f"| type | {' | '.join(CONTESTANTS)} |",
        f"| --- |{' ---: |' * len(CONTESTANTS)}",
        *(f"| {cell.etype} | {' | '.join(_ratio(cell, name) for name in CONTESTANTS)} |" for cell in shown),
    ]


def document(rows: Iterable[Row], cells: Iterable[Cell], machine: Machine, seconds: float) -> dict[str, Any]:
    """All figures, in seconds a call."""
    return {
        "machine": asdict(machine),
        "seconds": round(seconds, 1),
        "targets": [
            {**asdict(row), "met": row.met, "verdict": row.verdict, "fails": row.fails} for row in rows
        ],
        "cases": [_case(cell) for cell in cells],
    }


def _case(cell: Cell) -> dict[str, Any]:
    over = relative(cell)
    figures = {name: {**asdict(figure), "over_copy": over.get(name)} for name, figure in cell.figures.items()}
    return {
        "type": cell.etype,
        "kind": cell.kind,
        "size": cell.size,
        "figures": figures,
        "absent": dict(cell.absent),
        "wrong": dict(cell.wrong),
    }


def _figure(row: Row) -> str:
    return "" if row.figure is None else f"{row.figure:.{2 if row.figure < 10 else 0}f} {row.unit}"


def _limit(row: Row) -> str:
    return f"{'≤' if row.sense == 'at most' else '≥'} {row.limit:g} {row.unit}"


def _worst(row: Row) -> str:
    worst = f"{row.worst} ({row.cases} cases)" if row.cases > 1 else row.worst
    return "; ".join(part for part in (worst, row.note) if part)


def _time(cell: Cell, name: str) -> str:
    return f"{1e6 * cell.figures[name].median:.1f}{_mark(cell, name)}" if name in cell.figures else "–"


def _ratio(cell: Cell, name: str) -> str:
    over = relative(cell)
    return f"{over[name]:.2f}{_mark(cell, name)}" if name in over else "–"


def _mark(cell: Cell, name: str) -> str:
    return "!" if name in cell.wrong else ""
