"""Whether a mutant means what the original means: by its normal form, or by a question to both provers."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.errors import UserError
from sonnx_clip.prove.provers import Limits, Running, ask, find_provers
from sonnx_clip.prove.tasks import configure, print_tasks
from sonnx_clip.whyml.goals import Statement
from sonnx_clip.whyml.node import Node, shown
from sonnx_clip.whyml.normal import Normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sonnx_clip.mutants.theories import Theories, TheoryMutant
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.tasks import Why3
    from sonnx_clip.whyml.declarations import Declaration

    _Question = tuple[TheoryMutant, Declaration, Node]

_LIMITS = Limits(seconds=20)
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


def by_provers(
    theories: Theories, mutants: Iterable[TheoryMutant], build: Path, on_progress: Callable[[int], None]
) -> dict[TheoryMutant, tuple[str, ...]]:
    """The provers that prove each of the mutants equal to its original: a question for each of them."""
    questions: dict[str, list[tuple[TheoryMutant, Declaration, Node]]] = defaultdict(list)
    for mutant in mutants:
        (module, name), body = next(iter(mutant.bodies.items()))
        d = declaration(theories, module, name)
        if (
            isinstance(body, Node)
            and d is not None
            and not d.kind.startswith(("let", "goal", "lemma", "axiom"))
        ):
            questions[module].append((mutant, d, body))
    why3, provers, running = configure(build), find_provers(), Running()
    found: dict[TheoryMutant, tuple[str, ...]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        done = 0
        for module, asked in questions.items():
            for prover in provers:
                for mutant in _valid(theories, why3, prover, module, asked, folder, running):
                    found[mutant] = (*found.get(mutant, ()), prover.name)
            done += len(asked)
            on_progress(done)
    return found


def _valid(
    theories: Theories, why3: Why3, prover: Prover, module: str, asked: list[_Question], folder: Path,
    running: Running,
) -> Iterator[TheoryMutant]:  # fmt: skip
    """The mutants that a prover proves equal; where Why3 refuses one of them, each is asked about alone."""
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
            yield asked[int(task.name.goal.removeprefix("equal_"))][0]


def declaration(theories: Theories, module: str, name: str) -> Declaration | None:
    """The declaration of a name in a module."""
    found = [
        d for d in theories.goals.library.module(module).declarations if d.name == name and d.body is not None
    ]
    return found[-1] if found else None


def _quantified(d: Declaration, body: Node) -> Node:
    return Node("forall", "", (body,), d.parameters) if d.parameters else body


def _theory(theories: Theories, module: str, asked: list[tuple[TheoryMutant, Declaration, Node]]) -> str:
    """The module with its definitions, and a goal for each mutant: it is what it stands for."""
    stem = module.partition(".")[0]
    lines = ["module Equal"]
    for d in theories.goals.library.module(module).declarations:
        if d.kind in _CARRIED:
            local = d.kind in ("use", "clone") and "." not in d.name
            lines.append(f"  {d.text.replace(d.name, f'{stem}.{d.name}', 1) if local else d.text}")
    for number, (_, d, body) in enumerate(asked):
        given = " ".join(f"({name}: {of})" for name, of in d.parameters)
        names = " ".join(name for name, _ in d.parameters)
        head = f"function mutant_{number} {given} : {d.of}" if d.of else f"predicate mutant_{number} {given}"
        sign = "=" if d.of else "<->"
        bound = f"forall {', '.join(f'{name}: {of}' for name, of in d.parameters)}. " if names else ""
        goal = f"{bound}mutant_{number} {names} {sign} {d.name} {names}"
        lines += [f"  {head} = {shown(body)}", f"  goal equal_{number}: {goal}"]
    return "\n".join([*lines, "end", ""])
