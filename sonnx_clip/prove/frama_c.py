"""The independent proof of the C kernels by Frama-C: WP with the project's provers, and guards by RTE.

The generated C is joined with its contracts and proved as it is. The record build/frama-c.json holds what
Frama-C reports; what is proved is derived from it.
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sonnx_clip.backends.acsl import LOOP, c_functions, contract_path, required_goals
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, digest_of_file, write_whole
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.root.run_program import LARGE_PAGES, run_limited, version_of
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.language import ElementType
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3

RECORD = "frama-c.json"
HEADER = "generated/c/sonnx_clip.h"
PROVERS = ("Z3", "cvc5")
INSTALL = "install it: apt-get install --no-install-recommends frama-c-base"
# For a goal: the steps that a prover may take, which decide alike on every machine, and seconds after which
# it hangs. A smoke claim is false, and every prover uses its steps.
RESOURCES = {"Z3": 30_000_000, "cvc5": 1_000_000}
SMOKE_RESOURCES = {"Z3": 2_000_000, "cvc5": 20_000}
SECONDS = 120
WHOLE: float = 1200  # seconds for a run of Frama-C, of which there are two for each type

# x86_64: int has 32 bits, size_t 64. NaN and infinity are values like any other. An unsigned index that
# wraps around is an error here, although C allows it.
OPTIONS = (
    "-machdep", "x86_64", "-wp", "-wp-rte", "-warn-unsigned-overflow", "-warn-special-float", "none",
    "-wp-run-all-provers", "-wp-cache", "none",
)  # fmt: skip

WpStatus: TypeAlias = Literal["proved", "proved by one", "not proved"]

_AGAIN = "run: sonnx-clip generate"
_TROUBLE = re.compile(r"\b(Warning|User Error|Failure|Fatal error|Unexpected error|aborted)\b")
_LINES = 8  # of trouble that are kept
_SMOKE = "_ensures_smoke"
_WHILE = re.compile(r"^[ \t]*while \(", re.MULTILINE)
_CONTRACT_END = re.compile(r" \*/\n(?=(?:static inline \w+|void) \w+\([\w\s*,]*\);)")
_AXIOM = re.compile(r"\b(?:axiom|admit\s+\w+)\s+(\w+)")


# --- The record -------------------------------------------------------------------------------------------


class WpGoal(Stored):
    """A property of a function, which WP splits into `total` goals.

    `simplifier` counts those that WP's own simplifier proves, `by` those that each prover proves.
    """

    function: str
    name: str
    total: int
    simplifier: int
    by: dict[str, int]

    @property
    def shown_by(self) -> tuple[str, ...]:
        """The provers that proved every goal they received."""
        sent = self.total - self.simplifier  # a prover gets what the simplifier left
        return tuple(name for name in PROVERS if self.by.get(name, 0) == sent)

    @property
    def status(self) -> WpStatus:
        """Whether two show it, one, or none; what the simplifier proves needs no prover."""
        # A report with impossible numbers proves nothing.
        is_possible = self.total >= 1 and 0 <= self.simplifier <= self.total
        if not is_possible or not self.shown_by:
            return "not proved"
        return "proved" if len(self.shown_by) == len(PROVERS) else "proved by one"


class WpProperty(Stored):
    """An annotation, or a guard of the C, with the status that Frama-C gives to it in the end."""

    function: str
    kind: str
    text: str
    status: str


class Smoke(Stored):
    """Whether every prover was asked for false at the end of a function, and none found it."""

    function: str
    held: bool


class OfType(Stored):
    """What came out for an element type.

    `files` holds the SHA-256 of what was proved. `taken` names the axioms of the contracts. `words` are those
    of Frama-C where something went wrong; then nothing counts as proved.
    """

    type: str
    files: dict[str, str]
    goals: tuple[WpGoal, ...]
    properties: tuple[WpProperty, ...]
    smoke: tuple[Smoke, ...]
    taken: tuple[str, ...]
    words: tuple[str, ...]
    seconds: float

    def open(self, etype: ElementType) -> tuple[str, ...]:
        """What is missing or not proved, by name; empty if all that is expected is shown."""
        return tuple(self._open(etype))

    def _open(self, etype: ElementType) -> Iterator[str]:
        for line in self.words:
            yield f"Frama-C: {line}"
        # A goal that WP does not generate is proved by nobody, and no report names it.
        goals = {goal.name for goal in self.goals}
        yield from _missing(required_goals(etype), goals)
        # That functions end is no goal of WP's report, but a property of each.
        ending = {p.function for p in self.properties if p.kind == "termination clause"}
        yield from _missing(c_functions(etype), ending, "_terminates")
        for goal in self.goals:
            if goal.status == "not proved":
                yield goal.name
        for p in self.properties:
            if p.status != "Valid":
                yield f"{p.function}, {p.kind}: {p.status}"
        smoke_tested = {smoke.function for smoke in self.smoke}
        yield from _missing(c_functions(etype), smoke_tested, "_smoke")
        for smoke in self.smoke:
            if not smoke.held:
                yield f"{smoke.function}_smoke: false was proved"

    def status(self, etype: ElementType) -> WpStatus:
        """The weakest of its goals, if all that is expected is there."""
        if self.open(etype):
            return "not proved"
        statuses = {goal.status for goal in self.goals}
        return "proved by one" if "proved by one" in statuses else "proved"

    @property
    def total(self) -> int:
        """How many goals there are."""
        return sum(goal.total for goal in self.goals)

    @property
    def shown(self) -> int:
        """How many goals the simplifier and the provers together show."""
        shown = 0
        for goal in self.goals:
            # Of the better prover: WP does not say which goals each of them shows.
            by_provers = [goal.by.get(name, 0) for name in PROVERS]
            shown += goal.simplifier + max(by_provers)
        return shown

    @property
    def simplified(self) -> int:
        """How many of them WP's own simplifier shows."""
        return sum(goal.simplifier for goal in self.goals)

    def shown_by(self, prover: str) -> int:
        """How many of the goals that went to the provers one of them shows."""
        return sum(goal.by.get(prover, 0) for goal in self.goals)


