"""The Coq files: which there are, what they may not say, and the theorems that they hold."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import count, takewhile
from typing import TYPE_CHECKING

from sonnx_clip.foundation.coq_lexer import read_coq
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
