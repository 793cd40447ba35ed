"""The page file of an operator, such as spec/clip.page.yaml: what its page for the SONNX group cannot derive.

Sentences that hold for every operator come from page_texts.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field

from sonnx_clip.language.types import FamilyId, Id, Part, Text
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import read_document
from sonnx_clip.spec.entries import Entries, Symbol
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.spec import Spec

SHOWN_IN: dict[FamilyId, str] = {
    "real": "real", "float": "float32", "int": "int32", "uint": "uint32",
}  # fmt: skip
"""The element type in which the examples of a family are computed; families in the order of a page."""

Number: TypeAlias = Annotated[str, Field(pattern=r"^\d\d\d0$")]
"""The number of a tag."""
Texts: TypeAlias = Annotated[dict[Id, Text], Field(default_factory=dict)]
Errors: TypeAlias = Annotated[dict[Text, Text], Field(default_factory=dict)]


class OnnxVersion(Part):
    """The version of ONNX's operator on which the page is based."""

    version: int
    page: Text


class Revision(Part):
    """The line that identifies the issue of the page."""

    date: Text
    summary: Text


class StatedConstraint(Part):
    """How the page states a constraint; its condition is printed where there is no `statement`."""

    title: Text
    statement: Text | None = None
    families: tuple[FamilyId, ...] | None = None  # in which it is stated; all by default


class Tags(Part):
    """The permanent numbers of tags: of the function and latitude, and of constraints by tensor."""

    # The other keys are the tensors, which are called otherwise in each operator.
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[Id, Number]] = Field(init=False)

    function: Number
    latitude: Number | None = None

    @property
    def constraints(self) -> dict[str, dict[Id, Number]]:
        """The numbers of the constraints of each tensor."""
        return self.__pydantic_extra__ or {}


