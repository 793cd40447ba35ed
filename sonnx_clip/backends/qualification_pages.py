"""The pages of docs/qualification, rendered from spec/clip.qualification.yaml and the records of runtimes."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.backends.numpy_oracle import render_numpy
from sonnx_clip.backends.templating import header_lines, template
from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.qualification.context_records import read_context_records
from sonnx_clip.qualification.kit import PATH, load_kit
from sonnx_clip.qualification.runtime_records import read_runtime_records, types_in_words
from sonnx_clip.qualification.tried import TOOLS, tried_versions
from sonnx_clip.root.files import digest_of

if TYPE_CHECKING:
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


class Placed(NamedTuple):
    """A node of the picture, with the lines of its text, its corner, and the middle of the node above it."""

    node: Node
    lines: tuple[str, ...]
    x: int
    y: int
    height: int
    above: tuple[int, int] | None


def render_qualification(spec: Spec) -> dict[str, str]:
    """The pages and the picture; UserError for a mistake in spec/clip.qualification.yaml or in a record."""
    kit = load_kit()
    nodes, size = layout_case(kit)
    # From the text that is rendered now: the file on disk may be older.
    oracle = render_numpy(spec)[ORACLE_FILE]
    values = {
        "header": [*header_lines(spec), f"The entries: {PATH}"],
        "spec": spec,
        "kit": kit,
        "records": read_runtime_records(),
        "oracle_sha256": digest_of(oracle),
        "context_records": read_context_records(),
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


# --- The assurance case, from left to right -----------------------------------------------------------------

# In pixels. A column is wider than a node by the line to the next.
COLUMN, WIDTH, LINE, GAP = 290, 250, 15, 10
_CHARACTERS = 38  # of a line of text in a node
_MARGINS = 14  # above and below the text of a node, together


def layout_case(kit: Kit) -> tuple[list[Placed], tuple[int, int]]:
    """Each node with its place, and the size of the picture: a column for each depth, a row for each leaf."""
    below: dict[str, list[Node]] = defaultdict(list)
    for node in kit.assurance_case:
        below[node.below or ""].append(node)
    placed: list[Placed] = []
    next_leaf = GAP  # where the next leaf goes

    def place(node: Node, depth: int) -> int:
        """Place a node beside those below it; returns the middle of its height."""
        nonlocal next_leaf
        lines = tuple(textwrap.wrap(f"{node.id}  {node.text}", _CHARACTERS))
        height = _MARGINS + LINE * len(lines)
        x = GAP + COLUMN * depth

        first_below = len(placed)
        y = next_leaf
        middles = [place(child, depth + 1) for child in below.get(node.id, ())]
        if middles:  # beside the middle of those below it
            y = (middles[0] + middles[-1] - height) // 2
        # A node may be higher than all those below it together.
        next_leaf = max(next_leaf, y + height + GAP)

        # The place of a node is known after those below it, whose lines lead to it.
        middle = y + height // 2
        for index, other in enumerate(placed[first_below:], first_below):
            if other.node.below == node.id:
                placed[index] = other._replace(above=(x + WIDTH, middle))
        placed.append(Placed(node, lines, x, y, height, above=None))
        return middle

    for root in below[""]:
        place(root, 0)
    right_most = max(node.x for node in placed)
    return placed, (right_most + WIDTH + GAP, next_leaf)