def _missing(
    expected: Iterable[str],
    present: Collection[str],
    suffix: str = "",
) -> Iterator[str]:
    """A line for each expected name that a report does not have."""
    for name in expected:
        if name not in present:
            yield f"{name}{suffix} is missing"


class FramaCRecord(Stored):
    """The whole file. `options` are those of the run; `complete`: no element type was left out."""

    format: Literal[1] = 1
    tool: str
    spec_digest: str
    tools: dict[str, str]
    options: tuple[str, ...]
    complete: bool
    types: tuple[OfType, ...]


def c_path(etype: ElementType) -> str:
    """Path of the C of an element type in the repository."""
    return f"generated/c/sonnx_clip_{etype.id}.c"


def frama_c_digests(etype: ElementType) -> dict[str, str]:
    """SHA-256 of the files that a proof rests on, as they are now; empty if one is missing."""
    digests: dict[str, str] = {}
    for path in _paths(etype):
        file = repo_file(path)
        if not file.is_file():
            return {}
        digests[path] = digest_of_file(file)
    return digests


def _paths(etype: ElementType) -> tuple[str, ...]:
    return HEADER, c_path(etype), contract_path(etype), LOOP


# --- The C with its contracts -----------------------------------------------------------------------------


def join(
    contract: str,
    loop: str,
    c: str,
    name: str,
) -> str:
    """One C file for Frama-C: the contracts, then the C with the annotation before its loop.

    Args:
        contract: the text of generated/c/acsl/TYPE.h.
        loop: the text of generated/c/acsl/loop.acsl.
        c: the generated C, as it is.
        name: what the C is called in messages.

    Raises:
        UserError: the C has annotations of its own, or not exactly one loop.
    """
    if "/*@" in c or "//@" in c:
        raise UserError("the C has an annotation, which Frama-C would assume", name, _AGAIN)
    # The annotation of the loop goes right before it: of several it is not known which one it is for.
    loops = list(_WHILE.finditer(c))
    if len(loops) != 1:
        raise UserError(f"it has {len(loops)} loops; the contracts are for one", name, _AGAIN)
    start = loops[0].start()
    return contract + c[:start] + loop + c[start:]


def with_smoke(unit: str, count: int) -> str:
    """The same file, in which each contract also claims, for a check alone, that its end is never reached.

    A prover that shows the claim has found the contracts or the axioms to contradict themselves.

    Args:
        unit: what `join` gives.
        count: how many contracts there are.
    """
    # `check`: what is shown is not used, so that one false claim does not prove the others.
    text, replaced = _CONTRACT_END.subn("\n    check ensures smoke: \\\\false; */\n", unit)
    if replaced != count:  # a contract without the claim would not be tested
        message = f"{replaced} contracts were found instead of {count}"
        raise UserError(message, "generated/c/acsl", _AGAIN)
    return text


