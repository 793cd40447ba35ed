"""Why3 as a generator of tasks: it reads theories and prints one SMT-LIB text a goal and prover."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.prove.accounts import Account, account
from sonnx_clip.prove.ledger import TaskName
from sonnx_clip.prove.snapshot import INLINE
from sonnx_clip.prove.taken_for_granted import read_theories
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.run_program import run_limited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3
    from sonnx_clip.root.run_program import Ended, Running

    _Texts = dict[str, dict[tuple[str, str], str]]  # of each file, by theory and goal

WHY3_SECONDS = 300
_SNAPSHOT = ("why3", "prove", "-C", "why3.conf", "-L", "why3", "-P")


@dataclass(frozen=True)
class Task:
    """A goal as Why3 printed it for one prover."""

    name: TaskName
    text: str


def source_of(source: str, asked: Sequence[Obligation]) -> str:
    """The digest of a source of which some tasks alone are printed; they never stand for all of them."""
    return digest_of("\0".join([source, *sorted(f"{o.theory}.{o.goal}" for o in asked)]))


def command(why3: Why3, prover: Prover, *more: str) -> list[str]:
    """The command that a person enters in the repository's root to prove files, which `more` names."""
    config = _relative(why3.config.absolute(), repo_root())
    return ["why3", "prove", "-C", config, "-L", "why3", "-P", prover.why3_name, *more]


@lru_cache(maxsize=16)
def _relative(path: Path, folder: Path) -> str:
    """As `os.path.relpath`, which takes long for the commands of thousands of obligations."""
    return os.path.relpath(path, folder)


def goal_options(obligation: Obligation) -> list[str]:
    """Why3's options for one obligation: which goal, and, but for smoke, that definitions are inlined."""
    inline = () if obligation.kind == "smoke" else INLINE
    # Why3 does not find a cloned axiom by its name: the whole theory is asked, which holds nothing else.
    goal = () if obligation.kind == "instance" else ("-G", obligation.goal)
    return ["-T", obligation.theory, *goal, *inline]


@dataclass(frozen=True)
class PrintedTasks:
    """What Why3 printed of a theory file for a prover.

    Args:
        tasks: the tasks.
        said: Why3's words if it failed: then there may be no task, or not all.
        account: what the tasks say besides premises and goals, and what is not accounted for.
    """

    tasks: tuple[Task, ...]
    said: str
    account: Account


def lemmas(why3: Why3) -> frozenset[str]:
    """The lemmas of all theories: each is an obligation itself."""
    kinds = ("lemma", "lemma program")
    texts = (text for text in why3.texts.values() if kinds[0] in text)  # most have none, and reading is slow
    return frozenset(f.name for text in texts for f in read_theories(text) if f.kind in kinds)


def print_tasks(
    why3: Why3,
    prover: Prover,
    file: str,
    proved: frozenset[str],
    asked: Sequence[Obligation] = (),
    running: Running | None = None,
    seconds: float = WHY3_SECONDS,
) -> PrintedTasks:
    """Let Why3 print the tasks of a theory file, and account for what they say.

    The task of a smoke goal keeps the whole context. Every other one has definitions inlined and premises
    introduced.

    Args:
        why3: Why3 with its configuration.
        prover: for whom the tasks are.
        file: the theory file, as a path in the repository.
        proved: lemmas that are obligations themselves.
        asked: the obligations of the file whose tasks are printed; all by default.
        running: what can stop Why3 from another thread.
        seconds: for each run of Why3.
    """
    stem = Path(file).stem
    goals, context = _options(why3, file, asked)
    found: _Texts = {stem: {}}
    said = ""
    if goals or not asked:
        found, said = _print(why3, (prover.why3_name, file, *goals, *INLINE), (stem,), running, seconds)
    whole: _Texts = {stem: {}}
    if (found[stem] or asked) and not said:
        more = context or _whole(found[stem])
        whole, said = _print(why3, (prover.why3_name, file, *more), (stem,), running, seconds)
    if said and asked:  # of one goal that it does not find, Why3 prints no other
        return print_tasks(why3, prover, file, proved, (), running, seconds)
    return _printed(found[stem], whole[stem], said, proved, prover)


def print_files(
    why3: Why3,
    prover: Prover,
    files: Sequence[str],
    proved: frozenset[str],
    running: Running | None = None,
) -> Mapping[str, PrintedTasks]:
    """Let Why3 print all tasks of several theory files, as `print_tasks` does of one.

    Why3 is started twice for all of them, and reads what they use once. Where it complains, each file is
    printed by itself: so a file whose theory is wrong takes nothing from the others.

    Args:
        why3: Why3 with its configuration.
        prover: for whom the tasks are.
        files: the theory files, as paths in the repository.
        proved: lemmas that are obligations themselves.
        running: what can stop Why3 from another thread.
    """
    stems = {Path(file).stem: file for file in files}
    if len(stems) == len(files) > 1:
        found, said = _print(why3, (prover.why3_name, *files, *INLINE), tuple(stems), running)
        options = [o for stem, file in stems.items() if found[stem] for o in (file, *_whole(found[stem]))]
        whole = found
        if not said:
            whole, said = _print(why3, (prover.why3_name, *options), tuple(stems), running)
        if not said:
            return {
                file: _printed(found[stem], whole[stem], "", proved, prover) for stem, file in stems.items()
            }
    return {file: print_tasks(why3, prover, file, proved, (), running) for file in files}


