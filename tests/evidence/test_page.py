"""The page: one file, whole, with links that lead somewhere, readable in light and dark."""

import html
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

_VOID = {
    "area",
    "base",
    "br",
    "col",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "rect",
    "path",
    "circle",
    "polyline",
}


class Page(HTMLParser):
    """Ids, links and what would be loaded; complains of tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.open, self.misplaced = [], [], [], [], []
        self.texts = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.loaded += [v for k, v in attrs if k in ("src", "srcset", "data", "poster", "xlink:href")]
        self.loaded += [found["href"]] if tag == "link" else []
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.misplaced.append((tag, self.getpos()))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def page(written):
    return Page(written.html)


def test_every_link_leads_to_an_anchor_of_the_page(page):
    assert len(page.links) > 3000
    assert [link for link in page.links if not link.startswith("#")] == []
    assert sorted({link[1:] for link in page.links} - set(page.ids)) == []


def test_anchors_are_unique_and_tags_are_closed_in_order(page):
    assert len(page.ids) == len(set(page.ids))
    assert page.misplaced == []
    assert page.open == []


def test_nothing_is_loaded_from_anywhere(page, written):
    assert page.loaded == ["data:,"]
    assert "http:" not in written.html
    assert "https:" not in written.html
    assert not re.search(r"@import|url\(|@font-face", written.html)


def test_nothing_tells_where_it_was_made(written):
    assert f"{repo_file('')}/" not in written.html


def test_every_source_word_stands_on_the_page(page):
    said = " ".join("".join(page.texts).split())
    requirements = list(load_spec().requirements())
    assert len(requirements) > 30
    for requirement in requirements:
        assert " ".join(requirement.source.quote.split()) in said, requirement.id


def test_requirement_and_obligation_lead_to_each_other(written):
    anchors = {e.id: f"{e.section}-{e.id}" for e in written.evidence.entries}
    anchors |= {f.id: f"finding-{f.id}" for f in written.evidence.findings}
    behind = {found[1]: found.end() for found in re.finditer(r'\bid="([^"]*)"', written.html)}

    def block_of(id_, end):
        return written.html[behind[id_] : written.html.index(end, behind[id_])]

    for obligation in written.evidence.obligations:
        block = block_of(f"o-{obligation.id}", "</details>")
        assert obligation.replies[0].task in block
        for id_ in obligation.shows:
            if id_ != "smoke":
                assert f'href="#{anchors[id_]}"' in block
    for entry in written.evidence.entries:
        block = block_of(f"{entry.section}-{entry.id}", "</section>")
        for cell in entry.cells:
            assert all(f'href="#o-{id_}"' in block for id_ in cell.obligations)


def test_a_finding_has_its_claim_with_the_provers_that_proved_it(written):
    text = html.unescape(written.html)
    theorems = 0
    for finding in written.evidence.findings:
        block = text.partition(f'id="finding-{finding.id}"')[2].partition("</section>")[0]
        for part in finding.told.claim if finding.told else ():
            if part.formula is None:
                assert f"Checked in the texts, not proved: {part.says}." in block
                assert not part.obligations
                continue
            theorems += 1
            assert f"): {part.says}.</p>\n<pre>{part.formula}</pre>" in block
            for id_ in part.obligations:
                proved = '<span class="soft">(Z3 and cvc5)</span>'
                assert f'<a href="#o-{id_}"><code>{id_}</code></a> {proved}' in block
    assert theorems > 20
    assert "Shown by" not in text.partition('id="finding-tags-of-constraints"')[2].partition("</section>")[0]


def test_what_was_not_checked_is_shown_as_not_run(written):
    assert written.summary.not_run == ("onnxruntime", "onnx-reference")
    block = written.html.partition('id="runtime-onnxruntime"')[2].partition("</section>")[0]
    assert "not run" in block
    assert "v-conforms" not in block


def test_a_violation_comes_with_the_line_that_repeats_it(written):
    block = written.html.partition('id="runtime-numpy"')[2].partition("</section>")[0]
    assert "np.clip(0, np.nan, 1)" in block
    assert block.count('class="ob"') == 2


def test_special_words_are_escaped(written):
    assert "M &lt; L" in written.html


def _themes():
    text = (repo_file("sonnx_clip/evidence/templates/colours.css")).read_text()
    light, dark, _ = text.split("@media")
    return [dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in (light, light + dark)]


def _luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_told_from_its_ground(theme):
    colours = _themes()[theme]
    same_name = ("ok", "one", "bad", "find", "off", "inverted", "low", "high", "inside")
    pairs = [(name, f"{name}-bg") for name in same_name]
    pairs += [(name, ground) for name in ("ink", "soft", "link") for ground in ("paper", "sheet", "band")]
    for text, ground in pairs:
        light, dark = sorted((_luminance(colours[text]), _luminance(colours[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


def test_headings_descend_one_by_one(written):
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", written.html)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
