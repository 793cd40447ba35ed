"""A YAML file as plain data in which every value knows its place.

Scalars keep their text: YAML's own reading of numbers would send them through a double.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from sonnx_clip.language.tree import Position
from sonnx_clip.language.types import Scalar
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular_bytes
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec.compose import (
    MappingNode,
    MarkedYAMLError,
    Node,
    ScalarNode,
    SequenceNode,
    YAMLError,
    compose,
)

if TYPE_CHECKING:
    from pathlib import Path

Way: TypeAlias = Sequence[str | int]
"""The way to a value: keys and indices, for example ``("classes", 3, "when")``."""

_TAG = "tag:yaml.org,2002:"
# Unicode categories: control, format (some reorder text), surrogate, separators of lines and paragraphs.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Document:
    """A composed YAML file.

    Args:
        name: the file, as messages name it.
        text: what was read.

    Raises:
        UserError: it is not YAML, is empty, or has a key twice.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        root = self._compose()
        if root is None:
            raise UserError(
                "the file is empty", self.name, "a specification of Clip is expected (docs/language.md)"
            )
        self.root = root
        self.data: Any = self._plain(root, ())

    def _compose(self) -> Node | None:
        try:
            root = compose(self.text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = f"{self.name}:{mark.line + 1}:{mark.column + 1}" if mark else self.name
            what = " ".join(str(part) for part in (error.context, error.problem) if part)
            raise UserError(f"not YAML: {what}", at, "the file must be YAML 1.2") from error
        except RecursionError as error:
            raise UserError("not YAML: nested too deeply", self.name) from error
        except YAMLError as error:
            raise UserError(f"not YAML: {' '.join(str(error).split())}", self.name) from error
        return root

    def _plain(self, node: Node, way: tuple[str | int, ...]) -> Any:
        if getattr(node, "anchor", None):
            what = "anchors and aliases are not part of this form"
            raise self._at(_position(node), what, way, "write the value out")
        if isinstance(node, MappingNode):
            found: dict[str, Any] = {}
            for key, value in node.value:
                if not isinstance(key, ScalarNode):
                    raise self._at(_position(key), "a key must be a text", way)
                if key.value in found:
                    what = f"the key `{key.value}` is there twice"
                    raise self._at(_position(key), what, (*way, key.value), "keep one of the two")
                self._refuse_invisible(key, way)
                found[key.value] = self._plain(value, (*way, key.value))
            return found
        if isinstance(node, SequenceNode):
            return [self._plain(item, (*way, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, way)

    def _scalar(self, node: Node, way: tuple[str | int, ...]) -> Any:
        self._refuse_invisible(node, way)
        text: str = node.value
        match str(node.tag).removeprefix(_TAG):
            case "str":
                return text
            case "int" | "float":
                return Scalar(text)
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case tag:
                raise self._at(_position(node), f"the tag `{tag}` is not known", way, "leave the tag out")

    def _refuse_invisible(self, node: Node, way: Way) -> None:
        """A text goes into programs, theories and pages, where its reader must see all of it."""
        for character in "" if node.value.isprintable() else node.value:
            if character != "\n" and unicodedata.category(character) in _INVISIBLE:
                what = f"the text holds U+{ord(character):04X}, a control or format character"
                raise self._at(_position(node), what, way, "remove it")

    def node(self, way: Way) -> Node:
        """The node at a path, or the nearest above it that exists."""
        node = self.root
        for part in way:
            if isinstance(node, MappingNode):
                node = next((value for key, value in node.value if key.value == part), node)
            elif isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
        return node

    def position(self, way: Way) -> Position:
        """Where a value begins."""
        return _position(self.node(way))

    def end(self, way: Way) -> Position:
        """Where a value ends."""
        mark = self.node(way).end_mark
        return Position(mark.line + 1, mark.column + 1)

    def key_position(self, way: Way) -> Position:
        """Where the last key of a path stands."""
        parent = self.node(way[:-1])
        if isinstance(parent, MappingNode):
            for key, _ in parent.value:
                if key.value == way[-1]:
                    return _position(key)
        return _position(parent)

    def positions(self, way: Way) -> list[Position]:
        """The place of every character of a scalar's text, and of its end.

        The file may quote, escape or fold the text: each of its characters but white space stands in the
        file in the same order, so the next same character is the one.
        """
        node = self.node(way)
        index, line, column = node.start_mark.index, node.start_mark.line + 1, node.start_mark.column + 1
        block = getattr(node, "style", None) in ("|", ">")
        found: list[Position] = []
        for character in [*node.value.rstrip(), ""]:
            while index < len(self.text) and (block or (character.strip() and self.text[index] != character)):
                block = block and self.text[index] != "\n"
                line, column = (line + 1, 1) if self.text[index] == "\n" else (line, column + 1)
                index += 1
            found.append(Position(line, column))
            if character.strip():
                index, column = index + 1, column + 1
        return found

    def error(self, way: Way, what: str, todo: str | None = None, at: Position | None = None) -> UserError:
        """An error at a value, or at a given place in it."""
        return self._at(at or self.position(way), what, way, todo)

    def _at(self, at: Position, what: str, way: Way, todo: str | None = None) -> UserError:
        spelled = spell(way)
        return UserError(what, f"{self.name}:{at.line}:{at.column}{f' ({spelled})' if spelled else ''}", todo)


def read_document(path: Path) -> tuple[Document, bytes]:
    """A YAML file and its bytes; UserError if it cannot be read."""
    name, text, content = read_text(path)
    return Document(name, text), content


def read_text(path: Path) -> tuple[str, str, bytes]:
    """How messages name a file, its text and its bytes; UserError if it cannot be read."""
    name = _shown(path)
    try:
        content = read_regular_bytes(path)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", name, "restore the file") from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        what = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise UserError(what, f"{name}:{line}:{column}", "save the file as UTF-8") from error
    return name, text, content


def spell(way: Way) -> str:
    """A path as people write it: ``classes[3].when``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in way).lstrip(".")


def _position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def _shown(path: Path) -> str:
    """The path from the repository's root where it is inside, else as it was given."""
    absolute, root = path.absolute(), repo_root()
    return str(absolute.relative_to(root)) if absolute.is_relative_to(root) else str(path)
