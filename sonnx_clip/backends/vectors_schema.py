"""The JSON Schema of generated/vectors/<type>.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec

SCHEMA_PATH = "generated/vectors/schema.json"


def operand_keys(spec: Spec) -> tuple[str, ...]:
    """What the operands are called in a vector: a tensor by its variable, a scalar as in ONNX."""
    return tuple(o.id.lower() if o.role == "tensor" else o.onnx for o in spec.operands)


def vectors_schema(spec: Spec) -> dict[str, Any]:
    """JSON Schema, draft 2020-12. It is closed: what it does not name is not there."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": " ".join(header_lines(spec)),
        "title": f"Test vectors of {spec.operator} in the SONNX profile",
        **_object(
            {
                "$schema": {"const": "schema.json"},
                "generated": {"type": "array", "items": {"type": "string"}},
                "spec_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "operator": {"const": spec.operator},
                "type": {"enum": [etype.id for etype in spec.element_types if etype.width is not None]},
                "family": {"enum": ["int", "float"]},
                "bits": {"$ref": "#/$defs/format"},
                "latitude": {"type": "object", "additionalProperties": {"$ref": "#/$defs/latitude"}},
                "classes": {"type": "object", "additionalProperties": {"$ref": "#/$defs/class"}},
                "vectors": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/vector"}},
            }
        ),
        "$defs": {
            "pattern": {
                "description": "The bits of a value, most significant digit first, all digits of its width.",
                "type": "string",
                "pattern": "^0x([0-9a-f]{2}|[0-9a-f]{4}|[0-9a-f]{8}|[0-9a-f]{16})$",
            },
            "format": _object(
                {
                    "width": {"enum": [8, 16, 32, 64]},
                    "encoding": {"type": "string"},
                    "exponent": {"type": "integer"},
                    "significand": {"type": "integer"},
                },
                optional=("exponent", "significand"),
            ),
            "latitude": _object({"reason": {"type": "string"}, "always": {"type": "boolean"}}),
            "class": _object({"title": {"type": "string"}, "matters": {"type": "string"}}),
            "vector": _vector(spec),
            "acceptable": _acceptable(spec),
        },
    }


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def _vector(spec: Spec) -> dict[str, Any]:
    bits = {"$ref": "#/$defs/pattern"}
    return _object(
        {
            "id": {"type": "string", "pattern": r"^[a-z0-9]+\.[a-z_]+\.[0-9]+$"},
            "class": {"enum": [klass.id for klass in spec.classes]},
            "case": {"enum": [case.id for case in spec.cases]},
            **dict.fromkeys(operand_keys(spec), bits),
            "expected": bits,
            "acceptable": {"type": "array", "items": {"$ref": "#/$defs/acceptable"}},
            "comment": {"type": "string"},
        }
    )


def _acceptable(spec: Spec) -> dict[str, Any]:
    latitude = {"enum": [entry.id for entry in spec.latitude]}
    return {
        "description": "A result other than the expected one that a latitude accepts.",
        "oneOf": [
            _object({"latitude": latitude, "any_nan": {"const": True}}),
            _object({"latitude": latitude, "bits": {"$ref": "#/$defs/pattern"}}),
        ],
    }
