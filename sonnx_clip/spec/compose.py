"""YAML 1.2 text -> nodes with their places; `document` reads the specification from them.

The events come from libyaml where PyYAML was built with it, else from PyYAML's own scanner. What libyaml
refuses is read once more by PyYAML's scanner: its message is the one that people see, on every machine.
"""

from __future__ import annotations

import re
from typing import Any

from yaml.composer import Composer
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

try:
    from yaml._yaml import CParser
except ImportError:  # PyYAML without libyaml
    CParser = None  # type: ignore[assignment, misc]

__all__ = ["MappingNode", "MarkedYAMLError", "Node", "ScalarNode", "SequenceNode", "YAMLError", "compose"]


# Where an anchor may begin; a text may hold such a place too.
_ANCHOR = re.compile(r"(?:^|[\s\[\]{},])&\S", re.MULTILINE)
# The most levels where libyaml composes: it recurs on the stack of C, which ends at 20,000 to 30,000.
_SHALLOW = 4000


class _Resolver(BaseResolver):
    """The tags of plain scalars in YAML 1.2: `yes` and `no` are texts, `1e3` and `010` are numbers."""


class _Composer(Composer):
    """A composer whose nodes know whether they have an anchor."""

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        event: Any = self.peek_event()  # type: ignore[attr-defined]
        node: Node | None = super().compose_node(parent, index)
        if node is not None and event.anchor is not None and not isinstance(event, AliasEvent):
            node.anchor = event.anchor  # type: ignore[attr-defined]
        return node


class _ByPyYaml(Reader, Scanner, Parser, _Composer, _Resolver):
    """Composes with the scanner of PyYAML."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        _Composer.__init__(self)
        _Resolver.__init__(self)


if CParser is not None:

    class _ByLibyaml(_Composer, CParser, _Resolver):
        """Composes with the scanner of libyaml."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            _Composer.__init__(self)
            _Resolver.__init__(self)

    class _ByLibyamlAlone(CParser, _Resolver):
        """Composes with libyaml in half the time; its nodes do not know whether they have an anchor."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            _Resolver.__init__(self)


def compose(text: str) -> Node | None:
    """The root of the only document of a text; None if it is empty.

    Raises:
        YAMLError: it is not YAML; a `MarkedYAMLError` knows the place.
        RecursionError: it is nested too deeply.
    """
    if CParser is not None and not text.startswith("\ufeff"):  # libyaml does not count this character
        alone = _ANCHOR.search(text) is None and _nested_at_most(text) <= _SHALLOW
        try:
            return _root((_ByLibyamlAlone if alone else _ByLibyaml)(text))
        except YAMLError:
            pass
    return _root(_ByPyYaml(text))


def _nested_at_most(text: str) -> int:
    """No node of a text is nested more deeply: a bracket, or a column further to the right, for each level.

    A sequence may stand in the column of its mapping, so that each column may be two levels.
    """
    longest = max(map(len, text.splitlines()), default=0)
    return text.count("[") + text.count("{") + 2 * longest


def _root(loader: Any) -> Node | None:
    root: Node | None = loader.get_single_node()
    if root is not None:
        _end_keys(root)
    return root


def _end_keys(node: Node) -> None:
    """A value that is not there ends its key: scanners place it differently, at the colon or behind it."""
    for item in node.value if isinstance(node, SequenceNode) else ():
        _end_keys(item)
    for key, value in node.value if isinstance(node, MappingNode) else ():
        _end_keys(key)
        _end_keys(value)
        if value.start_mark.index == value.end_mark.index:
            value.start_mark = value.end_mark = key.end_mark


def _tag(name: str, first: str, pattern: str) -> None:
    _Resolver.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(pattern, re.VERBOSE), list(first))


_tag("bool", "tTfF", r"^(?:true|True|TRUE|false|False|FALSE)$")
_tag(
    "float",
    "-+0123456789.",
    r"""^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    |[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN))$""",
)
_tag("int", "-+0123456789", r"^(?:[-+]?0b[0-1_]+|[-+]?0o?[0-7_]+|[-+]?[0-9_]+|[-+]?0x[0-9a-fA-F_]+)$")
_tag("merge", "<", r"^<<$")
_tag("null", "~nN", r"^(?:~|null|Null|NULL)$")
_Resolver.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^$"), [""])
_tag(
    "timestamp",
    "0123456789",
    r"""^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?
     (?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$""",
)
_tag("value", "=", r"^=$")
