"""The Coq files: which there are, what they may not say, the theorems that they hold, and whether these speak
of all that they have to.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from sonnx_clip.backends.coq_files import claims_of_family, theorem_name
from sonnx_clip.backends.coqreadings import MODULES, theorems_of
from sonnx_clip.backends.generate import ids_of
from sonnx_clip.claims import goal_names as named
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.spec import Spec


_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<comment>\(\*)
    |(?P<string>"(?:[^"]|"")*(?P<closed>"?))
    |(?P<word>[^\W\d][\w']*)
    |(?P<sign>\d[\w.]*(?<!\.)|\S)
    |\Z)""",
    re.VERBOSE,
)
_IN_COMMENT: Final = re.compile(r'(?P<open>\(\*)|(?P<close>\*\))|"(?:[^"]|"")*(?:"|\Z)')


class CoqToken(NamedTuple):
    """A word or a sign with its place; a string is the sign ``"``."""

    text: str
    start: int
    is_word: bool


@dataclass(frozen=True)
class CoqText:
    """A text as tokens.

    Args:
        text: all of it.
        tokens: in order, without space and comments.
        comments: the places of the outermost comments, as ``(start, end)``.
        open_at: where a comment or a string begins that does not end; None if there is none.
    """

    text: str
    tokens: tuple[CoqToken, ...]
    comments: tuple[tuple[int, int], ...]
    open_at: int | None

    def line(self, place: int) -> int:
        """The line of a place, counted from 1."""
        return self.text.count("\n", 0, place) + 1

    def word(self, at: int) -> str:
        """The word that is the token at this index; empty if that is none."""
        return self.tokens[at].text if at < len(self.tokens) and self.tokens[at].is_word else ""

    def comment_before(self, place: int) -> str:
        """The documentation comment that ends directly before a place; empty where there is none."""
        begin, end = max((found for found in self.comments if found[1] <= place), default=(0, 0))
        said = self.text[begin:end]
        return said[3:-2] if said.startswith("(**") and not self.text[end:place].strip() else ""


@lru_cache(maxsize=128)  # a file is asked for its needs, its theorems and its words
def read_coq(text: str) -> CoqText:
    """Split a text."""
    found: list[CoqToken] = []
    comments: list[tuple[int, int]] = []
    at, open_at = 0, None
    while open_at is None and (match := _TOKEN.match(text, at)) and match.lastgroup:
        kind = match.lastgroup if match.lastgroup != "closed" else "string"
        start, at = match.span(kind)
        if kind == "comment":
            end = _end_of_comment(text, at)
            comments.append((start, end or len(text)))
            at, open_at = (end, None) if end else (at, start)
        elif kind == "string":
            found.append(CoqToken('"', start, is_word=False))
            open_at = None if match["closed"] else start
        else:
            found.append(CoqToken(match[kind], start, is_word=kind == "word"))
    return CoqText(text, tuple(found), tuple(comments), open_at)


def _end_of_comment(text: str, at: int) -> int:
    """Where the comment ends whose inside begins here; 0 if it does not end."""
    depth = 1
    while depth:
        mark = _IN_COMMENT.search(text, at)
        if mark is None:
            return 0
        at = mark.end()
        depth += 1 if mark["open"] else -1 if mark["close"] else 0
    return at


# --- The Coq files: which there are, what they may not say, and the theorems that they hold -----------------


RECORD = "foundation.json"
FOLDERS = {"coq": "SonnxClip", "generated/coq": "SonnxClip.Generated"}

# What would let something pass for proved that is not, or take it for granted.
_FORBIDDEN = (
    "Admitted", "admit", "Admit", "give_up", "Abort", "Axiom", "Axioms", "Parameter", "Parameters",
    "Conjecture", "Conjectures", "Primitive", "Load", "Declare ML Module", "Declare Module", "bypass_check",
    "Unset Universe Checking", "Unset Guard Checking", "Unset Positivity Checking",
    "Set Universe Minimization ToSet", "type_in_type", "native_cast_no_check", "vm_cast_no_check",
    "exact_no_check", "Add LoadPath", "Add Rec LoadPath",
)  # fmt: skip
_PHRASES = tuple(tuple(phrase.split()) for phrase in _FORBIDDEN)
_SUPPOSED = frozenset(("Variable", "Variables", "Hypothesis", "Hypotheses", "Context"))
_PLACES = ("Theorem", "Lemma", "Definition", "Record")
_SHOWS = re.compile(r"shows:\s*(?P<ids>[\w-]+(?:,\s*[\w-]+)*)")


@dataclass(frozen=True)
class TheoremInFile:
    """A theorem of a Coq file: `shows` are ids of spec/clip.yaml."""

    module: str
    name: str
    file: str
    line: int
    shows: tuple[str, ...]

    @property
    def id(self) -> str:
        """Its full name without the project's."""
        return f"{self.module.removeprefix('SonnxClip.')}.{self.name}"


