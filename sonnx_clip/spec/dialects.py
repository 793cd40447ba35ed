"""Dialects, versioned definitions of Clip: a row of the file inherits from the row that it comes after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints

from sonnx_clip.language.convert import convert
from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import FamilyId, Flag, Id, Lines, NumberText, Part, Source, Text, Word
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import Diagnostic, unknown
from sonnx_clip.spec.entries import Conditions, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.model import Spec


System: TypeAlias = Literal["sonnx", "onnx", "directml"]
GivenAs: TypeAlias = Literal["inputs", "attributes", "members"]
BoundType: TypeAlias = Literal["tensor", "float32"]
Aspect: TypeAlias = Literal[
    "element_types", "ranks", "bounds", "missing_bounds", "missing_bounds_of", "casts", "cast_of_no_number",
    "inverted_bounds", "nan", "scale_bias", "scale_bias_precision", "in_place", "inputs", "scalar_bounds",
    "attributes", "result", "errors", "function", "missing_max", "equivalence",
]  # fmt: skip
DialectId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*-[a-z0-9.]+$")]

ALWAYS: tuple[Aspect, ...] = (
    "element_types", "ranks", "bounds", "missing_bounds", "inverted_bounds", "nan", "in_place",
)  # fmt: skip
"""The aspects on which every dialect says something, or is said to be silent."""


class Saying(Part):
    """The words of a page on an aspect; in the section of the dialect if none is named."""

    section: Text | None = None
    at: Lines = ()
    quote: Text


def _words(value: object) -> object:
    return {"quote": value} if isinstance(value, str) else value


Said: TypeAlias = Annotated[Saying, BeforeValidator(_words)]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


class Ranks(Part):
    """How many dimensions X may have; any number from `least` on if `greatest` is left out."""

    least: Annotated[int, Field(strict=True, ge=0), BeforeValidator(_whole)]
    greatest: Annotated[int | None, BeforeValidator(_whole)] = None

    def __contains__(self, rank: int) -> bool:
        """Whether X may have so many dimensions."""
        return self.least <= rank and (self.greatest is None or rank <= self.greatest)

    def __str__(self) -> str:
        """As people say it."""
        if self.greatest is None:
            return "any" if self.least == 0 else f"{self.least} and more"
        return str(self.least) if self.least == self.greatest else f"{self.least} to {self.greatest}"


class Missing(Part):
    """What stands for a missing bound."""

    min: NumberText
    max: NumberText
    of: Annotated[
        Literal["element", "bound"], Field(description="The type whose number it is: X's or the bound's.")
    ]


class Printed(Part):
    """Default values as the page prints them, of the bound's type."""

    min: NumberText
    max: NumberText


class Equivalence(Part):
    """A reading that the page says the dialect is equivalent to, and exactly where the values are the same.

    A family that `where` leaves out has the same values everywhere.
    """

    to: Annotated[Id, Field(description="An id of `readings`.")]
    where: Annotated[Conditions, Field(default_factory=dict)]
    fails_at: Annotated[dict[FamilyId, Witness], Field(default_factory=dict)]


class DialectRow(Part):
    """A versioned definition of Clip as the file has it: what is left out is as in the row `after`."""

    id: DialectId
    title: Text
    system: System | None = None
    version: Annotated[Text, Field(description="As the system writes it; a number needs quotes.")]
    after: DialectId | None = None
    page: Id | None = None
    section: Text
    element_types: Annotated[tuple[Word, ...] | None, Field(min_length=1)] = None
    ranks: Ranks | None = None
    bounds: GivenAs | None = None
    bound_type: BoundType | None = None
    missing: Literal["refused"] | Missing | None = None
    reading: Annotated[Id | None, Field(description="What the words allow.")] = None
    answers: Annotated[Id | None, Field(description="Decides where they allow more than one.")] = None
    scale_bias: Flag | None = None
    in_place: Flag | None = None
    function: Annotated[
        Flag | None, Field(description="Whether the page says that the version has a function body.")
    ] = None
    changes: Annotated[
        dict[Word, NumberText],
        Field(
            default_factory=dict,
            description="For these types, X whose result without bounds is not that of the row before.",
        ),
    ]
    widens: Annotated[
        Conditions,
        Field(
            default_factory=dict,
            description="Exactly where, with bounds given, more is allowed than in the row before.",
        ),
    ]
    equivalence: Equivalence | None = None
    printed_default: Printed | None = None
    says: Annotated[dict[Aspect, Said], Field(default_factory=dict)]
    unsaid: Annotated[dict[Aspect, Text], Field(default_factory=dict)]


