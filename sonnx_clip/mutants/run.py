"""`make mutants`: judges every mutant, and writes spec/measured/mutants.json and docs/mutants.md.

Results are kept in a journal, build/mutants.sqlite, so that an interrupted run resumes.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rich.console import Console

from sonnx_clip.backends.templating import template
from sonnx_clip.mutants.claim_judge import ClaimJudge, proved_equivalent
from sonnx_clip.mutants.kernel_mutants import kernel_mutants, killer, vectors
from sonnx_clip.mutants.yaml_mutants import YamlMutant, yaml_mutants
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts, make_folder, write_whole
from sonnx_clip.root.folders import checkout, repo_file
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import progress
from sonnx_clip.spec.operators import DEFAULT_OPERATOR, specification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from sonnx_clip.mutants import Mutant
    from sonnx_clip.spec import Spec

RECORD, PAGE, REASONS = "spec/measured/mutants.json", "docs/mutants.md", "spec/mutants_reasons.txt"

Outcome: TypeAlias = Literal["equivalent", "reason", "open"]


class Survivor(Stored):
    """A mutant that nothing kills: proved equivalent, kept for a person's reason, or open."""

    kind: str
    name: str
    change: str
    outcome: Outcome
    reason: str = ""


class MutantsRecord(Stored):
    """A whole run.

    Args:
        mutated_sha256: the digest of the conditions and kernels that were mutated.
        killed: for each section of the YAML and each sort of kernel, how many mutants an obligation or vector
            kills, without their element types.
        survivors: the others.
    """

    mutated_sha256: str
    killed: dict[str, dict[str, int]]
    survivors: tuple[Survivor, ...]

    def count(self, outcome: Outcome, kind: str = "") -> int:
        """How many mutants have an outcome, of one kind or of all."""
        return sum(s.outcome == outcome and kind in ("", s.kind) for s in self.survivors)

    def mutants_by_kind(self) -> Counter[str]:
        """How many mutants there were, killed or not."""
        killed = Counter({kind: sum(by.values()) for kind, by in self.killed.items()})
        return killed + Counter(s.kind for s in self.survivors)

    @property
    def closing_line(self) -> str:
        """The score in one line."""
        total = self.mutants_by_kind().total()
        return (
            f"{total} mutants: {total - len(self.survivors)} killed, "
            f"{self.count('equivalent')} proved equivalent, {self.count('reason')} kept for a "
            f"written reason, {self.count('open')} open"
        )


def page(record: MutantsRecord) -> str:
    """docs/mutants.md."""
    return template("mutants.md.j2").render(record=record, RECORD=RECORD, REASONS=REASONS)


def reasons() -> dict[str, str]:
    """The written reasons for survivors, each by its pattern of ``kind | name | change``."""
    rows = (
        line.partition(" :: ")
        for line in repo_file(REASONS).read_text(encoding="utf-8").splitlines()
    )
    return {pattern: reason for pattern, _, reason in rows if reason}


def survivor(mutant: Mutant, *, equivalent: bool = False) -> Survivor:
    """A mutant that nothing kills, with the reason that fits it."""
    kind, name, change = mutant.kind, mutant.name, mutant.change
    plain = f"{kind} | {name} | {change}".replace("[", "(").replace("]", ")")
    reason = (
        ""
        if equivalent
        else next((why for p, why in reasons().items() if fnmatchcase(plain, p)), "")
    )
    outcome: Outcome = "equivalent" if equivalent else "reason" if reason else "open"
    return Survivor(kind=kind, name=name, change=change, outcome=outcome, reason=reason)


class Journal:
    """Results by the digest of the question, in an SQLite file; each is stored at once."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS results (question TEXT PRIMARY KEY, result TEXT)"
        )

    def result(
        self, question: Iterable[str], compute: Callable[..., Any], *arguments: object
    ) -> Any:
        """The kept result of a question, or the computed one, which is kept."""
        key = digest_of_parts(question)
        for (known,) in self._db.execute("SELECT result FROM results WHERE question = ?", [key]):
            return json.loads(known)
        result = compute(*arguments)
        self._db.execute("INSERT INTO results VALUES (?, ?)", [key, json.dumps(result)])
        return result


def all_mutants(spec: Spec) -> list[Mutant]:
    """Every mutant of the conditions and kernels."""
    return [*yaml_mutants(spec), *kernel_mutants(spec)]


def digest_of(mutants: Sequence[Mutant]) -> str:
    """The digest of what is mutated: prose and headers do not count."""
    return digest_of_parts(f"{m.kind} {m.name} {m.change}" for m in mutants)


def run_mutants(
    spec: Spec, mutants: Sequence[Mutant], journal: Journal, build: Path
) -> MutantsRecord:
    """Judge mutants: those of the YAML by claims, then by both provers; those of kernels by vectors."""
    inputs = digest_of_parts(mutant.key for mutant in yaml_mutants(spec))
    inputs += digest_of_parts(repr(vectors(etype.id)) for etype in spec.element_types if etype.bits)
    judge = ClaimJudge(spec)
    killed: dict[str, Counter[str]] = defaultdict(Counter)
    left: list[Mutant] = []
    with progress("mutants", len(mutants), "mutants", Console(stderr=True)) as show:
        for count, mutant in enumerate(mutants, 1):
            find = judge.killer if isinstance(mutant, YamlMutant) else killer
            by = journal.result([inputs, repr(mutant)], find, mutant)
            # Obligations and vectors begin with an element type.
            killed[mutant.kind].update([by.partition(".")[2]] if by else [])
            left += [] if by else [mutant]
            show(count, "")
    asked = {mutant.key: mutant for mutant in left if isinstance(mutant, YamlMutant)}
    equal = journal.result([inputs, *asked], proved_equivalent, spec, asked.values(), build)
    return MutantsRecord(
        mutated_sha256=digest_of(mutants),
        killed={kind: dict(by.most_common()) for kind, by in killed.items()},
        survivors=tuple(survivor(mutant, equivalent=mutant.key in equal) for mutant in left),
    )


def main() -> int:
    """Run all mutants, write the record and the page; 1 if a mutant is open."""
    root, spec = checkout(), specification(DEFAULT_OPERATOR)
    try:
        journal = Journal(root / "build/mutants.sqlite")
        record = run_mutants(spec, all_mutants(spec), journal, root / "build")
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    write_whole(root / RECORD, f"{record.model_dump_json(indent=1)}\n")
    write_whole(root / PAGE, page(record))
    print(record.closing_line)
    return 1 if record.count("open") else 0


if __name__ == "__main__":
    raise SystemExit(main())
