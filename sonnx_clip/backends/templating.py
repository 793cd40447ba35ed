"""The Jinja2 templates of the printers, prose escaped for their languages, and formulas laid out in lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, pass_context

if TYPE_CHECKING:
    from jinja2.runtime import Context

    from sonnx_clip.spec import Spec

WIDTH = 100
# A body of a `let` is always on a line of its own; at the others a line may end.
_FORCED = re.compile(r"(?<= in) (?=let |not |\w)")
_BREAKS = re.compile(
    r" (?=/\\|\\/|->|<->)|(?<=: t\.) |(?<=: tensor\.) |(?<=\]\.) |(?<=: node\.) |(?<=;) "
)


@lru_cache(maxsize=8192)  # twice what the theories of one specification have
def layout(statement: str, indent: int = 4) -> str:
    """The statement in lines of at most `WIDTH` characters where that is possible."""
    width = WIDTH - indent
    lines: list[str] = []
    for part in _FORCED.split(statement):
        lines += _pack(_pieces(part, width), width)
    return ("\n" + " " * indent).join(lines)


def _pieces(text: str, width: int) -> list[str]:
    """The parts between which a line may end: outside parentheses, and further inside what is too long."""
    pieces = [text]
    # A line that is a little too long reads better than one that is broken deep inside.
    for depth, longest in ((0, 0), (1, width), (2, 2 * width), (3, 2 * width)):
        smaller: list[str] = []
        for piece in pieces:
            is_too_long = len(piece) > longest
            smaller += _split(piece, depth) if is_too_long else [piece]
        pieces = smaller
    return pieces


def _split(text: str, depth: int) -> list[str]:
    parts = []
    start = 0
    for gap in _BREAKS.finditer(text):
        if _depth(text, gap.start()) <= depth:
            parts.append(text[start : gap.start()])
            start = gap.end()
    return [*parts, text[start:]]


def _depth(text: str, position: int) -> int:
    """How many parentheses and braces are open at a position."""
    before = text[:position]
    opened = before.count("(") + before.count("{")
    closed = before.count(")") + before.count("}")
    return opened - closed


def _pack(pieces: list[str], width: int) -> list[str]:
    lines: list[str] = []
    for piece in pieces:
        fits = lines and len(f"{lines[-1]} {piece}") <= width
        if fits:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


# --- Prose in comments and docstrings -----------------------------------------------------------------------

# Between which two characters a space goes, so that prose neither ends a comment nor begins one.
_ML = re.compile(r"(?<=\()(?=\*)|(?<=\*)(?=\))")
_C = re.compile(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)")  # ``??/`` is a backslash in C99

_MD = re.compile(r"[\\`*_<>\[\]|$#&~]|(?<=\])\(")
_MD_LINE = re.compile(r"^(\d{0,9})([-+=.)])")  # what begins a list, or underlines a heading


def escape(text: str, language: str) -> str:
    """Prose on one line, as a comment or docstring of a language may hold it: it cannot become code.

    Args:
        text: the prose.
        language: the ending of the file: ``mlw``, ``drv``, ``v``, ``c``, ``h``, ``acsl``, ``py``, ``sh``, or
            ``md``, where the prose shows as it is: no HTML, link, emphasis, list or cell begins in it.
    """
    line = " ".join(text.split())
    match language:
        case "mlw" | "drv":
            return _ML.sub(" ", line)
        case "v":  # Coq reads strings in comments too
            return _ML.sub(" ", line).replace('"', "'")
        case "c" | "h" | "acsl":
            line = _C.sub(" ", line)
            # A line that ends with a backslash would go on in the next.
            return f"{line}." if line.endswith("\\") else line
        case "py":
            return line.replace("\\", "\\\\").replace('"', '\\"')
        case "sh":
            return line
        case "md":
            return _MD_LINE.sub(r"\1\\\2", _MD.sub(r"\\\g<0>", line))
    raise ValueError(f"no escape is known for .{language}")


@pass_context
def _prose(context: Context, text: str) -> str:
    """The filter `prose`: the language is that of the file that the template makes."""
    file = (context.name or "").removesuffix(".j2")
    _, _, ending = file.rpartition(".")
    return escape(text, ending)


@dataclass(frozen=True)
class CoqStatement:
    """A definition or theorem of Coq: a definition has a head, a theorem shows entries and has a proof."""

    title: str
    name: str
    body: str
    shows: tuple[str, ...] = ()
    proof: str = "decided"
    head: str = ""

    @property
    def text(self) -> str:
        """The statement with its comment."""
        title = escape(self.title, "v")
        if self.head:
            about = f"(** {title} *)\n" if title else ""
            return f"{about}Definition {self.head} :=\n  {self.body}."
        about = f"(** {title}. shows: {', '.join(self.shows)} *)"
        return f"{about}\nTheorem {self.name} :\n  {self.body}.\nProof. {self.proof}. Qed."


# --- The Jinja2 templates of the printers -------------------------------------------------------------------


BACKENDS = "sonnx_clip.backends"


@cache
def templates(package: str = BACKENDS, *, html: bool = False) -> Environment:
    """The templates of a package, in its folder of that name, with the filters that all share.

    With `html`, values are escaped.
    """
    environment = Environment(
        loader=PackageLoader(package),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=html,  # noqa: S701  what else is rendered is code and Markdown
    )
    environment.filters["layout"] = layout
    environment.filters["prose"] = _prose
    return environment


def template_text(name: str) -> str:
    """A template as it is written, by its file name."""
    return files(BACKENDS).joinpath("templates", name).read_text(encoding="utf-8")


def template(name: str) -> Template:
    """A template by its file name."""
    return templates().get_template(name)


def header_lines(spec: Spec) -> list[str]:
    """Who made the file, from what and how; the same lines in every generated file.

    The version of the tool is in generated/manifest.json alone: a new version that renders the same
    leaves the files as they are, and with them the records that are bound to their digests.
    """
    return [
        "Generated by `sonnx-clip generate`. Do not edit.",
        f"Source: {spec.file}",
    ]
