"""The signature of Clip and its profile, from the file that is rendered from the specification for this."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.signature import Operand, Signature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class LintRule:
    """A restriction: a word such as is_set or is_sparse, and the ids of the tensors it applies to."""

    id: str
    word: str
    of: Sequence[str]


@dataclass(frozen=True)
class ProfileType:
    """An element type of the profile, with its name in ONNX and in the SONNX text.

    `theorems` has for each property on which `normalise` rests the obligations that show it: as it `holds`,
    or where it is `refuted` and under which condition `repaired`.
    """

    id: str
    onnx: str
    sonnx: str
    family: str  # int, uint or float
    lowest: bytes  # its lowest number, as it is stored
    highest: bytes
    theorems: Mapping[str, Mapping[str, str]] = field(default_factory=dict, compare=False)

    def shown_by(self, property_id: str, role: str) -> str:
        """The obligation that shows a property in a role."""
        return self.theorems[property_id][role]


@dataclass(frozen=True)
class Profile:
    """The part of the specification that lint and normalise use."""

    signature: Signature
    restrictions: tuple[LintRule, ...]
    statements: Mapping[str, str]  # the words of each restriction and constraint
    # Of restrictions: `ours`, and an `alternative`.
    interpretations: Mapping[str, Mapping[str, str]]
    element_types: tuple[ProfileType, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """What a node is judged by, in this order: the restrictions, the list of element types, and C1."""
        return (*(restriction.id for restriction in self.restrictions), "element_types", "C1")

    def statement(self, rule: str) -> str:
        """The words of a restriction or constraint; those of `element_types` are the list of these."""
        if rule == "element_types":
            names = ", ".join(etype.sonnx for etype in self.element_types)
            return f"The element type is one of {names}"
        return self.statements[rule]

    def rule(self, word: str, operand: Operand) -> str:
        """The restriction that applies a word to an operand.

        ValueError if there is none.
        """
        # Two restrictions may have one word: that a bound is set is R1 for the one and R2 for the other.
        for restriction in self.restrictions:
            if restriction.word == word and operand.id in restriction.of:
                return restriction.id
        raise ValueError(f"no restriction says {word} of {operand.id}")

    def element_type(self, onnx_name: str | None) -> ProfileType | None:
        """The element type with this ONNX name, None where the profile has none."""
        for etype in self.element_types:
            if etype.onnx == onnx_name:
                return etype
        return None


@cache
def profile() -> Profile:
    """The profile that `sonnx-clip generate` wrote; UserError if it cannot be read, or lacks an entry."""
    file = repo_file("generated/profile.json")
    todo = "run: sonnx-clip generate"
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        return Profile(
            signature=_signature(document),
            restrictions=tuple(LintRule(**rule) for rule in document["restrictions"]),
            statements=document["statements"],
            interpretations=document["interpretations"],
            element_types=tuple(map(_element_type, document["element_types"])),
        )
    except KeyError as error:
        raise UserError(f"the profile has no entry {error}", where=str(file), todo=todo) from error
    except (OSError, ValueError, TypeError) as error:
        raise UserError("the profile cannot be read", where=str(file), todo=todo) from error


def _signature(document: Mapping[str, Any]) -> Signature:
    # The file has them in the order of the inputs of a node.
    operands = []
    for position, entry in enumerate(document["operands"]):
        operands.append(Operand(**entry, position=position))
    result = Operand(**document["result"], role="result", position=0)
    return Signature(document["operator"], tuple(operands), result)


def _element_type(entry: Mapping[str, Any]) -> ProfileType:
    # JSON has no bytes, so the file has them in hexadecimal.
    limits = {name: bytes.fromhex(entry[name]) for name in ("lowest", "highest")}
    return ProfileType(**{**entry, **limits})
