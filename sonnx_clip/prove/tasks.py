"""Why3 as a generator of tasks: it reads theories and prints one SMT-LIB text a goal and prover."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.prove.accounts import Account, account
from sonnx_clip.prove.snapshot import INLINE
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.run_program import run_limited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.accounts import GoalName
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3
    from sonnx_clip.root.run_program import Ended, Running

Texts: TypeAlias = "dict[GoalName, str]"

WHY3_SECONDS: float = 300
# In the folder of a snapshot, from which all names are relative.
_SNAPSHOT = ("why3", "prove", "-C", "why3.conf", "-L", "why3", "-P")


@dataclass(frozen=True)
class Task:
    """A goal as Why3 printed it for one prover, identified by the digest of its text."""

    text: str
    digest: str


@dataclass(frozen=True)
class PrintedTasks:
    """What Why3 printed of a theory file for a prover.

    Args:
        tasks: the task of each goal.
        account: what the tasks say besides premises and goals, and what is not accounted for.
        complaint: Why3's words if it failed: then there may be no task, or not all.
    """

    tasks: Mapping[GoalName, Task]
    account: Account
    complaint: str = ""


def command(why3: Why3, prover: Prover, *more: str) -> list[str]:
    """The command that a person enters in the repository's root to prove files, which `more` names."""
    config = os.path.relpath(why3.config.absolute(), repo_root())
    return ["why3", "prove", "-C", config, "-L", "why3", "-P", prover.why3_name, *more]


def goal_options(obligation: Obligation) -> list[str]:
    """Why3's options for one obligation: which goal, and, but for smoke, that definitions are inlined."""
    inline = () if obligation.kind == "smoke" else INLINE
    # Why3 does not find a cloned axiom by its name: the whole theory is asked, which holds nothing else.
    goal = () if obligation.kind == "instance" else ("-G", obligation.goal)
    return ["-T", obligation.theory, *goal, *inline]


def print_tasks(
    why3: Why3,
    prover: Prover,
    files: Sequence[str],
    running: Running | None = None,
) -> Mapping[str, PrintedTasks]:
    """Let Why3 print the tasks of theory files, and account for what they say.

    The task of a smoke goal keeps the whole context. Every other one has definitions inlined and premises
    introduced. Why3 is started twice for all files, and reads what they use once. Where it complains, each
    file is printed by itself: a file whose theory is wrong takes nothing from the others.

    Args:
        why3: Why3 with its configuration.
        prover: for whom the tasks are.
        files: the theory files, as paths in the repository; no two have one name.
        running: what can stop Why3 from another thread.
    """
    # Why3 names its output after the stems, by which the files are told apart.
    file_of = {Path(file).stem: file for file in files}
    stems = tuple(file_of)
    assert len(stems) == len(files), files

    # First all goals, as they are proved; only then it is known which theories have a smoke goal.
    arguments = (prover.why3_name, *files, *INLINE)
    inlined, complaint = _print(why3, arguments, stems, running)
    options: list[str] = []
    for stem, file in file_of.items():
        if inlined[stem]:
            options += [file, *_whole(inlined[stem])]
    whole: dict[str, Texts] = {stem: {} for stem in stems}
    if options and not complaint:
        arguments = (prover.why3_name, *options)
        whole, complaint = _print(why3, arguments, stems, running)

    printed: dict[str, PrintedTasks] = {}
    if complaint and len(files) > 1:
        for file in files:
            printed |= print_tasks(why3, prover, (file,), running)
        return printed
    for stem, file in file_of.items():
        printed[file] = _printed(
            inlined[stem],
            whole[stem],
            complaint,
            why3.lemmas,
            prover,
        )
    return printed


