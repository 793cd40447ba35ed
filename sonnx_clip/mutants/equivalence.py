"""Whether a mutant means what the original means: by its normal form, or by a question to both provers about
what it reaches.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.prove.provers import ProverLimits, ask, find_provers
from sonnx_clip.prove.tasks import configure, print_tasks
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.run_program import Running
from sonnx_clip.whyml.declarations import parse_modules
from sonnx_clip.whyml.evaluate_goals import Statement
from sonnx_clip.whyml.node import Node, shown
from sonnx_clip.whyml.normal import Normal
from sonnx_clip.whyml.written import theory_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.mutants.theories import Theories, TheoryMutant
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.tasks import Why3
    from sonnx_clip.whyml.declarations import WhymlDeclaration


_DEFINED = ("predicate", "function", "constant")


@dataclass(frozen=True)
class Reached:
    """What a definition of a module reaches.

    Args:
        definitions: it, and those that use it, directly or not, in the order of the module.
        spoken_of: the names among them that a goal, a program, an axiom or another module mentions.
    """

    definitions: tuple[WhymlDeclaration, ...]
    spoken_of: tuple[str, ...]


def reached(theories: Theories, module: str, name: str) -> Reached:
    """The definitions that a change of one changes, and which of them are spoken of."""
    names, definitions, spoken = {name}, [], set()
    for d in theories.goals.library.module(module).declarations:
        used = names & set(d.text.split())
        if d.kind in _DEFINED and (d.name == name or used):
            names.add(d.name)
            definitions.append(d)
        else:
            spoken |= used
    for other, words in _words_of_modules().items():
        if other != module and module.rpartition(".")[2] in words[0]:
            spoken |= {n for n in names if n in words[1]}
    return Reached(tuple(definitions), tuple(d.name for d in definitions if d.name in spoken))


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """A term or formula in which the names of definitions are others."""
    text = names.get(node.text, node.text) if node.kind in ("name", "apply") else node.text
    return replace(node, text=text, parts=tuple(renamed(part, names) for part in node.parts))


@cache
def _words_of_modules() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Of each module: the last names of the modules that it uses or clones, and all its words."""
    found = {}
    files = [*theory_files(), *sorted(repo_file("generated/why3").glob("*.mlw"))]
    for path in dict.fromkeys(files):
        for module in parse_modules(path.read_text(encoding="utf-8"), str(path)):
            used = {d.name.rpartition(".")[2] for d in module.declarations if d.kind in ("use", "clone")}
            words = {word for d in module.declarations for word in d.text.split()}
            words |= {word.rpartition(".")[2] for word in words}
            found[f"{path.stem}.{module.name}"] = (frozenset(used), frozenset(words))
    return found


# ------------------------------------------------------------------------------------------------------------
# Whether a mutant means what the original means: by its normal form, or by a question to both provers


_LIMITS = ProverLimits(seconds=5)
_CARRIED = ("use", "clone", "type", "predicate", "function", "constant", "meta", "axiom")


def by_normal_form(theories: Theories, mutant: TheoryMutant) -> bool:
    """Whether the mutant and the original have one normal form, definitions put in."""
    for (module, name), body in mutant.bodies.items():
        if not isinstance(body, Node):
            return False
        d = declaration(theories, module, name)
        if d is None or d.body is None or d.kind in ("goal", "lemma") or d.kind.startswith("let"):
            return False
        try:
            scope = theories.goals.library.scope(module)
        except UserError:  # of a module that makes sense in copies alone
            return False
        normal = Normal()
        forms = {
            normal.statement(Statement((module, name), _quantified(d, b), scope)) for b in (d.body, body)
        }
        if len(forms) != 1:
            return False
    return True


@dataclass(frozen=True)
class EqualityQuestion:
    """One goal of a theory: a mutant means what the original means, or what is spoken of does.

    Args:
        mutant: the mutant.
        module: the module in which it is asked.
        lines: definitions with the mutant in them, under names with ``{0}`` for the number of the question.
        goal: the equality, with ``{0}`` too.
    """

    mutant: TheoryMutant
    module: str
    lines: tuple[str, ...]
    goal: str


