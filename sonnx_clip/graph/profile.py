"""What the specification says of the profile, from the file that it is rendered into for this."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = "generated/profile.json"


@dataclass(frozen=True)
class ProfileType:
    """An element type of the profile.

    Attributes:
        id: its id in the specification, with which those of its obligations begin.
        onnx: its name in ONNX.
        sonnx: its name in the SONNX text.
        family: `int`, `uint` or `float`.
        lowest: its lowest number, as it is stored.
        highest: its highest number, as it is stored.
        theorems: for each property on which `normalise` rests, the obligations that show it: as it `holds`,
            or where it is `refuted` and under which condition `repaired`.
    """

    id: str
    onnx: str
    sonnx: str
    family: str
    lowest: bytes
    highest: bytes
    theorems: Mapping[str, Mapping[str, str]] = field(default_factory=dict, compare=False)

    def shown_by(self, property_id: str, role: str) -> str:
        """The obligation that shows a property in a role; ValueError if there is none."""
        found = self.theorems.get(property_id, {}).get(role)
        if found is None:
            raise ValueError(f"no obligation shows {property_id} of {self.id} to be {role}")
        return found


def statement(identifier: str) -> str:
    """The words of a restriction or constraint; those of `element_types` are the list of these."""
    if identifier == "element_types":
        return f"The element type is one of {', '.join(one.sonnx for one in element_types())}"
    found: str = _document()["statements"][identifier]
    return found


@dataclass(frozen=True)
class Interpretation:
    """What the words of a restriction are taken to mean where the page does not say; what else they could."""

    ours: str
    alternative: str


@cache
def interpretations() -> Mapping[str, Interpretation]:
    """By its id each restriction whose words we interpret; the page says what the others mean."""
    return {key: Interpretation(**found) for key, found in _document()["interpretations"].items()}


@cache
def element_types() -> tuple[ProfileType, ...]:
    """The element types of the profile, in the order of the SONNX text."""
    return tuple(
        ProfileType(
            one["id"],
            one["onnx"],
            one["sonnx"],
            one["family"],
            bytes.fromhex(one["lowest"]),
            bytes.fromhex(one["highest"]),
            one["theorems"],
        )
        for one in _document()["element_types"]
    )


@cache
def _document() -> Any:
    file = repo_file(_FILE)
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            "what the profile says of Clip cannot be read",
            where=str(file),
            todo="make it: sonnx-clip generate",
        ) from error
