"""Reads Why3's driver files: how a symbol of a theory is printed for a prover, or in C.

A directive of such a file takes one line. Comments have to be taken away before, as `Tokens.plain` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE: Final = re.compile(r'\s*(?P<word>\w+)(?P<names>(?:\s+[\w.]+)*)\s*(?:"(?P<text>[^"]*)")?(?P<rest>.*)')


@dataclass(frozen=True)
class Directive:
    """One line of a driver.

    Args:
        module: the theory or module that it stands in, empty outside of one.
        word: its first word: ``syntax``, ``prelude``, ``import``.
        names: what follows it up to a text: ``type t`` of a syntax.
        text: the first text in quotes, None where there is none.
        rest: what follows that, its spaces made one.
        said: all that follows the first word, its spaces made one.
    """

    module: str
    word: str
    names: tuple[str, ...]
    text: str | None
    rest: str
    said: str

    @property
    def symbol(self) -> str | None:
        """Of which symbol a ``syntax`` says how it is printed; None for another directive."""
        return self.names[1] if self.word == "syntax" and len(self.names) == 2 and self.text else None


def directives(text: str) -> Iterator[Directive]:
    """The directives of a driver, in their order; what opens and closes a module is none."""
    module = ""
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        word, names = found["word"], tuple(found["names"].split())
        if word in ("theory", "module") and names:
            module = names[0]
        elif word == "end":
            module = ""
        else:
            rest, said = (" ".join(part.split()) for part in (found["rest"], line.strip()[len(word) :]))
            yield Directive(module, word, names, found["text"], rest, said)
