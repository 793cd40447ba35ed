"""Text from a runtime, of any size and with any character, escaped and cut for a report."""

from __future__ import annotations

_LONGEST = 600  # characters of a text in a report


def printable(text: str, longest: int = _LONGEST) -> str:
    r"""A text that can be printed and stored: control characters are escaped, and long texts are cut.

    >>> printable("a\x1b[31m\ud800")
    'a\\x1b[31m\\ud800'
    """
    # Cut first: a runtime may give megabytes.
    cut = text[:longest]
    shown = "".join(map(_printable_character, cut))
    return shown if len(text) <= longest else f"{shown}… ({len(text):,} characters)"


def _printable_character(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    return character.encode("unicode_escape").decode()


def error_words(error: BaseException) -> str:
    """The class and the text of an exception, on one line."""
    name = printable(type(error).__name__, 100)
    try:
        text = str(error)
    except BaseException as other:  # noqa: BLE001 - the code of a runtime
        return f"{name} (its text is not available: {type(other).__name__})"
    return f"{name}: {' '.join(printable(text).split())}" if text else name
