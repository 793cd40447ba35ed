"""The Coq files: which there are, what they may not say, and the theorems that they hold."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.whyml.written import without_comments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORD = "foundation.json"
FOLDERS = {"coq": "SonnxClip", "generated/coq": "SonnxClip.Generated"}

# What would let something pass for proved that is not, or take it for granted.
_FORBIDDEN = re.compile(
    r"\b(?:Admitted|admit|give_up|Abort|Axioms?|Parameters?|Conjectures?|Primitive|Load|Declare\s+ML\s+Module"
    r"|bypass_check|Unset\s+(?:Universe|Guard|Positivity)\s+Checking|Set\s+Universe\s+Minimization\s+ToSet"
    r"|type_in_type|native_cast_no_check|vm_cast_no_check|exact_no_check|Add\s+(?:Rec\s+)?LoadPath)\b"
)
_SUPPOSED = re.compile(
    r"\b(?P<word>Section|End|Variables?|Hypothes[ie]s|Context)\b(?:\s+(?P<name>[\w']+))?|\bModule\s+(?P<module>[\w']+)"
)
_THEOREM = re.compile(r"^\s*Theorem\s+(?P<name>[\w']+)", re.MULTILINE)
_COMMENT = re.compile(r"\(\*\*(?P<text>(?:(?!\*\)).)*)\*\)\s*\Z", re.DOTALL)
_SHOWS = re.compile(r"shows:\s*(?P<ids>[\w-]+(?:,\s*[\w-]+)*)")
_NEEDS = re.compile(
    r"From\s+(?P<path>SonnxClip(?:\.Generated)?)\s+Require(?:\s+(?:Import|Export))?\s+(?P<names>[\w\s]+)\."
)


@dataclass(frozen=True)
class Theorem:
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
class Source:
    """A Coq file, by its path in the repository and its name in Coq."""

    path: str
    module: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def needs(self) -> frozenset[str]:
        """The modules of the project that it requires."""
        plain = without_comments(self.text)
        return frozenset(f"{m['path']}.{name}" for m in _NEEDS.finditer(plain) for name in m["names"].split())

    def theorems(self) -> tuple[Theorem, ...]:
        """Its theorems in order; a lemma is only a step."""
        return tuple(self._theorems())

    def theorem_at(self, line: int) -> str | None:
        """The theorem, lemma or definition in which a line lies, as it is written."""
        found = None
        for number, text in enumerate(self.text.splitlines(), 1):
            if match := re.match(r"\s*((?:Theorem|Lemma|Definition|Record)\s+[\w']+)", text):
                found = match[1]
            if number == line:
                return found
        return None

    def _theorems(self) -> Iterator[Theorem]:
        plain = without_comments(self.text)
        for match in _THEOREM.finditer(plain):
            start = match.start("name")
            before = self.text[: self.text.rindex("Theorem", 0, start)]
            comment = _COMMENT.search(before)
            shows = _SHOWS.search(comment["text"]) if comment else None
            ids = tuple(id_.strip() for id_ in shows["ids"].split(",")) if shows else ()
            line = self.text.count("\n", 0, start) + 1
            yield Theorem(self.module, match["name"], self.path, line, ids)

    def forbidden(self) -> Iterator[str]:
        """One line for each word that takes something for granted, with its place."""
        plain = without_comments(self.text)
        for match in _FORBIDDEN.finditer(plain):
            place = f"{self.path}:{self._line(match.start())}"
            yield f"{place}: `{' '.join(match[0].split())}` is not allowed: nothing is taken for granted here"
        opened: list[str] = []
        for match in _SUPPOSED.finditer(plain):
            if match["word"] == "Section":
                opened.append(match["name"])
            elif match["word"] == "End" and opened and match["name"] == opened[-1]:
                opened.pop()
            elif match["word"] not in (None, "Section", "End") and not opened:
                place = f"{self.path}:{self._line(match.start())}"
                yield f"{place}: `{match['word']}` outside a section is an axiom: put it into a section"

    def _line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1


def coq_sources(root: Path) -> tuple[Source, ...]:
    """All Coq files of a checkout, sorted by path; UserError if one would not be looked at."""
    found = []
    for folder, prefix in FOLDERS.items():
        for path in sorted((root / folder).rglob("*.v")):
            if path.parent != root / folder:
                where = path.relative_to(root).as_posix()
                raise UserError("a Coq file in this place is not looked at", where, f"put it into {folder}/")
            text = path.read_text(encoding="utf-8")
            found.append(Source(f"{folder}/{path.name}", f"{prefix}.{path.stem}", text))
        if not any(source.path.startswith(f"{folder}/") for source in found):
            raise UserError("there is no Coq file here", folder, "restore it, or run: sonnx-clip generate")
    return tuple(found)


def digests(sources: tuple[Source, ...]) -> dict[str, str]:
    """The digest of each file, by its path."""
    return {source.path: source.digest for source in sources}
