"""What is written by hand: which goals the theories hold and take for granted, and how drivers print their
symbols.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sonnx_clip.claims.claim import Kind, Obligation
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.whyml.why3_lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sonnx_clip.whyml.why3_lexer import Tokens, Why3Token


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
    for path in sorted(((root or repo_root()) / "generated/why3").glob("*.mlw")):
        yield f"generated/why3/{path.name}", path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class WrittenModule:
    """A module of a file: its name, its tokens, and where its text begins and ends."""

    name: str
    tokens: tuple[Why3Token, ...]
    start: int
    end: int


def modules(text: str) -> list[tuple[str, str]]:
    """The modules of a file with their text, comments blanked out."""
    read = tokens(text)
    return [(module.name, read.plain[module.start : module.end]) for module in _modules(read)]


def _modules(read: Tokens) -> list[WrittenModule]:
    every = read.tokens
    starts = [at for at, token in enumerate(every) if token.text in ("module", "theory")]
    found = []
    for at, after in pairwise([*starts, len(every)]):
        end = every[after].start if after < len(every) else len(read.text)
        name = every[at + 1].text if at + 1 < len(every) else ""
        found.append(WrittenModule(name, every[at:after], every[at].start, end))
    return found


def written_obligations(ids: frozenset[str]) -> tuple[Obligation, ...]:
    """The obligations of the hand-written theories.

    Args:
        ids: the ids of spec/clip.yaml that a goal may show.

    Raises:
        UserError: a goal does not say what it shows, or shows what does not exist.
    """
    found = [o for path in theory_files() for o in _of_file(path, ids)]
    seen: set[str] = set()
    for o in found:
        if o.id in seen:
            raise UserError(f"two goals are called {o.goal}", o.file, "give each goal of a file its own name")
        seen.add(o.id)
    return tuple(found)


def _of_file(path: Path, ids: frozenset[str]) -> list[Obligation]:
    read = tokens(path.read_text(encoding="utf-8"))
    known = {module.name: module for module in _modules(read)}
    found = []
    for module in known.values():
        for goal in _goals(read, module):
            of = _Written(f"why3/{path.name}", path.stem, module.name, _of_types(module, known))
            found.append(_obligation(of, goal, ids))
    return found


@dataclass(frozen=True)
class _Written:
    """Where a goal stands, and of which element types it is stated."""

    file: str
    stem: str
    module: str
    types: str


@dataclass(frozen=True)
class _Goal:
    """A goal, a lemma, or a program whose contract is one: `form` is how it begins, without ``rec``."""

    form: str
    name: str
    shows: str | None
    comment: str
    statement: str


def _goals(read: Tokens, module: WrittenModule) -> Iterator[_Goal]:
    """The goals, lemmas and programs of a module that are to be proved; a program says what it shows."""
    every = module.tokens
    for at, token in enumerate(every):
        form, name = [token.text], at + 1
        if token.text == "let":
            while name < len(every) and every[name].text in ("rec", "ghost", "lemma"):
                form += [every[name].text] if every[name].text != "rec" else []
                name += 1
        elif token.text not in ("goal", "lemma") or every[at - 1].text in ("let", "rec", "val"):
            continue
        behind = name + 1
        while behind < len(every) and every[behind].kind == "attribute":
            behind += 1
        marks = "".join(mark.text for mark in every[name + 1 : behind])
        shows = _SHOWS.search(marks)
        if behind >= len(every) or (token.text == "let" and "lemma" not in form and shows is None):
            continue
        said = read.plain[every[behind - 1].end : module.end].split("\n\n", maxsplit=1)[0]
        statement = " ".join(said.removeprefix(" ").removeprefix(":").split())
        comment = read.comment_before(token.start)
        yield _Goal(" ".join(form), every[name].text, shows[1] if shows else None, comment, statement)


def _of_types(module: WrittenModule, known: Mapping[str, WrittenModule]) -> str:
    """Of which element types the statements of a module are, as words behind a title."""
    used = list(_used(module))
    texts = [token.text for token in module.tokens]
    if any(texts[at : at + 3] == ["ordered", ".", "Ordered"] for at in range(len(texts))):
        return ", for every ordered type"
    elements = [name for way, name in used if name.startswith("elements.") and way != "as"]
    if elements:
        named = elements[0].removeprefix("elements.")
        return ", for the reals" if named == "Real" else f", for {named.lower()}"
    for way, name in used:
        if way != "as" and name in known and (found := _of_types(known[name], known)):
            return found
    abstract = any(
        texts[at : at + 2] == ["type", "t"] and after.kind == "word"
        for at, after in enumerate(module.tokens[2:])
    )
    return ", for every element type" if abstract else ""


def _used(module: WrittenModule) -> Iterator[tuple[str, str]]:
    """What a module uses: ``as`` if under another name, else the empty text; and the name."""
    texts = [token.text for token in module.tokens]
    for at in (at for at, text in enumerate(texts) if text == "use"):
        first = at + (2 if texts[at + 1] in ("export", "import") else 1)
        last = first
        while texts[last + 1 : last + 2] == ["."]:
            last += 2
        yield ("as" if texts[last + 1 : last + 2] == ["as"] else ""), "".join(texts[first : last + 1])


def _title(of: _Written, goal: _Goal, *, program: bool) -> str:
    if program:
        return f"{goal.name.replace('_', ' ')} keeps its contract{of.types}"
    text = _QUOTED.sub(r"\1", goal.comment.split(". ")[0]).removesuffix(".")
    return f"{text[:1].lower()}{text[1:]}{of.types}"


def _obligation(of: _Written, goal: _Goal, ids: frozenset[str]) -> Obligation:
    name, file, stem, module = goal.name, of.file, of.stem, of.module
    where = f"{file} ({module}.{name})"
    if goal.shows is None:
        raise UserError("the goal does not say what it shows", where, "add [@shows:ID,…] after its name")
    shown = tuple(goal.shows.split(","))
    if unknown := [id_ for id_ in shown if id_ not in ids and id_ != "smoke"]:
        raise UserError(
            f"the goal shows {unknown[0]}, which spec/clip.yaml does not have", where, "correct the id"
        )
    if name.startswith("smoke_") != (shown == ("smoke",)):
        what = "a smoke goal, and no other, has a name that begins with smoke_"
        raise UserError(what, where, "rename the goal, or correct what it shows")
    asked = f"{name}'vc" if goal.form.startswith("let") else name
    kind: Kind
    program = goal.form in ("let", "let ghost")
    if shown == ("smoke",):
        kind, title = "smoke", "no prover finds false"
    else:
        if not goal.comment:
            what = "no comment says what the goal states"
            raise UserError(what, where, "write it before the goal, (** as a sentence. *)")
        kind, title = (
            "refinement" if program else "theorem",
            _title(of, goal, program=goal.form == "let"),
        )
    return Obligation(f"{stem}.{name}", kind, stem, shown, title, file, module, asked, goal.statement)


# --- Reads Why3's driver files: how a symbol of a theory is printed for a prover, or in C -------------------
#
# A directive of such a file takes one line. Comments have to be taken away before, as `Tokens.plain` does.


_LINE: Final = re.compile(r'\s*(?P<word>\w+)(?P<names>(?:\s+[\w.]+)*)\s*(?:"(?P<text>[^"]*)")?(?P<rest>.*)')


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
        """Of which symbol a ``syntax`` says how it is printed; None for another directive."""
        return self.names[1] if self.word == "syntax" and len(self.names) == 2 and self.text else None


def directives(text: str) -> Iterator[Directive]:
    """The directives of a driver, in their order; what opens and closes a module is none."""
    module = ""
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        word, names = found["word"], tuple(found["names"].split())
        if word in ("theory", "module") and names:
            module = names[0]
        elif word == "end":
            module = ""
        else:
            rest, said = (" ".join(part.split()) for part in (found["rest"], line.strip()[len(word) :]))
            yield Directive(module, word, names, found["text"], rest, said)