# --- A run ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FramaC:
    """Frama-C with the project's provers.

    Args:
        version: as the program prints it.
        config: Why3's configuration for it.
        smoke_config: the same for smoke claims, with fewer steps.
        provers: whom WP asks.
        jobs: how many it asks at once.
    """

    version: str
    config: Path
    smoke_config: Path
    provers: tuple[Prover, ...]
    jobs: int

    def command(
        self,
        unit: Path,
        folder: Path,
        seconds: int,
        *more: str,
        smoke: bool = False,
    ) -> list[str]:
        """The Frama-C command for a file; its reports and its session go into `folder`."""
        config = self.smoke_config if smoke else self.config
        names = [f"{prover.name}:{prover.version}" for prover in self.provers]
        provers = ",".join(names)
        return [
            *("env", f"WHY3CONFIG={config}", "frama-c", *OPTIONS),
            *("-wp-prover", provers),
            *("-wp-timeout", str(seconds)),
            *("-wp-par", str(self.jobs)),
            *("-wp-session", str(folder / "session")),
            *("-wp-report-json", str(folder / "goals.json")),
            *more,
            str(unit),
            *("-then", "-report-csv", str(folder / "properties.csv")),
        ]


def find_frama_c(
    why3: Why3,
    provers: Sequence[Prover],
    build: Path,
    jobs: int,
) -> FramaC:
    """Frama-C as it is installed; UserError if it is missing or does not run."""
    version = version_of(("frama-c", "-version"), INSTALL)
    if not re.match(r"\d+\.", version):
        todo = f"its output: {version[:200]!r}; {INSTALL}"
        raise UserError("frama-c does not print its version", todo=todo)
    folder = (build / "frama-c").absolute()
    config = folder / "why3.conf"
    smoke_config = folder / "why3-smoke.conf"
    text = why3.config.read_text(encoding="utf-8")
    write_whole(config, frama_c_configuration(text, RESOURCES))
    write_whole(smoke_config, frama_c_configuration(text, SMOKE_RESOURCES))
    return FramaC(version, config, smoke_config, tuple(provers), jobs)


def frama_c_configuration(text: str, resources: Mapping[str, int]) -> str:
    """Why3's configuration of the project, for Frama-C, with the steps that each prover may take.

    Frama-C does not say where the theories are that the drivers name, so a load path does. And Z3 is to keep
    to the instances that patterns ask for: left to itself it does not come to an end in WP's memory model.
    WP gives no limit of steps to provers of this kind, so the commands have one.
    """
    z3_steps, cvc5_steps = resources["Z3"], resources["cvc5"]
    replacements = {
        "[main]\n": f'[main]\nloadpath = "{repo_file("why3")}"\n',
        '"z3 -smt2 -T': f'"z3 -smt2 auto_config=false rlimit={z3_steps} -T',
        '"cvc5 --tlimit': f'"cvc5 --rlimit-per={cvc5_steps} --tlimit',
    }
    for old, new in replacements.items():
        # Another version may write the configuration otherwise, and limits would be left out in silence.
        if text.count(old) != 1:
            raise UserError(f"no single {old.strip()!r} in Why3's configuration")
        text = text.replace(old, new)
    return text


def prove_type(
    tool: FramaC,
    etype: ElementType,
    root: Path | None = None,
    *,
    seconds: int = SECONDS,
) -> OfType:
    """What Frama-C shows of the C of an element type, as generated/ has it.

    Args:
        tool: Frama-C.
        etype: the element type.
        root: the checkout whose generated/ it is; this one, if None.
        seconds: for a goal.

    Raises:
        UserError: a file is missing, or the C is not one that the contracts fit.
    """
    begun = time.monotonic()
    folder_above = root or repo_root()
    texts = {path: _text(folder_above, path) for path in _paths(etype)}
    header, c, contract, loop = texts.values()  # in the order of `_paths`
    if "/*@" in header or "//@" in header:
        raise UserError("the header has an annotation, which Frama-C would assume", HEADER, _AGAIN)
    unit = join(contract, loop, c, c_path(etype))
    smoke_unit = with_smoke(unit, len(c_functions(etype)))
    with tempfile.TemporaryDirectory() as name:
        proof = _lay_out(Path(name) / "proof", unit, header)
        smoke = _lay_out(Path(name) / "smoke", smoke_unit, header)
        words = _run(tool, proof, seconds)
        words += _run(tool, smoke, SECONDS, "-wp-prop", "smoke", smoke=True)
        goals = _read_goals(proof / "goals.json", words)
        smoke_goals = _read_goals(smoke / "goals.json", words)
        properties = _read_properties(proof / "properties.csv", words)
    smoke_tests = []
    for claim in smoke_goals:
        if claim.name.endswith(_SMOKE):
            smoke_tests.append(Smoke(function=claim.function, held=_held(claim)))
    return OfType(
        type=etype.id,
        files={path: digest_of(text) for path, text in texts.items()},
        goals=goals,
        properties=properties,
        smoke=tuple(smoke_tests),
        taken=tuple(_AXIOM.findall(contract)),
        words=tuple(dict.fromkeys(words)),
        seconds=round(time.monotonic() - begun, 3),
    )


