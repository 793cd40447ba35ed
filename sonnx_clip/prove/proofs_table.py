"""The table that `sonnx-clip prove` ends with: what is proved, by whom, in what time, and what is refuted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from sonnx_clip.language import unparse
from sonnx_clip.prove.outcome import distinct_tasks
from sonnx_clip.prove.prove_all import by_hand, limits_of
from sonnx_clip.rewrites.rewrite import known_rewrites, known_theorems
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from sonnx_clip.prove.outcome import Outcome, Reply
    from sonnx_clip.prove.prove_all import Proofs
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Property

_SECTIONS = (
    "restrictions",
    "constraints",
    "cases",
    "classes",
    "properties",
    "latitude",
    "readings",
    "examples",
    "element_types",
)
"""Sections with rows; docs/dialects.md shows what is proved of dialects."""


def print_table(console: Console, spec: Spec, proofs: Proofs) -> None:
    """One row for each requirement: proved obligations by family, provers, and time.

    ``any`` counts the theorems over every ordered element type and those on declared tensors.
    """
    table = Table(
        box=box.SIMPLE_HEAD,
        header_style="bold",
        padding=(0, 1),
        pad_edge=False,
    )
    table.add_column("requirement", no_wrap=True)
    families = [family.id for family in spec.families]
    for column in (*families, "any"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("proved by", no_wrap=True)
    table.add_column("CPU", justify="right", no_wrap=True)
    # Other subjects are hand-written theories: their column is "any".
    family_of = {etype.id: etype.family for etype in spec.element_types}
    for section, rows in _sections(spec):
        has_heading = False
        for row, ids in rows.items():
            outcomes = [o for o in proofs.outcomes if ids.intersection(o.obligation.shows)]
            if not outcomes:
                continue  # a run of few obligations has a short table
            if not has_heading:
                table.add_row(f"[bold]{section}[/]")
                has_heading = True
            counts = _counts(outcomes, [*families, None], family_of)
            table.add_row(f"  {row}", *counts, *_provers(outcomes))
    console.print(table)
    refuted = refutations(spec, proofs)
    if not refuted:
        return
    console.print("[bold]refuted as written, proved under a condition[/]")
    for line in refuted:
        # Conditions may hold brackets, which are no markup, and are to be copied as one line.
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print()


def _sections(spec: Spec) -> Iterator[tuple[str, dict[str, set[str]]]]:
    """The rows below each heading: the name of a row, and the ids that it counts."""
    for section in _SECTIONS:
        ids = [entry.id for entry in getattr(spec, section)]
        rows = {id_: {id_} for id_ in ids}
        if section == "classes":
            rows = {f"all {len(ids)} classes": {*ids}}  # there are too many for a row each
        yield section.replace("_", " "), rows
    # Rewrites are in a file of their own, and their goals are shown by the ids there.
    rewrites = {rewrite.id for rewrite in known_rewrites()}
    theorems = {theorem.id for theorem in known_theorems()}
    rows = {
        f"all {len(rewrites)} rewrites": rewrites,
        f"all {len(theorems)} of functions": theorems,
    }
    yield "rewrites", rows
    yield "soundness", {"smoke": {"smoke"}}


def _counts(
    outcomes: Sequence[Outcome],
    families: Sequence[str | None],
    family_of: Mapping[str, str],
) -> Iterator[str]:
    """The cells of a row: proved obligations of each family, and of none."""
    for family in families:
        of_family = [o for o in outcomes if family_of.get(o.obligation.subject) == family]
        total = len(of_family)
        proved = sum(o.status != "not proved" for o in of_family)
        if total == 0:
            yield ""
        elif proved == total:
            yield f"{proved}"
        else:
            yield f"[red]{proved} of {total}[/]"


def _provers(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """The last two cells of a row: the provers, with how often each did not show it, and their time."""
    names: dict[str, None] = {}  # in the order in which provers replied
    for outcome in outcomes:
        for reply in outcome.replies:
            names[reply.prover] = None
    parts = []
    for name in names:
        lacking = sum(name not in outcome.proved_by for outcome in outcomes)
        parts.append(f"{name} (but {lacking})" if lacking else name)
    seconds = sum(outcome.cpu for outcome in outcomes)
    return ", ".join(parts), f"{seconds:.1f} s"


def refutations(spec: Spec, proofs: Proofs) -> list[str]:
    """For each statement that is refuted as written, the numbers and the condition under which it holds."""
    refuted: set[tuple[str, str]] = set()
    # Only what this run has proved to be refuted, by entry and family.
    for outcome in proofs.outcomes:
        obligation = outcome.obligation
        is_refutation = obligation.kind in ("refutation", "counterexample")
        if not is_refutation or outcome.status == "not proved":
            continue
        family = spec.element_type(obligation.subject).family
        for id_ in obligation.shows:
            refuted.add((id_, family))

    lines: list[str] = []
    entries: list[Property | Constraint] = [*spec.constraints, *spec.properties]
    for entry in entries:
        for family, witness in entry.refuted_for.items():
            if (entry.id, family) not in refuted:
                continue
            numbers = _numbers(spec, witness)
            condition = unparse(entry.repaired[family])
            lines.append(f"  {entry.id} ({family}): {numbers}; holds if {condition}")
    return lines


def _numbers(spec: Spec, witness: object) -> str:
    """The numbers of a witness, by the operands of the signature: ``X = 1, L = 2``."""
    numbers = []
    for name in spec.signature.ids:
        value = getattr(witness, name)
        text = ", ".join(value) if isinstance(value, tuple) else value
        numbers.append(f"{name} = {text}")
    return ", ".join(numbers)


def proofs_summary(proofs: Proofs) -> str:
    """One line: obligations and distinct tasks, by number of provers, and the time."""
    goals = [o for o in proofs.outcomes if o.obligation.kind != "smoke"]
    obligations = counted(len(goals), "obligation")
    tasks_of_goals = [[reply.task for reply in goal.replies] for goal in goals]
    tasks = counted(distinct_tasks(tasks_of_goals), "distinct task")

    statuses = Counter(goal.status for goal in goals)
    single = [goal.obligation.id for goal in goals if goal.status == "proved by one"]
    by_one = f"{len(single)} by one"
    if single:
        by_one += f" ({', '.join(single)})"

    shown: Counter[str] = Counter()
    for outcome in proofs.outcomes:
        if outcome.status != "not proved":
            shown[outcome.obligation.kind] += 1
    refutations_of_source = counted(shown["refutation"], "refutation")
    counterexamples = counted(shown["counterexample"], "counterexample")

    smoke_count = len(proofs.outcomes) - len(goals)
    smoke = "no smoke tests"
    if smoke_count:
        tests = counted(smoke_count, "smoke test")
        smoke = f"no prover found false: {shown['smoke']} of {tests} held"
    # A canary counts as proved where every prover refuted it.
    refuted = sum(o.status == "proved" for o in proofs.canaries)
    sent = counted(proofs.run.asked, "task")
    by_two = f"{statuses['proved']} proved by two provers"
    not_proved = f"{statuses['not proved']} not proved"
    return (
        f"{obligations} ({tasks}): {by_two}, {by_one}, {not_proved};"
        f" {refutations_of_source} of the source,"
        f" {counterexamples} to claims that no source makes;"
        f" {smoke}; {refuted} of {len(proofs.canaries)} canaries refuted"
        f" ({sent} sent to provers, {proofs.run.wall:.1f} s)"
    )


def failures(
    why3: Why3,
    provers: Sequence[Prover],
    proofs: Proofs,
    shown: int,
) -> Iterator[str]:
    """The obligations that are not proved, and the false statements that are not refuted."""
    # A few, since one mistake in a theory may make hundreds of goals false.
    failed = [o for o in proofs.outcomes if o.status == "not proved"]
    for outcome in failed[:shown]:
        yield _failure(why3, provers, outcome, "not proved")
    if len(failed) > shown:
        yield f"\n… and {len(failed) - shown} more not proved"
    # The status of a canary is about its refutation: one that is believed casts doubt on all.
    believed = [o for o in proofs.canaries if o.status == "not proved"]
    for outcome in believed[:shown]:
        yield _failure(why3, provers, outcome, "a false statement is not refuted:")
    if believed:
        yield (
            "\nno answer of this run is reliable: a printer, Why3, a driver or a prover has a bug;"
            " build/proofs.json is unchanged"
        )
    for stray in proofs.strays:
        yield f"a goal without an obligation: {stray}"


def undecided(why3: Why3, provers: Sequence[Prover], proofs: Proofs) -> Iterator[str]:
    """The obligations that one of several provers did not decide: which, why, and what to do."""
    if len(provers) < 2:
        return  # every proof is by one prover then
    for outcome in proofs.outcomes:
        if outcome.status != "proved by one":
            continue
        obligation = outcome.obligation
        yield f"\nproved by one prover only: {obligation.id}: {obligation.title}"
        for reply in outcome.failed_replies:
            prover = _prover_of(reply, provers)
            limits = limits_of(obligation, prover)
            # A countermodel or a failure is none of these: it would not be proved by one.
            if reply.verdict == "timeout":
                why = f"did not end within {limits.seconds} s"
                todo = "run again when less else runs on this machine"
            else:
                why = f"does not know it with {limits.resources} of its steps, on any machine"
                todo = "state it otherwise, or see whether another version of the prover knows it"
            yield f"  {reply.prover} {why}: {todo}"
            yield f"  by hand: {by_hand(why3, prover, obligation)}"


def _failure(
    why3: Why3,
    provers: Sequence[Prover],
    outcome: Outcome,
    problem: str,
) -> str:
    """An obligation that failed: what each prover printed last, and how to run it by hand."""
    obligation = outcome.obligation
    lines = [f"\n{problem} {obligation.id}: {obligation.title}"]
    for reply in outcome.failed_replies:
        last_lines = reply.words.splitlines()[-5:]
        printed = "\n    ".join(last_lines)
        command = by_hand(why3, _prover_of(reply, provers), obligation)
        lines.append(f"  {reply.prover}: {reply.verdict}: {printed}")
        lines.append(f"  by hand: {command}")
    return "\n".join(lines)


def _prover_of(reply: Reply, provers: Sequence[Prover]) -> Prover:
    """The prover that gave a reply."""
    return next(prover for prover in provers if prover.name == reply.prover)
