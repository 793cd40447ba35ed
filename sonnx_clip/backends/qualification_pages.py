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
    from collections.abc import Iterator

    from sonnx_clip.qualification.kit import Kit, Node
    from sonnx_clip.spec import Spec

FOLDER = "docs/qualification"
PAGES = ("README", "tool-use", "potential-errors", "user-constraints", "known-problems", "configuration")
PICTURE = "assurance-case.svg"
RECORDS = "docs/runtimes"

# kind, element types, classes and reason of a difference, as tools/judge_runtimes.py records it
_DIFFERENCE = re.compile(r"(?P<kind>[a-z-]+), (?P<types>[a-z0-9, ]+), (?P<classes>`[^:]+`): (?P<why>.+)")
_OTHER = re.compile(r"Depends on |Refused: |[a-z0-9, ]+ (?:unsupported|crashed|refused|environment): ")


class RuntimeRecord(Excerpt):
    """What is known of a version of a runtime: a part of its record in docs/runtimes."""

    runtime: str
    version: str
    date: str
    spec_sha256: str
    machine: str
    lines: tuple[str, ...]

    @property
    def problems(self) -> Iterator[str]:
        """What is no latitude: violations, refusals, and what depends on the form of a model."""
        for line in self.lines:
            if (found := _DIFFERENCE.fullmatch(line)) and found["kind"] == "violates":
                yield f"{found['types']}: {found['why'].partition(', as ')[0]} ({found['classes']})"
            elif _OTHER.match(line):
                yield line

    @property
    def accepted(self) -> tuple[str, ...]:
        """The latitudes that it uses."""
        kinds = (found["kind"] for line in self.lines if (found := _DIFFERENCE.fullmatch(line)))
        return tuple(sorted(set(kinds) - {"violates"}))


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
