"""The pages of docs/qualification, rendered from spec/qualification.yaml and the records of runtimes."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.backends.templating import header_lines, template
from sonnx_clip.qualification.kit import PATH, load_kit
from sonnx_clip.qualification.tried import TOOLS, tried_versions
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Excerpt, read_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.qualification.kit import Kit, Node
    from sonnx_clip.spec import Spec

FOLDER = "docs/qualification"
PAGES = (
    "README",
    "tool-use",
    "requirements",
    "potential-errors",
    "user-constraints",
    "known-problems",
    "configuration",
)
PICTURE = "assurance-case.svg"
RECORDS = "docs/runtimes"

# The lines of a record, as tools/judge_runtimes.py writes them
_DIFFERENCE = re.compile(r"(?P<kind>[a-z-]+), (?P<types>[a-z0-9, ]+), `(?P<classes>[^:]+)`: (?P<why>.+)")
_FAILURE = re.compile(
    r"(?P<types>[a-z0-9, ]+) (?P<kind>unsupported|crashed|refused|environment): (?P<why>.+)"
)
_REFUSED = re.compile(r"Refused: (?P<types>[a-z0-9, ]+), (?P<why>models with [^:]+): .+")
_DEPENDS = re.compile(r"Depends on the form of the model: .+?\. (?P<places>[a-z0-9]+: .+)\.")
_SHORT = 110  # characters of the words of a runtime


class Behaviour(NamedTuple):
    """A difference from the cases, with the element types and classes in which it occurs."""

    verdict: str
    types: tuple[str, ...]
    classes: tuple[str, ...]
    text: str


class RuntimeRecord(Excerpt):
    """The part of a record in docs/runtimes that pages show."""

    runtime: str
    version: str
    date: str
    spec_sha256: str
    machine: str
    lines: tuple[str, ...]

    @property
    def behaviours(self) -> tuple[Behaviour, ...]:
        """The differences from the cases, accepted ones last; equal ones are merged."""
        found: dict[tuple[str, str], Behaviour] = {}
        for line in self.lines:
            if (one := _behaviour(line)) is not None:
                key = (one.verdict, re.sub(r"\d+", "", one.text))
                types, classes, text = found.get(key, one)[1:]
                types, classes = (
                    tuple(dict.fromkeys((*old, *new)))
                    for old, new in ((types, one.types), (classes, one.classes))
                )
                found[key] = Behaviour(one.verdict, types, classes, text)
        return tuple(sorted(found.values(), key=lambda one: _order(one.verdict)))

    @property
    def problems(self) -> tuple[Behaviour, ...]:
        """The differences that no latitude accepts."""
        return tuple(one for one in self.behaviours if one.verdict in _PROBLEMS)

    @property
    def accepted(self) -> tuple[str, ...]:
        """The latitudes that it uses."""
        return tuple(sorted({one.verdict for one in self.behaviours if one.verdict not in _PROBLEMS}))


_PROBLEMS = ("violates", "depends on the form", "refused", "unsupported", "crashed", "environment")


def _order(verdict: str) -> int:
    return _PROBLEMS.index(verdict) if verdict in _PROBLEMS else len(_PROBLEMS)


def _behaviour(line: str) -> Behaviour | None:
    """The difference that a line of a record reports; None for any other line."""
    if found := _DIFFERENCE.fullmatch(line):
        why, _, example = found["why"].rpartition("as ")
        returned, either, other = why.rstrip(", ").partition(", or ")
        if re.match("[XLM] is returned", returned):
            returned = "another operand is returned"
        text = f"{returned}{either}{other}" or f"for example {example}"
        return Behaviour(found["kind"], _listed(found["types"]), _listed(found["classes"]), text)
    if found := _FAILURE.fullmatch(line):
        words = found["why"]
        text = words if len(words) <= _SHORT else f"{words[:_SHORT]}…"
        return Behaviour(found["kind"], _listed(found["types"]), (), text)
    if found := _REFUSED.fullmatch(line):
        return Behaviour("refused", _listed(found["types"]), (), found["why"])
    if found := _DEPENDS.fullmatch(line):
        places = [place.partition(": ") for place in found["places"].split("; ")]
        classes = tuple(id_ for _, _, ids in places for id_ in _listed(ids))
        text = "the verdict differs between forms of the model"
        return Behaviour("depends on the form", tuple(etype for etype, *_ in places), classes, text)
    return None


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.replace("`", "").split(", "))


def types_in_words(types: Iterable[str], every: Iterable[str]) -> str:
    """Element types, in which all integer types of `every` are `integers`, and all float types `floats`."""
    given, known = list(types), list(every)
    if set(given) == set(known):
        return "all"
    words = []
    for word, of_family in (
        ("integers", [etype for etype in known if "int" in etype]),
        ("floats", [etype for etype in known if "float" in etype]),
    ):
        taken = [etype for etype in of_family if etype in given]
        words += [word] if len(taken) == len(of_family) else taken
    return ", ".join(words)


class Placed(NamedTuple):
    """A node of the picture, with the lines of its text, its corner, and the middle of the node above it."""

    node: Node
    lines: tuple[str, ...]
    x: int
    y: int
    height: int
    above: tuple[int, int] | None


def render_qualification(spec: Spec) -> dict[str, str]:
    """The pages and the picture; UserError for a mistake in spec/qualification.yaml or in a record."""
    kit = load_kit()
    nodes, size = layout_case(kit)
    values = {
        "header": [*header_lines(spec), f"The entries: {PATH}"],
        "spec": spec,
        "kit": kit,
        "records": list(_records()),
        "types_in_words": types_in_words,
        "types": [etype.id for etype in spec.element_types if etype.numpy is not None],
        "tried": tried_versions(),
        "tools": TOOLS,
        "nodes": nodes,
        "size": size,
    }
    pages = {f"{page}.md": template(f"qualification_{page}.md.j2").render(values) for page in PAGES}
    pages[PICTURE] = template("assurance_case.svg.j2").render(values)
    return {f"{FOLDER}/{name}": text for name, text in pages.items()}


def _records() -> Iterator[RuntimeRecord]:
    for path in sorted(repo_file(RECORDS).glob("*.json")):
        yield read_record(path, RuntimeRecord, "run: make runtimes")


# --- The assurance case, from left to right -----------------------------------------------------------------

COLUMN, WIDTH, LINE, GAP = 290, 250, 15, 10
_CHARACTERS = 38  # of a line of text in a node


def layout_case(kit: Kit) -> tuple[list[Placed], tuple[int, int]]:
    """Each node with its place, and the size of the picture: a column for each depth, a row for each leaf."""
    below = {
        above: list(nodes)
        for above, nodes in groupby(sorted(kit.assurance_case, key=_above), key=_above)
    }  # fmt: skip
    placed: list[Placed] = []
    floor = [GAP]  # where the next leaf goes

    def place(node: Node, depth: int) -> tuple[int, int]:
        """Place a node beside those below it; returns the middle of its left side."""
        lines = tuple(textwrap.wrap(f"{node.id}  {node.text}", _CHARACTERS))
        height, x = 14 + LINE * len(lines), GAP + COLUMN * depth
        start, index = floor[0], len(placed)
        middles = [place(child, depth + 1)[1] for child in below.get(node.id, ())]
        y = (middles[0] + middles[-1] - height) // 2 if middles else start
        floor[0] = max(floor[0], y + height + GAP)
        for position in range(index, len(placed)):
            if placed[position].node.below == node.id:
                above = (x + WIDTH, y + height // 2)
                placed[position] = placed[position]._replace(above=above)
        placed.append(Placed(node, lines, x, y, height, None))
        return x, y + height // 2

    for root in below[""]:
        place(root, 0)
    return placed, (max(p.x for p in placed) + WIDTH + GAP, floor[0])


def _above(node: Node) -> str:
    return node.below or ""
