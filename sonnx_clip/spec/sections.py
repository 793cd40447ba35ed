"""The sections of spec/clip.yaml that list entries with ids: one row for each, in the order of the file.

A section is added here and as a field of `Spec`, which has its type. What goes over sections reads this
table: references, quotations, coverage, requirements, the table of `prove`, and the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from sonnx_clip.language.types import ElementType, Family
from sonnx_clip.spec.dialect_examples import DialectExample
from sonnx_clip.spec.dialects import DialectRow
from sonnx_clip.spec.document import unknown
from sonnx_clip.spec.entries import (
    Case,
    Constraint,
    Definition,
    Example,
    Latitude,
    Operand,
    Page,
    Property,
    Reading,
    Restriction,
    ValueClass,
    WrongClip,
)
from sonnx_clip.spec.findings import SourceFinding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

    from sonnx_clip.spec.document import Diagnostic, Way
    from sonnx_clip.spec.model import Spec

Weight: TypeAlias = Literal["of the page", "ours", "readings", "findings", ""]
"""What an entry is in evidence: a statement of the page, a conclusion of ours, a reading of the page or
another definition, a finding; the empty text is none of them. The first two are requirements."""


@dataclass(frozen=True)
class YamlSection:
    """A section.

    Args:
        name: its key in the file, and the attribute of `Spec`.
        entry: the model of an entry, which has an ``id``.
        one: what a message calls an entry.
        own_ids: its ids may be those of other sections too: a family may have the name of its only type
            (`real`), and a page that of a vendor's operator. No two entries of all other sections share one.
        weight: what its entries are in evidence.
        answers: whether the words of a text can be encoded by an entry (spec/coverage.yaml).
        title: the heading above its entries, where the evidence shows them.
        about: what they are, below the heading.
    """

    name: str
    entry: type[BaseModel]
    one: str
    own_ids: bool = False
    weight: Weight = ""
    answers: bool = True
    title: str = ""
    about: str = ""

    @property
    def many(self) -> str:
        """What a message calls its entries."""
        return self.name.replace("_", " ")

    def has(self, key: str) -> bool:
        """Whether its entries have a value of this name."""
        return key in self.entry.model_fields


SECTIONS: Final = (
    YamlSection("operands", Operand, "operand", own_ids=True, answers=False),
    YamlSection("sources", Page, "source", own_ids=True, answers=False),
    YamlSection("families", Family, "family", own_ids=True),
    YamlSection(
        "element_types", ElementType, "element type", own_ids=True,
        title="Element types", about="Each meets the axioms of an ordered element type.",
    ),
    YamlSection(
        "restrictions", Restriction, "restriction", weight="of the page",
        title="Restrictions", about="What a model must meet; `sonnx-clip lint` holds models against them.",
    ),
    YamlSection(
        "constraints", Constraint, "constraint", weight="of the page",
        title="Constraints", about="What holds of the tensors before or after.",
    ),
    YamlSection(
        "cases", Case, "case", weight="of the page",
        title="Cases", about="The normative definition: for every input exactly one of them applies.",
    ),
    YamlSection("definitions", Definition, "definition"),
    YamlSection(
        "classes", ValueClass, "class", title="Classes",
        about="The cells in which a runtime is judged; a cell in which nothing was compared is a failure.",
    ),
    YamlSection(
        "properties", Property, "property", weight="ours", title="Properties",
        about="What follows from the cases: proved, or refuted by numbers and proved under a condition.",
    ),
    YamlSection("wrong_clips", WrongClip, "wrong Clip", answers=False),
    YamlSection(
        "latitude", Latitude, "latitude", title="Latitude",
        about="Where an answer other than that of the cases is acceptable, and is reported as such.",
    ),
    YamlSection(
        "readings", Reading, "reading", weight="readings", title="Readings",
        about="Other meanings of the prose, the formula or a library, and exactly where each is the cases.",
    ),
    YamlSection(
        "dialects", DialectRow, "dialect", weight="readings", title="Dialects",
        about="Versioned definitions of Clip: what each takes, makes of its bounds, and leaves unsaid.",
    ),
    YamlSection("findings", SourceFinding, "finding", weight="findings", answers=False),
    YamlSection(
        "examples", Example, "example", weight="of the page", title="Worked examples",
        about="The examples of the page, entry by entry, in each element type that can hold them.",
    ),
    YamlSection("dialect_examples", DialectExample, "example of a dialect", weight="readings"),
)  # fmt: skip
BY_NAME: Final = {section.name: section for section in SECTIONS}

REQUIREMENTS: Final = tuple(section for section in SECTIONS if section.weight in ("of the page", "ours"))
"""What evidence must speak of."""

SHOWN: Final = tuple(
    sorted(
        (section for section in SECTIONS if section.title),
        key=lambda section: (section not in REQUIREMENTS, section.own_ids),
    )
)
"""What the evidence shows, in its order: requirements, what else the file states, element types."""


def entries_with(spec: Spec, key: str) -> Iterator[tuple[str, int, Any]]:
    """Section, index and entry of all that have a value of this name, in the order of the file."""
    for section in SECTIONS:
        for index, entry in enumerate(getattr(spec, section.name) if section.has(key) else ()):
            yield section.name, index, entry


def unknown_in(spec: Spec, name: str, way: Way, id_: str) -> Iterator[Diagnostic]:
    """A finding if a section has no entry with this id; `way` is the path to the id."""
    yield from unknown(way, id_, [entry.id for entry in getattr(spec, name)], BY_NAME[name].one)
