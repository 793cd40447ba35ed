"""What the hand-written theories state, compared with a list that a person keeps: why3/statements.txt.

A theorem that is weakened stays provable, and a definition that is widened can take its theorems along. So
each hand-written statement has a line in that list: its name, a digest of its text, the sentence that it
stands for. Whoever changes the statement changes the line, and whoever reviews the change sees both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.digest import digest_of
from sonnx_clip.root.paths import repo_file
from sonnx_clip.whyml.declarations import parse_modules
from sonnx_clip.whyml.written import theory_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.whyml.declarations import Module, WhymlDeclaration

GOLDEN = "why3/statements.txt"
IMPORTS = "(imports)"
_DIGITS = 16  # of a digest: 64 bits, since nobody is kept out by them who may edit the list
_IMPORTS = ("use", "clone", "meta")
_DEFINED = ("predicate", "function", "constant", "type")


@dataclass(frozen=True)
class PinnedStatement:
    """What a hand-written theory states in one place.

    Args:
        name: ``file.Module.name``; of all that a module imports, ``file.Module.(imports)``.
        digest: of its tokens: layout, comments and attributes do not count.
        text: the tokens.
        comment: the comment beside it.
        line: where it stands in the file.
    """

    name: str
    digest: str
    text: str
    comment: str
    line: int


def statements() -> tuple[PinnedStatement, ...]:
    """Each definition, axiom, goal and program of why3/*.mlw, and what each module imports.

    What has neither definition nor contract is left to why3/trusted.txt, and so are the [val]s.
    """
    return tuple(
        statement
        for path in theory_files()
        for module in parse_modules(path.read_text(encoding="utf-8"), f"why3/{path.name}")
        for statement in _of_module(path.stem, module)
    )


def _of_module(stem: str, module: Module) -> Iterator[PinnedStatement]:
    imports = " ".join(d.text for d in module.declarations if d.kind in _IMPORTS)
    if imports:
        yield _statement(f"{stem}.{module.name}.{IMPORTS}", imports, "", 0)
    for d in module.declarations:
        if _states(d):
            yield _statement(f"{stem}.{module.name}.{d.name}", d.text, d.comment, d.line)


def _states(d: WhymlDeclaration) -> bool:
    if d.kind in _IMPORTS or d.kind.startswith("val") or (d.kind == "goal" and d.name.startswith("smoke_")):
        return False
    return d.kind not in _DEFINED or "=" in d.text.split()


def _statement(name: str, text: str, comment: str, line: int) -> PinnedStatement:
    return PinnedStatement(name, digest_of(text)[:_DIGITS], text, comment, line)


def pinned() -> dict[str, tuple[str, str]]:
    """The list: digest and sentence of each statement, by its name."""
    golden = repo_file(GOLDEN)
    lines = golden.read_text(encoding="utf-8").splitlines() if golden.is_file() else []
    kept: dict[str, tuple[str, str]] = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            name, digest, *words = line.split(maxsplit=2)
            kept[name] = (digest, words[0] if words else "")
    return kept


def unpinned(found: Iterable[PinnedStatement] | None = None) -> list[str]:
    """A line for each statement that differs from the list, is not in it, is gone, or has no sentence."""
    now = {s.name: s for s in (statements() if found is None else found)}
    kept = pinned()
    lines = []
    for name, statement in now.items():
        digest, sentence = kept.get(name, ("", ""))
        if not digest:
            lines.append(f"+ {name} {statement.digest}: {statement.text}")
        elif digest != statement.digest:
            lines.append(f"! {name} {statement.digest}, not {digest}: {statement.text}")
        elif not sentence:
            lines.append(f"? {name}: no sentence says what it stands for")
    lines += [f"- {name}: it is stated no more: {kept[name][1]}" for name in kept if name not in now]
    return lines
