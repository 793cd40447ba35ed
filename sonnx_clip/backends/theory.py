"""Prints theories of Why3: modules of declarations and goals, and the list of their obligations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import escape, header_lines, layout
from sonnx_clip.claims.claim import Obligation
from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.declarations import declarations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.claims.claim import ClaimKind
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

FOLDER = "generated/why3"
ORDERED = "why3/ordered.mlw"
# Clip and its tensors as written by hand, of the element type that the module has in scope.
CLIP = "clone export clip.Clip with type t = t, predicate le = le, predicate lt = lt"
TENSORS = (
    "clone export tensor.TensorClip with"
    " type t = t, predicate le = le, predicate eq = eq, function clip = clip"
)


@dataclass(frozen=True)
class Generated:
    """Generated files by their path in the repository, and the obligations that go with them."""

    files: Mapping[str, str]
    obligations: tuple[Obligation, ...]


@dataclass(frozen=True)
class Goal:
    """A goal; a step is a lemma, which later goals of its module may use. `lines`: the statement laid out.

    Its title is in generated/why3/titles.json alone: most goals are printed for 13 element types, and a
    reworded title would change as many theories.
    """

    name: str
    kind: ClaimKind
    shows: tuple[str, ...]
    title: str
    statement: str
    is_step: bool = False
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The goal."""
        form = "lemma" if self.is_step else "goal"
        head = f"  {form} {self.name} [@kind:{self.kind}] [@shows:{','.join(self.shows)}] :"
        printed = "\n    ".join(self.lines) or layout(self.statement)
        return f"{head}\n    {printed}"


def axioms_of(file: str, module: str | None = None) -> list[str]:
    """The names of the axioms of a hand-written theory file, or of one module of it."""
    declared = declarations(repo_file(file).read_text(encoding="utf-8"))
    axioms = [entry for entry in declared if entry.form == "axiom"]
    return [axiom.name for axiom in axioms if module in (None, axiom.module)]


def instance_goals(etype: ElementType, axioms: Iterable[str], claim: str) -> list[Goal]:
    """The axioms of a cloned theory as goals that an element type has to meet; the clone states them.

    `claim` says what is met: ``is ordered``.
    """
    goals: list[Goal] = []
    for axiom in axioms:
        title = f"{etype.id} {claim}: {axiom.replace('_', ' ')}"
        goals.append(Goal(axiom, "instance", (etype.id,), title, statement=""))
    return goals


@dataclass(frozen=True)
class Declared:
    """A predicate, function or constant; `apart` puts its body on a line of its own."""

    head: str
    body: str
    title: str = ""
    apart: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return self.head.split()[1]

    @property
    def text(self) -> str:
        """The declaration with its comment; a body in lines stays as it is."""
        # A title of the YAML may have what opens or ends a comment.
        about = f"  (** {escape(self.title, 'mlw')} *)\n" if self.title else ""
        between = "\n    " if self.apart else " "
        body = self.body if "\n" in self.body else layout(self.body)
        return f"{about}  {self.head} ={between}{body}"


def declare(
    name: str,
    parameters: str,
    of: str,
    body: str,
    title: str = "",
    *,
    is_function: bool = False,
    apart: bool = False,
) -> Declared:
    """A predicate or function; a parameter that the body does not use is marked: Why3 would warn."""
    used = set(re.findall(r"[a-z_]\w*", body))  # variables are in small letters
    names = parameters.split()
    shown = " ".join(name if name in used else f"_{name}" for name in names)
    head = f"predicate {name} ({shown}: {of})"
    if is_function:
        head = f"function {name} ({shown}: {of}) : {of}"
    return Declared(head, body, title, apart)


@dataclass(frozen=True)
class Module:
    """A module of a theory file.

    Args:
        name: its name.
        about: what is in it.
        uses: what it uses and clones, a line each.
        parts: declarations and comments, each behind an empty line.
        goals: the goals that it ends with.
        smoke: the name of its smoke goal, which must not be proved; empty where it has none.
        cloned: goals that one of `parts` makes.
    """

    name: str
    about: str
    uses: Sequence[str]
    parts: Sequence[str]
    goals: Sequence[Goal]
    smoke: str = ""
    cloned: Sequence[Goal] = ()

    @property
    def text(self) -> str:
        """The module."""
        # Why3 reads from top to bottom: what is used, what is declared of it, what is claimed of that.
        blocks = ["\n".join(f"  {use}" for use in self.uses), *self.parts]
        blocks += [goal.text for goal in self.goals]
        if self.smoke:
            blocks.append(f"  goal {self.smoke} [@kind:smoke] [@shows:smoke] : false")
        return "\n\n".join([f"(** {self.about} *)\nmodule {self.name}", *blocks, "end\n"])

    def obligations(self, subject: str, path: str) -> list[Obligation]:
        """The obligations that it holds."""
        # In the order in which the text has them.
        end = [smoke(self.smoke)] if self.smoke else []
        return obligations_of(subject, path, self.name, [*self.cloned, *self.goals, *end])


def comment(text: str) -> str:
    """A comment on lines of its own."""
    return f"  (* {text} *)"


def header(spec: Spec) -> str:
    """The comment on top of a rendered theory."""
    # Escaped for Coq, whose rules are the stricter ones: the header is that of theories too.
    lines = [escape(line, "v") for line in header_lines(spec)]
    text = "\n   ".join(lines)
    return f"(* {text} *)\n"


def theory_file(spec: Spec, modules: Iterable[Module]) -> str:
    """The text of a theory file."""
    where_titles_are = "(* What each goal says, as a sentence: titles.json. *)\n"
    return "\n".join([header(spec) + where_titles_are, *(module.text for module in modules)])


def smoke(name: str) -> Goal:
    """The goal that must not be proved; generated/replay.sh recognises it by the prefix of its name."""
    # Without the prefix the script would take a proof of `false` for a success.
    assert name.startswith("smoke_"), name
    return Goal(name, "smoke", ("smoke",), "no prover finds false", "false")


def obligations_of(subject: str, path: str, theory: str, goals: Iterable[Goal]) -> list[Obligation]:
    """The obligations that a module of a rendered file holds."""
    obligations = []
    for goal in goals:
        obligation = Obligation(
            id=f"{subject}.{goal.name}",
            kind=goal.kind,
            subject=subject,
            shows=goal.shows,
            title=goal.title,
            file=path,
            theory=theory,
            goal=goal.name,
            statement=goal.statement,
        )
        obligations.append(obligation)
    return obligations
