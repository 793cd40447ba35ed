"""`sonnx-clip prove`: from the YAML to proofs, a table and build/proofs.json."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pydantic_core import to_json
from rich.console import Console

from sonnx_clip.backends.c_reference import render_c
from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.generate import Generated, differences, render_theories, write
from sonnx_clip.claims.all_claims import unclaimed
from sonnx_clip.prove.completeness import GOLDEN as STATEMENTS
from sonnx_clip.prove.completeness import uncovered, unpinned
from sonnx_clip.prove.ledger import Ledger
from sonnx_clip.prove.proofs_record import RECORD
from sonnx_clip.prove.proofs_table import print_table, summary
from sonnx_clip.prove.prove_all import Proofs, ProofSession, by_hand, record_of
from sonnx_clip.prove.provers import NAMES, Prover, find_provers
from sonnx_clip.prove.snapshot import Why3, configure
from sonnx_clip.prove.trusted import GOLDEN, of_tasks, surprises, trusted
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.root.terminal import nearest, progress
from sonnx_clip.spec import Spec, check_spec, load_spec
from sonnx_clip.spec.coverage import require_coverage
from sonnx_clip.spec.expected import differences as unexpected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.outcome import Outcome

_SHOWN = 20  # failures that are shown in full
_PLAIN_WIDTH = 100  # of the table where there is no terminal

_NEWS = f"[red]the assumptions of the proofs have changed[/] (compared with {GOLDEN})"
_ACCEPT_NEWS = f"to accept them, edit {GOLDEN} and give the reason for each"
_CHANGED = f"[red]the hand-written theories differ from {STATEMENTS}[/]"
_ACCEPT_CHANGED = f"to accept it, compare each statement with its sentence in {STATEMENTS}"
_UNCLAIMED = "not proved, since only of Clip has why3/ theories of tensors and dialects: "
_UNTRUSTED = (
    "\n[red]no answer of this run is reliable:[/] a printer, Why3, a driver or a prover is wrong;"
    " build/proofs.json is unchanged"
)


@dataclass(frozen=True)
class ProveRequest:
    """What is to be proved.

    Args:
        build: where the ledger, the configuration and the document go.
        family: only the element types of this family.
        types: only these element types.
        provers: only these provers; then nothing counts as proved by two.
        only: only obligations with these ids, or that show what has such an id; ``*`` stands for any text.
        jobs: how many processes run at once; all cores by default.
        as_json: print the document instead of the table.
    """

    build: Path
    family: str | None = None
    types: Sequence[str] = ()
    provers: Sequence[str] = ()
    only: Sequence[str] = ()
    jobs: int | None = None
    as_json: bool = False


def prove(request: ProveRequest) -> int:
    """Prove what is asked for of Clip; print a table, or JSON; returns the exit status.

    Raises:
        UserError: a tool is missing, generated/ is stale, or nothing fits what was asked for.
    """
    spec = load_spec()
    check_spec(spec)
    theories = _rendered(spec)
    require_coverage(spec, (o.id for o in theories.obligations))
    return prove_these(spec, theories, request)


def prove_another(file: Path, request: ProveRequest) -> int:
    """The same of the operator that a file specifies.

    Its theories, and all that `prove` writes, go into a folder of the build folder with its name.
    """
    from sonnx_clip.cli.another_operator import load_another

    spec = load_another(file)
    theories, build = render_theories(spec), request.build / spec.head.function
    write(theories, build, alone=False)
    return prove_these(spec, theories, replace(request, build=build), root=build)


def prove_these(
    spec: Spec,
    theories: Generated,
    request: ProveRequest,
    *,
    shown: int = _SHOWN,
    root: Path | None = None,
) -> int:
    """Prove what is asked for of theories that lie in generated/; print a table, or JSON; the exit status.

    Args:
        spec: the specification.
        theories: what it was rendered into.
        request: what is to be proved.
        shown: how many failures are shown in full.
        root: the folder that holds generated/, of another operator than Clip.

    Raises:
        UserError: as for `prove`.
    """
    build, as_json = request.build, request.as_json
    selected = _select(spec, theories.obligations, request)
    found = find_provers(tuple(request.provers) or NAMES)
    why3 = configure(build, root=root)
    _, canaries = render_canaries(spec)
    complete = selected == theories.obligations and len(found) == len(NAMES)
    if complete and root is None:
        _require_extracted(spec, theories)
    console = Console(stderr=as_json)
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    ledger = Ledger(build / "ledger.sqlite")
    try:
        proofs = _run(console, why3, found, ledger, selected, theories.obligations, canaries, request.jobs)
    finally:
        ledger.close()
    why3.require_unchanged()
    listed = trusted(theories.obligations, why3.texts)
    taken = (*listed, *of_tasks(proofs.said, listed))
    news = [line for line in surprises(taken) if root is None or not line.startswith("- ")]
    if any(t.kind == "refused" for t in taken):  # nobody else need try to read it
        _print_failures(console, why3, found, proofs, shown)
        console.print(summary(proofs), soft_wrap=True, highlight=False)
        _print_listed(console, _NEWS, news, _ACCEPT_NEWS)
        return 1
    record = record_of(spec, why3, found, proofs, taken, complete=complete)
    if complete and not any(o.status == "not proved" for o in proofs.canaries):
        write_whole(build / RECORD, record.model_dump_json(indent=1) + "\n")
    gaps, changed = uncovered(spec, theories.obligations), unpinned()
    weakened = [str(error) for error in unexpected(spec)]
    if as_json:
        print(to_json({**record.model_dump(), "run": proofs.run}, indent=1).decode())
    else:
        print_table(console, spec, proofs)
        _print_failures(console, why3, found, proofs, shown)
        if not complete:
            console.print(f"partial run: {build}/proofs.json is unchanged", highlight=False)
        console.print(summary(proofs), soft_wrap=True, highlight=False)
        if left := unclaimed(spec):
            console.print(f"{_UNCLAIMED}{', '.join(left)}", soft_wrap=True, highlight=False)
    _print_listed(console, _NEWS, news, _ACCEPT_NEWS)
    _print_listed(console, f"[red]entries of {spec.file} without an obligation[/]", gaps)
    _print_listed(console, _CHANGED, changed, _ACCEPT_CHANGED)
    _print_listed(console, "[red]claims that differ from spec/clip.expected.yaml[/]", weakened)
    return 0 if proofs.all_shown and not (news or gaps or changed or weakened) else 1


def _rendered(spec: Spec) -> Generated:
    """The theories; UserError if those in generated/ are not what the specification gives."""
    theories = render_theories(spec)
    if stale := differences(theories, repo_root(), ("generated/why3",)):
        raise UserError(f"generated/ is not fresh: {stale[0]}", todo="run: sonnx-clip generate")
    return theories


def _require_extracted(spec: Spec, theories: Generated) -> None:
    """UserError if a C file is not what Why3 extracts: what is proved would not be what is compiled."""
    there = {path: text for path, text in render_c(spec, theories.files).items() if repo_file(path).is_file()}
    if stale := differences(Generated(there, ()), repo_root(), ()):
        raise UserError(f"generated/ is not fresh: {stale[0]}", todo="run: sonnx-clip generate")


def _select(spec: Spec, obligations: tuple[Obligation, ...], request: ProveRequest) -> tuple[Obligation, ...]:
    wanted = {spec.element_type(t).id for t in request.types}
    if request.family is not None:
        wanted |= {e.id for e in spec.types_of(spec.family(request.family).id)}
    chosen, only = obligations, request.only
    if wanted:
        chosen = tuple(o for o in chosen if o.subject in wanted)
    for pattern in only:
        if not _speaking_of(obligations, pattern):
            near = nearest(pattern, dict.fromkeys(id_ for o in obligations for id_ in (*o.shows, o.id)))
            listed = "generated/why3/obligations.json lists the ids"
            todo = f"did you mean {' or '.join(near)}?" if near else listed
            raise UserError(f"no obligation is called `{pattern}` or shows it", "--only", todo)
    if only:
        found = {o.id for pattern in only for o in _speaking_of(chosen, pattern)}
        chosen = tuple(o for o in chosen if o.id in found)
    if not chosen:
        raise UserError(
            "no obligation is both of this family or type and among --only",
            todo="leave out --family, --dtype or --only",
        )
    return chosen


def _speaking_of(obligations: Iterable[Obligation], pattern: str) -> list[Obligation]:
    """Those of which the id, or that of what they show, is as the pattern says."""
    if not set("*?[") & set(pattern):
        return [o for o in obligations if pattern in (o.id, *o.shows)]
    return [o for o in obligations if any(fnmatchcase(id_, pattern) for id_ in (o.id, *o.shows))]


def _run(
    console: Console,
    why3: Why3,
    provers: Sequence[Prover],
    ledger: Ledger,
    selected: tuple[Obligation, ...],
    every: tuple[Obligation, ...],
    canaries: tuple[Obligation, ...],
    jobs: int | None,
) -> Proofs:
    asked_for = set(selected)
    partly = {o.file for o in every if o not in asked_for}
    complete_files = frozenset(o.file for o in selected if o.file not in partly)
    with progress("proving", (len(selected) + len(canaries)) * len(provers), "answers", console) as show:
        session = ProofSession(
            why3, provers, ledger, jobs or os.cpu_count() or 1, lambda count: show(count, "")
        )
        return session.prove(selected, complete_files, canaries)


def _print_failures(
    console: Console, why3: Why3, provers: Sequence[Prover], proofs: Proofs, shown: int
) -> None:
    failed = [o for o in proofs.outcomes if o.status == "not proved"]
    for outcome in failed[:shown]:
        _print_failure(console, why3, provers, outcome, "not proved")
    if len(failed) > shown:
        console.print(f"\n… and {len(failed) - shown} more that are not proved", highlight=False)
    believed = [o for o in proofs.canaries if o.status == "not proved"]
    for outcome in believed[:shown]:
        _print_failure(console, why3, provers, outcome, "a false statement is not refuted:")
    if believed:
        console.print(_UNTRUSTED, highlight=False)
    for stray in proofs.strays:
        console.print(f"[red]a goal that no obligation knows:[/] {stray}", highlight=False)


def _print_failure(
    console: Console, why3: Why3, provers: Sequence[Prover], outcome: Outcome, what: str
) -> None:
    console.print(f"\n[red]{what}[/] [bold]{outcome.obligation.id}[/]: {outcome.obligation.title}")
    for reply in outcome.failed_replies:
        words = reply.words.splitlines() or [""]
        console.print(f"  {reply.prover}: {reply.verdict}: ", end="", highlight=False)
        console.print("\n    ".join(words[-5:]), markup=False, highlight=False)
        prover = next(p for p in provers if p.name == reply.prover)
        line = by_hand(why3, prover, outcome.obligation)
        console.print(f"  by hand: {line}", markup=False, soft_wrap=True, highlight=False)


def _print_listed(console: Console, head: str, lines: Sequence[str], last: str = "") -> None:
    """What is wrong besides single obligations: a line for each, and what a person does to accept it."""
    if not lines:
        return
    console.print(f"\n{head}:", highlight=False)
    for line in lines:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    if last:
        console.print(f"  {last}", markup=False, highlight=False)
