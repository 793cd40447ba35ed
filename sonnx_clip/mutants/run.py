"""`make mutants`: judges every mutant, and writes spec/measured/mutants.json and docs/mutants.md.

Results are kept in a journal, build/mutants.sqlite, so that an interrupted run resumes.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rich.console import Console

from sonnx_clip.backends.templating import template
from sonnx_clip.mutants.claim_judge import ClaimJudge, proved_equivalent
from sonnx_clip.mutants.kernel_mutants import kernel_mutants, killer, vectors
from sonnx_clip.mutants.rewrite_mutants import (
    KIND as REWRITES,
)
from sonnx_clip.mutants.rewrite_mutants import (
    RewriteMutant,
    killer_of_rewrite,
    rewrite_mutants,
    rewrites_proved_equivalent,
)
from sonnx_clip.mutants.yaml_mutants import YamlMutant, yaml_mutants
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts, write_whole
from sonnx_clip.root.folders import checkout, repo_file
from sonnx_clip.root.store import Store, StoreKind
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
        mutated_sha256: the digest of the conditions, kernels and rewrites that were mutated.
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
        counts: Counter[str] = Counter(s.kind for s in self.survivors)
        for kind, killed in self.killed.items():
            counts[kind] += sum(killed.values())
        return +counts  # without kinds that have none

    @property
    def closing_line(self) -> str:
        """The score in one line."""
        total = self.mutants_by_kind().total()
        killed = total - len(self.survivors)
        equivalent = self.count("equivalent")
        with_reason = self.count("reason")
        return (
            f"{total} mutants: {killed} killed, {equivalent} proved equivalent,"
            f" {with_reason} kept for a written reason, {self.count('open')} open"
        )


def page(record: MutantsRecord) -> str:
    """docs/mutants.md."""
    return template("mutants.md.j2").render(record=record, RECORD=RECORD, REASONS=REASONS)


def reasons() -> dict[str, str]:
    """The written reasons for survivors, each by its pattern of ``kind | name | change``."""
    by_pattern = {}
    for line in repo_file(REASONS).read_text(encoding="utf-8").splitlines():
        pattern, _, reason = line.partition(" :: ")
        if reason:  # other lines are comments
            by_pattern[pattern] = reason
    return by_pattern


def survivor(mutant: Mutant, *, equivalent: bool = False) -> Survivor:
    """A mutant that nothing kills, with the reason that fits it."""
    # A proof needs no reason beside it.
    reason = "" if equivalent else _written_reason(mutant)
    outcome: Outcome = "reason" if reason else "open"
    if equivalent:
        outcome = "equivalent"
    return Survivor(
        kind=mutant.kind,
        name=mutant.name,
        change=mutant.change,
        outcome=outcome,
        reason=reason,
    )


def _written_reason(mutant: Mutant) -> str:
    """The first reason whose pattern fits a mutant; empty if none does."""
    text = f"{mutant.kind} | {mutant.name} | {mutant.change}"
    # Brackets have a meaning in patterns.
    plain = text.replace("[", "(").replace("]", ")")
    for pattern, reason in reasons().items():
        if fnmatchcase(plain, pattern):
            return reason
    return ""


_KIND = StoreKind(
    noun="journal of mutants",
    application=0x736E786D,  # "snxm"
    format=1,
    if_other="remove the file and run again",
    if_damaged="remove the file and run again",
    is_durable=False,
)


class Journal:
    """Results by the digest of the question, in an SQLite file; each is stored at once."""

    def __init__(self, path: Path) -> None:
        self._store = Store(path, _KIND)

    def result(
        self,
        question: Iterable[str],
        compute: Callable[..., Any],
        *arguments: object,
    ) -> Any:
        """The kept result of a question, or the computed one, which is kept."""
        key = digest_of_parts(question)
        row = self._store.newest(key, "a result")
        if row is not None:
            return json.loads(row.value)
        result = compute(*arguments)
        self._store.add(key, json.dumps(result))
        return result


def all_mutants(spec: Spec) -> list[Mutant]:
    """Every mutant of the conditions, kernels and rewrites."""
    return [*yaml_mutants(spec), *kernel_mutants(spec), *rewrite_mutants()]


def mutants_digest(mutants: Sequence[Mutant]) -> str:
    """The digest of what is mutated: prose and headers do not count."""
    return digest_of_parts(f"{m.kind} {m.name} {m.change}" for m in mutants)


@dataclass(frozen=True)
class Judges:
    """What judges mutants; results are kept in a journal.

    Args:
        spec: the specification of Clip.
        claims: the judge of mutants of its conditions.
        inputs: a digest of what mutants of its conditions and of kernels are judged by.
        journal: the journal.
        build: the build folder, for Why3.
    """

    spec: Spec
    claims: ClaimJudge
    inputs: str
    journal: Journal
    build: Path

    def killer(self, mutant: Mutant) -> str:
        """The id of an obligation or vector that kills a mutant; empty if it survives."""
        # A rewrite is judged without the claims and vectors of which `inputs` is the digest.
        if isinstance(mutant, RewriteMutant):
            by = self.journal.result(mutant.question, killer_of_rewrite, mutant)
        elif isinstance(mutant, YamlMutant):
            # By its whole text: the key has no changed condition or source.
            by = self.journal.result([self.inputs, repr(mutant)], self.claims.killer, mutant)
        else:
            by = self.journal.result([self.inputs, repr(mutant)], killer, mutant)
        return str(by)

    def proved_equivalent(self, survivors: Sequence[Mutant]) -> frozenset[str]:
        """The keys of the survivors that both provers prove equivalent: none of a kernel."""
        conditions = {m.key: m for m in survivors if isinstance(m, YamlMutant)}
        rewrites = {m.key: m for m in survivors if isinstance(m, RewriteMutant)}
        # Together, since one run of Why3 serves all of them.
        keys = self.journal.result(
            [self.inputs, *conditions],
            proved_equivalent,
            self.spec,
            conditions.values(),
            self.build,
        )
        parts_of_question = (mutant.question for mutant in rewrites.values())
        keys += self.journal.result(
            [REWRITES, *chain.from_iterable(parts_of_question)],
            rewrites_proved_equivalent,
            rewrites.values(),
            self.build,
        )
        return frozenset(keys)


def judges_of(spec: Spec, journal: Journal, build: Path) -> Judges:
    """The judges of the mutants of a specification, of kernels and of rewrites."""
    types = (etype for etype in spec.element_types if etype.bits)
    inputs = digest_of_parts(mutant.key for mutant in yaml_mutants(spec))
    inputs += digest_of_parts(repr(vectors(etype.id)) for etype in types)
    return Judges(spec, ClaimJudge(spec), inputs, journal, build)


def run_mutants(mutants: Sequence[Mutant], judges: Judges) -> MutantsRecord:
    """Judge mutants: by obligations or vectors, then by both provers."""
    killed: dict[str, Counter[str]] = defaultdict(Counter)
    survivors: list[Mutant] = []
    with progress("mutants", len(mutants), "mutants", Console(stderr=True)) as show:
        for count, mutant in enumerate(mutants, 1):
            by = judges.killer(mutant)
            by_name = killed[mutant.kind]  # empty if nothing kills a mutant of the kind
            if by:
                # Ids begin with the element type, or with `rewrites`.
                _, _, name = by.partition(".")
                by_name[name] += 1
            else:
                survivors.append(mutant)
            show(count, "")
    equivalent = judges.proved_equivalent(survivors)
    return MutantsRecord(
        mutated_sha256=mutants_digest(mutants),
        killed={kind: dict(by.most_common()) for kind, by in killed.items()},
        survivors=tuple(survivor(m, equivalent=m.key in equivalent) for m in survivors),
    )


def main() -> int:
    """Run all mutants, write the record and the page; 1 if a mutant is open."""
    root, spec = checkout(), specification(DEFAULT_OPERATOR)
    try:
        journal = Journal(root / "build/mutants.sqlite")
        judges = judges_of(spec, journal, root / "build")
        record = run_mutants(all_mutants(spec), judges)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    write_whole(root / RECORD, f"{record.model_dump_json(indent=1)}\n")
    write_whole(root / PAGE, page(record))
    print(record.closing_line)
    return 1 if record.count("open") else 0


if __name__ == "__main__":
    raise SystemExit(main())