@dataclass(frozen=True)
class CoqSource:
    """A Coq file, by its path in the repository and its name in Coq."""

    path: str
    module: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def needs(self) -> frozenset[str]:
        """The modules of the project that it requires, by ``From SonnxClip Require Import A B``."""
        read = read_coq(self.text)
        found = set()
        for at, token in enumerate(read.tokens):
            if token.text != "From" or read.word(at + 1) != "SonnxClip":
                continue
            path, behind = "SonnxClip", at + 2
            if read.word(behind + 1) == "Generated":
                path, behind = "SonnxClip.Generated", at + 4
            if read.word(behind) == "Require":
                behind += 2 if read.word(behind + 1) in ("Import", "Export") else 1
                found |= {f"{path}.{name}" for name in takewhile(bool, map(read.word, count(behind)))}
        return frozenset(found)

    def theorems(self) -> tuple[TheoremInFile, ...]:
        """Its theorems in order; a lemma is only a step."""
        return tuple(self._theorems())

    def theorem_at(self, line: int) -> str | None:
        """The theorem, lemma or definition in which a line lies, as it is written."""
        read, found = read_coq(self.text), None
        for at, token in enumerate(read.tokens):
            if token.text in _PLACES and read.word(at + 1):
                if read.line(token.start) > line:
                    break
                found = f"{token.text} {read.word(at + 1)}"
        return found if line <= len(self.text.splitlines()) else None

    def _theorems(self) -> Iterator[TheoremInFile]:
        read = read_coq(self.text)
        for at, token in enumerate(read.tokens):
            if token.text == "Theorem" and (name := read.word(at + 1)):
                shows = _SHOWS.search(read.comment_before(token.start))
                ids = tuple(id_.strip() for id_ in shows["ids"].split(",")) if shows else ()
                yield TheoremInFile(self.module, name, self.path, read.line(read.tokens[at + 1].start), ids)

    def forbidden(self) -> Iterator[str]:
        """One line for each word that takes something for granted, with its place."""
        read = read_coq(self.text)
        if read.open_at is not None:
            yield f"{self.path}:{read.line(read.open_at)}: a comment or a string does not end"
        opened: list[str] = []
        for at, token in enumerate(read.tokens):
            if not token.is_word:
                continue
            place, behind = f"{self.path}:{read.line(token.start)}", read.word(at + 1)
            for phrase in _PHRASES:
                if phrase[0] == token.text and all(read.word(at + i) == w for i, w in enumerate(phrase)):
                    said = " ".join(phrase)
                    yield f"{place}: `{said}` is not allowed: nothing is taken for granted here"
            if at and read.word(at - 1) in ("Module", "End"):
                continue  # a name
            if token.text == "Section":
                opened.append(behind)
            elif token.text == "End" and opened and behind == opened[-1]:
                opened.pop()
            elif token.text in _SUPPOSED and not opened:
                yield f"{place}: `{token.text}` outside a section is an axiom: put it into a section"


def coq_sources(root: Path) -> tuple[CoqSource, ...]:
    """All Coq files of a checkout, sorted by path; UserError if one would not be looked at."""
    found = []
    for folder, prefix in FOLDERS.items():
        for path in sorted((root / folder).rglob("*.v")):
            if path.parent != root / folder:
                where = path.relative_to(root).as_posix()
                raise UserError("a Coq file in this place is not looked at", where, f"put it into {folder}/")
            text = path.read_text(encoding="utf-8")
            found.append(CoqSource(f"{folder}/{path.name}", f"{prefix}.{path.stem}", text))
        if not any(source.path.startswith(f"{folder}/") for source in found):
            raise UserError("there is no Coq file here", folder, "restore it, or run: sonnx-clip generate")
    return tuple(found)


def digests(sources: tuple[CoqSource, ...]) -> dict[str, str]:
    """The digest of each file, by its path."""
    return {source.path: source.digest for source in sources}


# --- Whether the theorems speak of everything in spec/clip.yaml that they have to, and of nothing else ------


def wanted(spec: Spec) -> Iterator[tuple[str, str]]:
    """The module and the name of each theorem that the YAML asks for."""
    for family in spec.families:
        module = f"SonnxClip.Generated.{family.id.capitalize()}"
        for claim in claims_of_family(spec, family.id):
            yield module, theorem_name(claim)
            if claim.role == "repaired":
                for etype in spec.types_of(family.id):
                    yield "SonnxClip.Generated.Formats", f"{etype.id}_{named.refuted(claim.shows[0])}"
        for reading in spec.readings:
            for name in theorems_of(reading, family.id):
                yield f"SonnxClip.Generated.{MODULES[family.id]}", name
    for etype in spec.types_of("float"):
        yield "SonnxClip.Generated.Formats", f"{etype.id}_clip"


def uncovered(spec: Spec, theorems: Sequence[TheoremInFile]) -> Iterator[str]:
    """One line for each theorem that the YAML asks for and that is not there."""
    there = {(t.module, t.name) for t in theorems}
    for module, name in wanted(spec):
        if (module, name) not in there:
            yield f"{module} has no theorem {name}, which spec/clip.yaml requires"


def shown_wrongly(spec: Spec, theorems: Sequence[TheoremInFile]) -> Iterator[str]:
    """One line for each theorem that shows what the YAML does not have."""
    known = ids_of(spec)
    for t in theorems:
        for id_ in t.shows:
            if id_ not in known:
                yield f"{t.file}:{t.line}: Theorem {t.name} shows {id_}, which spec/clip.yaml does not have"
