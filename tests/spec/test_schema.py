from __future__ import annotations

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.schema import schema_text

SCHEMA = json.loads(schema_text(load_spec()))
VALIDATOR = Draft202012Validator(SCHEMA)


def data() -> dict:
    return yaml.safe_load(repo_file("spec/clip.yaml").read_text(encoding="utf-8"))


def test_the_committed_schema_is_fresh() -> None:
    committed = repo_file("spec/clip.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(load_spec()), "accept the new one with `sonnx-clip generate`"


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_specification_meets_it() -> None:
    assert [error.message for error in VALIDATOR.iter_errors(data())] == []


def test_limits_are_in_the_schema() -> None:
    text = schema_text(load_spec())
    assert '"ge"' not in text
    assert SCHEMA["$defs"]["FloatBits"]["properties"]["exponent"]["minimum"] == 2
    assert SCHEMA["$defs"]["Case"]["properties"]["id"]["pattern"]


def test_every_mapping_is_closed() -> None:
    for name, part in SCHEMA["$defs"].items():
        assert part["additionalProperties"] is False, name
    assert SCHEMA["additionalProperties"] is False


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("cases", {"result": "N"}),
        ("cases", {"whn": "X < L"}),
        ("cases", {"id": "Not an id"}),
        ("element_types", {"width": "wide"}),
        ("element_types", {"bits": {"signed": True, "exponent": 8}}),
        ("properties", {"holds_for": ["complex"]}),
        ("latitude", {"always": "often"}),
        ("examples", {"X": []}),
    ],
)
def test_it_refuses(section: str, change: dict) -> None:
    broken = data()
    broken[section][0] |= change
    assert not VALIDATOR.is_valid(broken)


def test_numbers_may_be_numbers_or_texts() -> None:
    changed = data()
    for value in (5, 0.5, "0x1p+0", "nan"):
        changed["cases"][0]["inhabited_by"]["X"] = value
        assert VALIDATOR.is_valid(changed)
    changed["cases"][0]["inhabited_by"]["X"] = None
    assert not VALIDATOR.is_valid(changed)
