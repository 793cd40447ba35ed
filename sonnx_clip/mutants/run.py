"""`make mutants`: makes every mutant, finds what kills it, and writes the record and the page.

Results are kept in a journal, build/mutants.jsonl, so that an interrupted run resumes.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console

from sonnx_clip import __version__
from sonnx_clip.mutants.claim_judge import ClaimJudge, proved_equivalent
from sonnx_clip.mutants.kernel_mutants import KernelMutant, kernel_mutants, killer, vectors
from sonnx_clip.mutants.record import PAGE, RECORD, KindOfMutant, MutantsRecord, page, survivor
from sonnx_clip.mutants.yaml_mutants import YamlMutant, yaml_mutants
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts, make_folder, write_whole
from sonnx_clip.root.folders import checkout
from sonnx_clip.root.terminal import progress
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sonnx_clip.spec import Spec

Mutant: TypeAlias = YamlMutant | KernelMutant
_MOST = 5  # of the obligations or vectors that kill most, in the record


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


def all_mutants(spec: Spec) -> list[Mutant]:
    """Every mutant of the conditions and kernels."""
    return [*yaml_mutants(spec), *kernel_mutants(spec)]


def digest_of(mutants: Sequence[Mutant]) -> str:
    """The digest of what is mutated: neither prose nor headers count."""
    return digest_of_parts([f"{m.kind} {m.name} {m.change}" for m in mutants])


def run_mutants(
    spec: Spec, mutants: Sequence[Mutant], journal: Journal, build: Path, console: Console
) -> MutantsRecord:
    """Judge mutants: those of the YAML by claims, then by both provers; those of kernels by vectors."""
    conditions = digest_of_parts([mutant.key for mutant in yaml_mutants(spec)])
    inputs = digest_of_parts([repr(vectors(e.id)) for e in spec.element_types if e.bits])
    judge = ClaimJudge(spec)
    killers: dict[str, Counter[str]] = defaultdict(Counter)
    left: list[Mutant] = []
    with progress("mutants", len(mutants), "mutants", console) as show:
        for count, mutant in enumerate(mutants, 1):
            if isinstance(mutant, YamlMutant):
                by = journal.result([conditions, "claims", mutant.key], judge.killer, mutant)
                name = by.partition(".")[2]
            else:
                by = journal.result([inputs, mutant.key], killer, mutant)
                name = by.partition(" ")[0].rstrip(":")
            killers[mutant.kind].update([name] if by else [])
            left += [] if by else [mutant]
            show(count, "")
    asked = [mutant for mutant in left if isinstance(mutant, YamlMutant)]
    question = [conditions, "both provers", *(mutant.key for mutant in asked)]
    equal = journal.result(question, proved_equivalent, spec, asked, build)
    return MutantsRecord(
        tool=f"sonnx-clip {__version__}",
        mutated_sha256=digest_of(mutants),
        kinds=tuple(
            KindOfMutant(kind=kind, killed=by.total(), by=dict(by.most_common(_MOST)))
            for kind, by in killers.items()
        ),
        survivors=tuple(survivor(m.kind, m.name, m.change, equivalent=m.key in equal) for m in left),
    )


def main() -> int:
    """Run all mutants, write the record and the page; 1 if a mutant is open."""
    ArgumentParser(prog="python -m sonnx_clip.mutants", description=__doc__).parse_args()
    root, spec = checkout(), load_spec()
    try:
        journal = Journal(root / "build/mutants.jsonl")
        record = run_mutants(spec, all_mutants(spec), journal, root / "build", Console(stderr=True))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    write_whole(root / RECORD, record.dump())
    write_whole(root / PAGE, page(record))
    print(record.closing_line)
    return 1 if record.count("open") else 0
