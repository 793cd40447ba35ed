"""The hand-written theories: which goals they hold, and what they take for granted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sonnx_clip.claims.obligation import Kind, Obligation
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_MODULE = re.compile(r"^\s*(?:module|theory)\s+(?P<module>\w+)", re.MULTILINE)
# No comment begins in an attribute or a string; ``(*)`` is an operator.
_OUTSIDE = re.compile(r'\[@[^\]]*\]|"(?:[^"\\\n]|\\.)*"|(?P<opens>\(\*(?!\)))|(?P<closes>(?!))')
_IN_COMMENT = re.compile(r"(?P<opens>\(\*(?!\)))|(?P<closes>\*\))")
_VISIBLE = re.compile(r"[^\n]")
_GOAL = re.compile(
    r"\b(?P<form>goal|lemma|let\s+(?:rec\s+)?lemma|let(?:\s+rec)?(?:\s+ghost)?(?=\s+\w+\s*\[@shows:))"
    r"\s+(?P<name>\w+)(?P<marks>(?:\s*\[@[^\]]*\])*)",
    re.MULTILINE,
)
_LAST_COMMENT = re.compile(r"\(\*\*((?:(?!\*\)).)*)\*\)\s*$", re.DOTALL)
_QUOTED = re.compile(r"\[([^\]]*)\]")
_ELEMENTS = re.compile(r"\buse elements\.(\w+)(?! as\b)")
_USED = re.compile(r"\buse(?: export)? (\w+)$", re.MULTILINE)
_ABSTRACT = re.compile(r"^\s*type t$", re.MULTILINE)
_SHOWS = re.compile(r"\[@shows:([^\]]*)\]")


def theory_files() -> list[Path]:
    """The hand-written theory files, sorted; UserError if Why3 would load what is not among them."""
    folder = repo_file("why3")
    files = sorted(folder.glob("*.mlw"))
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".mlw", ".why") and path not in files:
            where = f"why3/{path.relative_to(folder).as_posix()}"
            raise UserError(
                "a theory in this place is not looked at", where, "put it in why3/ as an .mlw file"
            )
    return files


def theory_texts() -> Iterator[tuple[str, str]]:
    """Path in the repository and text of each theory file, written by hand or rendered."""
    for path in [*theory_files(), *sorted(repo_file("generated/why3").glob("*.mlw"))]:
        folder = path.parent.relative_to(repo_file("")).as_posix()
        yield f"{folder}/{path.name}", path.read_text(encoding="utf-8")


@lru_cache(maxsize=256)  # a command looks at each file several times
def without_comments(text: str) -> str:
    """WhyML text with its comments blanked out, line breaks kept, so that places stay the same."""
    out: list[str] = []
    depth = position = 0
    while mark := (_IN_COMMENT if depth else _OUTSIDE).search(text, position):
        between = text[position : mark.start()]
        out.append(_blank(between) if depth else between)
        if mark["opens"]:
            depth += 1
        elif depth:
            depth -= 1
        verbatim = depth == 0 and not mark["closes"]
        out.append(mark[0] if verbatim else "  ")
        position = mark.end()
    out.append(_blank(text[position:]) if depth else text[position:])
    return "".join(out)


def _blank(text: str) -> str:
    return _VISIBLE.sub(" ", text)


def modules(text: str) -> list[tuple[str, str]]:
    """The modules of a file with their text, comments blanked out."""
    plain = without_comments(text)
    starts = [*_MODULE.finditer(plain)]
    ends = [*(m.start() for m in starts[1:]), len(plain)][: len(starts)]
    return [(m["module"], plain[m.start() : end]) for m, end in zip(starts, ends, strict=True)]


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
    text = path.read_text(encoding="utf-8")
    parts = modules(text)
    bodies = dict(parts)
    found, begin = [], 0
    for module, body in parts:
        begin = without_comments(text).index(body, begin)
        for match in _GOAL.finditer(body):
            comment = _comment_before(text[: begin + match.start()])
            of = _Written(f"why3/{path.name}", path.stem, module, comment, _of_types(body, bodies))
            found.append(_obligation(of, match, body, ids))
    return found


@dataclass(frozen=True)
class _Written:
    """Where a goal stands, what the comment before it says, and of which element types it is stated."""

    file: str
    stem: str
    module: str
    comment: str
    types: str


def _comment_before(text: str) -> str:
    """The comment for readers, ``(** … *)``, that the text ends with; empty if there is none."""
    found = _LAST_COMMENT.search(text)
    return " ".join(found[1].split()) if found else ""


def _of_types(body: str, bodies: Mapping[str, str]) -> str:
    """Of which element types the statements of a module are, as words behind a title."""
    if "ordered.Ordered" in body:
        return ", for every ordered type"
    if named := _ELEMENTS.search(body):
        return ", for the reals" if named[1] == "Real" else f", for {named[1].lower()}"
    for used in _USED.findall(body):
        if used in bodies and (found := _of_types(bodies[used], bodies)):
            return found
    return ", for every element type" if _ABSTRACT.search(body) else ""


def _title(of: _Written, name: str, *, program: bool) -> str:
    if program:
        return f"{name.replace('_', ' ')} keeps its contract{of.types}"
    text = _QUOTED.sub(r"\1", of.comment.split(". ")[0]).removesuffix(".")
    return f"{text[:1].lower()}{text[1:]}{of.types}"


def _obligation(of: _Written, match: re.Match[str], body: str, ids: frozenset[str]) -> Obligation:
    name, file, stem, module = match["name"], of.file, of.stem, of.module
    where = f"{file} ({module}.{name})"
    shows = _SHOWS.search(match["marks"])
    if shows is None:
        raise UserError("the goal does not say what it shows", where, "add [@shows:ID,…] after its name")
    shown = tuple(shows[1].split(","))
    if unknown := [id_ for id_ in shown if id_ not in ids and id_ != "smoke"]:
        raise UserError(
            f"the goal shows {unknown[0]}, which spec/clip.yaml does not have", where, "correct the id"
        )
    if name.startswith("smoke_") != (shown == ("smoke",)):
        what = "a smoke goal, and no other, has a name that begins with smoke_"
        raise UserError(what, where, "rename the goal, or correct what it shows")
    goal = f"{name}'vc" if match["form"].startswith("let") else name
    statement = " ".join(
        body[match.end() :].split("\n\n", maxsplit=1)[0].removeprefix(" ").removeprefix(":").split()
    )
    kind: Kind
    program = match["form"].startswith("let") and "lemma" not in match["form"]
    if shown == ("smoke",):
        kind, title = "smoke", "no prover finds false"
    else:
        if not of.comment:
            what = "no comment says what the goal states"
            raise UserError(what, where, "write it before the goal, (** as a sentence. *)")
        kind, title = (
            "refinement" if program else "theorem",
            _title(of, name, program=program and "ghost" not in match["form"]),
        )
    return Obligation(f"{stem}.{name}", kind, stem, shown, title, file, module, goal, statement)
