"""The typed model of the YAML of an operator, and the table of its sections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import ElementType, Family, FamilyId, Part
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.signature import Operand, Signature
from sonnx_clip.spec.dialects import Dialect, DialectExample
from sonnx_clip.spec.document import Diagnostic, Way, read_document, unknown
from sonnx_clip.spec.entries import (
    BoundsCondition,
    BoundsInUse,
    Case,
    Constraint,
    DeclaredTensor,
    Definition,
    Domain,
    Example,
    Latitude,
    Mechanism,
    OperandEntry,
    OperatorName,
    Page,
    Property,
    Reading,
    Restriction,
    ResultEntry,
    Symbol,
    ValueClass,
    WrongOperator,
)
from sonnx_clip.spec.findings import SourceFinding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.language.tree import Expr


_Entry = TypeVar("_Entry", bound=BaseModel)


@dataclass
class YamlSection:
    """A section of the file that lists entries with ids."""

    one: str  # what a message calls an entry
    # own_ids: its ids may be those of other sections too: a family may have the name of its only type
    # (`real`), and a page that of a vendor's operator. No two entries of all other sections share one.
    own_ids: bool = False
    answers: bool = True  # the words of a text can be encoded by an entry (spec/clip.coverage.yaml)
    name: str = ""  # its key in the file
    entry: type[BaseModel] = BaseModel  # the model of an entry

    def has(self, key: str) -> bool:
        """Whether its entries have a value of this name."""
        return key in self.entry.model_fields


class _Find(Generic[_Entry]):
    """A look-up: the entry of a section with an id; UserError if there is none."""

    def __init__(self, section: str) -> None:
        self.section = section

    # A descriptor, so that each look-up has the type of its entries for mypy.
    def __get__(self, spec: Spec, _: type[Spec]) -> Callable[[str], _Entry]:
        return lambda id_: spec.entry(self.section, id_)


class Spec(Part):
    """An operator in the SONNX profile: the one source of its meaning."""

    model_config = ConfigDict(ignored_types=(_Find,))

    format: Annotated[int, Field(ge=1, le=1)]
    operator: OperatorName
    operands: Annotated[
        tuple[OperandEntry, ...],
        Field(min_length=1),
        YamlSection("operand", own_ids=True, answers=False),
    ]
    result: ResultEntry
    sources: Annotated[
        tuple[Page, ...], Field(min_length=1), YamlSection("source", own_ids=True, answers=False)
    ]
    families: Annotated[
        tuple[Family, ...], Field(min_length=1), YamlSection("family", own_ids=True)
    ]
    # From spec/element_types.yaml, by the families.
    element_types: Annotated[
        tuple[ElementType, ...], YamlSection("element type", own_ids=True)
    ] = ()
    domain: Annotated[dict[FamilyId, Domain], Field(default_factory=dict)]
    declared_example: dict[Symbol, DeclaredTensor] | None = None
    restrictions: Annotated[tuple[Restriction, ...], YamlSection("restriction")] = ()
    constraints: Annotated[tuple[Constraint, ...], YamlSection("constraint")] = ()
    cases: Annotated[tuple[Case, ...], Field(min_length=1), YamlSection("case")]
    definitions: Annotated[tuple[Definition, ...], YamlSection("definition")] = ()
    classes: Annotated[tuple[ValueClass, ...], Field(min_length=1), YamlSection("class")]
    properties: Annotated[tuple[Property, ...], Field(min_length=1), YamlSection("property")]
    wrong_operators: Annotated[
        tuple[WrongOperator, ...], Field(min_length=1), YamlSection("wrong operator", answers=False)
    ]
    mechanisms: Annotated[tuple[Mechanism, ...], YamlSection("mechanism", answers=False)] = ()
    conditions_on_bounds: tuple[BoundsCondition, ...] = ()
    latitude: Annotated[tuple[Latitude, ...], YamlSection("latitude")] = ()
    bounds_in_use: tuple[BoundsInUse, ...] = ()
    readings: Annotated[tuple[Reading, ...], YamlSection("reading")] = ()
    dialects: Annotated[tuple[Dialect, ...], YamlSection("dialect")] = ()
    findings: Annotated[tuple[SourceFinding, ...], YamlSection("finding", answers=False)] = ()
    examples: Annotated[tuple[Example, ...], YamlSection("example")] = ()
    dialect_examples: Annotated[
        tuple[DialectExample, ...], YamlSection("example of a dialect")
    ] = ()

    _digest: str = PrivateAttr(default="")
    _path: Path = PrivateAttr(default=Path("spec/clip.yaml"))

    def read_from(self, path: Path, digest: str) -> Spec:
        """The same, with its file and its `digest`."""
        # Private attributes: no key of the file can set them.
        self._path = path
        self._digest = digest
        return self

    def __copy__(self) -> Spec:
        """A copy, as of `model_copy`, which takes over nothing that was computed for this specification."""
        copied = super().__copy__()
        # An evaluator in the memo would answer for the specification that was copied.
        for name in ("signature", "memo"):
            copied.__dict__.pop(name, None)
        return copied

    @property
    def digest(self) -> str:
        """The SHA-256 of the YAML file and spec/element_types.yaml behind it, in hex."""
        return self._digest

    @property
    def path(self) -> Path:
        """The YAML file."""
        return self._path

    @property
    def file(self) -> str:
        """The name of the YAML file in messages and generated files."""
        name = self._path.name
        return f"spec/{name}" if self._path.parent.name == "spec" else name

    @cached_property
    def signature(self) -> Signature:
        """What the operator takes and gives, for all that does not read this specification."""
        operands = []
        for position, entry in enumerate(self.operands):
            operands.append(Operand(entry.id, entry.onnx, entry.role, position))
        result = Operand(self.result.id, self.result.onnx, "result", 0)
        return Signature(self.operator, tuple(operands), result)

    @cached_property
    def memo(self) -> dict[tuple[str, str], Any]:
        """What is computed once for this very specification, such as its evaluators."""
        # The key has what it is and of what. Outside the model, so that `__copy__` drops it.
        return {}

    def entry(self, section: str, id_: str) -> Any:
        """The entry of a section with this id; UserError if there is none."""
        entries = getattr(self, section)
        for entry in entries:
            if entry.id == id_:
                return entry
        title = section.replace("_", " ")
        ids = [entry.id for entry in entries]
        raise UserError(
            f"there is no `{id_}` among the {title} of {self.file}",
            todo=suggestion(id_, ids, "there are"),
        )

    @property
    def texts(self) -> tuple[Page, ...]:
        """The sources whose text is in the repository."""
        return tuple(page for page in self.sources if page.file)

    def domain_of(self, family: str) -> Expr | None:
        """The condition under which the operator is defined in a family; None if it is for all operands."""
        for id_, domain in self.domain.items():  # not `get`: any text may be asked for
            if id_ == family:
                return domain.holds
        return None

    def types_of(self, family: str) -> tuple[ElementType, ...]:
        """The element types of a family, in the order of the file."""
        return tuple(etype for etype in self.element_types if etype.family == family)

    def classes_of(self, family: str, case: str | None = None) -> tuple[ValueClass, ...]:
        """The classes that a family has, perhaps of one case, in the order of the file."""
        of_family = [klass for klass in self.classes if family in klass.families]
        if case is None:
            return tuple(of_family)
        return tuple(klass for klass in of_family if klass.case == case)

    def giving_cases(self, family: str) -> tuple[Case, ...]:
        """The cases that may give a result in a family, in the order of the file.

        A case that the family does not have is left out if its result is a number: the element types of the
        family may lack it, as unsigned integers lack -1. Other results exist in every type.
        """
        cases: list[Case] = []
        for case in self.cases:
            is_empty = family in case.not_for
            if not (is_empty and case.result_has_number):
                cases.append(case)
        return tuple(cases)

    def requirements(self) -> Iterator[tuple[str, Any]]:
        """What evidence must cover, with its section: statements of the page, and conclusions from them."""
        # Not classes, latitude, readings and dialects: the page does not state these.
        for section in ("restrictions", "constraints", "cases", "properties", "examples"):
            for entry in getattr(self, section):
                yield section, entry

    page = _Find[Page]("sources")
    family = _Find[Family]("families")
    element_type = _Find[ElementType]("element_types")
    restriction = _Find[Restriction]("restrictions")
    constraint = _Find[Constraint]("constraints")
    definition = _Find[Definition]("definitions")
    property = _Find[Property]("properties")
    wrong_operator = _Find[WrongOperator]("wrong_operators")
    reading = _Find[Reading]("readings")
    dialect = _Find[Dialect]("dialects")
    example = _Find[Example]("examples")


def _sections() -> Iterator[YamlSection]:
    """The sections, from the fields of the model: what these say already is not written again."""
    for name, field in Spec.model_fields.items():
        for section in field.metadata:
            if isinstance(section, YamlSection):
                section.name = name
                # Of ``tuple[Case, ...]``, the type of the field.
                section.entry = field.annotation.__args__[0]  # type: ignore[union-attr]
                yield section


SECTIONS: Final = tuple(_sections())
BY_NAME: Final = {section.name: section for section in SECTIONS}


def entries_with(spec: Spec, key: str) -> Iterator[tuple[str, int, Any]]:
    """Section, index and entry of all that have a value of this name, in the order of the file."""
    for section in SECTIONS:
        if section.has(key):
            for index, entry in enumerate(getattr(spec, section.name)):
                yield section.name, index, entry


def yaml_place(spec: Spec, way: Way) -> str:
    """Where a value is: file, line, column and path; the name of the file if it cannot be read again."""
    if not spec.path.is_file():
        return spec.file
    document, _ = read_document(spec.path)
    return document.error(way, "").where or spec.file


def unknown_in(
    spec: Spec,
    name: str,
    way: Way,
    id_: str,
) -> Iterator[Diagnostic]:
    """A finding if a section has no entry with this id; `way` is the path to the id."""
    ids = [entry.id for entry in getattr(spec, name)]
    yield from unknown(way, id_, ids, BY_NAME[name].one)
