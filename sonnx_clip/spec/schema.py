"""The JSON Schema of spec/clip.yaml, for editors and for checks without Python."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from sonnx_clip.language.types import NumberText
from sonnx_clip.spec.entries import NUMBER, AnsweredWitness, PropertyWitness, Witness
from sonnx_clip.spec.model import ClipSpec, Spec

SCHEMA = "spec/clip.schema.json"
_WITNESSES = (Witness, PropertyWitness, AnsweredWitness)


def schema_text(spec: Spec) -> str:
    """The schema (draft 2020-12) as the text of spec/clip.schema.json.

    Args:
        spec: whose head says which operands there are.
    """
    schema = ClipSpec.model_json_schema(by_alias=True, mode="validation", schema_generator=_Generator)
    schema["$defs"] |= _of_operands(spec, schema["$defs"])
    schema = {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$comment": "Written by `sonnx-clip generate` from the model in sonnx_clip/spec. Do not edit.",
        **schema,
    }
    return json.dumps(_tidy(schema), indent=2, ensure_ascii=False) + "\n"


def _of_operands(spec: Spec, definitions: dict[str, Any]) -> dict[str, Any]:
    """What names operands: the witnesses, and the result of a case."""
    operands = spec.head.operands
    number = TypeAdapter(NumberText).json_schema(schema_generator=_Generator)
    found = {}
    for model in _WITNESSES:
        needed, optional = model.needed(operands), model.optional(operands)
        about = definitions[model.__name__]
        found[model.__name__] = {
            **about,
            "additionalProperties": False,
            "properties": dict.fromkeys((*needed, *optional), number),
            "required": list(needed),
        }
    case = definitions["Case"]
    result = {"anyOf": [{"enum": list(operands), "type": "string"}, {**number, "pattern": NUMBER}]}
    found["Case"] = {**case, "properties": {**case["properties"], "result": result}}
    return found


class _Generator(GenerateJsonSchema):
    """Without the titles that pydantic makes up from the names of the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def _tidy(schema: Any) -> Any:
    """Let YAML's numbers stand where the model keeps the text of a number."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {key: _tidy(value) for key, value in schema.items()}
    if tidied.get("type") == "string" and str(tidied.get("description", "")).startswith("A number as text"):
        tidied["type"] = ["string", "number"]
    return tidied
