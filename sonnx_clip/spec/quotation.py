"""Quotations as a person reads them: Markdown, HTML and LaTeX of a source as plain text."""

from __future__ import annotations

import html
import re

_SYMBOLS = {
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "lt": "<", "gt": ">", "neq": "≠", "ne": "≠", "in": "∈",
    "times": "×", "cdot": "·", "infty": "∞", "lnot": "¬", "land": "∧", "lor": "∨", "forall": "∀",
    "min": "min", "max": "max", "quad": " ", "to": "→", "rightarrow": "→", "Rightarrow": "⇒",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_STYLED = re.compile(r"\\(?:text|texttt|textbf|mathrm|mathbf|mathbb|mathit)\{([^{}]*)\}")
_MATRIX = re.compile(r"\\begin\{bmatrix\}\s*(.*?)\s*\\end\{bmatrix\}", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-z*]+\}")
_TAG = re.compile(
    r"</?(?:a|b|i|p|br|code|div|em|span|strong|sub|sup|table|tbody|td|th|thead|tr|tt)\b[^<>]*>"
)
_ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]*)\)")
_END_OF_LINK = re.compile(r"\]\((#[\w-]+)\)")
_EMPHASIS = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_IS_LATEX = re.compile(r"\$|\\[A-Za-z]")


def readable(quote: str) -> str:
    """The quotation without markup.

    Anchors and links inside the source are kept in words, because findings are about them.
    """
    # Anchors first: they are tags, which are then removed.
    text = _ANCHOR.sub(r"(anchor \1)", quote)
    text = _TAG.sub("", text)
    text = _LINK.sub(_link_in_words, text)
    text = _END_OF_LINK.sub(r" (to \1)", text)  # of a quotation that begins inside a link
    text = _EMPHASIS.sub(r"\1", text).replace("`", "")
    if _IS_LATEX.search(text):
        text = _without_latex(text)
    # Last, so that an escaped `<` is not taken for a tag.
    text = " ".join(html.unescape(text).split())
    # A row of a table has bars at both ends. What is all markup stays as it is.
    return text.removeprefix("| ").removesuffix(" |") or quote


def _link_in_words(link: re.Match[str]) -> str:
    text, target = link.groups()
    is_inside = target.startswith("#")
    return f"{text} (to {target})" if is_inside else text


def _matrix_in_words(matrix: re.Match[str]) -> str:
    entries = matrix[1].replace("&", " ")
    return f"[{entries}]"


def _symbol_of(command: re.Match[str]) -> str:
    return _SYMBOLS.get(command[1], command[1])


def _without_latex(text: str) -> str:
    # Commands last: by then only symbols are left of them.
    text = _MATRIX.sub(_matrix_in_words, text)
    text = _STYLED.sub(r"\1", text)
    text = _ENVIRONMENT.sub("", text)
    text = text.replace("\\\\", " ")  # the end of a line
    text = _COMMAND.sub(_symbol_of, text)
    text = re.sub(r"\s&\s", " ", text)  # the mark at which lines are aligned
    return text.replace("$", "")
