"""What each verdict on a runtime means for a test, and how it is shown: the one list of verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict: TypeAlias = Literal[
    "environment", "crashed", "unreached", "violates", "depends", "unfinished", "refused", "unsupported",
    "acceptable", "conforms",
]  # fmt: skip
"""The verdict on a runtime in a class, the worst first.

- ``environment``: the machine lacks what the runtime needs, so there is no verdict on the runtime.
- ``unreached``: the run failed, and no result in the class was compared.
- ``depends``: it is wrong in some forms of a model only, or wrong in different ways.
- ``unfinished``: the run was interrupted, and the results compared until then are right.
"""

Outcome: TypeAlias = Literal["passed", "failed", "skipped", "error"]
"""The outcome of a test of pytest or JUnit."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class VerdictRow(NamedTuple):
    """A verdict: the outcome of its test, its signs, and whether more results could change it.

    `sign` stands in tables of text, in `style` on a terminal, and `page_sign` in those of the evidence.
    """

    outcome: Outcome
    sign: str
    page_sign: str
    style: str
    may_change: bool = False  # with results of units that are missing


VERDICT_TABLE: dict[Verdict, VerdictRow] = {
    "conforms": VerdictRow("passed", "=", "·", "green", may_change=True),
    "acceptable": VerdictRow("passed", "~", "≈", "yellow", may_change=True),
    "violates": VerdictRow("failed", "X", "×", "bold red"),
    "depends": VerdictRow("failed", "f", "f", "bold red"),
    "refused": VerdictRow("skipped", "r", "r", "yellow", may_change=True),
    "unsupported": VerdictRow("skipped", "-", "–", "dim", may_change=True),
    "crashed": VerdictRow("failed", "!", "!", "bold red"),
    "unreached": VerdictRow("failed", "?", "?", "bold red", may_change=True),
    "environment": VerdictRow("error", "e", "e", "bold red"),
    "unfinished": VerdictRow("error", "u", "u", "bold red"),
}
"""Every verdict, in the order in which they are listed for readers."""

FAILING: frozenset[Verdict] = frozenset(
    verdict for verdict, row in VERDICT_TABLE.items() if row.outcome in ("failed", "error")
)
"""The verdicts with which a run fails."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts: that of a type is the worst of its classes."""
    return min(verdicts, key=VERDICTS.index)
