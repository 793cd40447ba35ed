"""Reads the hand-written why3/*.mlw: goals, assumptions, and how drivers print symbols."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sonnx_clip.claims.claim import ClaimKind, Obligation
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.whyml.declarations import declarations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.whyml.declarations import WhymlDeclaration


# `why3 doc` shows what is in brackets as code; a title has it without them.
_QUOTED = re.compile(r"\[([^\]]*)\]")
_SHOWS = re.compile(r"\[@shows:([^\]]*)\]")


def theory_files() -> list[Path]:
    """The hand-written theory files, sorted."""
    return sorted(repo_file("why3").glob("*.mlw"))


def theory_texts(root: Path | None = None) -> Iterator[tuple[str, str]]:
    """Path in the repository and text of each theory file, written by hand or rendered.

    Args:
        root: the folder that holds generated/; the repository by default.
    """
    for path in theory_files():
        yield f"why3/{path.name}", path.read_text(encoding="utf-8")
    rendered = (root or repo_root()) / "generated/why3"
    for path in sorted(rendered.glob("*.mlw")):
        yield f"generated/why3/{path.name}", path.read_text(encoding="utf-8")


def written_obligations(ids: frozenset[str]) -> tuple[Obligation, ...]:
    """The obligations of the hand-written theories.

    Args:
        ids: the ids of spec/clip.yaml that a goal may show.

    Raises:
        UserError: a goal does not say what it shows, or shows what does not exist.
    """
    obligations: list[Obligation] = []
    for path in theory_files():
        obligations += _of_file(path, ids)
    return tuple(obligations)


def _of_file(path: Path, ids: frozenset[str]) -> Iterator[Obligation]:
    """The obligations of a theory file."""
    declared = declarations(path.read_text(encoding="utf-8"))
    for declaration in declared:
        shows = _SHOWS.search("".join(declaration.attributes))
        first, *marks = declaration.form.split()
        is_goal = first in ("goal", "lemma")
        # A program that does not say what it shows only helps others; a lemma has to say it.
        is_program = first == "let" and ("lemma" in marks or shows)
        if not is_goal and not is_program:
            continue
        shown = None
        if shows is not None:
            shown = tuple(shows[1].split(","))
        types = _types_of(declaration.module, declared)
        yield _obligation(path.stem, declaration, types, shown, ids)


def _types_of(module: str, declared: Sequence[WhymlDeclaration]) -> str:
    """The element types that the statements of a module are about, as a suffix of a title."""
    # A module that uses the abstract order speaks of every type that has one, whatever else it uses.
    of_module = [d for d in declared if d.module == module]
    if any("ordered.Ordered" in d.text.split() for d in of_module):
        return ", for every ordered type"
    used = [d.name for d in of_module if d.form.startswith("use") and " as " not in d.text]
    for name in used:
        package, _, element = name.partition(".")
        if package == "elements":
            return ", for the reals" if element == "Real" else f", for {element.lower()}"

    # A module of the same file may name the type for it.
    for name in used:
        types = _types_of(name, declared)
        if types:
            return types
    is_abstract = any(d.text == "type t" for d in of_module)
    return ", for every element type" if is_abstract else ""


def _obligation(
    stem: str,
    d: WhymlDeclaration,
    types: str,
    shown: tuple[str, ...] | None,
    ids: frozenset[str],
) -> Obligation:
    file = f"why3/{stem}.mlw"
    where = f"{file} ({d.module}.{d.name})"
    if shown is None:
        message = "the goal does not say what it shows"
        raise UserError(message, where, "add [@shows:ID,…] after its name")
    # Else the entry that is meant would lack this goal, in silence.
    for id_ in shown:
        if id_ not in ids and id_ != "smoke":
            message = f"the goal shows {id_}, which is not in spec/clip.yaml"
            raise UserError(message, where, "correct the id")
    # generated/replay.sh expects of a goal with such a name that it is not proved.
    if d.name.startswith("smoke_") != (shown == ("smoke",)):
        message = "a smoke goal, and no other, has a name that begins with smoke_"
        raise UserError(message, where, "rename the goal, or correct what it shows")
    form = d.form.split()
    is_program = form[0] == "let"
    # `let rec lemma` is a program whose contract is a theorem, proved by recursion.
    kind: ClaimKind = "refinement" if is_program and "lemma" not in form else "theorem"
    if shown == ("smoke",):
        kind, title = "smoke", "no prover finds false"
    elif not d.comment:
        message = "the goal has no comment that states it"
        raise UserError(message, where, "write it before the goal, (** as a sentence. *)")
    elif kind == "refinement" and "ghost" not in form:
        title = f"{d.name.replace('_', ' ')} keeps its contract{types}"
    else:
        first_sentence, *_ = d.comment.split(". ")
        text = _QUOTED.sub(r"\1", first_sentence).removesuffix(".")
        title = f"{text[:1].lower()}{text[1:]}{types}"
    return Obligation(
        id=f"{stem}.{d.name}",
        kind=kind,
        subject=stem,
        shows=shown,
        title=title,
        file=file,
        theory=d.module,
        goal=f"{d.name}'vc" if is_program else d.name,  # as Why3 calls the goal of a program
        statement=d.statement,
    )


# --- Reads Why3's driver files: how a symbol of a theory is printed for a prover, or in C -------------------
#
# A directive of such a file takes one line. Comments have to be taken away before, as `Tokens.plain` does.


_LINE: Final = re.compile(
    r'\s*(?P<word>\w+)(?P<names>(?:\s+[\w.]+)*)\s*(?:"(?P<text>[^"]*)")?(?P<rest>.*)'
)


@dataclass(frozen=True)
class Directive:
    """One line of a driver.

    Args:
        module: the theory or module that it stands in, empty outside of one.
        word: its first word: ``syntax``, ``prelude``, ``import``.
        names: what follows it up to a text: ``type t`` of a syntax.
        text: the first text in quotes, None where there is none.
        rest: what follows that, its spaces made one.
        said: all that follows the first word, its spaces made one.
    """

    module: str
    word: str
    names: tuple[str, ...]
    text: str | None
    rest: str
    said: str

    @property
    def symbol(self) -> str | None:
        """The symbol whose printing a ``syntax`` defines; None for another directive."""
        if self.word != "syntax" or len(self.names) != 2 or not self.text:
            return None
        _, symbol = self.names
        return symbol


def directives(text: str) -> Iterator[Directive]:
    """The directives of a driver, in their order; what opens and closes a module is none."""
    module = ""
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        word = match["word"]
        names = tuple(match["names"].split())
        if word in ("theory", "module") and names:
            module = names[0]
        elif word == "end":
            module = ""
        else:
            behind_text = " ".join(match["rest"].split())
            behind_word = " ".join(line.strip()[len(word) :].split())
            yield Directive(module, word, names, match["text"], behind_text, behind_word)
