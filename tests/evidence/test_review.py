"""build/evidence/review.html: the exported page beside its source, rendered without a network."""

import html
import re
from functools import cache
from xml.etree import ElementTree as ET

from sonnx_clip.evidence.page import render_review
from sonnx_clip.evidence.review import page_differences
from sonnx_clip.spec import load_spec

SPEC = load_spec()


@cache
def page():
    return render_review(SPEC)


def column(name):
    return page().partition(f'<article id="{name}">')[2].partition("</article>")[0]


def test_every_formula_is_drawn_and_no_latex_is_left():
    formulas = re.findall(r"<math.*?</math>", page(), re.DOTALL)
    assert len(formulas) > 200
    for formula in formulas:
        drawn = ET.fromstring(formula)
        assert not re.search(r"[\\$]|\b(text|lnot|land|begin)\b", "".join(drawn.itertext()))
    text = html.unescape(re.sub(r"<[^>]+>", "", page().partition("<body>")[2]))
    assert not re.search(r"\\[a-z]+|\$", text)
    assert "http" not in re.sub(r'xmlns="[^"]+"|href="https://onnx\.ai[^"]*"', "", page())


def test_links_lead_to_anchors_of_the_page_or_to_findings_of_the_evidence():
    anchors = re.findall(r'id="([^"]+)"', page())
    links = re.findall(r'href="#([^"]+)"', page())
    # The source links to an anchor that it lacks, and has some twice: the finding constraint-links.
    assert set(links) - set(anchors) == set()
    assert re.findall(r'<a class="lost" title="the page has no anchor (\w+)">', page()) == [
        "floats"
    ]
    assert {of for of in anchors if anchors.count(of) > 1} <= {
        f"source-{of}" for of in ("R1", "R5", "C1ia", "C2ia")
    }
    known = {finding.id for finding in SPEC.findings}
    assert set(re.findall(r'href="index\.html#finding-([^"]+)"', page())) <= known
    assert (
        re.findall(
            r'href="(?!#|data:,|(?:index|explorer|review)\.html|https://onnx\.ai)[^"]+"', page()
        )
        == []
    )


def test_each_difference_is_marked_in_the_source_and_at_the_tags_of_the_page():
    found = page_differences(SPEC)
    assert {one.finding.id for one in found} >= {
        "c2-for-floats",
        "sign-of-zero",
        "constraint-links",
    }
    for one in found:
        assert one.part or one.tags
        assert all(f'id="source-line-{line}"' in column("source") for line in one.lines)
        link = f'href="index.html#finding-{one.finding.id}"'
        assert column("source").count(link) >= 1
        assert (column("ours").count(link) >= 1) == bool(one.tags)
