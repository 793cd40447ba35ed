"""The JSON Schema of spec/clip.yaml, for editors and for checks without Python."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from sonnx_clip.spec.model import Spec

SCHEMA = "spec/clip.schema.json"


def schema_text() -> str:
    """The schema (draft 2020-12) as the text of spec/clip.schema.json."""
    schema = Spec.model_json_schema(by_alias=True, mode="validation", schema_generator=_Generator)
    schema = {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$comment": "Written by `sonnx-clip generate` from the model in sonnx_clip/spec. Do not edit.",
        **schema,
    }
    return json.dumps(_tidy(schema), indent=2, ensure_ascii=False) + "\n"


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
