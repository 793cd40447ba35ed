"""Lays out what `sonnx-clip evidence` reads, made by hand; its tasks stand in the ledger as if by Why3."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.prove import standing
from sonnx_clip.prove.ledger import Ledger, TaskName
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.tasks import configure, source_digest
from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec import load_spec
from tests.evidence import made

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation


def lay_out(build: Path) -> None:
    """Write proofs.json, the ledger and the reports of our own Clip to a build folder."""
    obligations = all_obligations(load_spec())
    document = made.proofs(obligations)
    config = os.path.relpath(made.WHY3.config, repo_root())
    for outcome in document["outcomes"]:  # the configuration is that of the checkout
        commands = outcome["commands"].items()
        outcome["commands"] = {who: text.replace(config, "build/why3/why3.conf") for who, text in commands}
    made.write(build, document, [made.ours(name) for name in OURS])
    _keep_standings(build, obligations)
    why3, ledger = configure(build), Ledger(build / "ledger.sqlite")
    for file in sorted({o["file"] for o in document["outcomes"]}):
        for index, prover in enumerate(find_provers()):
            names = [
                TaskName(o["theory"], o["goal"], o["replies"][index]["task"])
                for o in document["outcomes"]
                if o["file"] == file
            ]
            ledger.record_tasks(source_digest(why3, file), prover.name, names)
            ledger.record_account(source_digest(why3, file), prover.name, made.said_by_tasks())


def _keep_standings(build: Path, obligations: tuple[Obligation, ...]) -> None:
    """Each obligation counts: as `prove` keeps it."""
    by_subject: dict[str, list[Obligation]] = {}
    for o in obligations:
        if o.kind != "smoke":
            by_subject.setdefault(o.subject, []).append(o)
    kept = {
        subject: {"key": standing._key(load_spec(), mine), "rows": {o.id: asdict(made.COUNTS) for o in mine}}
        for subject, mine in by_subject.items()
    }
    (build / standing.KEPT).write_text(json.dumps(kept), encoding="utf-8")