def by_provers(
    theories: Theories, mutants: Iterable[TheoryMutant], build: Path, on_progress: Callable[[int], None]
) -> dict[TheoryMutant, tuple[str, ...]]:
    """The provers that prove each of the mutants equal to its original: a question for each of them.

    Where the definitions themselves differ, the same is asked of those that use it and are spoken of.
    """
    every = list(mutants)
    why3, provers, running = configure(build), find_provers(), Running()
    found: dict[TheoryMutant, tuple[str, ...]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for times, make in enumerate((_itself, _users)):
            asked = {m: make(theories, m) for m in every if m not in found}
            proved: set[EqualityQuestion] = set()
            done = 0
            for module, group in _by_module(asked.values()).items():
                valid = group
                for prover in provers:  # each is asked what those before it have proved
                    answers = _valid(theories, why3, prover, module, valid, Path(temporary), running)
                    valid = list(answers) if valid else []
                proved.update(valid)
                done += len(group)
                on_progress(min(done, len(every)) + times * len(every))
            for m, questions in asked.items():
                if questions and proved.issuperset(questions):
                    found[m] = tuple(p.name for p in provers)
    return found


def _by_module(asked: Iterable[tuple[EqualityQuestion, ...]]) -> dict[str, list[EqualityQuestion]]:
    found: dict[str, list[EqualityQuestion]] = defaultdict(list)
    for questions in asked:
        for q in questions:
            found[q.module].append(q)
    return found


def _itself(theories: Theories, mutant: TheoryMutant) -> tuple[EqualityQuestion, ...]:
    (module, name), body = next(iter(mutant.bodies.items()))
    d = declaration(theories, module, name)
    if not isinstance(body, Node) or d is None or d.kind.startswith(("let", "goal", "lemma", "axiom")):
        return ()
    return (EqualityQuestion(mutant, module, (_defined(d, body, {name: f"{name}__{{0}}"}),), _equal(d)),)


def _users(theories: Theories, mutant: TheoryMutant) -> tuple[EqualityQuestion, ...]:
    """One question for each module that has the definition; none where it is itself spoken of."""
    found = []
    for (module, name), body in mutant.bodies.items():
        if not isinstance(body, Node):
            return ()
        chain = reached(theories, module, name)
        if name in chain.spoken_of or not chain.spoken_of:
            return ()
        names = {d.name: f"{d.name}__{{0}}" for d in chain.definitions}
        lines = [_defined(d, body if d.name == name else d.body, names) for d in chain.definitions if d.body]
        spoken = [d for d in chain.definitions if d.name in chain.spoken_of]
        goal = " /\\ ".join(f"({_equal(d)})" for d in spoken)
        found.append(EqualityQuestion(mutant, module, tuple(lines), goal))
    return tuple(found)


def _defined(d: WhymlDeclaration, body: Node, names: Mapping[str, str]) -> str:
    """A definition under another name, by others that have other names."""
    given = " ".join(f"({name}: {of})" for name, of in d.parameters)
    head = f"function {names[d.name]} {given} : {d.of}" if d.of else f"predicate {names[d.name]} {given}"
    return f"{head} = {shown(renamed(body, names))}"


def _equal(d: WhymlDeclaration) -> str:
    names = " ".join(name for name, _ in d.parameters)
    bound = f"forall {', '.join(f'{name}: {of}' for name, of in d.parameters)}. " if names else ""
    return f"{bound}{d.name}__{{0}} {names} {'=' if d.of else '<->'} {d.name} {names}"


def _valid(
    theories: Theories, why3: Why3, prover: Prover, module: str, asked: Sequence[EqualityQuestion],
    folder: Path, running: Running,
) -> Iterator[EqualityQuestion]:  # fmt: skip
    """The questions that a prover answers by a proof; where Why3 refuses one, each is asked alone."""
    file = folder / "equal.mlw"
    file.write_text(_theory(theories, module, asked), encoding="utf-8")
    printed = print_tasks(why3, prover, str(file), frozenset())
    if len(printed.tasks) < len(asked) and len(asked) > 1:
        for question in asked:
            yield from _valid(theories, why3, prover, module, [question], folder, running)
        return
    for task in printed.tasks:
        answer = ask(prover, task.text, task.name.digest, _LIMITS, folder, running)
        if answer.verdict == "valid":
            yield asked[int(task.name.goal.removeprefix("equal_"))]


def declaration(theories: Theories, module: str, name: str) -> WhymlDeclaration | None:
    """The declaration of a name in a module."""
    found = [
        d for d in theories.goals.library.module(module).declarations if d.name == name and d.body is not None
    ]
    return found[-1] if found else None


def _quantified(d: WhymlDeclaration, body: Node) -> Node:
    return Node("forall", "", (body,), d.parameters) if d.parameters else body


def _theory(theories: Theories, module: str, asked: Sequence[EqualityQuestion]) -> str:
    """The module with its definitions, and a goal for each question."""
    stem = module.partition(".")[0]
    lines = ["module Equal"]
    for d in theories.goals.library.module(module).declarations:
        if d.kind in _CARRIED:
            local = d.kind in ("use", "clone") and "." not in d.name
            lines.append(f"  {d.text.replace(d.name, f'{stem}.{d.name}', 1) if local else d.text}")
    for number, question in enumerate(asked):
        lines += [f"  {line.replace('{0}', str(number))}" for line in question.lines]
        lines.append(f"  goal equal_{number}: {question.goal.replace('{0}', str(number))}")
    return "\n".join([*lines, "end", ""])
