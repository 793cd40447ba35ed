"""Runs Frama-C on the C of an element type, joined with its contracts: WP with the provers of the project,
and guards by RTE.
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sonnx_clip.backends.acsl import LOOP, contract_path, functions
from sonnx_clip.prove.frama_c_record import HEADER, PROVERS, OfType, Smoke, WpGoal, WpProperty, c_path
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, write_whole
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.root.run_program import LARGE_PAGES, run_limited, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sonnx_clip.language import ElementType
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3


_TROUBLE = re.compile(r"\b(Warning|User Error|Failure|Fatal error|Unexpected error|aborted)\b")
_LINES = 8  # of trouble that are kept
_SMOKE = "_ensures_smoke"


class UnreadableError(Exception):
    """A report is missing, or is not what Frama-C writes."""


def trouble(output: str) -> tuple[str, ...]:
    """The lines in which Frama-C says that something is not as it should be: an ignored annotation is one."""
    told = [
        f"{line.strip()} {after.strip()}".strip()
        for line, after in pairwise([*output.splitlines(), ""])
        if _TROUBLE.search(line)
    ]
    return tuple(told[:_LINES])


def read_goals(file: Path) -> tuple[WpGoal, ...]:
    """The goals of a run, in the order of the report.

    Raises:
        UnreadableError: there is no report, or it has another form.
    """
    try:
        functions = json.loads(file.read_text(encoding="utf-8"))["wp:functions"]
        found = [
            _goal(function, name, counts)
            for function, properties in functions.items()
            for name, counts in properties.items()
            if not name.startswith("wp:")
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(
            f"WP left no report that can be read ({type(error).__name__}: {error})"
        ) from error
    return tuple(found)


def _goal(function: str, name: str, counts: dict[str, Any]) -> WpGoal:
    by: dict[str, int] = {}
    for who, count in counts.items():
        prover = next((p for p in PROVERS if who.partition(":")[0] == p), None)
        if prover is not None:
            by[prover] = int(count.get("valid", 0))
    return WpGoal(
        function=function,
        name=name,
        total=int(counts["wp:main"]["total"]),
        simplifier=int(counts.get("qed", {}).get("valid", 0)),
        by=by,
    )


def read_properties(file: Path) -> tuple[WpProperty, ...]:
    """The properties of a run with their statuses.

    Raises:
        UnreadableError: there is no report, or it has another form.
    """
    try:
        with file.open(encoding="utf-8", newline="") as text:
            return tuple(_properties(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"Frama-C left no list of properties that can be read ({type(error).__name__}: {error})"
        raise UnreadableError(what) from error


def _properties(rows: csv.DictReader[str]) -> Iterator[WpProperty]:
    for row in rows:
        yield WpProperty(
            function=row["function"], kind=row["property kind"], text=row["property"], status=row["status"]
        )


def read_smoke(file: Path) -> tuple[Smoke, ...]:
    """For each function whether its smoke claim was put to every prover, and shown by none.

    Raises:
        UnreadableError: there is no report, or it has another form.
    """
    return tuple(
        Smoke(
            function=g.function, held=g.total > 0 and g.simplifier == 0 and g.by == dict.fromkeys(PROVERS, 0)
        )
        for g in read_goals(file)
        if g.name.endswith(_SMOKE)
    )


# --- Joins the contracts with the generated C, and makes sure that the C stays what it is -------------------


_ANNOTATION = re.compile(r"[ \t]*/\*@.*?\*/\n", re.DOTALL)
_LOOP = re.compile(r"^[ \t]*while \(", re.MULTILINE)
_CONTRACT_END = re.compile(r" \*/\n(?=(?:static inline \w+|void) \w+\([\w\s*,]*\);)")
_AXIOM = re.compile(r"\b(?:axiom|admit\s+\w+)\s+(\w+)")


def join(contract: str, loop: str, c: str, name: str) -> str:
    """One C file for Frama-C: the contracts, then the C with the annotation before its loop.

    Args:
        contract: the text of generated/c/acsl/TYPE.h.
        loop: the text of generated/c/acsl/loop.acsl.
        c: the generated C, as it is.
        name: what the C is called in messages.

    Raises:
        UserError: the C has annotations of its own, or not exactly one loop; or it would not stay as it is.
    """
    if "/*@" in c or "//@" in c:
        raise UserError("the C carries an annotation, which Frama-C would believe", name, _AGAIN)
    loops = list(_LOOP.finditer(c))
    if len(loops) != 1:
        raise UserError(f"it has {len(loops)} loops, and the contracts are for one", name, _AGAIN)
    start = loops[0].start()
    unit = contract + c[:start] + loop + c[start:]
    require_verbatim(unit, contract, c, name)
    return unit


_AGAIN = "run: sonnx-clip generate"


def require_verbatim(unit: str, contract: str, c: str, name: str) -> None:
    """UserError unless `unit` is `contract`, then exactly the C once its annotations are taken away.

    The contracts may hold nothing else that a compiler sees than one `#include` and declarations.
    """
    if not unit.startswith(contract) or _ANNOTATION.sub("", unit[len(contract) :]) != c:
        raise UserError("the annotated C is not the generated C", name, _AGAIN)
    if stray := [line for line in code_of(contract) if not _harmless(line)]:
        raise UserError(f"the contracts hold code: {stray[0]}", name, _AGAIN)


def code_of(contract: str) -> list[str]:
    """The lines of the contracts that a compiler sees."""
    bare = re.sub(r"/\*.*?\*/", "", contract, flags=re.DOTALL)
    return [line.strip() for line in bare.splitlines() if line.strip()]


def _harmless(line: str) -> bool:
    declaration = re.fullmatch(r"(?:static inline )?\w+ \w+\([\w\s*,]*\);", line)
    return line == '#include "sonnx_clip.h"' or declaration is not None


def with_smoke(unit: str, count: int) -> str:
    """The same file, in which each contract also claims, for a check alone, that its end is never reached.

    A prover that shows the claim has found the contracts or the axioms to contradict themselves.

    Args:
        unit: what `join` gives.
        count: how many contracts there are.
    """
    text, found = _CONTRACT_END.subn("\n    check ensures smoke: \\\\false; */\n", unit)
    if found != count:
        raise UserError(f"{found} contracts were found instead of {count}", "generated/c/acsl", _AGAIN)
    return text


def axioms(contract: str) -> tuple[str, ...]:
    """The names of what the contracts take for granted."""
    return tuple(_AXIOM.findall(contract))


# --- Runs Frama-C on the C of an element type: WP with the provers of the project, and guards by RTE --------


_Found = TypeVar("_Found")

INSTALL = "install it: apt-get install --no-install-recommends frama-c-base"
SECONDS, SMOKE_SECONDS = 10, 1  # for a goal; a smoke claim is false, and every prover uses its time
WHOLE = 300  # seconds for a run of Frama-C

# x86_64: int has 32 bits, size_t 64. NaN and infinity are values like any other. An unsigned index that
# wraps around is an error here, although C allows it.
OPTIONS = (
    "-machdep", "x86_64", "-wp", "-wp-rte", "-warn-unsigned-overflow", "-warn-special-float", "none",
    "-wp-run-all-provers", "-wp-cache", "none",
)  # fmt: skip


@dataclass(frozen=True)
class FramaC:
    """Frama-C with the project's provers.

    Args:
        version: what it says of itself.
        config: Why3's configuration for it.
        provers: whom WP asks.
        jobs: how many it asks at once.
    """

    version: str
    config: Path
    provers: tuple[Prover, ...]
    jobs: int

    def command(self, unit: Path, folder: Path, seconds: int, *more: str) -> list[str]:
        """How Frama-C is asked about a file; its reports and its session go into `folder`."""
        provers = ",".join(f"{p.name}:{p.version}" for p in self.provers)
        return [
            "env", f"WHY3CONFIG={self.config}", "frama-c", *OPTIONS, "-wp-prover", provers,
            "-wp-timeout", str(seconds), "-wp-par", str(self.jobs), "-wp-session", str(folder / "session"),
            "-wp-report-json", str(folder / "goals.json"), *more, str(unit),
            "-then", "-report-csv", str(folder / "properties.csv"),
        ]  # fmt: skip


def find_frama_c(why3: Why3, provers: Sequence[Prover], build: Path, jobs: int) -> FramaC:
    """Frama-C as it is installed; UserError if it is missing or does not run."""
    version = version_of(("frama-c", "-version"), INSTALL)
    if not re.match(r"\d+\.", version):
        raise UserError("frama-c does not say its version", todo=f"it said: {version[:200]!r}; {INSTALL}")
    config = (build / "frama-c" / "why3.conf").absolute()
    write_whole(config, configuration(why3.config.read_text(encoding="utf-8")))
    return FramaC(version, config, tuple(provers), jobs)


def configuration(text: str) -> str:
    """Why3's configuration of the project, for Frama-C.

    Frama-C does not say where the theories are that the drivers name, so a load path does. And Z3 is to keep
    to the instances that patterns ask for: left to itself it does not come to an end in WP's memory model.
    """
    for old, new in (
        ("[main]\n", f'[main]\nloadpath = "{repo_file("why3")}"\n'),
        ('"z3 -smt2 ', '"z3 -smt2 auto_config=false '),
    ):
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
    whole: float = WHOLE,
) -> OfType:
    """What Frama-C shows of the C of an element type, as generated/ has it.

    Args:
        tool: Frama-C.
        etype: the element type.
        root: the checkout whose generated/ it is; this one, if None.
        seconds: for a goal.
        whole: for a run of Frama-C, of which there are two.

    Raises:
        UserError: a file is missing, or the C is not one that the contracts fit.
    """
    begun = time.monotonic()
    texts = {
        path: _text(root or repo_root(), path) for path in (HEADER, c_path(etype), contract_path(etype), LOOP)
    }
    if "/*@" in texts[HEADER] or "//@" in texts[HEADER]:
        todo = "run: sonnx-clip generate"
        raise UserError("the header carries an annotation, which Frama-C would believe", HEADER, todo)
    contract = texts[contract_path(etype)]
    unit = join(contract, texts[LOOP], texts[c_path(etype)], c_path(etype))
    smoke = with_smoke(unit, len(functions(etype)))
    words: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        for folder, text in (("proof", unit), ("smoke", smoke)):
            (Path(name) / folder).mkdir()
            write_whole(Path(name) / folder / "unit.c", text)
            write_whole(Path(name) / folder / "sonnx_clip.h", texts[HEADER])
        proof, again = Path(name) / "proof", Path(name) / "smoke"
        words += _run(tool, proof, (seconds, whole))
        words += _run(tool, again, (SMOKE_SECONDS, whole), "-wp-prop", "smoke")
        goals = _read(read_goals, proof / "goals.json", words)
        properties = _read(read_properties, proof / "properties.csv", words)
        smoked = _read(read_smoke, again / "goals.json", words)
    return OfType(
        type=etype.id,
        files={path: digest_of(text) for path, text in texts.items()},
        goals=goals,
        properties=properties,
        smoke=smoked,
        taken=axioms(contract),
        words=tuple(dict.fromkeys(words)),
        seconds=round(time.monotonic() - begun, 3),
    )


def _read(reader: Callable[[Path], tuple[_Found, ...]], file: Path, words: list[str]) -> tuple[_Found, ...]:
    """What a report says; nothing, and words about it, where it cannot be read."""
    try:
        return reader(file)
    except UnreadableError as error:
        words.append(str(error))
        return ()


def _run(tool: FramaC, folder: Path, limits: tuple[int, float], *more: str) -> list[str]:
    """Run Frama-C, with seconds for a goal and for all; returns its words where something went wrong."""
    seconds, whole = limits
    asked = tool.command(folder / "unit.c", folder, seconds, *more)
    done = run_limited(asked, whole, environment=LARGE_PAGES, together=True)
    words = list(trouble(done.text))
    if done.killed:
        words.append(f"it did not end within {whole} s")
    elif done.status != 0:
        words.append(f"it ended with exit status {done.status}: {done.text.strip()[-300:]}")
    return words


def _text(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"it cannot be read: {error}", path, "run: sonnx-clip generate") from error
