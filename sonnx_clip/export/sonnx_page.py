"""The page of an operator in the structure that the SONNX group requires: `ops/clip.md`.

Formulas, tables and examples come from the YAML; sentences, permanent tags and further examples from the page
file beside it, such as spec/clip.page.yaml; sentences that hold for every operator from page_texts.yaml.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field

from sonnx_clip.backends.templating import templates
from sonnx_clip.export.folded_conditions import folded
from sonnx_clip.export.latex import LatexPrinter, without, written_out
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Number as Constant
from sonnx_clip.language.tree import conjuncts
from sonnx_clip.language.types import FamilyId, Id, Part, Text
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.document import read_document
from sonnx_clip.spec.entries import Entries, Symbol
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, Latitude

_SHOWN_IN: dict[FamilyId, str] = {
    "real": "real", "float": "float32", "int": "int32", "uint": "uint32",
}  # fmt: skip
"""The element type in which the examples of a family are computed; families in the order of a page."""
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}

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
    origins: Annotated[
        dict[Text, Text], Field(default_factory=dict)
    ]  # of restrictions, where the YAML has fewer words
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
        stated = {entry: self.constraints[entry].families for entry in numbers}
        return {
            entry: number for entry, number in numbers.items() if id_ in (stated[entry] or (id_,))
        }


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


@dataclass(frozen=True)
class WorkedExample:
    """The operands of an example by their names, and the result, as numbers or in LaTeX."""

    operands: Mapping[str, Entries]
    result: Any


@dataclass(frozen=True)
class Tag:
    """A tag of the page, and the entries of spec/clip.yaml whose statement it marks."""

    id: str
    family: str
    zone: Literal["restriction", "function", "latitude", "constraint"]
    entries: tuple[str, ...]


def page_path(spec: Spec) -> str:
    """Where the page is in an export."""
    return f"ops/{spec.head.function}.md"


@cache
def common_texts() -> CommonTexts:
    """The sentences that hold for every operator."""
    path = Path(str(files(__package__).joinpath("page_texts.yaml")))
    return validate(CommonTexts, read_document(path)[0])


def read_page_file(spec: Spec) -> PageFile:
    """The page file beside the YAML; UserError for an unknown key or id, or a missing text."""
    path = spec.path.with_name(f"{spec.path.stem}.page.yaml")
    name = str(PurePosixPath(spec.file).with_name(path.name))
    if not path.is_file():
        raise UserError(f"{spec.operator} has no page", spec.file, f"add the file {name}")
    file = validate(PageFile, read_document(path)[0])
    known_families = {family.id for family in spec.families}
    tensors = {*spec.head.operands, spec.result.id}
    stated = {r.id for r in spec.restrictions if r.id not in file.constraints}
    _require_ids("operands", tensors, file.operands, name)
    _require_ids("latitude", {latitude.id for latitude in spec.latitude}, file.latitude, name)
    _require_ids("restrictions", stated, file.restrictions, name)
    _require_ids("families", known_families, known_families | file.families.keys(), name)
    for family in spec.families:
        if file.of_family(family.id).tags is None and file.tags is None:
            raise UserError(f"the family {family.id} has no `tags`", name, "add `tags`")
        constraints = file.tags_of(family.id).constraints
        _require_ids("tags", tensors, constraints, name)
        for entries in constraints.values():
            _require_ids("constraints", set(entries), file.constraints.keys() & entries, name)
        if spec.domain_of(family.id) and "domain" not in file.constraints:
            raise UserError(
                "`constraints` lacks domain", name, "state where the operator is defined"
            )
        if family.id == "float" and spec.latitude and not file.tags_of("float").latitude:
            raise UserError("`tags` lacks latitude", name, "add its number")
    for entry, constraint in file.constraints.items():
        if constraint.statement is None:
            spec.constraint(entry)
    for id_ in file.corrects:
        spec.entry("findings", id_)
    return file


def _require_ids(key: str, ids: Iterable[str], given: Iterable[str], name: str) -> None:
    """UserError unless a key of the page file has exactly these ids."""
    ids, given = set(ids), set(given)
    for id_ in sorted(ids ^ given):
        raise UserError(f"`{key}` {'lacks' if id_ in ids else 'has an unknown'} {id_}", name)


def tags_of(spec: Spec, file: PageFile) -> Iterator[Tag]:
    """Every tag of the page: of restrictions, which all families share, then family by family."""
    for id_ in file.restrictions:
        yield Tag(id_, "all", "restriction", (id_,))
    proved = {constraint.id for constraint in spec.constraints}
    proved |= {restriction.id for restriction in spec.restrictions}
    for family in _families(spec):
        start = f"E_{spec.operator.upper()}_{family.upper()}"
        tags = file.tags_of(family)
        cases = tuple(case.id for case in spec.cases if family not in case.not_for)
        yield Tag(f"{start}_FUNC_{tags.function}", family, "function", cases)
        if tags.latitude and family == "float":
            open_ = tuple(one.id for one in spec.latitude)
            yield Tag(f"{start}_FUNC_{tags.latitude}", family, "latitude", open_)
        for tensor in tags.constraints:
            for entry, number in file.constraints_of(family, tensor).items():
                entries = (entry,) if entry in proved else ()
                yield Tag(f"{start}_CONSTR_{tensor}_{number}", family, "constraint", entries)


def _families(spec: Spec) -> Sequence[FamilyId]:
    """The families in the order of a page: reals first."""
    known = {family.id for family in spec.families}
    return [id_ for id_ in _SHOWN_IN if id_ in known]


def page_text(spec: Spec) -> str:
    """The page, with the line ends of the group's documents (CRLF)."""
    file = read_page_file(spec)
    template = templates("sonnx_clip.export").get_template("sonnx_page.md.j2")
    families = [_Family(spec, file, family) for family in _families(spec)]
    text = template.render(spec=spec, file=file, families=families)
    return text.replace("\n", "\r\n")


