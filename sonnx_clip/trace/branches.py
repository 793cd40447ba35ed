"""The recorded paths put together again: one tree of branches, as WhyML in lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.trace.symbolic_run import Bind, Branch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.trace.explore import Path


@dataclass(frozen=True)
class LetTree:
    """A variable for the result of an operation in the rest of the path."""

    name: str
    text: str
    body: Tree


@dataclass(frozen=True)
class IfTree:
    """A branch."""

    condition: str
    then: Tree
    otherwise: Tree


Tree: TypeAlias = str | LetTree | IfTree
"""At the end of a path stands a statement."""


def tree(paths: Sequence[Path], leaf: Callable[[Path], str], absent: str) -> Tree:
    """The tree of some paths.

    Args:
        paths: at least one; they agree up to where they part.
        leaf: the statement at the end of a path.
        absent: what is said where none of these paths goes on.
    """
    whole = _tree(paths, 0, leaf, absent)
    reduced, _ = _without_unused(whole)
    return reduced


def _tree(
    paths: Sequence[Path],
    at: int,
    leaf: Callable[[Path], str],
    absent: str,
) -> Tree:
    if not paths:
        return absent
    first = paths[0]
    if at == len(first.steps):
        assert len(paths) == 1, "two paths are the same"
        return leaf(first)
    step = first.steps[at]
    if isinstance(step, Bind):
        assert all(path.steps[at] == step for path in paths), "paths part where nothing is decided"
        body = _tree(paths, at + 1, leaf, absent)
        return LetTree(step.name, step.text, body)
    # The paths agree up to here, so that the step of each is a branch on the same condition.
    taking: list[Path] = []
    others: list[Path] = []
    for path in paths:
        branch = path.steps[at]
        if isinstance(branch, Branch):
            side = taking if branch.taken else others
            side.append(path)
    then = _tree(taking, at + 1, leaf, absent)
    otherwise = _tree(others, at + 1, leaf, absent)
    # A branch that decides nothing would only lengthen the obligation.
    if then == otherwise:
        return then
    return IfTree(step.condition, then, otherwise)


def _without_unused(node: Tree) -> tuple[Tree, frozenset[str]]:
    """The tree without variables that nothing uses, and all words in it."""
    match node:
        case LetTree(name=name, text=text, body=body):
            # Why3 would warn of a variable that nothing uses.
            inner, used = _without_unused(body)
            if name not in used:
                return inner, used
            kept = LetTree(name, text, inner)
            return kept, used | _words_of(text)
        case IfTree(condition=condition, then=then, otherwise=otherwise):
            yes, used_by_yes = _without_unused(then)
            no, used_by_no = _without_unused(otherwise)
            used = used_by_yes | used_by_no | {condition}  # a condition is one variable
            return IfTree(condition, yes, no), used
        case str():
            return node, _words_of(node)


def words(node: Tree) -> frozenset[str]:
    """All words in a tree, those of WhyML among them."""
    return _words_of(" ".join(lines(node)))


@lru_cache(maxsize=1024)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def lines(node: Tree) -> list[str]:
    """The tree as WhyML; ``if c then p else true`` is written ``c -> p``."""
    match node:
        case LetTree(name=name, text=text, body=body):
            return [f"let {name} = {text} in", *lines(body)]
        # By specific forms first: implications and one-liners are read more easily than nested
        # branches.
        case IfTree(condition=condition, then=then, otherwise="true"):
            return [f"{condition} ->", *lines(then)]
        case IfTree(condition=condition, then="true", otherwise=otherwise):
            return [f"not {condition} ->", *lines(otherwise)]
        case IfTree(condition=condition, then=str(text), otherwise=str(other)):
            return [f"if {condition} then {text} else {other}"]
        case IfTree(condition=condition, then=str(text), otherwise=otherwise):
            return [f"if {condition} then {text} else", *lines(otherwise)]
        case IfTree(condition=condition, then=then, otherwise=otherwise):
            inner = [f"  {line}" for line in lines(then)]
            return [f"if {condition} then (", *inner, ") else", *lines(otherwise)]
        case str():
            return [node]
