"""A YAML file as plain data, the place of each value in it, and errors that name the place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from sonnx_clip.language.parse import suggestion
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular_bytes
from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from pathlib import Path

Way: TypeAlias = Sequence[str | int]
"""The path to a value: keys and indices, for example ``("classes", 3, "when")``."""

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
# libyaml recurs on the C stack, which ends at 20,000 to 30,000 levels; Python's loader raises an error.
_SHALLOW = 4000
_PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))
_NULLS = ("", "~", "null")
# Unicode categories: control, format (some reorder text), surrogate, separators of lines and paragraphs.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Position(NamedTuple):
    """A place in a file, counted from 1."""

    line: int
    column: int


class Document:
    """A parsed YAML file, whose scalars are texts or null: YAML would round a number to a double.

    Messages name it by `name`. UserError if it is not YAML, is empty, uses aliases or tags, or repeats a key.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        root = self._compose()
        if root is None:
            raise UserError(
                "the file is empty",
                self.name,
                "write the specification of an operator into it: format, operator, operands …",
            )
        self.root = root
        self._seen: set[int] = set()  # the identities of the nodes that were read
        self.data: Any = self._plain(root, ())

    def _compose(self) -> Node | None:
        text = self.text
        # An upper bound: a level needs a bracket, or a column of indentation and perhaps a dash.
        longest_line = max(map(len, text.splitlines()), default=0)
        deepest = text.count("[") + text.count("{") + 2 * longest_line
        loader = _LOADER if deepest < _SHALLOW else yaml.BaseLoader
        try:
            root: Node | None = yaml.compose(text, loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = self.name
            if mark:
                at += f":{mark.line + 1}:{mark.column + 1}"
            parts = filter(None, (error.context, error.problem))
            message = " ".join(map(str, parts))
            raise UserError(f"not YAML: {message}", at, "the file must be YAML 1.2") from error
        except RecursionError as error:
            raise UserError("not YAML: nested too deeply", self.name) from error
        except yaml.YAMLError as error:
            message = " ".join(str(error).split())
            raise UserError(f"not YAML: {message}", self.name) from error
        return root

    def _plain(self, node: Node, way: tuple[str | int, ...]) -> Any:
        # An alias is composed as the node itself, which so comes a second time.
        if id(node) in self._seen:
            message = "aliases are not part of this form"
            raise self._at(_position(node), message, way, "write the value out")
        self._seen.add(id(node))
        if node.tag not in _PLAIN_TAGS:
            message = f"the tag `{node.tag}` is not known"
            raise self._at(_position(node), message, way, "leave the tag out")
        if isinstance(node, MappingNode):
            return self._plain_mapping(node, way)
        if isinstance(node, SequenceNode):
            items: list[Any] = []
            for index, item in enumerate(node.value):
                items.append(self._plain(item, (*way, index)))
            return items

        # A text; without quotes it may be one of the words that YAML has for null.
        self._refuse_invisible(node, way)
        is_plain = not getattr(node, "style", None)  # neither quoted nor folded
        return None if is_plain and node.value in _NULLS else node.value

    def _plain_mapping(self, node: MappingNode, way: tuple[str | int, ...]) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise self._at(_position(key), "a key must be a text", way)
            name = key.value
            way_to_value = (*way, name)
            # A YAML loader would take the last one in silence.
            if name in mapping:
                message = f"the key `{name}` is there twice"
                raise self._at(_position(key), message, way_to_value, "keep one of the two")
            self._refuse_invisible(key, way)
            mapping[name] = self._plain(value, way_to_value)
        return mapping

    def _refuse_invisible(self, node: Node, way: Way) -> None:
        """Reject invisible characters: a text goes into programs and pages that people review."""
        if node.value.isprintable():
            return  # nearly all are
        for character in node.value:
            is_invisible = unicodedata.category(character) in _INVISIBLE
            if is_invisible and character != "\n":  # a text may have several lines
                message = f"the text holds U+{ord(character):04X}, a control or format character"
                raise self._at(_position(node), message, way, "remove it")

    def node(self, way: Way) -> Node:
        """The node at a path, or the nearest existing one above it."""
        node = self.root
        for part in way:
            if isinstance(node, MappingNode):
                # A key that is missing: the mapping that lacks it.
                node = next((value for key, value in node.value if key.value == part), node)
            elif isinstance(node, SequenceNode):
                is_index = isinstance(part, int) and part < len(node.value)
                node = node.value[part] if is_index else node
        return node

    def position(self, way: Way) -> Position:
        """Where a value begins."""
        return _position(self.node(way))

    def key_position(self, way: Way) -> Position:
        """Where the last key of a path begins."""
        parent = self.node(way[:-1])
        if isinstance(parent, MappingNode):
            for key, _ in parent.value:
                if key.value == way[-1]:
                    return _position(key)
        return _position(parent)

    def position_in(self, way: Way, offset: int) -> Position:
        """Where a character of a scalar's text is in the file, which may quote, escape or fold the text.

        Each character but white space appears in the file in the same order.
        """
        node = self.node(way)
        index = node.start_mark.index
        if getattr(node, "style", None) in ("|", ">"):
            index = self.text.index("\n", index)  # the head of a block may have digits and signs
        for character in node.value[:offset]:
            if character.strip():
                index = self.text.index(character, index) + 1
        # At the end of the text, and at white space, it is the place behind the one before.
        character_there = node.value[offset : offset + 1].strip()
        if character_there:
            index = self.text.index(character_there, index)
        line = self.text.count("\n", 0, index) + 1
        line_start = self.text.rfind("\n", 0, index) + 1
        return Position(line, index - line_start + 1)

    def error(
        self,
        way: Way,
        what: str,
        todo: str | None = None,
        at: Position | None = None,
    ) -> UserError:
        """An error at a value, or at a given place in it."""
        return self._at(at or self.position(way), what, way, todo)

    def _at(
        self,
        at: Position,
        what: str,
        way: Way,
        todo: str | None = None,
    ) -> UserError:
        where = f"{self.name}:{at.line}:{at.column}"
        path = spell(way)
        if path:
            where += f" ({path})"
        return UserError(what, where, todo)


def read_document(path: Path) -> tuple[Document, bytes]:
    """Parse a YAML file; returns it with its bytes. UserError if it cannot be read."""
    name = shown_path(path)
    try:
        content = read_regular_bytes(path)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", name, _remedy(path)) from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        # In bytes, since the line has no characters; rfind gives -1 in the first line.
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        message = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise UserError(message, f"{name}:{line}:{column}", "save the file as UTF-8") from error
    return Document(name, text), content


def _remedy(path: Path) -> str:
    """What to do about a file that cannot be read."""
    if path.exists():
        return "name a regular file that you may read"
    return "name a file that exists, or restore it"


def spell(way: Way) -> str:
    """A path as people write it: ``classes[3].when``."""
    text = ""
    for part in way:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def _position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def shown_path(path: Path) -> str:
    """The path from the repository's root where it is inside, else as it was given."""
    absolute = path.absolute()
    root = repo_root()
    if absolute.is_relative_to(root):
        return str(absolute.relative_to(root))
    return str(path)


# --- What a check reports


@dataclass(frozen=True)
class Diagnostic:
    """A wrong value of the file."""

    way: Way  # the path to the value
    what: str  # what is wrong
    todo: str | None = None  # what is expected
    of_key: bool = False  # the key is wrong, not its value


def unknown(
    way: Way,
    id_: str,
    ids: Iterable[str],
    noun: str,
) -> Iterator[Diagnostic]:
    """A diagnostic if the id at a path is not in a list; `noun` is what a message calls such an entry."""
    known = list(ids)
    if id_ not in known:
        todo = suggestion(id_, known, "there are")
        yield Diagnostic(way, f"there is no {noun} `{id_}`", todo)


def raise_first(document: Document, diagnostics: Iterable[Diagnostic]) -> None:
    """Raise the UserError of the first diagnostic in the file, if there is any."""
    # The first in the file, whatever the order of the checks is: a reader corrects from top to bottom.
    placed: list[tuple[Position, Diagnostic]] = []
    for diagnostic in diagnostics:
        position_of = document.key_position if diagnostic.of_key else document.position
        placed.append((position_of(diagnostic.way), diagnostic))
    if placed:
        at, first = min(placed, key=itemgetter(0))
        raise document.error(first.way, first.what, first.todo, at)