@dataclass(frozen=True)
class Dialect:
    """A versioned definition of Clip, complete.

    Args:
        id: its permanent id, ``onnx-6``.
        title: its name.
        system: who defines it.
        version: operator set, feature level, or chapter.
        after: the version before; None for the first.
        page: the text that defines it.
        element_types: of X.
        ranks: of X.
        bounds: how they are given.
        bound_type: in which type they are given.
        missing: the values of missing bounds; None if a missing one is refused.
        reading: the meaning that its words allow.
        answers: the reading that decides where they allow more than one answer.
        scale_bias: whether X may be scaled and shifted first.
        in_place: whether the result may overwrite X.
        function: whether its page says that it has a function body; None where a page has no such line.
        changes: types for which missing bounds give another result than before, each with an X.
        widens: exactly where, with bounds given, it allows an answer that the version before did not.
        equivalence: a reading to which its page says that it is equivalent.
        printed_default: default values as the page prints them.
        sayings: the words of the page on an aspect, its own or inherited.
        says: the same as quotations.
        unsaid: the aspects that the page leaves open, and what the oracle does then.
    """

    id: str
    title: str
    system: System
    version: str
    after: str | None
    page: str
    element_types: tuple[str, ...]
    ranks: Ranks
    bounds: GivenAs
    bound_type: BoundType
    missing: Missing | None
    reading: str
    answers: str
    scale_bias: bool
    in_place: bool
    function: bool | None
    changes: dict[str, str]
    widens: Conditions
    equivalence: Equivalence | None
    printed_default: Printed | None
    sayings: dict[Aspect, Saying]
    says: dict[str, Source]
    unsaid: dict[str, str]

    @property
    def word(self) -> str:
        """The id as one word: a name in theories."""
        return self.id.replace("-", "_").replace(".", "_")

    def converts_to(self, type_id: str) -> bool:
        """Whether a bound becomes another number format before an X of this type is clipped."""
        return self.bound_type not in ("tensor", type_id)


_NEEDED = (
    "system", "page", "element_types", "ranks", "bounds", "bound_type", "reading", "answers", "scale_bias",
    "in_place",
)  # fmt: skip
_OWN = ("id", "title", "version", "after", "changes", "widens", "equivalence", "printed_default")


def whole(rows: Iterable[DialectRow]) -> tuple[Dialect, ...]:
    """Every dialect with what it inherits from the row `after`; `check_dialects` must have passed."""
    found: dict[str, Dialect] = {}
    for row in rows:
        found[row.id] = _whole_dialect(row, found.get(row.after or ""))
    return tuple(found.values())


def _whole_dialect(row: DialectRow, before: Dialect | None) -> Dialect:
    values: dict[str, Any] = {key: getattr(row, key) for key in (*_NEEDED, "function")}
    values = {key: getattr(before, key, None) if of is None else of for key, of in values.items()}
    missing = row.missing or (before.missing if before else None)
    said, unsaid = _aspects(row, before)
    if values["bound_type"] == "tensor":
        unsaid.pop("casts", None)  # a bound of X's own type is not converted
    sources: dict[str, Source] = {
        aspect: Source.model_construct(
            page=values["page"], section=words.section or row.section, at=words.at, quote=words.quote
        )
        for aspect, words in said.items()
    }
    return Dialect(
        **{key: getattr(row, key) for key in _OWN}, **values, sayings=said, says=sources, unsaid=unsaid,
        missing=None if missing == "refused" else missing,
    )  # fmt: skip


def _aspects(row: DialectRow, before: Dialect | None) -> tuple[dict[Aspect, Saying], dict[str, str]]:
    """The aspects on which the page has words, and those it leaves open: own ones replace inherited ones."""
    said = {**(before.sayings if before else {}), **row.says}
    unsaid: dict[str, str] = {**before.unsaid} if before else {}
    unsaid.update(row.unsaid)  # type: ignore[arg-type]
    return (
        {aspect: words for aspect, words in said.items() if aspect not in row.unsaid},
        {aspect: text for aspect, text in unsaid.items() if aspect not in row.says},
    )


