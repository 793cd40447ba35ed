"""The rewrites of spec/rewrites.yaml, read and parsed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.tree import Number, subtrees
from sonnx_clip.language.types import FamilyId, Part
from sonnx_clip.language.values import CONSTANTS, encode
from sonnx_clip.rewrites.critical_points import STRENGTHS, Strength
from sonnx_clip.rewrites.terms import (
    constants_in,
    functions_in,
    meaning,
    operators,
    read_condition,
    read_term,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import read_document, shown_path
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType

FILE: Final = "spec/rewrites.yaml"
ALWAYS, NEVER = "always", "never"


class Seen(Part):
    """Where a rewrite was seen: a project, perhaps with a version, a function and a public report.

    `where` is the condition that the project tests before it; empty if it makes it for all constants.
    """

    project: str
    version: str = ""
    function: str = ""
    report: str = ""
    where: str = ""

    def __str__(self) -> str:
        parts = (self.project, self.version, self.function, self.report)
        named = " ".join(filter(None, parts))
        if not self.where:
            return named
        return f"{named} (only where {self.where})"


class RewriteEntry(Part):
    """An entry of the file."""

    id: str
    title: str
    before: str
    after: str
    given: str = ""
    legal_when: Annotated[dict[FamilyId, dict[Strength, str]], Field(min_length=1)]
    why: str
    seen: tuple[Seen, ...] = ()


class RewriteTheorem(Part):
    """A rewrite of every function of a kind, which goals of why3/rewrites.mlw show."""

    id: str
    title: str
    before: str
    after: str
    holds: str
    goals: Annotated[tuple[str, ...], Field(min_length=1)]
    why: str
    seen: tuple[Seen, ...] = ()


class RewritesFile(Part):
    """The file."""

    # The version of this form, of which there is one so far.
    format: Annotated[int, Field(ge=1, le=1)]
    rewrites: Annotated[tuple[RewriteEntry, ...], Field(min_length=1)]
    theorems: tuple[RewriteTheorem, ...] = ()


@dataclass(frozen=True)
class Rewrite:
    """A rewrite with its terms as trees.

    Args:
        entry: what the file says.
        place: the file, for messages.
    """

    entry: RewriteEntry
    place: str

    @property
    def id(self) -> str:
        """Its id."""
        return self.entry.id

    @cached_property
    def before(self) -> Expr:
        """The term that is replaced."""
        return read_term(self.entry.before, f"{self.place} ({self.id}.before)")

    @cached_property
    def after(self) -> Expr:
        """The term that replaces it."""
        return read_term(self.entry.after, f"{self.place} ({self.id}.after)")

    @cached_property
    def given(self) -> Expr | None:
        """For which constants the conditions are exact; None for all."""
        if not self.entry.given:
            return None
        return read_condition(self.entry.given, f"{self.place} ({self.id}.given)")

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The names of its constants."""
        return constants_in(self.before, self.after)

    def condition(self, family: FamilyId, strength: Strength) -> Expr | bool | None:
        """When it is legal, exactly: a condition, always or never; None if it is not stated."""
        by_strength = self.entry.legal_when.get(family, {})
        text = by_strength.get(strength)
        if text is None:
            return None
        # No conditions of the language: it has no constant for true or false.
        if text in (ALWAYS, NEVER):
            return text == ALWAYS
        path = f"{self.id}.legal_when.{family}.{strength}"
        return read_condition(text, f"{self.place} ({path})")

    def tested(self, seen: Seen) -> Expr | None:
        """The condition that a project tests before it makes the rewrite; None if it tests none."""
        if not seen.where:
            return None
        return read_condition(seen.where, f"{self.place} ({self.id}.seen.where)")

    def stated(self) -> tuple[tuple[FamilyId, Strength], ...]:
        """The families and strengths for which it is stated when it is legal."""
        stated: list[tuple[FamilyId, Strength]] = []
        for family, by_strength in self.entry.legal_when.items():
            # From the strictest to the weakest, whatever the order of the file is.
            for strength in STRENGTHS:
                if strength in by_strength:
                    stated.append((family, strength))
        return tuple(stated)

    def fits(self, family: str) -> bool:
        """Whether the numbers of its terms are numbers of a family: integers have no infinity."""
        names: set[str] = set()
        for part in (*subtrees(self.before), *subtrees(self.after)):
            # A decimal is refused where a type is given that lacks it (`meaning_of`).
            if isinstance(part, Number) and part.constant is not None:
                names.add(part.constant)
        return names.issubset(CONSTANTS[family])

    def covers(self, type_id: str, texts: Mapping[str, str]) -> bool:
        """Whether conditions that are stated are about constants of an element type."""
        if self.given is None:
            return True
        in_type = meaning(type_id)
        values = {name: encode(text, in_type.etype) for name, text in texts.items()}
        return in_type.holds(self.given, values)

    def element_types(self, family: str) -> tuple[ElementType, ...]:
        """The element types of a family of Clip that all of its operators have."""
        # By ids, since operators may have a type in families of different names.
        types = operators()["clip"].types_of(family)
        common = {etype.id for etype in types}
        for name in functions_in(self.before, self.after) & operators().keys():
            common.intersection_update(etype.id for etype in operators()[name].element_types)
        return tuple(etype for etype in types if etype.id in common)


