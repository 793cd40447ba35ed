"""Which definitions a changed one reaches: what is said of the last of them is all that can be said of it.

Where a mutant differs from its original, and nothing that uses it does, no statement can tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.paths import repo_file
from sonnx_clip.whyml.declarations import parse_modules
from sonnx_clip.whyml.written import theory_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.mutants.theories import Theories
    from sonnx_clip.whyml.declarations import WhymlDeclaration
    from sonnx_clip.whyml.node import Node

_DEFINED = ("predicate", "function", "constant")


@dataclass(frozen=True)
class Reached:
    """What a definition of a module reaches.

    Args:
        definitions: it, and those that use it, directly or not, in the order of the module.
        spoken_of: the names among them that a goal, a program, an axiom or another module mentions.
    """

    definitions: tuple[WhymlDeclaration, ...]
    spoken_of: tuple[str, ...]


def reached(theories: Theories, module: str, name: str) -> Reached:
    """The definitions that a change of one changes, and which of them are spoken of."""
    names, definitions, spoken = {name}, [], set()
    for d in theories.goals.library.module(module).declarations:
        used = names & set(d.text.split())
        if d.kind in _DEFINED and (d.name == name or used):
            names.add(d.name)
            definitions.append(d)
        else:
            spoken |= used
    for other, words in _words_of_modules().items():
        if other != module and module.rpartition(".")[2] in words[0]:
            spoken |= {n for n in names if n in words[1]}
    return Reached(tuple(definitions), tuple(d.name for d in definitions if d.name in spoken))


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """A term or formula in which the names of definitions are others."""
    text = names.get(node.text, node.text) if node.kind in ("name", "apply") else node.text
    return replace(node, text=text, parts=tuple(renamed(part, names) for part in node.parts))


@cache
def _words_of_modules() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Of each module: the last names of the modules that it uses or clones, and all its words."""
    found = {}
    files = [*theory_files(), *sorted(repo_file("generated/why3").glob("*.mlw"))]
    for path in dict.fromkeys(files):
        for module in parse_modules(path.read_text(encoding="utf-8"), str(path)):
            used = {d.name.rpartition(".")[2] for d in module.declarations if d.kind in ("use", "clone")}
            words = {word for d in module.declarations for word in d.text.split()}
            words |= {word.rpartition(".")[2] for word in words}
            found[f"{path.stem}.{module.name}"] = (frozenset(used), frozenset(words))
    return found
