"""The element types of spec/element_types.yaml, and those that the families of an operator have.

The file states a type once. An operator's families say which types it has, and what each is called there:
an unsigned type belongs to the family `int` of an operator that has no family `uint`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from sonnx_clip.language.types import ElementType, Family, Part
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import Diagnostic, raise_first, read_document, unknown
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILE = "spec/element_types.yaml"


class ElementTypes(Part):
    """The content of spec/element_types.yaml."""

    format: Annotated[int, Field(ge=1, le=1)]
    element_types: Annotated[tuple[ElementType, ...], Field(min_length=1)]


@cache
def known_element_types() -> tuple[tuple[ElementType, ...], bytes]:
    """Every element type, in the order of the file, and the bytes of the file; UserError if it is wrong."""
    document, content = read_document(repo_file(FILE))
    types = validate(ElementTypes, document).element_types
    raise_first(document, _twice(types))
    return types, content


def _twice(types: Sequence[ElementType]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for index, etype in enumerate(types):
        if etype.id in seen:
            yield Diagnostic(("element_types", index, "id"), f"`{etype.id}` is there twice")
        seen.add(etype.id)


def types_of_families(families: Sequence[Family]) -> tuple[ElementType, ...]:
    """The element types of an operator with these families, in the order of spec/element_types.yaml."""
    known, _ = known_element_types()
    family_of: dict[str, str] = {}  # ids of families by ids of types
    for family in families:
        for etype in _candidates(family, families, known):
            # A family that lists no types has all of them.
            if not family.types or etype.id in family.types:
                family_of.setdefault(etype.id, family.id)
    types = []
    for etype in known:
        if etype.id in family_of:
            # The file may call it otherwise: `uint8` is of the family `int` of some operators.
            own_family = {"family": family_of[etype.id]}
            types.append(etype.model_copy(update=own_family))
    return tuple(types)


def check_types_of_families(families: Sequence[Family]) -> Iterator[Diagnostic]:
    """Types of a family that there are not, or that belong to another one."""
    known, _ = known_element_types()
    for index, family in enumerate(families):
        ids = [etype.id for etype in _candidates(family, families, known)]
        for position, id_ in enumerate(family.types):
            way = ("families", index, "types", position)
            yield from unknown(way, id_, ids, f"element type of the family {family.id}")


def _candidates(
    family: Family,
    families: Sequence[Family],
    known: Sequence[ElementType],
) -> list[ElementType]:
    """The types that a family may have."""
    # Families of the file, which tells signed and unsigned integers apart.
    families_of_file = {family.id}
    has_uint = any(other.id == "uint" for other in families)
    if family.id == "int" and not has_uint:
        families_of_file.add("uint")
    return [etype for etype in known if etype.family in families_of_file]
