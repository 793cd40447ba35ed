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
    """A verdict: what it says of one type and of several, the outcome of its test, its signs.

    `sign` stands in tables of text, in `style` on a terminal, and `page_sign` in those of the evidence.
    `may_change` tells whether results of units that are missing could change it.
    """

    of_one: str
    of_several: str
    outcome: Outcome
    sign: str
    page_sign: str
    style: str
    may_change: bool = False


VERDICT_TABLE: dict[Verdict, VerdictRow] = {
    "conforms": VerdictRow("conforms", "conform", "passed", "=", "·", "green", may_change=True),
    "acceptable": VerdictRow(
        "is acceptable", "are acceptable", "passed", "~", "≈", "yellow", may_change=True
    ),
    "violates": VerdictRow("violates", "violate", "failed", "X", "×", "bold red"),
    "depends": VerdictRow(
        "depends on the form", "depend on the form", "failed", "f", "f", "bold red"
    ),
    "refused": VerdictRow(
        "is refused", "are refused", "skipped", "r", "r", "yellow", may_change=True
    ),
    "unsupported": VerdictRow(
        "is unsupported", "are unsupported", "skipped", "-", "–", "dim", may_change=True
    ),
    "crashed": VerdictRow("crashes", "crash", "failed", "!", "!", "bold red"),
    "unreached": VerdictRow(
        "was not reached", "were not reached", "failed", "?", "?", "bold red", may_change=True
    ),
    "environment": VerdictRow(
        "could not be judged here", "could not be judged here", "error", "e", "e", "bold red"
    ),
    "unfinished": VerdictRow("is unfinished", "are unfinished", "error", "u", "u", "bold red"),
}
"""Every verdict, in the order in which they are listed for readers."""

FAILING: frozenset[Verdict] = frozenset(
    verdict for verdict, row in VERDICT_TABLE.items() if row.outcome in ("failed", "error")
)
"""The verdicts with which a run fails."""


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts: that of a type is the worst of its classes."""
    # `Verdict` lists them from the worst on.
    return min(verdicts, key=VERDICTS.index)
