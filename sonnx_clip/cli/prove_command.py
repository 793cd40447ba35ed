"""`sonnx-clip prove`: from the YAML to proofs, a table and build/proofs.json."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic_core import to_json
from rich.console import Console

from sonnx_clip.backends.c_reference import render_c
from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.generate import differences, render_theories, write
from sonnx_clip.backends.theory import Generated
from sonnx_clip.claims.all_claims import unclaimed
from sonnx_clip.claims.evaluation import check_claims
from sonnx_clip.prove.completeness import uncovered
from sonnx_clip.prove.ledger import Ledger
from sonnx_clip.prove.proofs_record import RECORD, results_of
from sonnx_clip.prove.proofs_table import failures, print_table, proofs_summary, undecided
from sonnx_clip.prove.prove_all import ProofSession, proofs_record_of
from sonnx_clip.prove.provers import NAMES, find_provers
from sonnx_clip.prove.selection import select
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.statements import (
    STATEMENTS,
    rendered_differences,
    rendered_list,
    unpinned,
)
from sonnx_clip.prove.trusted import GOLDEN, of_tasks, surprises, trusted
from sonnx_clip.prove.weakened import refuse_weakened, weakened
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.root.terminal import progress
from sonnx_clip.spec import Spec, check_findings, check_spec, load_spec
from sonnx_clip.spec.coverage import require_coverage
from sonnx_clip.spec.operators import has_written_theory, specification, written_theory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.proofs_record import TrustedItem
    from sonnx_clip.prove.prove_all import Proofs
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3

LEDGER = "answers.sqlite"
_SHOWN = 20  # failures that are shown in full, and lines of a list
_PLAIN_WIDTH = 100  # of the table where there is no terminal


@dataclass(frozen=True)
class ProveRequest:
    """The options of `sonnx-clip prove`. With one prover, no obligation counts as proved by two."""

    build: Path
    family: str | None = None
    types: Sequence[str] = ()
    provers: Sequence[str] = ()
    only: Sequence[str] = ()
    jobs: int | None = None
    as_json: bool = False


def prove(request: ProveRequest) -> int:
    """Prove obligations of Clip, and print a table or JSON; returns the exit status.

    UserError if a tool is missing, generated/ is stale, or no obligation is selected.
    """
    spec = load_spec()
    # Its claims need no evaluation here: `generate` has evaluated them, or the theories would be
    # stale.
    check_spec(spec)
    theories = render_theories(spec)
    require_fresh(theories.files, repo_root(), "generated/why3")
    require_coverage(spec, (o.id for o in theories.obligations))
    return prove_these(spec, theories, request)


def load_checked(operator: str) -> Spec:
    """Load and check the specification of another operator than Clip: its name, or a file.

    UserError for a wrong claim, with file, line and column; and for a file about an operator with a theory
    that is written by hand, which belongs to the specification in spec/.
    """
    spec = specification(operator)
    if has_written_theory(spec):
        name = spec.signature.function
        todo = f"remove --operator: {spec.operator} is read from spec/{name}.yaml"
        raise UserError(f"this file is about {spec.operator}", operator, todo)
    check_everything(spec)
    return spec


def check_everything(spec: Spec) -> None:
    """UserError for the first wrong claim of a specification, with file, line and column."""
    # Quotations and numbers come first: the evaluation of claims and witnesses takes longest.
    for check in (check_spec, refuse_weakened, check_claims, check_findings):
        check(spec)


def prove_another(operator: str, request: ProveRequest) -> int:
    """Prove obligations of another operator; its theories and results go into a folder of its name."""
    spec = load_checked(operator)
    theories = render_theories(spec)
    build, _ = results_of(spec, request.build)
    write(theories, build, alone=False)
    ledger = request.build / LEDGER  # one for all operators
    own = replace(request, build=build)
    return prove_these(spec, theories, own, root=build, ledger=ledger)


def require_fresh(files: Mapping[str, str], root: Path, *folders: str) -> None:
    """UserError if a file differs from its rendering, or a file in `folders` is not rendered."""
    stale = differences(Generated(dict(files), ()), root, folders)
    if stale:
        raise UserError(f"generated/ is stale: {stale[0]}", todo="run: sonnx-clip generate")


def prove_these(
    spec: Spec,
    theories: Generated,
    request: ProveRequest,
    *,
    shown: int = _SHOWN,
    root: Path | None = None,
    ledger: Path | None = None,
) -> int:
    """Prove obligations of theories in generated/, and print a table or JSON; returns the exit status.

    At most `shown` failures are printed in full. `root` holds generated/ of another operator than Clip.
    `ledger` is the file to use, by default that of the build folder.
    UserError as for `prove`.
    """
    build = request.build
    # Without options, all of them; canaries are proved in any case, and are not selected.
    selected = select(
        spec, theories.obligations, family=request.family, types=request.types, only=request.only
    )
    provers = find_provers(tuple(request.provers) or NAMES)
    why3 = configure(build, root=root)
    # Of another operator, whose files are under `root`, there is no C.
    complete = selected == theories.obligations and len(provers) == len(NAMES)
    if complete and root is None:
        _require_fresh_c(spec, theories)
    console = Console(stderr=request.as_json, highlight=False, soft_wrap=True)
    if not console.is_terminal:  # a file or a pipe has no width
        console.width = _PLAIN_WIDTH
    ledger_file = ledger or build / LEDGER
    proofs = _run(spec, theories, selected, why3, provers, request.jobs, ledger_file, console)

    # Two lists: what the theories assume as they are written, and what the tasks for the provers
    # say.
    listed = trusted(theories.obligations, why3.texts)
    taken = (*listed, *of_tasks(proofs.said, listed))
    changed_assumptions = _changed_assumptions(taken, is_clip=root is None)
    lines = [*failures(why3, provers, proofs, shown)]
    if any(item.kind == "refused" for item in taken):  # a record of this run would be worth nothing
        _print(console, [*lines, proofs_summary(proofs), changed_assumptions])
        return 1
    record = proofs_record_of(spec, why3, provers, proofs, taken, complete=complete, root=root)
    # A canary is a false statement: where one is not refuted, the answers of the provers are worth nothing.
    if complete and not any(canary.status == "not proved" for canary in proofs.canaries):
        write_whole(build / RECORD, record.model_dump_json(indent=1) + "\n")

    problems = [changed_assumptions, *_changed_statements(spec, theories)]
    if request.as_json:
        print(to_json({**record.model_dump(), "run": proofs.run}, indent=1).decode())
    else:
        print_table(console, spec, proofs)
        lines += undecided(why3, provers, proofs)
        if not complete:
            lines.append(_partial_run(build / RECORD))
        _print(console, [*lines, proofs_summary(proofs), _not_claimed(spec)])
    # Also after JSON: problems go to standard error then, as all that this console prints.
    _print(console, problems)
    return 0 if proofs.all_shown and not any(problems) else 1


def _run(
    spec: Spec,
    theories: Generated,
    selected: tuple[Obligation, ...],
    why3: Why3,
    provers: Sequence[Prover],
    jobs: int | None,
    ledger: Path,
    console: Console,
) -> Proofs:
    """The answers of the provers on selected obligations and on all canaries, with a progress bar."""
    # Statements that are false: a prover that proves one cannot be trusted with the others.
    canaries = render_canaries(spec).obligations
    # Files of which every obligation is selected: there, a goal more is a stray.
    left_out = set(theories.obligations).difference(selected)
    partial_files = {obligation.file for obligation in left_out}
    whole_files = {obligation.file for obligation in selected} - partial_files
    total = (len(selected) + len(canaries)) * len(provers)
    at_once = jobs or os.cpu_count() or 1
    with closing(Ledger(ledger)) as known, progress("proving", total, "answers", console) as show:
        session = ProofSession(why3, provers, known, at_once, lambda count: show(count, ""))
        return session.prove(selected, frozenset(whole_files), canaries)


def _changed_assumptions(taken: Sequence[TrustedItem], *, is_clip: bool) -> str:
    """What the proofs rest on beside what is listed; empty if that is all."""
    changed: list[str] = []
    for line in surprises(taken):
        # The list is Clip's: of another operator's proofs, it is no news that they need less.
        if is_clip or not line.startswith("- "):
            changed.append(line)
    head = f"the assumptions of the proofs have changed (compared with {GOLDEN})"
    accept = f"to accept them, edit {GOLDEN} and give the reason for each"
    return _listed(head, changed, accept)


def _changed_statements(spec: Spec, theories: Generated) -> Iterator[str]:
    """What is stated otherwise than a person has read it, or not at all; empty texts if nothing is."""
    rendered = rendered_list(spec).name
    weaker = [str(error) for error in weakened(spec)]
    yield _listed(
        f"entries of {spec.file} without an obligation", uncovered(spec, theories.obligations)
    )
    yield _listed(
        f"the hand-written theories differ from {STATEMENTS}",
        unpinned(),
        f"to accept it, compare each statement with its sentence in {STATEMENTS}",
    )
    yield _listed(
        f"what is proved differs from {rendered}",
        rendered_differences(spec, theories.files),
        f"to accept it, read each in its theory; `sonnx-clip generate` writes the new {rendered}",
    )
    yield _listed("claims that differ from spec/clip.expected.yaml", weaker)


def _partial_run(record: Path) -> str:
    state = f"{record} is unchanged" if record.is_file() else f"it writes no {record}"
    return f"partial run: {state}; `explain` and `evidence` need a run of all obligations"


def _not_claimed(spec: Spec) -> str:
    """What is not proved because there is no theory of it; empty if there is one."""
    left = unclaimed(spec)
    if not left:
        return ""
    theory = f"why3/{written_theory(spec).name}"
    why = f"there is no theory of tensors and dialects, {theory}"
    return f"not proved, because {why}: {', '.join(left)}"


def _require_fresh_c(spec: Spec, theories: Generated) -> None:
    """UserError if a C file is stale: the proved C has to be the C that is compiled."""
    rendered = render_c(spec, theories.files)
    there = {path: text for path, text in rendered.items() if repo_file(path).is_file()}
    require_fresh(there, repo_root())


def _print(console: Console, lines: Iterable[str]) -> None:
    for line in filter(None, lines):
        console.print(line, markup=False)


def _listed(head: str, items: Iterable[str], accept: str = "") -> str:
    """A heading, a line for each item, and how to accept them; empty if there are none."""
    all_items = list(items)
    if not all_items:
        return ""
    lines = all_items[:_SHOWN]
    left = len(all_items) - _SHOWN
    if left > 0:
        lines.append(f"and {left} more")
    if accept:
        lines.append(accept)
    return "\n".join([f"\n{head}:", *(f"  {line}" for line in lines if line)])
