"""The record of a run over all mutants, spec/measured/mutants.json, and docs/mutants.md, rendered from it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RECORD, PAGE, REASONS = "spec/measured/mutants.json", "docs/mutants.md", "spec/mutants_reasons.txt"
AREAS = {
    "yaml": "what the YAML is rendered to (float32, int8, real)",
    "theories": "the hand-written theories",
    "table": "the table of NumPy's operations",
    "drivers": "the symbols that the drivers give",
    "kernel theories": "the programs that C is extracted from",
    "renderer": "goals as a renderer that errs would write them",
    "numpy kernels": "the NumPy kernels and planners",
    "c kernels": "the extracted C",
    "oracle": "the oracle of the vectors",
}
PROGRAMS = ("numpy kernels", "c kernels", "oracle")
KERNELS = PROGRAMS[:2]
_LONG = 100  # characters
SAME = "sonnx-clip generate --check"
"""What finds a program that is not what is generated, and that was wrong on no value."""


class MutantRow(BaseModel):
    """One mutant: what finds it (`by`, with an example), or that it is equivalent; empty if neither is."""

    model_config = ConfigDict(frozen=True)

    area: str
    name: str
    change: str
    by: str
    example: str = ""


class MutantsRecord(BaseModel):
    """A whole run.

    Args:
        mutants: each with what finds it.
        kills: a mutant that makes each obligation fail, and the values.
        unkilled: the obligations that none of the mutants makes fail.
    """

    model_config = ConfigDict(frozen=True)

    tool: str
    spec_sha256: str
    seconds: int
    mutants: tuple[MutantRow, ...]
    kills: dict[str, tuple[str, str]]
    unkilled: tuple[str, ...]

    def dump(self) -> str:
        """As a file, a line a mutant and a line an obligation."""
        data = self.model_dump(mode="json")
        rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in data.pop("mutants"))
        kills = ",\n  ".join(
            f"{json.dumps(id_)}: {json.dumps(kill, ensure_ascii=False)}"
            for id_, kill in data.pop("kills").items()
        )
        head = json.dumps(data, ensure_ascii=False, indent=1).removesuffix("\n}")
        return f'{head},\n "mutants": [\n  {rows}\n ],\n "kills": {{\n  {kills}\n }}\n}}\n'


def short(change: str) -> str:
    """What was put for what, as it is shown: the beginning of each where it is long."""
    return " => ".join(p if len(p) <= _LONG else f"{p[: _LONG - 1]}…" for p in change.split(" => "))


def read_mutants() -> MutantsRecord:
    """The record of the last complete run."""
    return MutantsRecord.model_validate_json(repo_file(RECORD).read_text(encoding="utf-8"))


def reasons() -> list[tuple[str, str]]:
    """What a person wrote of mutants that nothing finds: a pattern of ``area | name | change``, a reason."""
    found = []
    for line in repo_file(REASONS).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.partition(" :: ")
            found.append((pattern.strip(), reason.strip()))
    return found


def reason_of(row: MutantRow, known: Sequence[tuple[str, str]]) -> str:
    """Why a mutant may stay; empty if nobody has said."""
    text = f"{row.area} | {row.name} | {row.change}"
    plain = text.replace("[", "(").replace("]", ")")
    return next((reason for pattern, reason in known if fnmatchcase(plain, pattern)), "")


def outcome(row: MutantRow, known: Sequence[tuple[str, str]]) -> str:
    """In one word: found, equivalent, reason, open."""
    if row.by.startswith("equivalent"):
        return "equivalent"
    return "found" if row.by else "reason" if reason_of(row, known) else "open"


def closing_line(record: MutantsRecord) -> str:
    """The score, in one line."""
    known = reasons()
    kinds = Counter(outcome(row, known) for row in record.mutants)
    wrong = [row for area in KERNELS for row in wrong_programs(record, known, area)]
    by_vectors = sum(row.by.startswith("vector") for row in wrong)
    return (
        f"{len(record.mutants)} mutants: {kinds['found']} found, {kinds['equivalent']} proved equivalent, "
        f"{kinds['reason']} with a reason that a person wrote, {kinds['open']} open; the vectors alone find "
        f"{by_vectors} of {len(wrong)} wrong kernels; {len(record.kills)} of "
        f"{len(record.kills) + len(record.unkilled)} obligations fail for some mutant"
    )


def page(record: MutantsRecord) -> str:
    """docs/mutants.md."""
    known = reasons()
    return "\n".join([*_head(record), *_table(record, known), *_of_vectors(record, known),
                      *_listed(record, known), *_unkilled(record), *_kills(record)]) + "\n"  # fmt: skip


def _head(record: MutantsRecord) -> list[str]:
    return [
        "# Mutants",
        "",
        f"<!-- Rendered from {RECORD} by `make mutants`. Do not edit. -->",
        "",
        "Small mistakes, made one by one in all that says what Clip is: each comparison swapped or",
        "weakened, each case dropped, swapped or constant, each condition negated, each step of a kernel",
        "changed by one. A mutant is *found* by an obligation that is false of some values (no prover can",
        "prove it then), by a vector, a test or a check; or it is *proved equivalent*: both have one normal",
        "form, or Z3 and cvc5 prove equal what it changes, or all that uses it and is spoken of in a",
        "statement; or a person wrote why it may stay. `make mutants` makes them all, and goes on where it",
        "was interrupted.",
        "",
        f"    {closing_line(record)}",
        "",
    ]


def _table(record: MutantsRecord, known: Sequence[tuple[str, str]]) -> list[str]:
    lines = ["| where | mutants | found | by what, most often | equivalent | reason | open |",
             "| --- | ---: | ---: | --- | ---: | ---: | ---: |"]  # fmt: skip
    for area, title in AREAS.items():
        rows = [row for row in record.mutants if row.area == area]
        kinds = Counter(outcome(row, known) for row in rows)
        by = Counter(_finder(row.by) for row in rows if row.by and not row.by.startswith("equivalent"))
        shown = ", ".join(f"{name} {count}" for name, count in by.most_common(3))
        numbers = " | ".join(str(kinds[k]) for k in ("equivalent", "reason", "open"))
        lines.append(f"| {title} | {len(rows)} | {kinds['found']} | {shown} | {numbers} |")
    return [*lines, ""]


def _finder(by: str) -> str:
    word = by.split(maxsplit=1)[0].rstrip(":")
    if word == "vector":
        return "vectors"
    return "an obligation" if "." in word and "/" not in word else by.partition(":")[0]


def wrong_programs(record: MutantsRecord, known: Sequence[tuple[str, str]], area: str) -> list[MutantRow]:
    """The mutants of an area that are wrong on some value."""
    return [r for r in record.mutants if r.area == area and outcome(r, known) == "found" and r.by != SAME]


def _of_vectors(record: MutantsRecord, known: Sequence[tuple[str, str]]) -> list[str]:
    lines = ["## The vectors' own score", "",
             "Of the programs that are wrong on some value, how many the vectors alone find, run under",
             "the strict policy, those with the same bounds together and each alone, in place too. Wrong is",
             "what differs on a special value, or, in types of 8 and 16 bits, on any X under special bounds.",
             ""]  # fmt: skip
    for area in PROGRAMS:
        wrong = wrong_programs(record, known, area)
        missed = [row for row in wrong if not row.by.startswith("vector")]
        lines.append(f"- {AREAS[area]}: {len(wrong) - len(missed)} of {len(wrong)}")
        if area in KERNELS:
            lines += [f"  - not by a vector: {row.name}, `{row.change}` ({row.example})" for row in missed]
            continue
        where = Counter(row.name.partition(" ")[2] for row in missed)
        named = ", ".join(f"`{name}` ({count})" for name, count in sorted(where.items()))
        lines.append(f"  - not by a vector, which states an answer and its class alone: {named}")
    return [*lines, ""]


def _listed(record: MutantsRecord, known: Sequence[tuple[str, str]]) -> list[str]:
    groups: dict[str, list[MutantRow]] = defaultdict(list)
    for row in record.mutants:
        if outcome(row, known) in ("reason", "open"):
            groups[reason_of(row, known) or "open: nobody has said why it may stay"].append(row)
    lines = ["## Mutants that nothing finds", ""]
    for reason, rows in groups.items():
        lines += [f"- {reason} ({len(rows)})"]
        lines += [f"  - {row.name}: `{row.change}`" for row in rows[:_SHOWN]]
        if len(rows) > _SHOWN:
            lines.append(f"  - … and {len(rows) - _SHOWN} more in {RECORD}")
    return [*lines, ""]


_SHOWN = 12


def _unkilled(record: MutantsRecord) -> list[str]:
    names = Counter(id_.partition(".")[2] for id_ in record.unkilled)
    lines = ["## Obligations that no mutant makes fail", "",
             "They hold by definition, or no definition that is changed here decides them. In brackets: in",
             "how many element types or theories.",
             ""]  # fmt: skip
    return [*lines, ", ".join(f"`{name}` ({count})" for name, count in sorted(names.items())) or "None.", ""]


def _kills(record: MutantsRecord) -> list[str]:
    groups: dict[str, list[tuple[str, tuple[str, str]]]] = defaultdict(list)
    for id_, kill in record.kills.items():
        groups[id_.partition(".")[2]].append((id_, kill))
    lines = ["## What each obligation finds", "",
             f"One mutant each; by element type, and with the values, in {RECORD}.", "",
             "| obligation | in | fails for |", "| --- | ---: | --- |"]  # fmt: skip
    for name, found in sorted(groups.items()):
        _, (mutant, _) = found[0]
        lines.append(f"| `{name}` | {len(found)} | {_cell(mutant)} |")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def all_found(rows: Iterable[MutantRow]) -> bool:
    """Whether each mutant is found, equivalent, or has a reason."""
    known = reasons()
    return all(outcome(row, known) != "open" for row in rows)
