"""The part of the specification that the commands on ONNX models read, as a small file.

To load the whole specification takes longer than to judge most models.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.templating import header_lines
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.language.scope import DECLARED_FUNCTIONS
from sonnx_clip.language.tree import Call, Name, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Restriction

PATH = "generated/profile.json"
_RESTS_ON = (
    "widest_bounds_are_no_bound",
    "lowest_is_no_lower_bound",
    "highest_is_no_upper_bound",
    "C1",
    "C3",
)
"""The properties and constraints on which `normalise` rests, beside the cases."""


def render_profile(spec: Spec) -> dict[str, str]:
    """The head, the restrictions, the words of these and of constraints, the element types that ONNX has.

    Raises:
        UserError: a restriction is stated in more than one word, or in none that lint could judge.
    """
    statements = {}
    interpretations = {}
    for restriction in spec.restrictions:
        statements[restriction.id] = restriction.statement
        if restriction.interpretation is not None:
            interpretations[restriction.id] = restriction.interpretation.model_dump()
    for constraint in spec.constraints:
        statements[constraint.id] = constraint.statement
    onnx_types = [etype for etype in spec.element_types if etype.onnx is not None]
    operands = [operand.model_dump() for operand in spec.operands]
    restrictions = [_restriction(spec, entry) for entry in spec.restrictions]
    document = {
        "about": header_lines(spec),
        "operator": spec.operator,
        "operands": operands,
        "result": spec.result.model_dump(),
        "restrictions": restrictions,
        "statements": statements,
        "interpretations": interpretations,
        "element_types": [_element_type(spec, etype) for etype in onnx_types],
    }
    return {PATH: json.dumps(document, indent=1, ensure_ascii=False) + "\n"}


def _restriction(spec: Spec, entry: Restriction) -> dict[str, Any]:
    """A restriction as its word, and the tensors that the word applies to."""
    functions: dict[str, None] = {}
    names: set[str] = set()
    for node in subtrees(entry.holds):
        match node:
            case Name(id=name):
                names.add(name)
            case Call(function=function) if function in DECLARED_FUNCTIONS:
                functions[function] = None
    # Lint has a function for each, and takes the tensors as its arguments.
    if len(functions) != 1:
        called = f"{len(functions)} declared functions ({', '.join(functions)})"
        raise UserError(
            f"restriction {entry.id} calls {called}; lint supports one",
            where=spec.file,
            todo="split it into restrictions with one function each",
        )
    (word,) = functions
    tensors = [name for name in spec.signature.all_ids if name in names]
    return {"id": entry.id, "word": word, "of": tensors}


def _element_type(spec: Spec, etype: ElementType) -> dict[str, Any]:
    assert etype.width is not None  # only `real` has none, and no tensor has that type
    limits = {}
    for name in ("lowest", "highest"):
        # Bytes as a model stores them: ONNX has little-endian data on every machine.
        modulus = 1 << etype.width  # negative integers as two's complement
        bits = int(encode(name, etype)) % modulus
        limits[name] = bits.to_bytes(etype.width // 8, "little").hex()

    # The ids of obligations, by entry and role.
    theorems: dict[str, dict[str, str]] = {name: {} for name in _RESTS_ON}
    for claim in claims_of(spec, etype.id, "properties", "constraints"):
        entry = claim.shows[0]
        # An entry may have further claims that hold, each under a longer name: C3_of_the_entries.
        is_extra = claim.role == "holds" and claim.name != entry
        is_needed = entry in theorems and claim.role in ("holds", "refuted", "repaired")
        if is_needed and not is_extra:
            theorems[entry][claim.role] = claim.id
    theorems["cases"] = {}
    for claim in claims_of(spec, etype.id, "cases"):
        if claim.role == "written":
            theorems["cases"][claim.role] = claim.id
    return {
        "id": etype.id,
        "onnx": etype.onnx,
        "sonnx": etype.sonnx,
        "family": etype.family,
        **limits,
        "theorems": theorems,
    }
