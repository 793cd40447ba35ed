"""build/evidence/review.html: the page for the SONNX group beside the page of the source, both rendered.

Formulas are drawn as MathML. Each passage of the source that a finding disputes, and each tag of our page
that mends it, carries a link to the finding.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from sonnx_clip.export.page_file import read_page_file, tags_of
from sonnx_clip.export.sonnx_page import page_text
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.findings import types_of_claim
from sonnx_clip.spec.quotes import lines_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import SourceFinding

SOURCE = "sonnx-clip"
"""The id of the source beside which our page is shown."""
_MARK = '<p class="mark">{}</p>\n'


@dataclass(frozen=True)
class PageDifference:
    """A finding on the source that our page takes into account.

    It concerns `tags` of our page or, where no tag names it, a `part` in words; it quotes `lines` of the
    source.
    """

    finding: SourceFinding
    part: str
    tags: tuple[str, ...]
    lines: tuple[int, ...]


def page_differences(spec: Spec) -> tuple[PageDifference, ...]:
    """Every difference, in the order of spec/clip.page.yaml."""
    file = read_page_file(spec)
    tags = tuple(tags_of(spec, file))
    differing = []
    for id_, about in file.corrects.items():
        finding = spec.entry("findings", id_)
        # A finding without a theorem is about words: it concerns the tags of all families.
        families: set[str] = set()
        for theorem in finding.theorems:
            for etype in types_of_claim(spec, theorem):
                families.add(etype.family)
        concerned = []
        for tag in tags:
            has_family = not families or tag.family in families
            if has_family and about in tag.entries:
                concerned.append(tag.id)
        quoted: set[int] = set()
        for quotation in finding.words:
            if quotation.page == SOURCE:  # a finding may quote other pages too
                quoted.update(lines_of(spec, quotation))
        differing.append(
            PageDifference(
                finding=finding,
                part="" if concerned else about,
                tags=tuple(concerned),
                lines=tuple(sorted(quoted)),
            )
        )
    return tuple(differing)


def review_parts(spec: Spec) -> dict[str, Any]:
    """What the template shows: the differences, our page and the source as HTML."""
    differing = page_differences(spec)
    # Without the line ends of the group's documents: the source is read without them too.
    ours = page_text(spec).replace("\r\n", "\n")
    source = repo_file(spec.page(SOURCE).file).read_text(encoding="utf-8")
    source = re.sub(r'(<a id="|\]\(#)', r"\1source-", source)  # both pages have an anchor `float`
    line_of_anchor: dict[str, int] = {}
    for line, text in enumerate(ours.splitlines(), 1):
        for anchor in re.findall(r'id="(\w+)"', text):
            line_of_anchor[anchor] = line

    # The findings that concern a line, by its number.
    of_ours = defaultdict(list)
    of_source = defaultdict(list)
    for difference in differing:
        id_ = difference.finding.id
        for tag in difference.tags:
            if tag in line_of_anchor:
                of_ours[line_of_anchor[tag]].append(id_)
        for line in difference.lines:
            of_source[line].append(id_)
    return {
        "differences": differing,
        "ours": rendered(ours, of_ours, "ours"),
        "source": rendered(source, of_source, "source"),
    }


def rendered(text: str, marks: Mapping[int, Sequence[str]], name: str) -> str:
    """A page in Markdown as HTML, each formula as MathML.

    `marks` are the findings that concern a line: a link to each stands before the block of the line, with the
    anchor ``NAME-line-17``.
    """
    # With HTML, because the anchors of both pages are elements of it.
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    reader.use(dollarmath_plugin, renderer=_formula, allow_labels=False, double_inline=True)
    anchors = set(re.findall(r'<a id="([^"]+)"', text))
    tokens: list[Token] = []
    for token in reader.parse(text):
        # Only before whole blocks: within a table or a list a paragraph would break it.
        begins_block = token.level == 0 and token.nesting >= 0
        if begins_block:
            first, last = token.map or (0, 0)  # lines from 0, the last one excluded
            lines = sorted(line for line in marks if first < line <= last)
            if lines:
                mark = _mark(marks, lines, name)
                tokens.append(Token("html_block", "", 0, content=mark))

        # The group writes displayed formulas as fences too, which the plugin does not know.
        if token.type == "fence" and token.info == "math":
            formula = convert(token.content, display="block")
            tokens.append(Token("html_block", "", 0, content=formula))
        else:
            tokens.append(token)
        for inner in token.children or ():
            if inner.type == "link_open":
                inner.attrs = _attributes(str(inner.attrs["href"]), anchors)
    return str(reader.renderer.render(tokens, reader.options, {}))


def _mark(marks: Mapping[int, Sequence[str]], lines: Sequence[int], name: str) -> str:
    """The links to the findings that concern some lines, each once, with an anchor for each line."""
    ids: dict[str, None] = {}
    for line in lines:
        ids |= dict.fromkeys(marks[line])
    anchors = "".join(f'<a id="{name}-line-{line}"></a>' for line in lines)
    links = ", ".join(f'<a href="index.html#finding-{id_}">{id_}</a>' for id_ in ids)
    return _MARK.format(anchors + links)


def _attributes(target: str, anchors: AbstractSet[str]) -> dict[str, str | int | float]:
    """The attributes of a link; one that leads nowhere on the page has no address, and names its target."""
    if target.startswith("https://"):
        return {"href": target}
    if not target.startswith("#"):
        return {"title": target}  # it leads into the group's repository
    anchor = target[1:]
    if anchor in anchors:
        return {"href": target}
    # The page itself has this mistake, so it is shown as it is, and marked.
    name = anchor.removeprefix("source-")
    return {"class": "lost", "title": f"the page has no anchor {name}"}


def _formula(content: str, options: Mapping[str, Any]) -> str:
    return str(convert(content, display="block" if options["display_mode"] else "inline"))