def _lay_out(folder: Path, unit: str, header: str) -> Path:
    """Write what Frama-C reads into a new folder; returns the folder."""
    folder.mkdir()
    write_whole(folder / "unit.c", unit)
    write_whole(folder / "sonnx_clip.h", header)
    return folder


def _held(claim: WpGoal) -> bool:
    """Whether a smoke claim was put to every prover, and shown by none."""
    # By none, and not by the simplifier either; a prover that is not in the report was not asked.
    shown_by_none = claim.simplifier == 0 and claim.by == dict.fromkeys(PROVERS, 0)
    return claim.total > 0 and shown_by_none


def _run(
    tool: FramaC,
    folder: Path,
    seconds: int,
    *more: str,
    smoke: bool = False,
) -> list[str]:
    """Run Frama-C, with seconds for a goal; returns its words where something went wrong.

    An annotation that it ignores is such a word.
    """
    command = tool.command(folder / "unit.c", folder, seconds, *more, smoke=smoke)
    done = run_limited(command, WHOLE, environment=LARGE_PAGES, together=True)
    messages: list[str] = []
    # A message goes on in the next line.
    for line, next_line in pairwise([*done.text.splitlines(), ""]):
        if _TROUBLE.search(line):
            message = f"{line.strip()} {next_line.strip()}"
            messages.append(message.strip())
    messages = messages[:_LINES]
    if done.killed:
        messages.append(f"it did not end within {WHOLE} s")
    elif done.status != 0:
        last_words = done.text.strip()[-300:]
        messages.append(f"it ended with exit status {done.status}: {last_words}")
    return messages


@contextmanager
def _readable(report: str, words: list[str]) -> Iterator[None]:
    """Where a report is missing or has another form, words about it: then it proves nothing."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        words.append(f"{report} ({type(error).__name__}: {error})")


def _read_goals(file: Path, words: list[str]) -> tuple[WpGoal, ...]:
    """The goals of a run, in the order of WP's report."""
    # With words the type counts as not proved, whatever goals are returned.
    with _readable("WP wrote no readable report", words):
        by_function = json.loads(file.read_text(encoding="utf-8"))["wp:functions"]
        goals: list[WpGoal] = []
        for function, properties in by_function.items():
            for name, counts in properties.items():
                if name.startswith("wp:"):
                    continue  # it is about the function as a whole
                goals.append(_goal(function, name, counts))
        return tuple(goals)
    return ()


def _goal(function: str, name: str, counts: dict[str, Any]) -> WpGoal:
    # Beside the provers, ``qed``, the simplifier; and ``wp:main``, of which the total is read.
    valid: dict[str, int] = {}
    for prover_and_version, count in counts.items():
        prover, _, _ = prover_and_version.partition(":")
        valid[prover] = int(count.get("valid", 0))
    return WpGoal(
        function=function,
        name=name,
        total=int(counts["wp:main"]["total"]),
        simplifier=valid.get("qed", 0),
        by={prover: valid[prover] for prover in PROVERS if prover in valid},
    )


def _read_properties(file: Path, words: list[str]) -> tuple[WpProperty, ...]:
    """The properties of a run with their statuses."""
    with (
        _readable("Frama-C wrote no readable list of properties", words),
        file.open(encoding="utf-8", newline="") as text,
    ):
        # Frama-C writes no quotes around fields, and properties may hold some.
        rows = csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(map(_property, rows))
    return ()


def _property(row: dict[str, str]) -> WpProperty:
    return WpProperty(
        function=row["function"],
        kind=row["property kind"],
        text=row["property"],
        status=row["status"],
    )


def _text(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"it cannot be read: {error}", path, _AGAIN) from error
