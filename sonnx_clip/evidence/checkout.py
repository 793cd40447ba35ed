"""The commit of the checkout in which a command runs, as git knows it."""

from __future__ import annotations

from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.run_program import run_limited
from sonnx_clip.root.stored import Stored

_SECONDS = 60.0
_COMMANDS = (
    ("rev-parse", "--short=12", "HEAD"),
    ("show", "--no-patch", "--format=%cs", "HEAD"),
    ("status", "--porcelain"),
)


class Checkout(Stored):
    """A commit, its date (a day), and the files that differ from it: changed, or new and not ignored."""

    commit: str
    date: str
    changed: tuple[str, ...] = ()


def read_checkout() -> Checkout | None:
    """The checkout that this package belongs to; None where git can read none."""
    # Without git, or outside a checkout, as where the package is installed from a wheel, there is none.
    answers = []  # in the order of the commands
    for arguments in _COMMANDS:
        done = run_limited(["git", *arguments], _SECONDS, folder=repo_root())
        if done.status != 0:  # no git, no repository, or it took too long
            return None
        # Line ends alone: the first line of the status may begin with a space, which is one of its
        # two letters.
        answers.append(done.text.rstrip("\n"))
    commit, date, status = answers
    # A line of the status has two letters and a space before the name.
    changed = tuple(line[3:] for line in status.splitlines())
    return Checkout(commit=commit, date=date, changed=changed)
