"""Control characters in text of records: visible on a page, absent from XML.

A version that a runtime reports may have any character. On a page a control character is invisible, and a
bidirectional one reorders the text around it. XML 1.0 allows no control character but tab and line ends.
"""

from __future__ import annotations

import re
from typing import Any

_BIDIRECTIONAL = "\u202a-\u202e\u2066-\u2069"  # embeddings, overrides and isolates
_NONCHARACTERS = "\ufffe\uffff"  # XML 1.0 does not allow these two either
_CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDIRECTIONAL}{_NONCHARACTERS}]")


def escape_control_characters(text: str) -> str:
    r"""The text with each control character as an escape sequence; tabs and newlines stay.

    >>> escape_control_characters("1.0\x1b[31m")
    '1.0\\x1b[31m'
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def remove_control_characters(text: str) -> str:
    """The text without control characters; tabs and newlines stay."""
    return _CONTROL.sub("", text)


def escape_in_data(data: Any) -> Any:
    """Data for JSON, control characters escaped in every text and key of it."""
    if isinstance(data, str):
        return escape_control_characters(data)
    if isinstance(data, dict):  # of a record, whose keys may be names that a runtime reports
        return {escape_in_data(key): escape_in_data(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [escape_in_data(item) for item in data]
    return data