def listed(names: Sequence[str], last: str) -> str:
    """Names with commas, and a word before the last one."""
    *others, final = names
    return f"{', '.join(others)} {last} {final}" if others else final


class _Family:
    """The section of a family, as the template reads it."""

    def __init__(self, spec: Spec, file: PageFile, id_: FamilyId) -> None:
        self.spec, self.file, self.id, self.text = spec, file, id_, file.of_family(id_)
        self.common = common_texts().families[id_]
        self.tags = file.tags_of(id_)
        self.start = f"E_{spec.operator.upper()}_{id_.upper()}"
        self.tensors = [operand.id for operand in spec.operands if operand.role == "tensor"]
        self.scalars = [operand.id for operand in spec.operands if operand.role == "scalar"]
        entries = frozenset({*self.tensors, spec.result.id, "A"})
        self.show = LatexPrinter(spec, id_, entries).show
        etypes = spec.types_of(id_)
        self.types = [(etype.onnx or etype.id).lower() for etype in etypes]
        self.is_signed_alone = not any(type_.startswith("uint") for type_ in self.types)
        self.heading = ", ".join([id_] * len(spec.operands))
        self.restrictions = [
            r for r in spec.restrictions if r.id in file.restrictions and id_ in r.families
        ]
        self.latitude = spec.latitude if id_ == "float" else ()

    @property
    def one_semantics(self) -> str:
        """Why the types share one semantics; empty for the family of one type."""
        text = self.text.one_semantics or self.common.one_semantics
        return text.replace("{count}", _COUNTS.get(len(self.types), str(len(self.types))))

    @property
    def errors(self) -> dict[str, str]:
        """Each error condition and its disposition, without links."""
        return (self.text.errors or self.common.errors) | self.file.errors

    @property
    def links(self) -> dict[str, str]:
        """The tags that dispositions of errors name in braces."""
        found = {"{function}": self.tag("function")}
        if self.latitude:
            found["{latitude}"] = self.tag("latitude")
        for tensor in self.file.operands:
            for entry, number in self.file.constraints_of(self.id, tensor).items():
                found.setdefault(f"{{{entry}}}", f"{self.start}_CONSTR_{tensor}_{number}")
        return found

    def tag(self, zone: str) -> str:
        """The tag of the function or of the latitude."""
        return f"{self.start}_FUNC_{getattr(self.tags, zone)}"

    def accepts(self, one: Latitude) -> str:
        """Which other results a latitude accepts, less what holds wherever it applies."""
        holds = conjuncts(written_out(self.spec, one.when))
        return self.show(without(written_out(self.spec, one.accepts), holds))

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The cases: result and condition, which is empty if it always holds."""
        rows = []
        for case in self.spec.cases:
            when = folded(written_out(self.spec, case.when), self.id)
            if when is not False and self.id not in case.not_for:
                rows.append((self._result(case), "" if when is True else self.show(when)))
        return rows

    def _result(self, case: Case) -> str:
        if isinstance(case.result, Constant):
            return number(case.result_text, self.id)
        return self.show(case.result)

    @property
    def has_opposites(self) -> bool:
        """Whether a result is the opposite of an operand."""
        return any(result.startswith("-") and "[" in result for result, _ in self.rows)

    @property
    def explained(self) -> list[str]:
        """What the signs in the formula mean."""
        conditions = " ".join(when for _, when in self.rows)
        texts = [self.text.comparisons or self.common.comparisons] if conditions else []
        if "=_{" in conditions:
            texts.append(self.common.equal)
        if r"\equiv" in conditions:
            texts.append(self.common.identical)
        if self.has_opposites:
            texts.append(self.common.opposite)
        return texts

    @property
    def selected(self) -> str:
        """The operands of which the result is one; empty if it may be another number."""
        names = {f"{name}[i]" for name in self.tensors} | {*self.scalars}
        if {result for result, _ in self.rows} - names:
            return ""
        operands = [f"${name}[i]$" for name in self.tensors]
        return listed(operands + [f"${name}$" for name in self.scalars], "or")

    @property
    def entries(self) -> str:
        """What the names in the formula are."""
        names = [self.spec.result.id, *self.tensors]
        entries = listed([f"${name}[i]$" for name in names], "and")
        text = f"{entries} are the entries of {listed([f'${name}$' for name in names], 'and')} at index $i$"
        if self.scalars:
            scalars = listed([f"${name}$" for name in self.scalars], "and")
            text += f", and {scalars} stand for the single entries of these scalars"
        return f"{text}."

    @property
    def shapes(self) -> str:
        """The shapes of the operands and of the result."""
        first, result = self.tensors[0], self.spec.result.id
        if len(self.tensors) > 1:
            names = listed([f"${name}$" for name in self.tensors], "and")
            text = f"Tensors {names} have one shape, of any rank; there is no broadcasting."
        else:
            text = f"Tensor ${first}$ has any rank."
        if self.scalars:
            scalars = listed([f"${name}$" for name in self.scalars], "and")
            text += f" {scalars} are scalars; they apply to every entry of ${first}$;"
            text += " there is no other broadcasting."
        return (
            f"{text} If ${first}$ has no dimensions, neither has ${result}$, and its only entry is the one"
            f" defined above. If ${first}$ has a zero-sized dimension, ${result}$ is empty."
        )

    def constraints(self, tensor: str) -> Iterator[dict[str, Any]]:
        """The constraints of a tensor: stated at the first tensor that has them, linked at others."""
        numbers = {name: self.file.constraints_of(self.id, name) for name in self.file.operands}
        for entry, tag in numbers[tensor].items():
            at = next(name for name in numbers if entry in numbers[name])
            stated = self.file.constraints[entry]
            statement, rationale = (
                (stated.statement, "") if stated.statement else self._printed(entry)
            )
            yield {
                "tag": f"{self.start}_CONSTR_{tensor}_{tag}", "title": stated.title,
                "at": at if at != tensor else None, "first": f"{self.start}_CONSTR_{at}_{numbers[at][entry]}",
                "statement": statement, "rationale": rationale,
                "of_function": not stated.statement and bool(self.latitude),  # more than Y conforms
            }  # fmt: skip

    def _printed(self, entry: str) -> tuple[str, str]:
        """The condition of a constraint, and why it is restricted, if it is."""
        found = self.spec.constraint(entry)
        if self.id not in found.refuted_for:
            return f"${self.show(found.holds)}$.", ""
        where = f"if ${self.show(found.repaired[self.id])}$, then "
        numbers = found.refuted_for[self.id].texts().items()
        shown = ", ".join(f"${name} = {number(text, self.id)}$" for name, text in numbers)
        return (
            f"{where}${self.show(found.holds)}$.",
            f"elsewhere it does not hold, for example for {shown}.",
        )

    @property
    def examples(self) -> Iterator[WorkedExample]:
        """The worked examples in LaTeX."""
        for example in examples_of(self.spec, self.file, self.id):
            shown = {}
            for name, values in example.operands.items():
                shown[name] = _in_latex(values, self.id)
            yield WorkedExample(shown, row(example.result, self.id))


def examples_of(spec: Spec, file: PageFile, family: FamilyId) -> Iterator[WorkedExample]:
    """The worked examples with computed results: of the YAML, then further ones of the page file."""
    etype = spec.element_type(_SHOWN_IN[family])
    evaluate = evaluator(spec, etype)
    given: list[Mapping[str, Entries]] = [e.values for e in spec.examples if e.family == family]
    given += [example.operands for example in file.of_family(family).examples]
    for example in file.examples:
        with suppress(UserError):  # where the family lacks a number
            encoded(example.operands.values(), etype)
            given.append(example.operands)
    for values in given:
        operands = {name: values[name] for name in spec.head.operands}
        length = len(operands[spec.operands[0].id])
        columns = [
            operand if isinstance(operand, list) else [operand] * length
            for operand in encoded(operands.values(), etype)
        ]
        results = [evaluate.result(*entries) for entries in zip(*columns, strict=True)]
        yield WorkedExample(operands, tuple(show(value, etype) for value in results))


def encoded(operands: Iterable[Entries], etype: ElementType) -> list[Any]:
    """Entries of tensors and numbers of scalars; UserError where the type lacks a number."""
    return [
        encode(operand, etype)
        if isinstance(operand, str)
        else [encode(entry, etype) for entry in operand]
        for operand in operands
    ]


def _in_latex(operand: Entries, family: str) -> str:
    return number(operand, family) if isinstance(operand, str) else row(operand, family)


def row(numbers: Sequence[str], family: str) -> str:
    """A tensor of one dimension."""
    return (
        rf"\begin{{bmatrix}} {' & '.join(number(one, family) for one in numbers)} \end{{bmatrix}}"
    )


def number(text: str, family: str) -> str:
    """A number in LaTeX; of floats, zeros and infinities with their sign."""
    sign, name = ("-", text[1:]) if text.startswith("-") else ("", text)
    if name == "nan":
        return r"\text{NaN}"
    plus = "+" if family == "float" and name in {"0", "inf"} and not sign else ""
    return (sign or plus) + (r"\infty" if name == "inf" else name)
