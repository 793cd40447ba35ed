"""The record of the last complete run over all mutants, spec/measured/mutants.json, and its page."""

from __future__ import annotations

import json
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RECORD, PAGE, REASONS = "spec/measured/mutants.json", "docs/mutants.md", "spec/mutants_reasons.txt"

Outcome: TypeAlias = Literal["killed", "equivalent", "reason", "open"]


class Survivor(BaseModel):
    """A mutant that nothing kills: proved equivalent, kept for a person's reason, or open."""

    model_config = ConfigDict(frozen=True)

    kind: str
    name: str
    change: str
    outcome: Outcome
    reason: str = ""


class KindOfMutant(BaseModel):
    """The counts of one kind of mutant: a section of the YAML, or one sort of kernel.

    Args:
        kind: ``cases`` or ``NumPy kernels``.
        mutants: how many there are.
        killed: how many an obligation or a run kills.
        by: how many each of them kills; at most five, most first.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    mutants: int
    killed: int
    by: dict[str, int]


class MutantsRecord(BaseModel):
    """A whole run.

    Args:
        tool: the version of sonnx-clip.
        mutated_sha256: the digest of the conditions and kernels that were mutated.
        kinds: counts by kind.
        survivors: every mutant that is not killed.
        obligations: how many obligations the YAML has.
        evaluated: how many of their claims were evaluated on the mutants, each in one element type of a kind.
        never_false: those that no mutant falsifies, as patterns of ids.
    """

    model_config = ConfigDict(frozen=True)

    tool: str
    mutated_sha256: str
    kinds: tuple[KindOfMutant, ...]
    survivors: tuple[Survivor, ...]
    obligations: int
    evaluated: int
    never_false: tuple[str, ...]

    def count(self, outcome: Outcome) -> int:
        """How many mutants have an outcome."""
        if outcome == "killed":
            return sum(kind.killed for kind in self.kinds)
        return sum(survivor.outcome == outcome for survivor in self.survivors)

    def dump(self) -> str:
        """As JSON, with a line for each survivor."""
        data = self.model_dump(mode="json")
        rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in data.pop("survivors"))
        head = json.dumps(data, ensure_ascii=False, indent=1).removesuffix("\n}")
        return f'{head},\n "survivors": [\n  {rows}\n ]\n}}\n'


def read_mutants() -> MutantsRecord:
    """The record of the last complete run."""
    return MutantsRecord.model_validate_json(repo_file(RECORD).read_text(encoding="utf-8"))


def reasons() -> list[tuple[str, str]]:
    """The written reasons for survivors, each with its pattern of ``kind | name | change``."""
    found = []
    for line in repo_file(REASONS).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.partition(" :: ")
            found.append((pattern.strip(), reason.strip()))
    return found


def survivor(
    kind: str, name: str, change: str, *, equivalent: bool, known: Sequence[tuple[str, str]]
) -> Survivor:
    """A mutant that nothing kills, with the reason that fits it."""
    plain = f"{kind} | {name} | {change}".replace("[", "(").replace("]", ")")
    reason = "" if equivalent else next((why for pattern, why in known if fnmatchcase(plain, pattern)), "")
    outcome: Outcome = "equivalent" if equivalent else "reason" if reason else "open"
    return Survivor(kind=kind, name=name, change=change, outcome=outcome, reason=reason)


def as_patterns(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids with the same goal as one pattern: ``int8,uint8.nan_out``."""
    found: dict[str, list[str]] = {}
    for id_ in ids:
        subject, _, goal = id_.partition(".")
        found.setdefault(goal, []).append(subject)
    return tuple(f"{','.join(subjects)}.{goal}" for goal, subjects in sorted(found.items()))


def closing_line(record: MutantsRecord) -> str:
    """The score in one line."""
    never = sum(pattern.partition(".")[0].count(",") + 1 for pattern in record.never_false)
    return (
        f"{sum(kind.mutants for kind in record.kinds)} mutants: {record.count('killed')} killed, "
        f"{record.count('equivalent')} proved equivalent, {record.count('reason')} kept for a "
        f"written reason, {record.count('open')} open; of {record.evaluated} evaluated claims "
        f"{record.evaluated - never} are false for some mutant"
    )


def page(record: MutantsRecord) -> str:
    """docs/mutants.md."""
    return "\n".join([*_head(record), *_table(record), *_survivors(record), *_obligations(record)]) + "\n"


def _head(record: MutantsRecord) -> list[str]:
    return [
        "# Mutants",
        "",
        f"<!-- Rendered from {RECORD} by `make mutants`. Do not edit. -->",
        "",
        "Which small mistakes do the obligations and vectors notice? `make mutants` changes the conditions",
        "of spec/clip.yaml, the NumPy kernels and the C kernels, one place at a time: a comparison, a",
        "connective, a branch, an operand, a constant, a step. A mutant of the YAML is *killed* by an",
        "obligation whose claim is false for some values, a mutant of a kernel by a vector. Z3 and cvc5 are",
        "asked whether a surviving condition is *equivalent* to the original. Every other survivor needs a",
        f"reason in {REASONS}. The run resumes from build/mutants.jsonl.",
        "",
        f"    {closing_line(record)}",
        "",
    ]


def _table(record: MutantsRecord) -> list[str]:
    lines = ["| kind | mutants | killed | most often by | equivalent | reason | open |",
             "| --- | ---: | ---: | --- | ---: | ---: | ---: |"]  # fmt: skip
    for kind in record.kinds:
        outcomes = Counter(s.outcome for s in record.survivors if s.kind == kind.kind)
        by = ", ".join(f"{name} {count}" for name, count in list(kind.by.items())[:3])
        numbers = " | ".join(str(outcomes[o]) for o in ("equivalent", "reason", "open"))
        lines.append(f"| {kind.kind} | {kind.mutants} | {kind.killed} | {by} | {numbers} |")
    return [*lines, ""]


def _survivors(record: MutantsRecord) -> list[str]:
    lines = ["## Survivors with a reason", ""]
    counts = Counter(s.reason or "open" for s in record.survivors if s.outcome != "equivalent")
    lines += [f"- {reason} ({count})" for reason, count in counts.items()]
    lines += ["", "## Equivalent mutants", "", "Z3 and cvc5 both prove that these mean the same.", ""]
    names = Counter(s.name for s in record.survivors if s.outcome == "equivalent")
    lines.append(", ".join(f"`{name}` ({count})" for name, count in sorted(names.items())) or "None.")
    return [*lines, "", f"Each change is in {RECORD}.", ""]


def _obligations(record: MutantsRecord) -> list[str]:
    return [
        "## Obligations that no mutant falsifies",
        "",
        f"The YAML has {record.obligations} obligations. {record.evaluated} of their claims are evaluated,",
        "each in the first element type of its kind (real, signed, unsigned, float); the other types of the",
        "kind have the same statement. Not evaluated are claims in hand-written WhyML, claims on",
        "restrictions, and claims computed from the meaning (two readings compared, readings by class).",
        "No mutant falsifies:",
        "",
        ", ".join(f"`{pattern}`" for pattern in record.never_false) or "None.",
    ]  # fmt: skip
