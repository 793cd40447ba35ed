"""Lays out what `sonnx-clip evidence` reads, made by hand; its tasks stand in the ledger as if by Why3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.runtimes import OURS
from sonnx_clip.prove.ledger import Ledger, TaskName
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.tasks import configure, source_digest
from sonnx_clip.render.generate import all_obligations
from sonnx_clip.spec import load_spec
from tests.evidence import made

if TYPE_CHECKING:
    from pathlib import Path


def lay_out(build: Path) -> None:
    """Write proofs.json, the ledger and the reports of our own Clip to a build folder."""
    obligations = all_obligations(load_spec())
    document = made.proofs(obligations)
    made.write(build, document, [made.ours(name) for name in OURS])
    why3, ledger = configure(build), Ledger(build / "ledger.sqlite")
    for file in sorted({o["file"] for o in document["outcomes"]}):
        for index, prover in enumerate(find_provers()):
            names = [
                TaskName(o["theory"], o["goal"], o["replies"][index]["task"])
                for o in document["outcomes"]
                if o["file"] == file
            ]
            ledger.record_tasks(source_digest(why3, file), prover.name, names)
