"""The Jinja2 templates of the printers, and how a formula is laid out in lines."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

WIDTH = 100
_FORCED = re.compile(r"(?<= in) (?=let |not |\w)")
_BREAKS = re.compile(r" (?=/\\|\\/|->|<->)|(?<=: t\.) |(?<=: tensor\.) |(?<=\]\.) |(?<=: node\.) |(?<=;) ")


@lru_cache(maxsize=8192)  # twice what the theories of one specification have
def layout(statement: str, indent: int = 4) -> str:
    """The statement in lines of at most `WIDTH` characters where that is possible."""
    width = WIDTH - indent
    lines = [line for part in _FORCED.split(statement) for line in _pack(_pieces(part, width), width)]
    return ("\n" + " " * indent).join(lines)


def _pieces(text: str, width: int) -> list[str]:
    """The parts between which a line may end: outside parentheses, and further inside what is too long."""
    pieces = [text]
    for depth, longest in ((0, 0), (1, width), (2, 2 * width), (3, 2 * width)):
        pieces = [p for piece in pieces for p in (_split(piece, depth) if len(piece) > longest else [piece])]
    return pieces


def _split(text: str, depth: int) -> list[str]:
    ends = [m for m in _BREAKS.finditer(text) if _depth(text, m.start()) <= depth]
    starts = [0, *(m.end() for m in ends)]
    stops = [*(m.start() for m in ends), len(text)]
    return [text[start:stop] for start, stop in zip(starts, stops, strict=True)]


def _depth(text: str, position: int) -> int:
    before = text[:position]
    return before.count("(") + before.count("{") - before.count(")") - before.count("}")


def _pack(pieces: list[str], width: int) -> list[str]:
    lines: list[str] = []
    for piece in pieces:
        if lines and len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


# --- The Jinja2 templates of the printers -------------------------------------------------------------------


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sonnx_clip.backends"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  what is rendered is WhyML, Python and shell, not HTML
    )
    environment.filters["layout"] = layout
    return environment


def template_text(name: str) -> str:
    """A template as it is written, by its file name."""
    environment = _environment()
    assert environment.loader is not None
    text, *_ = environment.loader.get_source(environment, name)
    return text


def template(name: str) -> Template:
    """A template by its file name."""
    return _environment().get_template(name)
