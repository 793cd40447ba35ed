"""Clip nodes judged: those that differ in names alone once, and many of one kind at once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, repeat
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING

from sonnx_clip.graph.arguments import arguments, known_of
from sonnx_clip.graph.restrictions import judge
from sonnx_clip.graph.verdict import Findings, NodeReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.graph.clip_nodes import ClipNode
    from sonnx_clip.graph.graph_names import GraphScope
    from sonnx_clip.graph.profile import OperatorHead
    from sonnx_clip.graph.restrictions import Rules

_SCOPE, _INDEX, _PROTO_NAME = attrgetter("scope"), attrgetter("index"), attrgetter("proto.name")
_WRITTEN = methodcaller("SerializeToString")


class _Names(dict[str, Hashable]):
    """What is known of the names of a scope, each looked up once."""

    def __init__(self, scope: GraphScope) -> None:
        super().__init__()
        self._scope = scope
        self._each: dict[Hashable, Hashable] = {}
        inferred = scope.inferred
        if scope.outer is None and scope.derived is inferred:
            # Most names have what is inferred of them and no more, which then stands for all that is known.
            self.update(zip(inferred, map(id, inferred.values()), strict=True))
            for name in (*scope.declared, *scope.unset, *(inferred.keys() - scope.defined)):
                self.pop(name, None)
        self[""] = None

    def __missing__(self, name: str) -> Hashable:
        found = known_of(self._scope, name)
        # Equal ones become one object, and so a key of nodes is quickly compared.
        found = self[name] = self._each.setdefault(found, found)
        return found


@dataclass
class Judge:
    """Judges nodes by the rules; `path` is the model's, for messages."""

    path: Path
    rules: Rules
    known: dict[Hashable, Findings] = field(default_factory=dict)

    @property
    def _head(self) -> OperatorHead:
        return self.rules.profile.head

    @property
    def open(self) -> bool:
        """A shape was found that follows from a root cause."""
        return any(findings.open for findings in self.known.values())

    def reports(self, nodes: Iterable[ClipNode]) -> Iterator[NodeReport]:
        """The reports of nodes in turn; those of one scope stand together."""
        for _, group in groupby(nodes, key=_SCOPE):
            together = list(group)
            yield from self._all_set(together) or self._each(together)

    def _all_set(self, nodes: Sequence[ClipNode]) -> Iterable[NodeReport]:
        """The reports of nodes of one scope with all inputs, one output and no attribute; else none."""
        scope, opset = nodes[0].scope, nodes[0].opset
        listing = scope.listing
        places = list(map(_INDEX, nodes))
        read = list(map(listing.inputs.__getitem__, places))
        made = list(map(listing.outputs.__getitem__, places))
        if (
            scope.in_function
            or set(map(len, read)) != {len(self._head.operands)}
            or set(map(len, made)) != {1}
            or not listing.carriers.keys().isdisjoint(places)
        ):
            return ()
        columns = (*zip(*read, strict=True), list(chain.from_iterable(made)))
        if any("" in column for column in columns):
            return ()
        known = _Names(scope)
        # The name of a column stands for no object, so these keys are no keys of `_each`.
        keys = list(zip(*(map(known.__getitem__, column) for column in columns), strict=True))
        judged = {
            key: self._judged(("all set", opset, *key), node)
            for key, node in dict(zip(keys, nodes, strict=True)).items()
        }
        names = (name or None for name in map(_PROTO_NAME, nodes))
        rows = zip(
            names,
            repeat(scope.path),
            places,
            columns[-1],
            repeat(nodes[0].operator),
            zip(*columns, strict=True),
            map(judged.__getitem__, keys),
            strict=False,
        )
        return map(NodeReport._make, rows)

    def _each(self, nodes: Sequence[ClipNode]) -> Iterator[NodeReport]:
        """The reports of nodes of one scope, whatever they are."""
        scope, operator = nodes[0].scope, nodes[0].operator
        known, listing, unset = _Names(scope), scope.listing, (None,) * len(self._head.operands)
        for node in nodes:
            index, opset = node.index, node.opset
            read, made = listing.inputs[index], listing.outputs[index]
            key = (
                opset,
                scope.in_function,
                len(made),
                *map(known.__getitem__, read),
                *map(known.__getitem__, made),
                *(
                    [one.SerializeToString() for one in node.proto.attribute]
                    if index in listing.carriers
                    else ()
                ),
            )
            findings = self._judged(key, node)
            if scope.in_function:  # where a call may leave inputs out
                named = tuple(one.name for one in arguments(node, self.path, self._head))
            else:
                named = (*(name or None for name in read), *unset[len(read) :], made[0])
            yield NodeReport(node.proto.name or None, scope.path, index, made[0], operator, named, findings)

    def _judged(self, key: Hashable, node: ClipNode) -> Findings:
        findings = self.known.get(key)
        if findings is None:
            tensors = arguments(node, self.path, self._head)
            unnamed = [replace(one, name=None if one.name is None else one.id) for one in tensors]
            ids = tuple(one.id for one in tensors)
            findings = self.known[key] = Findings(judge(node, unnamed, self.rules), ids)
        return findings
