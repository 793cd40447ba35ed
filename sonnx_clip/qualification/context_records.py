"""The records of runtimes and optimisers beside other nodes: records/contexts/NAME.json.

`make contexts` writes them. docs/contexts-judged.md shows each in full; the known problems say what is wrong.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sonnx_clip.conform.context_text import KINDS, WAYS, by_cause, by_refusal, places
from sonnx_clip.contexts.context_report import ContextReport
from sonnx_clip.root.files import make_folder, write_whole
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored, read_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.context_text import LocatedDeviation

FOLDER = "records/contexts"


class ContextRecord(Stored):
    """The reports on a runtime or an optimiser, by element type.

    Args:
        few: whether few calls were made.
    """

    name: str
    version: str
    date: str
    machine: str
    python: str
    few: bool
    types: dict[str, tuple[ContextReport, ...]]

    def problems(self) -> Iterator[str]:
        """One line of Markdown for each cause of wrong results, and for each kind of refusal."""
        for group in by_cause(self.types):
            yield _problem(group)
        for refused in by_refusal(self.types):
            yield f"{WAYS[refused[0].refusal.when]}: {places(refused)}"


def _problem(group: Sequence[LocatedDeviation]) -> str:
    """What is wrong, where, an example, and what is to blame."""
    # Those of a group have one cause: the first stands for all.
    first = group[0].wrong
    example = f"{first.asked}, X = {first.x}: got {first.got}, expected {first.expected}"
    parts = [f"{KINDS[first.kind]}: {places(group)}", example]
    if first.step:
        parts.append(f"the step {first.step} alone")
    # A rewrite that is known has a section with its condition; of another one the condition is told.
    if first.rewrite:
        # The page of known problems is in a folder below that of rewrites.md.
        parts.append(f"the rewrite [{first.rewrite}](../rewrites.md#{first.rewrite})")
    elif first.legal_when:
        parts.append(first.legal_when)
    parts += [f"right without {name}" for name in first.without]
    return "; ".join(parts)


def write_context_record(record: ContextRecord) -> None:
    """Write the record of one runtime or optimiser in the place of its last one."""
    folder = repo_file(FOLDER)
    make_folder(folder)
    # Characters such as arrows stay readable in the repository.
    text = json.dumps(record.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_whole(folder / f"{record.name}.json", f"{text}\n")


def read_context_records() -> list[ContextRecord]:
    """The records, by name; UserError for one that cannot be read."""
    files = sorted(repo_file(FOLDER).glob("*.json"))
    return [read_record(file, ContextRecord, "run: make contexts") for file in files]
