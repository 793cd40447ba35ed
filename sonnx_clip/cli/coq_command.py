"""`sonnx-clip prove --road coq`: from the Coq files to a record of what Coq's kernel has checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.backends.generate import Generated, differences
from sonnx_clip.prove.coq import RECORD, CoqRecord, check_coq
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from pathlib import Path


def prove_by_coq(*, as_json: bool, build: Path, root: Path | None = None) -> int:
    """Check the Coq files, write the record, and print what was found; returns the exit status.

    Args:
        as_json: print the record instead of the text.
        build: where the compiled files and foundation.json go.
        root: the checkout whose files are checked; this one, if None.

    Raises:
        UserError: Coq is missing, or generated/coq is not fresh.
    """
    spec, root = load_spec(), root or repo_root()
    if stale := differences(Generated(render_coq(spec), ()), root, ()):
        raise UserError(f"generated/ is not fresh: {stale[0]}", todo="run: sonnx-clip generate")
    record = check_coq(spec, root, build / "foundation")
    text = record.model_dump_json(indent=1)
    write_whole(build / RECORD, text + "\n")
    if as_json:
        print(text)
    else:
        for problem in record.problems:
            print(f"problem: {problem}")
        print(_closing_line(record))
    return 1 if record.problems else 0


def _closing_line(record: CoqRecord) -> str:
    """How many theorems there are, on what they rest, and whether coqchk agrees."""
    if not record.theorems:
        return f"not checked: {len(record.problems)} problems; Coq {record.coq}"
    closed = sum(not record.axioms[t.module] for t in record.theorems)
    agrees = "coqchk agrees" if not record.problems else f"{len(record.problems)} problems"
    return (
        f"{len(record.theorems)} theorems checked by Coq's kernel"
        f" ({record.coq}, {record.seconds['wall clock']} s); {closed} closed under the global context,"
        f" {len(record.theorems) - closed} on the axioms of the reals; {agrees}"
    )
