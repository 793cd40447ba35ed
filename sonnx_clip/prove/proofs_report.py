"""Writes a run of the proofs as a document, build/proofs.json; proofs_record.py reads it."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sonnx_clip import __version__
from sonnx_clip.prove.prove_all import PROOF, SMOKE, Proofs, limits_of
from sonnx_clip.prove.tasks import command, goal_options
from sonnx_clip.root.files import digest_of_file, write_whole
from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3
    from sonnx_clip.prove.trusted import TrustedItem
    from sonnx_clip.spec import Spec


_FOLDERS = ("why3", "generated/why3", "generated/c")


def by_hand(why3: Why3, prover: Prover) -> Callable[[Obligation], str]:
    """The command that asks a prover about an obligation by hand, from the repository's root."""
    started = shlex.join(command(why3, prover))

    def asked(o: Obligation) -> str:
        more = (o.file, "-t", str(limits_of(o).seconds), *goal_options(o))
        return " ".join((started, *map(_quoted, more)))

    return asked


_quoted = lru_cache(maxsize=1 << 13)(shlex.quote)  # of thousands of obligations, two for each prover


def theory_digests() -> dict[str, str]:
    """SHA-256 of every file that the proofs rest on or speak of, by its path: theories, drivers, C."""
    files = [path for folder in _FOLDERS for path in sorted(repo_file(folder).rglob("*")) if path.is_file()]
    root = repo_file("")
    return {path.relative_to(root).as_posix(): digest_of_file(path) for path in files}


def document(
    spec: Spec,
    why3: Why3,
    provers: Sequence[Prover],
    proofs: Proofs,
    taken: Sequence[TrustedItem],
    *,
    complete: bool,
) -> dict[str, Any]:
    """The whole run as plain data.

    Args:
        spec: the specification that was proved.
        why3: Why3 as it was used.
        provers: who was asked.
        proofs: what came out.
        taken: what is taken for granted.
        complete: whether every obligation was asked about, of every prover.
    """
    asked = {p.name: by_hand(why3, p) for p in provers}
    return {
        "format": 1,
        "about": {
            "tool": f"sonnx-clip {__version__}",
            "spec_digest": spec.digest,
            "files": {**theory_digests(), **why3.digests},
        },
        "tools": {"why3": why3.version, **{p.name: p.version for p in provers}},
        "programs": {"why3": why3.program, **{p.name: p.digest for p in provers}},
        "why3_drivers": dict(why3.files),
        "commands": {p.name: " ".join(p.command) for p in provers},
        "limits": {"proof": asdict(PROOF), "smoke": asdict(SMOKE)},
        "run": {
            "asked": proofs.asked,
            "wall": round(proofs.wall, 3),
            "prover_cpu": round(proofs.prover_cpu, 3),
            "why3_cpu": round(proofs.why3_cpu, 3),
        },
        "complete": complete,
        "outcomes": [_outcome(asked, o) for o in proofs.outcomes],
        "canaries": [_outcome(asked, o) for o in proofs.canaries],
        "strays": list(proofs.strays),
        "trusted": [asdict(t) for t in taken],
    }


def _outcome(asked: Mapping[str, Callable[[Obligation], str]], outcome: Outcome) -> dict[str, Any]:
    replies = [
        {
            "prover": r.prover,
            "version": r.version,
            "verdict": r.answer.verdict,
            "cpu": round(r.answer.cpu, 3),
            "task": r.task,
            "from_ledger": r.from_ledger,
            "words": r.answer.words,
        }
        for r in outcome.replies
    ]
    return {
        **asdict(outcome.obligation),
        "status": outcome.status,
        "commands": {name: command_of(outcome.obligation) for name, command_of in asked.items()},
        "replies": replies,
    }


def write_json(data: Mapping[str, Any], path: Path) -> None:
    """Write a document beside its place and rename it there."""
    write_whole(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