def known_rewrites(path: Path | None = None) -> tuple[Rewrite, ...]:
    """The rewrites of spec/rewrites.yaml, or of another file of this form.

    UserError for a file that is not in this form, for two of one id, and for a wrong term or condition.
    """
    rewrites, _ = _read(path or repo_file(FILE))
    return rewrites


def known_theorems() -> tuple[RewriteTheorem, ...]:
    """The rewrites of every function of a kind, in spec/rewrites.yaml; UserError as `known_rewrites`."""
    _, theorems = _read(repo_file(FILE))
    return theorems


@cache
def _read(file: Path) -> tuple[tuple[Rewrite, ...], tuple[RewriteTheorem, ...]]:
    document, _ = read_document(file)
    content = validate(RewritesFile, document)
    # Together: obligations and the evidence name both by their ids alone.
    ids: set[str] = set()
    for section in ("rewrites", "theorems"):
        for index, entry in enumerate(getattr(content, section)):
            if entry.id in ids:
                raise document.error((section, index, "id"), f"`{entry.id}` is there twice")
            ids.add(entry.id)
    rewrites = tuple(Rewrite(entry, shown_path(file)) for entry in content.rewrites)
    # Now, since a term is parsed when it is used: a mistake in the file would come up much later.
    for rewrite in rewrites:
        _require_readable(rewrite)
    return rewrites, content.theorems


def _require_readable(rewrite: Rewrite) -> None:
    """Parse all that a rewrite has; UserError for a constant that the terms do not have."""
    conditions = [rewrite.condition(family, strength) for family, strength in rewrite.stated()]
    tests = [rewrite.tested(seen) for seen in rewrite.entry.seen]
    trees: list[Expr] = []
    for condition in (rewrite.given, *tests, *conditions):
        # Always and never are no trees.
        if condition is not None and not isinstance(condition, bool):
            trees.append(condition)
    for name in constants_in(*trees):
        if name not in rewrite.constants:
            message = f"`{name}` is no constant of the terms"
            todo = suggestion(name, rewrite.constants, "they have")
            raise UserError(message, f"{rewrite.place} ({rewrite.id})", todo)


def rewrite_of(id_: str) -> Rewrite:
    """The rewrite with an id; UserError if there is none."""
    by_id = {rewrite.id: rewrite for rewrite in known_rewrites()}
    if id_ not in by_id:
        todo = suggestion(id_, by_id, "there are")
        raise UserError(f"there is no rewrite `{id_}`", FILE, todo)
    return by_id[id_]
