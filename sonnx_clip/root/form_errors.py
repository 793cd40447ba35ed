"""Messages for values that do not fit a pydantic model, in the words of this project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_EXPECTED = {
    "string_type": "a text is expected",
    "string_too_short": "a text is expected, this one is empty",
    "int_type": "a whole number is expected",
    "int_parsing": "a whole number is expected",
    "int_from_float": "a whole number is expected",
    "float_type": "a number is expected",
    "float_parsing": "a number is expected",
    "finite_number": "a finite number is expected",
    "bool_type": "true or false is expected",
    "bool_parsing": "true or false is expected",
    "none_required": "null is expected",
    "list_type": "a list is expected: [a, b]",
    "tuple_type": "a list is expected: [a, b]",
    "too_short": "at least one item is expected",
    "too_long": "fewer items are expected",
    "dict_type": "a mapping is expected: {key: value}",
    "model_type": "a mapping is expected: {key: value}",
    "model_attributes_type": "a mapping is expected: {key: value}",
    "dataclass_type": "a mapping is expected: {key: value}",
}
"""What a message says, by the type of pydantic's error."""


def expected_value(details: ErrorDetails) -> str:
    """Which value is expected in the place of one that is wrong."""
    # Limits are in the context of an error; the text of pydantic's own message is not for users.
    context = details.get("ctx", {})
    match details["type"]:
        case "less_than_equal":
            return f"at most {context['le']} is expected"
        case "greater_than_equal":
            return f"at least {context['ge']} is expected"
    return _EXPECTED.get(details["type"], "another value is expected")


def form_error(details: ErrorDetails) -> str:
    """What is wrong with a value or a key of a record, without its place."""
    context = details.get("ctx", {})
    match details["type"]:
        case "missing":
            return "this key is missing"
        case "extra_forbidden":
            return "this key is unknown"
        case "literal_error":
            return f"expected {context['expected']}"
        case "string_pattern_mismatch":
            return f"a text that matches {context['pattern']} is expected"
        case "value_error":
            return str(context["error"])
        case "json_invalid":
            return f"not JSON: {context['error']}"
    return expected_value(details)
