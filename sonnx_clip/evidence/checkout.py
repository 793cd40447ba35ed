"""The commit of the checkout in which a command runs, as git knows it."""

from __future__ import annotations

import subprocess

from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.stored import Stored

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
    answers = []
    for arguments in _COMMANDS:
        try:
            done = subprocess.run(
                ["git", *arguments],
                cwd=repo_root(),
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        answers.append(done.stdout.rstrip("\n"))
    commit, date, status = answers
    # A line of the status has two letters and a space before the name.
    changed = tuple(line[3:] for line in status.splitlines())
    return Checkout(commit=commit, date=date, changed=changed)