def _printed(
    inlined: Texts,
    whole: Texts,
    complaint: str,
    lemmas: frozenset[str],
    prover: Prover,
) -> PrintedTasks:
    """What Why3 printed of a file, with definitions inlined and as a whole, accounted for."""
    # A smoke goal is asked in its whole task, which `account` reads as the context of the others.
    texts: Texts = {}
    for goal, text in inlined.items():
        if not _is_smoke(goal):
            texts[goal] = text
    accounted = Account()
    if not complaint:  # else there may be no task, or not all
        accounted = account(texts, whole, lemmas, prover.name)
    for goal, text in whole.items():
        if _is_smoke(goal):
            # Without symbols that nothing uses; whole where it could not be read, and is refused.
            texts[goal] = accounted.smoke.get(goal, text)

    tasks = {}
    for goal, text in texts.items():
        cleaned = clean(text)
        tasks[goal] = Task(cleaned, digest_of(cleaned))
    return PrintedTasks(tasks, accounted, complaint)


def _is_smoke(goal: GoalName) -> bool:
    _, name = goal
    return name.startswith("smoke_")


def _whole(goals: Iterable[GoalName]) -> list[str]:
    """Why3's options for what shows the context of every theory: its smoke goal, or else all its goals."""
    theories: set[str] = set()
    with_smoke: set[str] = set()
    options: list[str] = []
    for goal in sorted(goals):
        theory, name = goal
        theories.add(theory)
        if _is_smoke(goal):
            with_smoke.add(theory)
            # The smoke goal is the last of its theory, so that its task has everything before it.
            options += ["-T", theory, "-G", name]
    for theory in sorted(theories - with_smoke):
        options += ["-T", theory]
    return options


def run_why3(command: list[str], folder: Path, running: Running | None = None) -> Ended:
    """Run Why3 in the folder of a snapshot."""
    return run_limited(command, WHY3_SECONDS, running, folder=folder)


def _print(
    why3: Why3,
    arguments: Sequence[str],
    stems: Sequence[str],
    running: Running | None,
) -> tuple[dict[str, Texts], str]:
    """What Why3 prints of the files with these names, and what it complains of."""
    tasks: dict[str, Texts] = {stem: {} for stem in stems}
    with tempfile.TemporaryDirectory() as folder:
        done = run_why3([*_SNAPSHOT, *arguments, "-o", folder], why3.root, running)
        # What it has written until then may end in the middle of a task.
        if done.killed:
            return tasks, f"why3 did not end within {WHY3_SECONDS} s"
        for path in sorted(Path(folder).glob("*.smt2")):
            stem, goal, text = _read(path, stems)
            tasks[stem][goal] = text
    # With -o it prints nothing but complaints, on both streams.
    errors = _errors(done.words)
    printed = done.text.strip()
    complaint = "\n".join(filter(None, (errors, printed)))
    if done.status != 0 and not complaint:
        complaint = f"why3 ended with exit status {done.status}"
    return tasks, complaint


def _errors(stderr: str) -> str:
    """What Why3 wrote to standard error, but for warnings, each of which is two lines.

    That a program may not end is no more than a warning to Why3; here it is an error.
    """
    harmless = re.compile(r"^File .*:\nwarning: (?!termination|.*diverge).*\n?", re.MULTILINE)
    return harmless.sub("", stderr).strip()


def _read(path: Path, stems: Sequence[str]) -> tuple[str, GoalName, str]:
    """File, theory and goal, and text of a file ``<file>-<theory>-<goal>.smt2``, ``qt`` for a quote."""
    # The longest, because the stem of one file may begin that of another.
    possible = [stem for stem in stems if path.name.startswith(f"{stem}-")]
    stem = max(possible, key=len)
    name = path.stem.removeprefix(f"{stem}-")
    theory, _, goal = name.partition("-")
    # Only at the end, where Why3 puts it, since a name of ours may hold these letters.
    goal = re.sub(r"(qtrefn)?qtvc$", lambda match: match[0].replace("qt", "'"), goal)
    return stem, (theory, goal), path.read_text(encoding="utf-8")


def clean(text: str) -> str:
    """A task without comments, which hold places in files, and without the request for a reason."""
    lines = []
    for line in text.splitlines():
        if line.strip() and not line.startswith(";"):
            lines.append(line)
    # A prover would answer it in a line of its own, which `read_verdict` does not know.
    if lines and lines[-1] == "(get-info :reason-unknown)":
        lines.pop()
    return "\n".join(lines)
