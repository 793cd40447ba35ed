"""The first screen of the page: the state in four tiles, and what remains to do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.conform.check_report import FAILING
from sonnx_clip.mutants.run import RECORD as MUTANTS
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.evidence.model import Argument, Entry, Evidence
    from sonnx_clip.evidence.runtimes import RuntimeView

_COMMANDS = {
    "build/foundation.json": "sonnx-clip prove --road coq",
    "build/frama-c.json": "sonnx-clip prove --road frama-c",
    "build/replays/": "sh generated/replay.sh",
    "build/dialects/": "sonnx-clip check --against onnx --build build",
    "build/contexts/": "sonnx-clip check --runtime onnxruntime --contexts -o build/contexts/onnxruntime.json",
    MUTANTS: "make mutants",
}
_NOT_RUN = ("stale", "not run")


class Tile(NamedTuple):
    """A number on the first screen, what it counts, and what else there is to count."""

    title: str
    number: str
    about: str
    details: tuple[str, ...]
    alarming: bool = False


class Task(NamedTuple):
    """A line of argument that was not run, and the command that runs it; none where no command does."""

    line: str
    basis: str
    command: str


def tiles(evidence: Evidence, runtimes: Iterable[RuntimeView]) -> tuple[Tile, ...]:
    """Requirements, proofs, lines of argument and runtimes."""
    return _requirements(evidence), _proofs(evidence), _lines(evidence), _runtimes(runtimes)


def _requirements(evidence: Evidence) -> Tile:
    states = Counter(_state(entry) for entry in evidence.all_entries if entry.requirement)
    total = f"of {states.total()} requirements met"
    refuted = f"{states['refuted']} refuted as written, proved under a condition"
    return Tile(
        "Requirements",
        str(states["met"]),
        total,
        (refuted, f"{states['open']} open"),
        alarming=states["open"] > 0,
    )


def _state(entry: Entry) -> str:
    if any(cell.status in ("gap", "not proved") for cell in entry.cells):
        return "open"
    return "refuted" if entry.refuted else "met"


def _proofs(evidence: Evidence) -> Tile:
    goals = [o for o in evidence.all_obligations if o.obligation.kind != "smoke"]
    status = Counter(o.status for o in goals)
    return Tile(
        "Proofs",
        f"{status['proved']:,}",
        f"of {len(goals):,} obligations proved by two provers",
        (f"{status['proved by one']} by one prover", f"{status['not proved']} not proved"),
        alarming=status["not proved"] > 0,
    )


def _lines(evidence: Evidence) -> Tile:
    basis = Counter(line.basis for line in evidence.argument)
    run = basis.total() - basis["stale"] - basis["not run"]
    return Tile(
        "Lines of argument",
        str(run),
        f"of {basis.total()} run",
        (f"{basis['not run']} not run", f"{basis['stale']} stale"),
        alarming=basis["stale"] > 0,
    )


def _runtimes(runtimes: Iterable[RuntimeView]) -> Tile:
    views = tuple(runtimes)
    judged = [view for view in views if view.report]
    failing = [view.name for view in judged if _fails(view)]
    names = [view.name for view in judged if view.name not in failing]
    details = [f"{', '.join(names)}: nothing fails"] if names else []
    details += [f"{', '.join(failing)}: some classes fail"] if failing else []
    return Tile("Runtimes", str(len(judged)), f"of {len(views)} judged", tuple(details))


def _fails(view: RuntimeView) -> bool:
    return any(v in FAILING for of_type in view.verdicts.values() for v in of_type.values())


def tasks(evidence: Evidence) -> Iterator[Task]:
    """Each line of argument that was not run, or on other files."""
    proofs = {operator.record: operator.command for operator in evidence.operators}
    for line in evidence.argument:
        if line.basis in _NOT_RUN:
            yield Task(line.name, line.basis, _command(line, _COMMANDS | proofs))


def _command(line: Argument, commands: dict[str, str]) -> str:
    if line.record == "build/verdicts/":
        name = line.name.removeprefix("Runtime ")
        return f"sonnx-clip check --runtime {name} --json -o build/verdicts/{name}.json"
    return commands.get(line.record, "")


def remaining(evidence: Evidence) -> str:
    """What remains to do, counted."""
    not_run = sum(line.basis in _NOT_RUN for line in evidence.argument)
    opened = counted(len(evidence.totals.open), "open point")
    return f"{opened}; {counted(not_run, 'line')} of argument not run or stale"
