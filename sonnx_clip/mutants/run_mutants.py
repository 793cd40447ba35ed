"""`make mutants`: makes every mutant, notes what kills it, and writes the record and the page.

Results are kept in a journal, build/mutants.jsonl, so that an interrupted run resumes.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sonnx_clip import __version__
from sonnx_clip.claims.all_claims import every_claim
from sonnx_clip.mutants import kernel_mutants
from sonnx_clip.mutants.mutants_record import (
    PAGE,
    RECORD,
    KindOfMutant,
    MutantsRecord,
    Survivor,
    as_patterns,
    closing_line,
    page,
    reasons,
    survivor,
)
from sonnx_clip.mutants.yaml_mutants import ClaimJudge, key_of, proved_equivalent, yaml_mutants
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts, make_folder, write_whole
from sonnx_clip.root.folders import checkout
from sonnx_clip.root.terminal import progress
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.mutants.yaml_mutants import YamlMutant
    from sonnx_clip.spec import Spec

_MOST = 5  # of the obligations or vectors that kill most, in the record


class Journal:
    """Results by the digest of the question; each line is written as soon as it is known."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self.known: dict[str, Any] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
            try:
                key, value = json.loads(line)
            except ValueError:
                continue  # the line at which a run was killed
            self.known[key] = value
        self._file = path.open("a", encoding="utf-8")

    def note(self, key: str, value: Any) -> Any:
        """Keep a result."""
        self.known[key] = value
        self._file.write(json.dumps([key, value], ensure_ascii=False) + "\n")
        self._file.flush()
        return value

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def mutated_digest(spec: Spec) -> str:
    """The digest of the conditions and kernels that are mutated: neither prose nor headers count."""
    sources = [f"{m.area} {m.name} {m.change}" for m in _kernels(spec)]
    return digest_of_parts([_digest_of_conditions(spec), *sources])


def _digest_of_conditions(spec: Spec) -> str:
    return digest_of_parts([key_of(mutant) for mutant in yaml_mutants(spec)])


def _kernels(spec: Spec) -> list[kernel_mutants.KernelMutant]:
    return [*kernel_mutants.numpy_kernels(spec), *kernel_mutants.c_kernels(spec)]


class MutantsRun:
    """One run over all mutants.

    Args:
        spec: the specification.
        build: the folder of the journal and of Why3's configuration.
        console: where progress is shown.
    """

    def __init__(self, spec: Spec, build: Path, console: Console) -> None:
        self.spec, self.build, self.console = spec, build, console
        self.journal = Journal(build / "mutants.jsonl")
        self._state = _digest_of_conditions(spec)
        self._known = reasons()

    def record(self) -> MutantsRecord:
        """Run every mutant that is not in the journal."""
        conditions = list(yaml_mutants(self.spec))
        judge, kinds, survivors = self.of_conditions(conditions)
        of_kernels, surviving_kernels = self.of_kernels(_kernels(self.spec))
        return MutantsRecord(
            tool=f"sonnx-clip {__version__}",
            mutated_sha256=mutated_digest(self.spec),
            kinds=(*kinds, *of_kernels),
            survivors=(*survivors, *surviving_kernels),
            obligations=sum(1 for _ in every_claim(self.spec)),
            evaluated=len(judge.judging),
            never_false=as_patterns(id_ for id_ in judge.judging if id_ not in judge.killed),
        )

    def of_conditions(
        self, mutants: list[YamlMutant]
    ) -> tuple[ClaimJudge, list[KindOfMutant], list[Survivor]]:
        """Judge mutants of the YAML: by claims, then by both provers."""
        judge = ClaimJudge(self.spec, set())
        killers: dict[str, str] = {}
        with progress("conditions", len(mutants), "mutants", self.console) as show:
            for count, mutant in enumerate(mutants):
                key = digest_of_parts([self._state, "claims", key_of(mutant)])
                if key not in self.journal.known:
                    self.journal.note(key, judge.killers(mutant))
                found = self.journal.known[key]
                judge.killed.update(found)
                if found:
                    killers[key_of(mutant)] = found[0].partition(".")[2]
                show(count + 1, "")
        left = [m for m in mutants if key_of(m) not in killers]
        key = digest_of_parts([self._state, "both provers", *map(key_of, left)])
        if key not in self.journal.known:
            with progress("equivalence", 4 * len(left), "questions", self.console) as show:
                found = sorted(proved_equivalent(self.spec, left, self.build, lambda n: show(n, "")))
            self.journal.note(key, found)
        equal = set(self.journal.known[key])
        survivors = [
            survivor(m.section, m.name, m.change, equivalent=key_of(m) in equal, known=self._known)
            for m in left
        ]
        return judge, _counted((m.section, killers.get(key_of(m))) for m in mutants), survivors

    def of_kernels(
        self, mutants: list[kernel_mutants.KernelMutant]
    ) -> tuple[list[KindOfMutant], list[Survivor]]:
        """Run mutants of kernels on vectors and special values."""
        every = [kernel_mutants.vectors(e.id) for e in self.spec.element_types if e.bits]
        state = digest_of_parts([repr(vectors) for vectors in every])
        found: list[tuple[str, str | None]] = []
        survivors = []
        with progress("kernels", len(mutants), "mutants", self.console) as show:
            for count, mutant in enumerate(mutants):
                source = mutant.source.partition("*/")[2] or mutant.source  # without the generated header
                key = digest_of_parts([state, mutant.area, mutant.name, mutant.change, source])
                if key not in self.journal.known:
                    self.journal.note(key, kernel_mutants.found_by(self.spec, mutant) or ["", ""])
                by = self.journal.known[key][0].split(" ")[0].rstrip(":")
                found.append((mutant.area, by or None))
                if not by:
                    survivors.append(
                        survivor(mutant.area, mutant.name, mutant.change, equivalent=False, known=self._known)
                    )
                show(count + 1, "")
        return _counted(found), survivors


def _counted(found: Any) -> list[KindOfMutant]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, by in found:
        counts[kind][by or ""] += 1
    return [
        KindOfMutant(
            kind=kind,
            mutants=counter.total(),
            killed=counter.total() - counter[""],
            by=dict([(name, n) for name, n in counter.most_common() if name][:_MOST]),
        )
        for kind, counter in counts.items()
    ]


def main() -> int:
    """Run all mutants, write the record and the page; 1 if a mutant is open."""
    ArgumentParser(prog="python -m sonnx_clip.mutants", description=__doc__).parse_args()
    root = checkout()
    try:
        run = MutantsRun(load_spec(), root / "build", Console(stderr=True))
        record = run.record()
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    run.journal.close()
    write_whole(root / RECORD, record.dump())
    write_whole(root / PAGE, page(record))
    print(closing_line(record))
    return 1 if record.count("open") else 0
