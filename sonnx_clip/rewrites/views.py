"""Rewrites as `sonnx-clip rewrites` shows them, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from sonnx_clip.rewrites.critical_points import STRENGTHS, Strength
from sonnx_clip.rewrites.decide import witness
from sonnx_clip.rewrites.rewrite import ALWAYS, NEVER
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.rewrites.decide import Decision, Differs
    from sonnx_clip.rewrites.rewrite import Rewrite, RewriteTheorem

Status: TypeAlias = Literal["not proved", "proved by one", "proved"]
"""What the provers show of an obligation, the weakest first."""

WORDS: Final[Mapping[Strength, str]] = {
    "bits": "bit for bit",
    "value": "by value",
    "numbers": "where X is a number",
}
"""What the strengths are called: by value, zeros are equal and NaNs alike."""


class RewriteCondition(Stored):
    """When a rewrite is legal in a family: exactly where `legal_when` holds, for the constants of `given`.

    `status` is what a run of the provers found which fits this specification; None where there is none.
    """

    family: str
    strength: Strength
    legal_when: str
    obligations: tuple[str, ...]
    status: Status | None = None
    witness: str | None = None

    @property
    def words(self) -> str:
        """The condition as words: ``float, by value: legal where A <= B``."""
        return words_of_condition(self.family, self.strength, self.legal_when)


def words_of_condition(family: str, strength: Strength, legal_when: str) -> str:
    """A condition as words: ``float, by value: legal where A <= B``."""
    words = {ALWAYS: "always legal", NEVER: "never legal"}
    verdict = words.get(legal_when, f"legal where {legal_when}")
    return f"{family}, {WORDS[strength]}: {verdict}"


class RewriteView(Stored):
    """A rewrite: its terms, when it is legal, and who makes it."""

    id: str
    title: str
    before: str
    after: str
    given: str
    conditions: tuple[RewriteCondition, ...]
    why: str
    seen: tuple[str, ...]
    reports: tuple[str, ...] = ()  # a sentence for each bug report, if witnesses were sought


class TheoremView(Stored):
    """A rewrite of every function of a kind."""

    id: str
    title: str
    before: str
    after: str
    holds: str
    why: str
    seen: tuple[str, ...]


class RewritesView(Stored):
    """Some rewrites, and those of every function of a kind."""

    rewrites: tuple[RewriteView, ...]
    theorems: tuple[TheoremView, ...] = ()


def view(
    rewrites: Sequence[Rewrite],
    obligations: Mapping[str, Sequence[str]],
    statuses: Mapping[str, Status],
    *,
    witnesses: bool,
) -> RewritesView:
    """Rewrites with their conditions.

    Args:
        rewrites: those that are shown.
        obligations: the ids of the obligations by `goal_prefix` of a condition.
        statuses: the status of each obligation that a run of the provers knows.
        witnesses: whether constants are sought for which a rewrite is wrong.
    """
    views = [_view(rewrite, obligations, statuses, witnesses=witnesses) for rewrite in rewrites]
    return RewritesView(rewrites=tuple(views))


def _view(
    rewrite: Rewrite,
    obligations: Mapping[str, Sequence[str]],
    statuses: Mapping[str, Status],
    *,
    witnesses: bool,
) -> RewriteView:
    entry = rewrite.entry
    conditions = []
    for family, strength in rewrite.stated():
        goal = goal_prefix(rewrite, family, strength)
        ids = tuple(obligations.get(goal, ()))
        legal_when = entry.legal_when[family][strength]
        wrong = None
        # Not by default: a few thousand choices of constants are tried for each condition.
        if witnesses and legal_when != ALWAYS:
            wrong = witness(rewrite, family, strength)
        condition = RewriteCondition(
            family=family,
            strength=strength,
            legal_when=legal_when,
            obligations=ids,
            status=_weakest_status(ids, statuses),
            witness=None if wrong is None else str(wrong),
        )
        conditions.append(condition)
    return RewriteView(
        id=entry.id,
        title=entry.title,
        before=entry.before,
        after=entry.after,
        given=entry.given,
        conditions=tuple(conditions),
        why=entry.why,
        seen=tuple(map(str, entry.seen)),
        reports=tuple(_reports(rewrite, conditions)) if witnesses else (),
    )


def _reports(rewrite: Rewrite, conditions: Sequence[RewriteCondition]) -> Iterator[str]:
    """A sentence for those who make a rewrite for all constants, and one for each test that wrong ones pass.

    A test is reported only if a value changes: not for the sign of a zero or the payload of a NaN.
    """
    # A witness of a weaker strength is one of the stricter, too. The last one of a family is the
    # weakest (`Rewrite.stated`).
    weakest_first = conditions[::-1]
    unguarded = [str(seen) for seen in rewrite.entry.seen if not seen.where]
    # Those that test nothing first: any witness shows them wrong.
    if unguarded:
        wrong = next((c for c in weakest_first if c.witness is not None), None)
        yield _report(rewrite, unguarded, wrong, None if wrong is None else wrong.witness)
    # Only floats have two values that are equal, so that bits are values in other families.
    of_values = [c for c in weakest_first if (c.family, c.strength) != ("float", "bits")]
    for seen in rewrite.entry.seen:
        tested = rewrite.tested(seen)
        if tested is None:
            continue
        for condition in of_values:
            passing = witness(rewrite, condition.family, condition.strength, tested)
            if passing is not None:
                yield _report(rewrite, [str(seen)], condition, str(passing))
                break  # one example is enough for a report


def _report(
    rewrite: Rewrite,
    makers: Sequence[str],
    wrong: RewriteCondition | None,
    shown: str | None,
) -> str:
    """A sentence for a bug report: what is rewritten, where that is wrong, and when it is legal."""
    entry = rewrite.entry
    verb = "rewrites" if len(makers) == 1 else "rewrite"
    makes = f"{listed(makers)} {verb} `{entry.before}` to `{entry.after}`."
    if wrong is None:
        return f"{makes} No constants were found for which the value changes."
    restriction = f", for constants with {entry.given}" if entry.given else ""
    when = "It is never legal"
    if wrong.legal_when != NEVER:
        when = f"It is legal only where {wrong.legal_when}"
    return f"{makes} That is wrong for {shown}. {when} ({WORDS[wrong.strength]}{restriction})."


def theorem_views(theorems: Sequence[RewriteTheorem]) -> tuple[TheoremView, ...]:
    """What is shown of rewrites of every function of a kind."""
    return tuple(map(_theorem_view, theorems))


def _theorem_view(theorem: RewriteTheorem) -> TheoremView:
    return TheoremView(
        id=theorem.id,
        title=theorem.title,
        before=theorem.before,
        after=theorem.after,
        holds=theorem.holds,
        why=theorem.why,
        seen=tuple(map(str, theorem.seen)),
    )


def goal_prefix(rewrite: Rewrite, family: str, strength: Strength) -> str:
    """How the names of the goals of a condition begin."""
    # As `backends.rewrites_theory` names them; hyphens are not allowed in WhyML.
    return f"{rewrite.id.replace('-', '_')}_{family}_{strength}"


def _weakest_status(ids: Sequence[str], statuses: Mapping[str, Status]) -> Status | None:
    """The weakest status of obligations; None if a run has not proved one, or there are none."""
    # What was proved of some obligations says nothing of the condition as a whole.
    if not ids or not statuses.keys() >= set(ids):
        return None
    known = [statuses[id_] for id_ in ids]
    return min(known, key=get_args(Status).index)  # `Status` lists the weakest first


def rewrites_text(shown: RewritesView, width: int | None = None) -> str:
    """Rewrites as text, a paragraph each; with all that is known where there is one alone."""
    # A list is to be skimmed: reasons, witnesses and reports would hide the conditions.
    is_alone = len(shown.rewrites) == 1
    lines_of = _lines_alone if is_alone else _lines
    blocks = [lines_of(rewrite) for rewrite in shown.rewrites]
    blocks += [_lines_of_theorem(theorem) for theorem in shown.theorems]
    paragraphs = []
    for lines in blocks:
        # Each line for itself: what goes on below it is indented by more.
        wrapped = [hanging(line, width) for line in lines]
        paragraphs.append("\n".join(wrapped))
    return "\n\n".join(paragraphs)


def _lines_of_theorem(shown: TheoremView) -> Iterator[str]:
    yield f"{shown.id}: {shown.title}"
    yield f"  {shown.before}  ->  {shown.after}"
    yield f"  by value, where X, A and B are numbers: legal {shown.holds}"
    yield f"  {shown.why}"
    if shown.seen:
        yield f"  seen in {'; '.join(shown.seen)}"


def _lines(shown: RewriteView) -> Iterator[str]:
    yield from _head(shown)
    for condition in shown.conditions:
        yield f"  {condition.words}"
    if shown.seen:
        yield f"  seen in {'; '.join(shown.seen)}"


def _lines_alone(shown: RewriteView) -> Iterator[str]:
    yield from _head(shown)
    for condition in shown.conditions:
        status = "" if condition.status is None else f" [{condition.status}]"
        yield f"  {condition.words}{status}"
        if condition.witness is not None:
            yield f"    wrong for {condition.witness}"
    yield f"  {shown.why}"
    if shown.seen:
        yield f"  seen in {'; '.join(shown.seen)}"
    for report in shown.reports:
        yield f"  report: {report}"


def _head(shown: RewriteView) -> Iterator[str]:
    yield f"{shown.id}: {shown.title}"
    yield f"  {shown.before}  ->  {shown.after}"
    if shown.given:
        yield f"  for constants with {shown.given}:"


def decision_text(decision: Decision, width: int | None = None) -> str:
    """A decision as text."""
    constants = [f"{name} = {number}" for name, number in decision.constants.items()]
    where = ", ".join([decision.type, *constants])
    lines = [f"{decision.before}  ->  {decision.after}  ({where})"]
    for strength in STRENGTHS:
        lines.append(_verdict(strength, decision.differs.get(strength)))
    reason = _sufficiency(decision)
    lines.append(f"{decision.points} values of X were tried, with zeros, ends and NaNs; {reason}")
    return "\n".join(hanging(line, width) for line in lines)


def _sufficiency(decision: Decision) -> str:
    """Why the values of X that were tried decide it."""
    # "Proved" with provers is of these very terms, without them of a rewrite of the file.
    suffice = "the critical points suffice, for all constants"
    match decision.suffice, decision.provers:
        case "proved", ():
            return "two provers show that these suffice"
        case "proved", provers:
            return f"proved by {' and '.join(provers)}: {suffice}"
        case "proved by one", provers:
            return f"proved by {' and '.join(provers)} alone ({decision.reason}): {suffice}"
        case "stated", _:  # of a rewrite of the file, before `prove` was run
            stated = "an obligation states that these suffice"
            return f"{stated}, and this build folder has no proof of it: run sonnx-clip prove"
    argued = "that these suffice is argued, not proved"
    return f"{argued} ({decision.reason})" if decision.reason else argued


def _verdict(strength: Strength, differs: Differs | None) -> str:
    if differs is None:
        return f"{WORDS[strength]}: legal"
    return f"{WORDS[strength]}: differs, {differs}"
