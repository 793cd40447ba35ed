"""Lines for a terminal, broken between words: what the printing commands use for sentences and lists."""

from __future__ import annotations

import sys
import textwrap
from shutil import get_terminal_size


def terminal_width() -> int | None:
    """The columns of the terminal at standard output; None for a file or a pipe: there lines stay whole."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def hanging(line: str, width: int | None, indent: int = 4) -> str:
    """A line broken between words, its continuation `indent` columns further in; whole if `width` is None."""
    if width is None or len(line) <= width:
        return line
    start = len(line) - len(line.lstrip())
    parts = textwrap.wrap(
        line, width, subsequent_indent=" " * (start + indent), break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(parts)