class GivenOperands(Part):
    """Operands of an example, entries of tensors and numbers of scalars; the result is computed."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Entries] = Field(init=False)

    @property
    def operands(self) -> dict[str, Entries]:
        """Its operands by their names."""
        return self.__pydantic_extra__ or {}


class FamilyText(Part):
    """The text of the page on a family, without its formulas; what is left out is that of page_texts.yaml.

    `errors` gives each error condition its disposition, in which ``{function}`` is the link to that tag, and
    likewise ``{latitude}`` and each constraint.
    """

    one_semantics: Text | None = None
    comparisons: Text | None = None
    also: Text | None = None
    tags: Tags | None = None
    errors: Errors
    examples: tuple[GivenOperands, ...] = ()


class PageFile(Part):
    """The page file of an operator, such as spec/clip.page.yaml.

    Its `tags` are those of all families that have none of their own, `errors` come behind those of each
    family, and `examples` are shown in each family that has all their numbers.
    """

    format: Annotated[int, Field(ge=1, le=1)]
    onnx: OnnxVersion
    revision: Revision
    corrects: Texts  # findings, each with the entry, or the part of the page, that it concerns
    summary: Text
    operands: dict[Symbol, Text]
    restrictions: Texts
    # origins: of restrictions, where the YAML has fewer words
    origins: Annotated[dict[Text, Text], Field(default_factory=dict)]
    constraints: dict[Id, StatedConstraint]
    latitude: Texts
    tags: Tags | None = None
    errors: Errors
    examples: tuple[GivenOperands, ...] = ()
    families: Annotated[dict[FamilyId, FamilyText], Field(default_factory=dict)]

    def of_family(self, id_: FamilyId) -> FamilyText:
        """The text on a family."""
        return self.families.get(id_) or FamilyText(errors={})

    def tags_of(self, id_: FamilyId) -> Tags:
        """The numbers of the tags of a family."""
        tags = self.of_family(id_).tags or self.tags
        assert tags is not None  # `read_page_file` requires them
        return tags

    def constraints_of(self, id_: FamilyId, tensor: str) -> dict[Id, Number]:
        """The constraints of a tensor that are stated in a family, and their numbers."""
        numbers = self.tags_of(id_).constraints.get(tensor, {})
        stated = {}
        for entry, number in numbers.items():
            families = self.constraints[entry].families
            if not families or id_ in families:  # none: all families
                stated[entry] = number
        return stated


class CommonText(Part):
    """What pages say of a family, whatever the operator is."""

    tensor: Text
    one_semantics: Text = ""
    comparisons: Text
    equal: Text = ""
    identical: Text = ""
    equalities: Text = ""  # what the signs of open results mean
    opposite: Text
    errors: dict[Text, Text]


class CommonTexts(Part):
    """The file page_texts.yaml."""

    families: dict[FamilyId, CommonText]


def start_of_tags(spec: Spec, family: FamilyId) -> str:
    """How the tags of a family begin: ``E_CLIP_FLOAT``."""
    return f"E_{spec.operator.upper()}_{family.upper()}"


@dataclass(frozen=True)
class Tag:
    """A tag of the page, and the entries of spec/clip.yaml whose statement it marks."""

    id: str
    family: str
    zone: Literal["restriction", "function", "latitude", "constraint"]
    entries: tuple[str, ...]


def page_path(spec: Spec) -> str:
    """Where the page is in an export."""
    return f"ops/{spec.signature.function}.md"


@cache
def common_texts() -> CommonTexts:
    """The sentences that hold for every operator."""
    path = Path(str(files(__package__).joinpath("page_texts.yaml")))
    return validate(CommonTexts, read_document(path)[0])


def read_page_file(spec: Spec) -> PageFile:
    """The page file beside the YAML; UserError for an unknown key or id, or a missing text."""
    path = spec.path.with_name(f"{spec.path.stem}.page.yaml")
    # Messages name it as they name the specification: by its path in the repository.
    name = str(PurePosixPath(spec.file).with_name(path.name))
    if not path.is_file():
        raise UserError(f"{spec.operator} has no page", spec.file, f"add the file {name}")
    file = validate(PageFile, read_document(path)[0])

    # Every id is required, and no other: an entry that is added to the YAML must not be missing on
    # the page, and one that is renamed must not keep the words of the old.
    latitude = [entry.id for entry in spec.latitude]
    # A restriction that is stated as a constraint of a tensor has its text there.
    restrictions = []
    for restriction in spec.restrictions:
        if restriction.id not in file.constraints:
            restrictions.append(restriction.id)
    # A family may have no text of its own; only unknown ones are refused.
    families = [family.id for family in spec.families]
    families_with_text = {*families, *file.families}
    _require_ids("operands", _tensors(spec), file.operands, name)
    _require_ids("latitude", latitude, file.latitude, name)
    _require_ids("restrictions", restrictions, file.restrictions, name)
    _require_ids("families", families, families_with_text, name)
    for family in families:
        _require_texts_of_family(spec, file, family, name)

    for entry, constraint in file.constraints.items():
        # One with words of its own may be of the page alone.
        if constraint.statement is None:
            spec.constraint(entry)  # raises UserError for an unknown id
    for id_ in file.corrects:
        spec.entry("findings", id_)
    return file


def _require_texts_of_family(spec: Spec, file: PageFile, family: FamilyId, name: str) -> None:
    """UserError unless the page file has the tags and constraints that a family needs."""
    if file.of_family(family).tags is None and file.tags is None:
        raise UserError(f"the family {family} has no `tags`", name, "add `tags`")
    # A tag is permanent: readers and other documents cite it, so none is made up for a text.
    tags = file.tags_of(family)
    _require_ids("tags", _tensors(spec), tags.constraints, name)
    # A numbered constraint needs its statement; one that is stated may have no number in this family.
    for entries in tags.constraints.values():
        known = file.constraints.keys() & entries
        _require_ids("constraints", entries, known, name)
    if spec.domain_of(family) and "domain" not in file.constraints:
        todo = "state where the operator is defined"
        raise UserError("`constraints` lacks domain", name, todo)
    has_latitude = family == "float" and bool(spec.latitude)
    if has_latitude and not tags.latitude:
        raise UserError("`tags` lacks latitude", name, "add its number")


def _tensors(spec: Spec) -> list[str]:
    """The operands and the result: each has a text, and constraints."""
    return [*spec.signature.ids, spec.signature.result.id]


def _require_ids(key: str, required: Iterable[str], present: Iterable[str], name: str) -> None:
    """UserError unless a key of the page file has exactly these ids."""
    required = set(required)
    for id_ in sorted(
        required.symmetric_difference(present)
    ):  # sorted, so that the first is the same
        problem = "lacks" if id_ in required else "has an unknown"
        raise UserError(f"`{key}` {problem} {id_}", name)


def tags_of(spec: Spec, file: PageFile) -> Iterator[Tag]:
    """Every tag of the page: of restrictions, which all families share, then family by family."""
    for id_ in file.restrictions:
        yield Tag(id_, "all", "restriction", (id_,))

    # A constraint of the page alone has no entry of the YAML, thus no obligation.
    proved = {constraint.id for constraint in spec.constraints}
    proved.update(restriction.id for restriction in spec.restrictions)
    for family in families_of(spec):
        start = start_of_tags(spec, family)
        tags = file.tags_of(family)
        # The function is what the cases say of a family; one that does not reach it has no part in that.
        cases = []
        for case in spec.cases:
            if family not in case.not_for:
                cases.append(case.id)
        function_tag = f"{start}_FUNC_{tags.function}"
        yield Tag(function_tag, family, "function", tuple(cases))

        if tags.latitude and family == "float":  # only floats have latitude
            latitude_tag = f"{start}_FUNC_{tags.latitude}"
            latitudes = tuple(latitude.id for latitude in spec.latitude)
            yield Tag(latitude_tag, family, "latitude", latitudes)

        for tensor in tags.constraints:
            numbers = file.constraints_of(family, tensor)
            for entry, number in numbers.items():
                constraint_tag = f"{start}_CONSTR_{tensor}_{number}"
                entries = (entry,) if entry in proved else ()
                yield Tag(constraint_tag, family, "constraint", entries)


def families_of(spec: Spec) -> Sequence[FamilyId]:
    """The families in the order of a page: reals first."""
    known = [family.id for family in spec.families]
    return [id_ for id_ in SHOWN_IN if id_ in known]
