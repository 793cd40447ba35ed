"""`make mutants`: makes every mutant, finds what kills it, and writes the record and the page.

Results are kept in a journal, build/mutants.jsonl, so that an interrupted run resumes.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sonnx_clip import __version__
from sonnx_clip.mutants.kernel_mutants import KernelMutant, kernel_mutants, killer, vectors
from sonnx_clip.mutants.record import (
    PAGE,
    RECORD,
    MutantsRecord,
    Survivor,
    closing_line,
    counted,
    page,
    survivor,
)
from sonnx_clip.mutants.yaml_mutants import ClaimJudge, proved_equivalent, yaml_mutants
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts, make_folder, write_whole
from sonnx_clip.root.folders import checkout
from sonnx_clip.root.terminal import progress
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from sonnx_clip.mutants.yaml_mutants import YamlMutant
    from sonnx_clip.spec import Spec


class Journal:
    """Results by the digest of the question; each line is written as soon as it is known."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self._path = path
        self._known: dict[str, Any] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
            try:
                key, value = json.loads(line)
            except ValueError:
                continue  # the line at which a run was killed
            self._known[key] = value

    def result(self, question: Sequence[str], compute: Callable[..., Any], *arguments: object) -> Any:
        """The kept result of a question, or the computed one, which is kept."""
        key = digest_of_parts(question)
        if key not in self._known:
            self._known[key] = compute(*arguments)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps([key, self._known[key]], ensure_ascii=False)}")
        return self._known[key]


def all_mutants(spec: Spec) -> list[YamlMutant | KernelMutant]:
    """Every mutant of the conditions and kernels."""
    return [*yaml_mutants(spec), *kernel_mutants(spec)]


def digest_of(mutants: Iterable[YamlMutant | KernelMutant]) -> str:
    """The digest of what is mutated: neither prose nor headers count."""
    return digest_of_parts([f"{m.kind} {m.name} {m.change}" for m in mutants])


def run_conditions(
    spec: Spec, mutants: Sequence[YamlMutant], journal: Journal, build: Path, console: Console
) -> tuple[list[tuple[str, str]], list[Survivor]]:
    """Judge mutants of the YAML by claims, then by both provers.

    Returns:
        The kind and the killer of each, which may be empty, and the survivors.
    """
    state = digest_of_parts([mutant.key for mutant in yaml_mutants(spec)])
    judge = ClaimJudge(spec)
    killers, left = [], []
    with progress("conditions", len(mutants), "mutants", console) as show:
        for count, mutant in enumerate(mutants):
            by = journal.result([state, "claims", mutant.key], judge.killer, mutant)
            killers.append((mutant.section, by.partition(".")[2]))
            if not by:
                left.append(mutant)
            show(count + 1, "")
    question = [state, "both provers", *(mutant.key for mutant in left)]
    equal = journal.result(question, proved_equivalent, spec, left, build)
    return killers, [survivor(m.section, m.name, m.change, equivalent=m.key in equal) for m in left]


def run_kernels(
    spec: Spec, mutants: Sequence[KernelMutant], journal: Journal, console: Console
) -> tuple[list[tuple[str, str]], list[Survivor]]:
    """Run mutants of kernels on the vectors; returns what `run_conditions` does."""
    state = digest_of_parts([repr(vectors(e.id)) for e in spec.element_types if e.bits])
    killers, left = [], []
    with progress("kernels", len(mutants), "mutants", console) as show:
        for count, mutant in enumerate(mutants):
            by = journal.result([state, mutant.key], killer, mutant)
            killers.append((mutant.kind, by.partition(" ")[0].rstrip(":")))
            if not by:
                left.append(survivor(mutant.kind, mutant.name, mutant.change))
            show(count + 1, "")
    return killers, left


def main() -> int:
    """Run all mutants, write the record and the page; 1 if a mutant is open."""
    ArgumentParser(prog="python -m sonnx_clip.mutants", description=__doc__).parse_args()
    root, spec, console = checkout(), load_spec(), Console(stderr=True)
    try:
        journal = Journal(root / "build/mutants.jsonl")
        conditions = run_conditions(spec, list(yaml_mutants(spec)), journal, root / "build", console)
        kernels = run_kernels(spec, list(kernel_mutants(spec)), journal, console)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    record = MutantsRecord(
        tool=f"sonnx-clip {__version__}",
        mutated_sha256=digest_of(all_mutants(spec)),
        kinds=counted([*conditions[0], *kernels[0]]),
        survivors=(*conditions[1], *kernels[1]),
    )
    write_whole(root / RECORD, record.dump())
    write_whole(root / PAGE, page(record))
    print(closing_line(record))
    return 1 if record.count("open") else 0
