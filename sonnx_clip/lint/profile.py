"""What the specification says of the operator and the profile, from the file that is made of it for this."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_FILE = "generated/profile.json"


@dataclass(frozen=True)
class OnnxOperand:
    """A tensor that the operator takes or gives.

    Attributes:
        id: its name in the specification, such as X.
        onnx: its name in ONNX: that of an input, or in older versions of an attribute.
        role: `tensor` or `scalar` of what the operator takes, `result` of what it gives.
        position: among the inputs of a node, or among its outputs.
    """

    id: str
    onnx: str
    role: str
    position: int


@dataclass(frozen=True)
class OperatorHead:
    """What the operator is called, takes and gives.

    Attributes:
        operator: its name in ONNX.
        operands: what it takes, in the order of the inputs; the first is a tensor.
        result: what it gives.
    """

    operator: str
    operands: tuple[OnnxOperand, ...]
    result: OnnxOperand


@dataclass(frozen=True)
class LintRule:
    """A restriction: a word such as is_set or is_sparse, and the ids of the tensors of which it is said."""

    id: str
    word: str
    of: Sequence[str]


@dataclass(frozen=True)
class ProfileInterpretation:
    """What the words of a restriction are taken to mean where the page does not say; what else they could."""

    ours: str
    alternative: str


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


@dataclass(frozen=True)
class Profile:
    """What lint and normalise know of the specification.

    Attributes:
        head: the operator with its operands.
        restrictions: what a model must meet, in the order of the page.
        statements: the words of each restriction and constraint.
        interpretations: of the restrictions whose words we interpret; the page says what the others mean.
        element_types: in the order of the SONNX text.
    """

    head: OperatorHead
    restrictions: tuple[LintRule, ...]
    statements: Mapping[str, str]
    interpretations: Mapping[str, ProfileInterpretation]
    element_types: tuple[ProfileType, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """What a node is judged by, in this order: the restrictions, the list of element types, and C1."""
        return (*(one.id for one in self.restrictions), "element_types", "C1")

    def statement(self, rule: str) -> str:
        """The words of a restriction or constraint; those of `element_types` are the list of these."""
        if rule == "element_types":
            return f"The element type is one of {', '.join(one.sonnx for one in self.element_types)}"
        return self.statements[rule]

    def rule(self, word: str, operand: OnnxOperand) -> str:
        """The restriction that says a word of an operand."""
        return next(one.id for one in self.restrictions if one.word == word and operand.id in one.of)

    def element_type(self, onnx_name: str | None) -> ProfileType | None:
        """The element type with this ONNX name, None where the profile has none."""
        return next((one for one in self.element_types if one.onnx == onnx_name), None)


@cache
def profile() -> Profile:
    """The profile of spec/clip.yaml."""
    return read_profile(repo_file(_FILE))


def read_profile(file: Path) -> Profile:
    """The profile that `sonnx-clip generate` wrote.

    Raises:
        UserError: the file cannot be read, or lacks an entry; an older version wrote no operands.
    """
    todo = "make it again: sonnx-clip generate"
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        operands = enumerate(document["operands"])
        return Profile(
            OperatorHead(
                document["operator"],
                tuple(OnnxOperand(**one, position=position) for position, one in operands),
                OnnxOperand(**document["result"], role="result", position=0),
            ),
            tuple(LintRule(**one) for one in document["restrictions"]),
            document["statements"],
            {key: ProfileInterpretation(**found) for key, found in document["interpretations"].items()},
            tuple(
                ProfileType(**one | {limit: bytes.fromhex(one[limit]) for limit in ("lowest", "highest")})
                for one in document["element_types"]
            ),
        )
    except KeyError as error:
        raise UserError(f"the profile has no entry {error}", where=str(file), todo=todo) from error
    except (OSError, ValueError, TypeError) as error:
        raise UserError("the profile cannot be read", where=str(file), todo=todo) from error
