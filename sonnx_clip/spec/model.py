"""The typed model of spec/clip.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, TypeVar

from pydantic import ConfigDict, Field, PrivateAttr

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.scope import Head
from sonnx_clip.language.types import WHOLE, ElementType, Family, Part, Source
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.dialect_examples import DialectExample
from sonnx_clip.spec.dialects import Dialect, DialectRow, whole
from sonnx_clip.spec.entries import (
    Case,
    Constraint,
    DeclaredExample,
    Definition,
    Example,
    FileContext,
    Latitude,
    Operand,
    OperatorName,
    OperatorResult,
    Page,
    Property,
    Reading,
    Restriction,
    ValueClass,
    WrongClip,
)
from sonnx_clip.spec.findings import SourceFinding
from sonnx_clip.spec.sections import BY_NAME, REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DIALECTS = ("dialects", "")  # of a specification's memo
_HEAD = ("head", "")  # likewise


class _Named(Protocol):
    @property
    def id(self) -> str: ...


_Entry = TypeVar("_Entry", bound=_Named)


class Requirement(Part):
    """What evidence must speak of: a restriction, constraint, case, property or example.

    Args:
        id: its permanent id.
        section: the section of the YAML file that holds it.
        title: what it says.
        families: the families of which it speaks.
        source: the words of the page.
    """

    id: str
    section: str
    title: str
    families: tuple[str, ...]
    source: Source


class Spec(Part):
    """An operator in the SONNX profile: the one source of its meaning. What Clip states is `ClipSpec`."""

    # No part of the model: no copy has it, none is compared by it, and it is not written to a file.
    __slots__ = ("_found",)
    if TYPE_CHECKING:
        _found: dict[tuple[str, str], Any]

    format: Annotated[
        int, Field(strict=True, ge=1, le=1, description="The version of this form of file."), WHOLE
    ]
    operator: OperatorName
    operands: Annotated[tuple[Operand, ...], Field(min_length=1)]
    result: OperatorResult
    sources: Annotated[tuple[Page, ...], Field(min_length=1)]
    families: Annotated[tuple[Family, ...], Field(min_length=1)]
    element_types: Annotated[tuple[ElementType, ...], Field(min_length=1)]
    declared_example: DeclaredExample | None = None
    restrictions: tuple[Restriction, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    cases: Annotated[tuple[Case, ...], Field(min_length=1)]
    definitions: tuple[Definition, ...] = ()
    classes: Annotated[tuple[ValueClass, ...], Field(min_length=1)]
    properties: Annotated[tuple[Property, ...], Field(min_length=1)]
    wrong_clips: Annotated[tuple[WrongClip, ...], Field(min_length=1)]
    latitude: tuple[Latitude, ...] = ()
    readings: tuple[Reading, ...] = ()
    dialects: tuple[DialectRow, ...] = ()
    findings: tuple[SourceFinding, ...] = ()
    examples: tuple[Example, ...] = ()
    dialect_examples: tuple[DialectExample, ...] = ()

    _digest: str = PrivateAttr(default="")
    _path: Path = PrivateAttr(default=Path("spec/clip.yaml"))

    @property
    def digest(self) -> str:
        """The SHA-256 of the YAML file, in hex."""
        return self._digest

    @property
    def path(self) -> Path:
        """The YAML file."""
        return self._path

    @property
    def file(self) -> str:
        """The name of the YAML file in messages and generated files."""
        return "spec/clip.yaml" if self.operator == "Clip" else self._path.name

    @property
    def head(self) -> Head:
        """The operator as the language of conditions knows it."""
        if _HEAD not in self.memo:
            operands = tuple(operand.id for operand in self.operands)
            tensors = frozenset(operand.id for operand in self.operands if operand.role == "tensor")
            self.memo[_HEAD] = Head(self.operator.lower(), operands, tensors, self.result.id)
        found: Head = self.memo[_HEAD]
        return found

    @property
    def memo(self) -> dict[tuple[str, str], Any]:
        """What is computed once for this very specification, such as its evaluators: a copy has its own."""
        try:
            found = self._found
        except AttributeError:
            found = {}
            object.__setattr__(self, "_found", found)
        return found

    @property
    def whole_dialects(self) -> tuple[Dialect, ...]:
        """Every dialect, with what it takes over from those before it, in the order of the file."""
        if _DIALECTS not in self.memo:
            self.memo[_DIALECTS] = whole(self.dialects)
        found: tuple[Dialect, ...] = self.memo[_DIALECTS]
        return found

    def model_post_init(self, context: Any, /) -> None:
        """Keep path and digest of the file, which come as the context of validation."""
        if isinstance(context, FileContext):
            self._digest = context.digest
            self._path = context.path or self._path

    def page(self, id_: str) -> Page:
        """The quoted text with this id; UserError if there is none (as for every look-up below)."""
        return _find(self, self.sources, id_, "sources")

    def family(self, id_: str) -> Family:
        """The family with this id."""
        return _find(self, self.families, id_, "families")

    def element_type(self, id_: str) -> ElementType:
        """The element type with this id."""
        return _find(self, self.element_types, id_, "element_types")

    def restriction(self, id_: str) -> Restriction:
        """The restriction with this id."""
        return _find(self, self.restrictions, id_, "restrictions")

    def constraint(self, id_: str) -> Constraint:
        """The constraint with this id."""
        return _find(self, self.constraints, id_, "constraints")

    def case(self, id_: str) -> Case:
        """The case with this id."""
        return _find(self, self.cases, id_, "cases")

    def definition(self, id_: str) -> Definition:
        """The definition with this id."""
        return _find(self, self.definitions, id_, "definitions")

    def klass(self, id_: str) -> ValueClass:
        """The class with this id."""
        return _find(self, self.classes, id_, "classes")

    def property(self, id_: str) -> Property:
        """The property with this id."""
        return _find(self, self.properties, id_, "properties")

    def reading(self, id_: str) -> Reading:
        """The reading with this id."""
        return _find(self, self.readings, id_, "readings")

    def dialect(self, id_: str) -> Dialect:
        """The dialect with this id, with what it takes over from those before it."""
        return _find(self, self.whole_dialects, id_, "dialects")

    def finding(self, id_: str) -> SourceFinding:
        """The finding about the sources with this id."""
        return _find(self, self.findings, id_, "findings")

    def example(self, id_: str) -> Example:
        """The worked example with this id."""
        return _find(self, self.examples, id_, "examples")

    def types_of(self, family: str) -> tuple[ElementType, ...]:
        """The element types of a family, in the order of the file."""
        return tuple(etype for etype in self.element_types if etype.family == family)

    def classes_of(self, family: str, case: str | None = None) -> tuple[ValueClass, ...]:
        """The classes that a family has, perhaps of one case, in the order of the file."""
        return tuple(c for c in self.classes if family in c.families and case in (None, c.case))

    def requirements(self) -> Iterator[Requirement]:
        """Every restriction, constraint, case, property and example, in the order of the file."""
        every = tuple(family.id for family in self.families)
        for section in REQUIREMENTS:
            for entry in getattr(self, section.name):
                families = getattr(entry, "families", every)
                yield Requirement(
                    id=entry.id, section=section.name, title=entry.title, families=families,
                    source=entry.source,
                )  # fmt: skip


OF_CLIP: Final = (
    "declared_example", "restrictions", "constraints", "latitude", "readings", "dialects", "findings",
    "examples", "dialect_examples",
)  # fmt: skip
"""The sections that Clip alone has, so far: nothing is made of those of another operator."""


class ClipSpec(Spec):
    """Clip in the SONNX profile: the one source of its meaning."""

    model_config = ConfigDict(title="Spec")

    declared_example: DeclaredExample
    restrictions: Annotated[tuple[Restriction, ...], Field(min_length=1)]
    constraints: Annotated[tuple[Constraint, ...], Field(min_length=1)]
    definitions: tuple[Definition, ...]
    latitude: tuple[Latitude, ...]
    readings: Annotated[tuple[Reading, ...], Field(min_length=1)]
    dialects: Annotated[tuple[DialectRow, ...], Field(min_length=1)]
    findings: Annotated[tuple[SourceFinding, ...], Field(min_length=1)]
    examples: Annotated[tuple[Example, ...], Field(min_length=1)]
    dialect_examples: Annotated[tuple[DialectExample, ...], Field(min_length=1)]


def _find(spec: Spec, entries: Sequence[_Entry], id_: str, section: str) -> _Entry:
    for entry in entries:
        if entry.id == id_:
            return entry
    raise UserError(
        f"there is no `{id_}` among the {BY_NAME[section].many} of {spec.file}",
        todo=suggestion(id_, [entry.id for entry in entries], "there are"),
    )
