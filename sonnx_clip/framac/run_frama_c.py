"""Runs Frama-C on the C of an element type: WP with the provers of the project, and guards by RTE."""

from __future__ import annotations

import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sonnx_clip.backends.acsl import LOOP, contract_path, functions
from sonnx_clip.framac.frama_c_record import HEADER, OfType, c_path
from sonnx_clip.framac.unit import axioms, join, with_smoke
from sonnx_clip.framac.wp_report import UnreadableError, read_goals, read_properties, read_smoke, trouble
from sonnx_clip.root.digest import digest_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.paths import repo_file, repo_root
from sonnx_clip.root.run_program import LARGE_PAGES, run_limited, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.language import ElementType
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.tasks import Why3

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
