"""The first screen of the page: what was assessed, the state in four tiles, and what remains to do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.conform.verdict_table import FAILING
from sonnx_clip.mutants.run import RECORD as MUTANTS
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.evidence.evidence_model import Argument, Entry, Evidence
    from sonnx_clip.evidence.runtimes import RuntimeView

# By the record of a line of argument.
_COMMANDS = {
    "build/foundation.json": "sonnx-clip prove --road coq",
    "build/frama-c.json": "sonnx-clip prove --road frama-c",
    "build/replays/": "sh generated/replay.sh",
    "build/dialects/": "sonnx-clip check --against onnx --build build",
    "build/contexts/": "sonnx-clip check --runtime onnxruntime --contexts -o build/contexts/onnxruntime.json",
    MUTANTS: "make mutants",
}
# By the name of the line, which leaves no record to be found by.
_COMMANDS_WITHOUT_RECORD = {"Other processors": "make cross"}
_NOT_RUN = ("stale", "not run")


class Tile(NamedTuple):
    """A number on the first screen, what it counts, and what else there is to count."""

    title: str
    number: str
    about: str
    details: tuple[str, ...]
    alarming: bool = False


class RemainingTask(NamedTuple):
    """A line of argument that was not run, and the command that runs it; none where no command does."""

    line: str
    basis: str
    command: str


class Fact(NamedTuple):
    """What was assessed, in one respect."""

    name: str
    value: str


def assessed(evidence: Evidence, edition: str, machines: Sequence[str]) -> Iterator[Fact]:
    """What was assessed: operators, edition of the text, version, commit, date, provers and machines.

    Args:
        evidence: the evidence of the page.
        edition: the title of the text that is assessed.
        machines: the processors on which runtimes were judged.
    """
    proved = [operator.operator for operator in evidence.operators if operator.totals]
    yield Fact("Operators", ", ".join([evidence.operator, *proved]))
    yield Fact("Edition", edition)
    yield Fact("Version", f"{evidence.tool}, specification {evidence.spec_sha256[:12]}")
    checkout = evidence.checkout
    if checkout:
        state = ""
        if checkout.changed:
            state = f", {counted(len(checkout.changed), 'file')} differing from it"
        yield Fact("Commit", f"{checkout.commit}{state}")
        # Of the commit, since the page has no time of its own: equal records give an equal page.
        yield Fact("Date", f"{checkout.date} (of the commit)")
    else:
        yield Fact("Commit", "not known: written outside a checkout")
    provers = []
    for name, version in evidence.tools.items():
        if name != "sonnx-clip":  # which is among the tools, and in a line of its own
            provers.append(f"{name} {version}")
    yield Fact("Provers", ", ".join(provers))
    yield Fact("Machine", ", ".join(machines) or "no runtime was judged")


def headline(evidence: Evidence) -> str:
    """The state of the proofs of all operators, or how much is open, in one sentence."""
    # Worst first: a sentence about what is proved must not hide what is not.
    statuses = _statuses(evidence)
    total = statuses.total()
    not_proved = statuses["not proved"]
    if not_proved:
        verb = "is" if not_proved == 1 else "are"
        return f"{not_proved:,} of {total:,} obligations {verb} not proved."
    open_points = len(evidence.totals.open)
    if open_points:
        verb = "is" if open_points == 1 else "are"
        return f"{counted(open_points, 'point')} {verb} open."
    by_one = statuses["proved by one"]
    if by_one:
        return f"All {total:,} obligations are proved, {by_one:,} of them by one prover only."
    return f"All {total:,} obligations are proved by two provers."


def tiles(evidence: Evidence, runtimes: Iterable[RuntimeView]) -> tuple[Tile, ...]:
    """Requirements, proofs, lines of argument and runtimes."""
    return _requirements(evidence), _proofs(evidence), _lines(evidence), _runtimes(runtimes)


def _requirements(evidence: Evidence) -> Tile:
    # Readings, classes and dialects are statements about the requirements, and none themselves.
    states = Counter(_state(entry) for entry in evidence.all_entries if entry.requirement)
    total = f"of {states.total()} met as written"
    refuted = f"{states['refuted']} refuted as written, a repaired form proved"
    return Tile(
        title="Requirements",
        number=str(states["met"]),
        about=total,
        details=(refuted, f"{states['open']} open"),
        alarming=states["open"] > 0,
    )


def _state(entry: Entry) -> str:
    # Open in one element type is open: a requirement is met where it is met in all of them.
    if any(cell.status in ("gap", "not proved") for cell in entry.cells):
        return "open"
    return "refuted" if entry.refuted else "met"


def _proofs(evidence: Evidence) -> Tile:
    statuses = _statuses(evidence)
    return Tile(
        title="Proofs",
        number=f"{statuses['proved']:,}",
        about=f"of {statuses.total():,} obligations proved by two provers",
        details=(
            f"{statuses['proved by one']} by one prover",
            f"{statuses['not proved']} not proved",
        ),
        alarming=statuses["not proved"] > 0,
    )


def _statuses(evidence: Evidence) -> Counter[str]:
    """How many obligations of all operators have each status; smoke obligations are none."""
    # A smoke obligation is false if all is well: counted as proved or not, it would mislead.
    statuses: Counter[str] = Counter()
    for evidenced in evidence.all_obligations:
        if evidenced.obligation.kind != "smoke":
            statuses[evidenced.status] += 1
    return statuses


def _lines(evidence: Evidence) -> Tile:
    # Only what is stale alarms, since it looks like a result.
    basis = Counter(line.basis for line in evidence.argument)
    run = basis.total() - basis["stale"] - basis["not run"]
    return Tile(
        title="Lines of argument",
        number=str(run),
        about=f"of {basis.total()} run",
        details=(f"{basis['not run']} not run", f"{basis['stale']} stale"),
        alarming=basis["stale"] > 0,
    )


def _runtimes(runtimes: Iterable[RuntimeView]) -> Tile:
    views = tuple(runtimes)
    passing: list[str] = []
    failing: list[str] = []
    for view in views:
        if view.report:
            names = failing if _fails(view) else passing
            names.append(view.name)
    judged = len(passing) + len(failing)
    details = []
    if passing:
        details.append(f"{', '.join(passing)}: nothing fails")
    if failing:
        details.append(f"{', '.join(failing)}: some classes fail")
    # Never alarming: what fails in a runtime of others is a result of the evidence, no gap in it.
    return Tile(
        title="Runtimes",
        number=str(judged),
        about=f"of {len(views)} judged",
        details=tuple(details),
    )


def _fails(view: RuntimeView) -> bool:
    """Whether a runtime fails in any class of any element type."""
    tables = view.verdicts.values()
    return any(not FAILING.isdisjoint(by_class.values()) for by_class in tables)


def tasks(evidence: Evidence) -> Iterator[RemainingTask]:
    """Each line of argument that was not run, or on other files."""
    commands = dict(_COMMANDS)
    # Each has a record of its own in build/, and knows the command that writes it.
    for operator in evidence.operators:
        commands[operator.record] = operator.command
    for line in evidence.argument:
        if line.basis in _NOT_RUN:
            yield RemainingTask(line.name, line.basis, _command(line, commands))


def _command(line: Argument, commands: dict[str, str]) -> str:
    """The command that writes the record of a line; empty where no command does."""
    # A folder has the records of all runtimes: the line names that which is missing.
    if line.record == "build/verdicts/":
        name = line.name.removeprefix("Runtime ")
        return f"sonnx-clip check --runtime {name} --json -o build/verdicts/{name}.json"
    return commands.get(line.record, _COMMANDS_WITHOUT_RECORD.get(line.name, ""))


def remaining(evidence: Evidence) -> str:
    """What remains to do, counted."""
    not_run = sum(line.basis in _NOT_RUN for line in evidence.argument)
    opened = counted(len(evidence.totals.open), "open point")
    lines = f"{counted(not_run, 'line')} of argument not run or stale"
    return f"{opened}; {lines}; {counted(len(evidence.for_a_person), 'constraint')} for a person to check"
