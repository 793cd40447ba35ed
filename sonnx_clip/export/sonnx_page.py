"""The page of the operator in the structure that the SONNX group requires: `ops/clip.md`.

Formulas, tables and examples come from spec/clip.yaml; sentences, permanent tags and further examples from
spec/clip.page.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field

from sonnx_clip.backends.templating import templates
from sonnx_clip.export.latex import LatexPrinter, without, written_out
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import conjuncts
from sonnx_clip.language.types import FamilyId, Id, NumberText, Part, Text
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.document import read_document
from sonnx_clip.spec.entries import Numbers, Symbol
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Latitude

PAGE = "ops/clip.md"
_SHOWN_IN = {"real": "real", "int": "int32", "float": "float32"}
"""The element type in which the examples of a family are computed."""

Number: TypeAlias = Annotated[str, Field(pattern=r"^\d\d\d0$")]
"""The number of a tag."""


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


class Tags(Part):
    """The permanent numbers of the tags of a family: of its function, and of constraints by tensor."""

    function: Number
    latitude: Number | None = None
    X: dict[Id, Number]
    L: dict[Id, Number]
    M: dict[Id, Number]
    Y: dict[Id, Number]


class FurtherExample(Part):
    """Operands of an example; the result is computed."""

    X: tuple[NumberText, ...]
    L: NumberText
    M: NumberText


class FamilyText(Part):
    """The text of the page on a family, without its formulas.

    `errors` gives each error condition its disposition, in which ``{function}`` is the link to that tag.
    """

    tensor: Text
    one_semantics: Text | None = None
    comparisons: Text
    equalities: Text | None = None  # what the signs of open results mean
    also: Text | None = None
    tags: Tags
    errors: dict[Text, Text]
    examples: tuple[FurtherExample, ...]


class PageFile(Part):
    """spec/clip.page.yaml."""

    format: Annotated[int, Field(ge=1, le=1)]
    onnx: OnnxVersion
    revision: Revision
    corrects: dict[
        Id, Text
    ]  # findings, each with the entry, or the part of the page, that it concerns
    operands: dict[Symbol, Text]
    restrictions: dict[Id, Text]
    origins: dict[Text, Text]  # of restrictions, where spec/clip.yaml has fewer words
    constraints: dict[Id, StatedConstraint]
    latitude: dict[Id, Text]
    families: dict[FamilyId, FamilyText]


@dataclass(frozen=True)
class Tag:
    """A tag of the page, and the entries of spec/clip.yaml whose statement it marks."""

    id: str
    family: str
    zone: Literal["restriction", "function", "latitude", "constraint"]
    entries: tuple[str, ...]


def read_page_file(spec: Spec) -> PageFile:
    """The page file beside the YAML; UserError for an unknown key, family or finding, or a missing text."""
    path = spec.path.with_name(f"{spec.path.stem}.page.yaml")
    name = str(PurePosixPath(spec.file).with_name(path.name))
    if not path.is_file():
        raise UserError(f"{spec.operator} has no page", spec.file, f"add the file {name}")
    file = validate(PageFile, read_document(path)[0])
    wanted: dict[str, set[str]] = {
        "families": {family.id for family in spec.families},
        "operands": {*spec.head.operands, spec.result.id},
        "latitude": {one.id for one in spec.latitude},
        "restrictions": {r.id for r in spec.restrictions if r.id not in file.constraints},
    }
    for key, ids in wanted.items():
        for id_ in ids ^ {*getattr(file, key)}:
            raise UserError(f"`{key}` {'lacks' if id_ in ids else 'has an unknown'} {id_}", name)
    for id_ in file.corrects:
        spec.entry("findings", id_)
    return file


def tags_of(spec: Spec, file: PageFile) -> Iterator[Tag]:
    """Every tag of the page: of restrictions, which all families share, then family by family."""
    for id_ in file.restrictions:
        yield Tag(id_, "all", "restriction", (id_,))
    for family, of in file.families.items():
        start = f"E_{spec.operator.upper()}_{family.upper()}"
        function, latitude = of.tags.function, of.tags.latitude
        yield Tag(
            f"{start}_FUNC_{function}", family, "function", tuple(case.id for case in spec.cases)
        )
        if latitude:
            open_ = tuple(one.id for one in spec.latitude)
            yield Tag(f"{start}_FUNC_{latitude}", family, "latitude", open_)
        for tensor in ("X", "L", "M", "Y"):
            for entry, number in getattr(of.tags, tensor).items():
                yield Tag(f"{start}_CONSTR_{tensor}_{number}", family, "constraint", (entry,))


def page_text(spec: Spec) -> str:
    """The page, with the line ends of the group's documents (CRLF)."""
    file = read_page_file(spec)
    text = (
        templates("sonnx_clip.export")
        .get_template("sonnx_page.md.j2")
        .render(
            spec=spec, file=file, families=[_Family(spec, file, family) for family in file.families]
        )
    )
    return text.replace("\n", "\r\n")


class _Family:
    """The section of a family, as the template reads it."""

    def __init__(self, spec: Spec, file: PageFile, id_: FamilyId) -> None:
        self.spec, self.file, self.id, self.text = spec, file, id_, file.families[id_]
        self.start = f"E_{spec.operator.upper()}_{id_.upper()}"
        tensors = spec.head.tensors | {spec.result.id, "A"}
        self.show = LatexPrinter(spec, id_, frozenset(tensors)).show
        self.types = [(etype.onnx or etype.id).lower() for etype in spec.types_of(id_)]
        self.heading = ", ".join([id_] * len(spec.operands))
        self.restrictions = [
            r for r in spec.restrictions if r.id in file.restrictions and id_ in r.families
        ]
        self.latitude = spec.latitude if id_ == "float" else ()

    def tag(self, zone: str) -> str:
        """The tag of the function or of the latitude."""
        return f"{self.start}_FUNC_{getattr(self.text.tags, zone)}"

    def accepts(self, one: Latitude) -> str:
        """Which other results a latitude accepts, less what holds wherever it applies."""
        holds = conjuncts(written_out(self.spec, one.when))
        return self.show(without(written_out(self.spec, one.accepts), holds))

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The cases: result and condition."""
        entry = {name: f"{name}[i]" for name in self.spec.head.tensors}
        return [
            (entry.get(case.result_text, case.result_text), self.show(case.when))
            for case in self.spec.cases
        ]

    def constraints(self, tensor: str) -> Iterator[dict[str, Any]]:
        """The constraints of a tensor: stated at the first tensor that has them, linked at others."""
        numbers = {name: getattr(self.text.tags, name) for name in self.file.operands}
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
    def examples(self) -> Iterator[dict[str, Any]]:
        """The worked examples in LaTeX."""
        for x, low, high, due in examples_of(self.spec, self.file, self.id):
            yield {
                "X": row(x, self.id), "L": number(low, self.id), "M": number(high, self.id),
                "Y": row(due, self.id),
            }  # fmt: skip


def examples_of(
    spec: Spec, file: PageFile, family: FamilyId
) -> Iterator[tuple[Numbers, str, str, Numbers]]:
    """X, L, M and the computed Y of the worked examples: of the review copy, then further ones."""
    etype = spec.element_type(_SHOWN_IN[family])
    given = [e.values for e in spec.examples if e.family == family]
    for values in (*given, *(dict(e) for e in file.families[family].examples)):
        x, low, high = tuple(values["X"]), str(values["L"]), str(values["M"])
        bounds = encode(low, etype), encode(high, etype)
        due = [evaluator(spec, etype).result(encode(of, etype), *bounds) for of in x]
        yield x, low, high, tuple(show(value, etype) for value in due)


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