def _printed(
    found: Mapping[tuple[str, str], str],
    whole: Mapping[tuple[str, str], str],
    said: str,
    proved: frozenset[str],
    prover: Prover,
) -> PrintedTasks:
    """What Why3 printed of a file, with definitions inlined and as a whole, accounted for."""
    tasks = {key: text for key, text in found.items() if not _is_smoke(key[1])}
    accounted = Account() if said else account(tasks, whole, proved, prover.name)
    tasks |= {key: text for key, text in whole.items() if _is_smoke(key[1])}
    return PrintedTasks(tuple(_task(key, text) for key, text in tasks.items()), said, accounted)


def _is_smoke(goal: str) -> bool:
    return goal.startswith("smoke_")


def _whole(texts: Iterable[tuple[str, str]]) -> list[str]:
    """Why3's options for what shows the context of every theory: its smoke goal, or else all its goals."""
    smoke = {key for key in texts if _is_smoke(key[1])}
    options = [option for theory, goal in sorted(smoke) for option in ("-T", theory, "-G", goal)]
    bare = {theory for theory, _ in texts} - {theory for theory, _ in smoke}
    return options + [option for theory in sorted(bare) for option in ("-T", theory)]


def _options(why3: Why3, file: str, asked: Sequence[Obligation]) -> tuple[list[str], list[str]]:
    """Why3's options for the goals that are asked about, and for what shows the context of their theories."""
    goals: list[str] = []
    context: list[str] = []
    text = why3.texts[file] if asked else ""
    named = [(f.module, f.name) for f in read_theories(text) if f.kind == "goal" and _is_smoke(f.name)]
    for theory in dict.fromkeys(o.theory for o in asked):
        mine = [o for o in asked if o.theory == theory and o.kind != "smoke"]
        smoke = [goal for module, goal in named if module == theory]
        options = [option for goal in smoke for option in ("-G", goal)]
        given: list[str] = []
        if all(o.kind != "instance" for o in mine):  # of a clone, the whole theory: see `goal_options`
            given = [option for o in mine for option in ("-G", o.goal)]
        if mine:
            goals += ["-T", theory, *given]
        context += ["-T", theory, *(options or given)]
    return goals, context


def run_why3(
    command: list[str], folder: Path, running: Running | None = None, seconds: float = WHY3_SECONDS
) -> Ended:
    """Run Why3 in the folder of a snapshot, for so many seconds at most."""
    return run_limited(command, seconds, running, folder=folder)


def _print(
    why3: Why3,
    asked: Sequence[str],
    stems: Sequence[str],
    running: Running | None,
    seconds: float = WHY3_SECONDS,
) -> tuple[_Texts, str]:
    """What Why3 prints of the files with these names, and what it complains of."""
    tasks: _Texts = {stem: {} for stem in stems}
    with tempfile.TemporaryDirectory() as folder:
        done = run_why3([*_SNAPSHOT, *asked, "-o", folder], why3.root, running, seconds)
        if done.killed:
            return tasks, f"why3 did not end within {seconds} s"
        for path in sorted(Path(folder).glob("*.smt2")):
            stem, key, text = _read(path, stems)
            tasks[stem][key] = text
    said = "\n".join(part for part in (_errors(done.words), done.text.strip()) if part)
    if done.status != 0 and not said:
        said = f"why3 ended with exit status {done.status}"
    return tasks, said


def _errors(stderr: str) -> str:
    """What Why3 wrote to standard error, but for warnings, each of which is two lines.

    That a program may not end is no more than a warning to Why3; here it is an error.
    """
    harmless = re.compile(r"^File .*:\nwarning: (?!termination|.*diverge).*\n?", re.MULTILINE)
    return harmless.sub("", stderr).strip()


def _read(path: Path, stems: Sequence[str]) -> tuple[str, tuple[str, str], str]:
    """File, theory and goal, and text of a file ``<file>-<theory>-<goal>.smt2``, ``qt`` for a quote."""
    stem = max((stem for stem in stems if path.name.startswith(f"{stem}-")), key=len)
    theory, _, goal = path.stem.removeprefix(f"{stem}-").partition("-")
    goal = re.sub(r"(qtrefn)?qtvc$", lambda m: m[0].replace("qt", "'"), goal)
    return stem, (theory, goal), path.read_text(encoding="utf-8")


def _task(key: tuple[str, str], printed: str) -> Task:
    text = clean(printed)
    return Task(TaskName(*key, digest_of(text)), text)


def clean(text: str) -> str:
    """A task without comments, which hold places in files, and without the request for a reason."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(";")]
    if lines and lines[-1] == "(get-info :reason-unknown)":
        lines.pop()
    return "\n".join(lines)
