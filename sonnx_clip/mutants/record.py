"""The record of the last complete run over all mutants, spec/measured/mutants.json, and its page."""

from __future__ import annotations

import json
from collections import Counter
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from sonnx_clip.backends.templating import template
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored

RECORD, PAGE, REASONS = "spec/measured/mutants.json", "docs/mutants.md", "spec/mutants_reasons.txt"

Outcome: TypeAlias = Literal["equivalent", "reason", "open"]


class Survivor(Stored):
    """A mutant that nothing kills: proved equivalent, kept for a person's reason, or open."""

    kind: str
    name: str
    change: str
    outcome: Outcome
    reason: str = ""


class KindOfMutant(Stored):
    """A section of the YAML, or one sort of kernel: how many mutants are killed, and by what most often."""

    kind: str
    killed: int
    by: dict[str, int]


class MutantsRecord(Stored):
    """A whole run. `mutated_sha256` is the digest of the conditions and kernels that were mutated."""

    tool: str
    mutated_sha256: str
    kinds: tuple[KindOfMutant, ...]
    survivors: tuple[Survivor, ...]

    def count(self, outcome: Outcome, kind: str = "") -> int:
        """How many mutants have an outcome, of one kind or of all."""
        return sum(s.outcome == outcome and kind in ("", s.kind) for s in self.survivors)

    @property
    def closing_line(self) -> str:
        """The score in one line."""
        killed = sum(kind.killed for kind in self.kinds)
        return (
            f"{killed + len(self.survivors)} mutants: {killed} killed, "
            f"{self.count('equivalent')} proved equivalent, {self.count('reason')} kept for a "
            f"written reason, {self.count('open')} open"
        )

    def dump(self) -> str:
        """As JSON, with a line for each survivor."""
        data = self.model_dump(mode="json")
        rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in data.pop("survivors"))
        head = json.dumps(data, ensure_ascii=False, indent=1).removesuffix("\n}")
        return f'{head},\n "survivors": [\n  {rows}\n ]\n}}\n'


def reasons() -> list[tuple[str, str]]:
    """The written reasons for survivors, each with its pattern of ``kind | name | change``."""
    lines = repo_file(REASONS).read_text(encoding="utf-8").splitlines()
    rows = (line.partition(" :: ") for line in lines if line.strip() and not line.startswith("#"))
    return [(pattern.strip(), reason.strip()) for pattern, _, reason in rows]


def survivor(kind: str, name: str, change: str, *, equivalent: bool = False) -> Survivor:
    """A mutant that nothing kills, with the reason that fits it."""
    plain = f"{kind} | {name} | {change}".replace("[", "(").replace("]", ")")
    reason = "" if equivalent else next((why for p, why in reasons() if fnmatchcase(plain, p)), "")
    outcome: Outcome = "equivalent" if equivalent else "reason" if reason else "open"
    return Survivor(kind=kind, name=name, change=change, outcome=outcome, reason=reason)


def page(record: MutantsRecord) -> str:
    """docs/mutants.md."""
    return template("mutants.md.j2").render(
        record=record,
        survivors=Counter(s.kind for s in record.survivors),
        others=Counter(s.reason or "open" for s in record.survivors if s.outcome != "equivalent").items(),
        equal=sorted(Counter(s.name for s in record.survivors if s.outcome == "equivalent").items()),
        RECORD=RECORD,
        REASONS=REASONS,
    )