def check_dialects(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about rows that refer to missing entries, or leave something out."""
    known: list[str] = []
    for index, row in enumerate(spec.dialects):
        way = ("dialects", index)
        if row.after is not None and row.after not in known:
            what = f"no earlier row is called `{row.after}`"
            yield Diagnostic((*way, "after"), what, suggestion(row.after, known, "before it stand"))
            return
        for key in (*_NEEDED, "missing") if row.after is None else ():
            if getattr(row, key) is None:
                what = f"`{row.id}` has no `{key}`, and no row `after` which it could inherit one"
                yield Diagnostic((*way, "id"), what, f"add `{key}: …`")
                return
        known.append(row.id)
        yield from _check_names(spec, way, row)
    dialects = whole(spec.dialects)
    for index, (row, dialect) in enumerate(zip(spec.dialects, dialects, strict=True)):
        yield from _check_aspects(("dialects", index), row, dialect)
        yield from _check_numbers(spec, ("dialects", index), row, dialect)
        before = next((d.element_types for d in dialects if d.id == row.after), ())
        for id_ in set(row.changes) - set(before).intersection(dialect.element_types):
            what = f"`{row.id}` and the row before do not both take {id_}"
            yield Diagnostic(("dialects", index, "changes", id_), what, of_key=True)


def _check_names(spec: Spec, way: Way, row: DialectRow) -> Iterator[Diagnostic]:
    """Element types, readings and the page are entries of the file."""
    for position, id_ in enumerate(row.element_types or ()):
        types = [etype.id for etype in spec.element_types]
        yield from unknown((*way, "element_types", position), id_, types, "element type")
    readings, pages = [r.id for r in spec.readings], [page.id for page in spec.sources]
    for key, name, ids, one in (
        ("reading", row.reading, readings, "reading"),
        ("answers", row.answers, readings, "reading"),
        ("equivalence", row.equivalence.to if row.equivalence else None, readings, "reading"),
        ("page", row.page, pages, "source"),
    ):
        if name is not None:
            yield from unknown((*way, key), name, ids, one)


def _check_aspects(way: Way, row: DialectRow, dialect: Dialect) -> Iterator[Diagnostic]:
    """Every aspect has words of the page, or is listed as unsaid."""
    for aspect in row.says:
        if aspect in row.unsaid:
            what = f"`{aspect}` is under `says` and under `unsaid`"
            yield Diagnostic((*way, "unsaid", aspect), what, "it is one or the other", of_key=True)
            return
    wanted: list[Aspect] = [*ALWAYS]
    wanted += ["casts"] if dialect.bound_type != "tensor" else []
    wanted += ["scale_bias", "scale_bias_precision"] if dialect.scale_bias else []
    for aspect in wanted:
        if aspect not in dialect.says and aspect not in dialect.unsaid:
            todo = "quote the page under `says`, or state under `unsaid` what the oracle does"
            yield Diagnostic((*way, "id"), f"`{row.id}` says nothing of `{aspect}`", todo)
    if row.equivalence is not None and "equivalence" not in row.says:
        what = "no quotation says what it is equivalent to"
        yield Diagnostic((*way, "equivalence"), what, "quote the page")
    if dialect.in_place and "in_place" not in dialect.says:
        what = "execution in place is allowed, and no quotation says so"
        yield Diagnostic((*way, "id"), what, "quote the page")
    if printed := row.printed_default:
        quotes = [words.quote for words in row.says.values()]
        if not all(any(number in quote for quote in quotes) for number in (printed.min, printed.max)):
            what = "no quotation of this row has these numbers"
            yield Diagnostic((*way, "printed_default"), what, "quote them")


def _check_numbers(spec: Spec, way: Way, row: DialectRow, dialect: Dialect) -> Iterator[Diagnostic]:
    """The system has a name for each element type, and each type has the default values."""
    types = {etype.id: etype for etype in spec.element_types}
    for position, id_ in enumerate(row.element_types or ()):
        if id_ in types and getattr(types[id_], dialect.system) is None:
            todo = f"add it to the element type: {dialect.system}: …"
            yield Diagnostic(
                (*way, "element_types", position), f"{dialect.system} has no name for {id_}", todo
            )
    try:
        for id_ in (id_ for id_ in dialect.element_types if id_ in types):
            defaults(spec, dialect, types[id_])
            for number in dialect.printed_default or ():
                encode(number[1], bound_type(spec, dialect, types[id_]))
    except UserError as error:
        yield Diagnostic((*way, "id"), f"{row.id}: {error.what}", error.todo)


# --- What stands for the missing bounds of a dialect, in each element type ----------------------------------


def bound_type(spec: Spec, dialect: Dialect, etype: ElementType) -> ElementType:
    """The type in which a dialect is given the bounds for an X of an element type."""
    return etype if dialect.bound_type == "tensor" else spec.element_type(dialect.bound_type)


def given_defaults(spec: Spec, dialect: Dialect, etype: ElementType) -> tuple[Value, Value] | None:
    """What stands for missing bounds before any conversion; None if they are refused."""
    if dialect.missing is None:
        return None
    of = etype if dialect.missing.of == "element" else bound_type(spec, dialect, etype)
    return encode(dialect.missing.min, of), encode(dialect.missing.max, of)


def defaults(spec: Spec, dialect: Dialect, etype: ElementType) -> tuple[Value, Value] | None:
    """What stands for missing bounds as numbers of the element type; None if they are refused."""
    given = given_defaults(spec, dialect, etype)
    if given is None or dialect.missing is None or dialect.missing.of == "element":
        return given
    of = bound_type(spec, dialect, etype)
    if of.id == etype.id:
        return given
    low, high = (convert(value, of, etype) for value in given)
    assert low is not None
    assert high is not None
    return low, high
