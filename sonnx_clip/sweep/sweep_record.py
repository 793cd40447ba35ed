"""What is finished, kept so that a sweep which was interrupted goes on where it was."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.language import special, values
from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.root import dtypes
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import make_folder
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import evaluate
from sonnx_clip.sweep.slices import digest_of_files
from sonnx_clip.sweep.work import CHECK, Swept, check_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.sweep.slices import Slice, SweepSubject

_DIGITS = 16


@dataclass
class SweepRecord:
    """The finished slices of an implementation, a line each, in a file that is only added to.

    The file is named after the digests of what was swept and of what it was compared by: results of other
    code are not found. A line that was not written to its end is not believed.
    """

    path: Path

    def finished(self) -> dict[str, Swept]:
        """The results by the ids of their slices."""
        if not self.path.is_file():
            return {}
        found = {}
        for line in self.path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]:
            try:
                entry = json.loads(line)
                swept = Swept(int(entry["compared"]), int(entry["wrong"]), tuple(map(int, entry["first"])))
                name = str(entry["slice"])
            except (ValueError, KeyError, TypeError):
                continue
            found[name] = swept
        return found

    def add(self, part: Slice, swept: Swept) -> None:
        """Write a finished slice, so that it survives whatever comes; UserError if that cannot be."""
        make_folder(self.path.parent)
        line = json.dumps({"slice": part.id, **asdict(swept)})
        try:
            with self.path.open("a", encoding="utf-8") as out:
                # The line before may have been cut off.
                out.write(f"{'' if _ends_a_line(self.path) else chr(10)}{line}\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            todo = "check the folder's permissions and the space on the disk"
            raise UserError(f"it cannot be written: {error.strerror}", str(self.path), todo) from error


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read() in (b"", b"\n")


def record_of(subject: SweepSubject, folder: Path, judge: str | None = None) -> SweepRecord:
    """The record of an implementation in a folder; `judge` is the digest of who judges, ours if None."""
    name = re.sub(r"[^\w.-]", "_", subject.name)
    return SweepRecord(
        folder / f"{name}-{subject.digest[:_DIGITS]}-{(judge or judge_digest())[:_DIGITS]}.jsonl"
    )


def judge_digest(files: Sequence[Path] | None = None) -> str:
    """Of all that computes and compares results: of these files, by default `judge_files`."""
    return digest_of_files(judge_files() if files is None else files)


def judge_files() -> list[Path]:
    """The table, the C program, the oracle, the specification, and the code that reads them."""
    folder = Path(__file__).parent
    code = sorted(folder.glob("*.py"))
    used = [Path(str(module.__file__)) for module in (values, evaluate, special, dtypes)]
    data = [CHECK, check_file(), repo_file(ORACLE_FILE), repo_file("spec/clip.yaml")]
    return [*code, *used, *data]
