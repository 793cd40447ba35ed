"""The page: one file, small, with links that lead somewhere, escaped, readable in light and dark."""

import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, unquote

import pytest

from sonnx_clip.evidence.page import packed
from sonnx_clip.qualification.kit import load_kit
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.coverage import require_coverage
from tests.evidence import made
from tests.evidence.conftest import unpacked

_VOID = {"br", "input", "link", "meta", "rect", "path", "circle", "polyline"}


class Page(HTMLParser):
    """Ids, links and what would be loaded; complains of tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.open, self.misplaced = [], [], [], [], []
        self.nodes = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.nodes += 1
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.loaded += [
            v for k, v in attrs if k in ("src", "srcset", "data", "poster", "xlink:href")
        ]
        self.loaded += [found["href"]] if tag == "link" else []
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.nodes += 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.misplaced.append((tag, self.getpos()))

    def handle_data(self, data):
        self.nodes += 1


@pytest.fixture(scope="module")
def page(written):
    return Page(written.html)


def test_every_link_leads_to_the_page_or_to_details(page, written):
    data = written.data
    details = {f"o-{o['id']}" for obligations in data["obligations"].values() for o in obligations}
    details |= {
        f"{section}-{e['id']}" for section, entries in data["entries"].items() for e in entries
    }
    details |= {
        f"source-{source}-{sentence['line']}"
        for source, sentences in data["sources"].items()
        for sentence in sentences
    }
    inside = {link[1:] for link in page.links if link.startswith("#")}
    beside = {link.partition("#")[0] for link in page.links if not link.startswith("#")}
    assert beside == {"index.html", "explorer.html", "review.html"}
    assert sorted(inside - set(page.ids) - details) == []
    assert len(page.links) > 300


@pytest.mark.parametrize("name", ["review.html", "explorer.html"])
def test_links_between_the_pages_lead_somewhere(written, name):
    def markup(file):
        return re.sub(
            r"<script.*?</script>", "", (written.folder / file).read_text(), flags=re.DOTALL
        )

    def anchors(file):
        details = {f"finding-{finding.id}" for finding in written.evidence.all_findings}
        details |= {
            f"{section}-{entry['id']}"
            for section, entries in written.data["entries"].items()
            for entry in entries
        }
        return set(re.findall(r'\bid="([^"]+)"', markup(file))) | details

    for link in re.findall(r'<a\b[^>]* href="([^"]+)"', markup(name)):
        if link.startswith("https://onnx.ai/"):  # of the quoted source
            continue
        file, _, anchor = link.partition("#")
        assert (written.folder / (file or name)).is_file(), link
        assert not anchor or unquote(anchor) in anchors(file or name), link


def test_links_to_the_explorer_name_what_it_has(page, written):
    scopes = unpacked((written.folder / "explorer.html").read_text())["scopes"]
    for link in page.links:
        address, _, fragment = link.partition("#")
        if address != "explorer.html" or not fragment:
            continue
        given = dict(parse_qsl(fragment, keep_blank_values=True))
        assert given["type"] in scopes[given.get("operator", "clip")]["types"]
    for entries in written.data["entries"].values():
        for entry in entries:
            operator, _, id_ = entry["id"].rpartition(":")
            if entry["section"] == "classes":
                assert id_ in scopes[operator or "clip"]["classes"]
            elif entry["section"] == "rewrites" and entry["families"]:
                assert id_ in scopes["rewrites"]["rewrites"]


def test_everything_is_reachable(written):
    covered = len(require_coverage(load_spec(), (o.id for o in made.generated().obligations)))
    data, evidence = written.data, written.evidence
    shown = {o["id"]: o["status"] for of in data["obligations"].values() for o in of}
    assert {o.obligation.id: o.status for o in evidence.obligations} == shown
    vectors = sum(len(some) for of in data["vectors"].values() for some in of.values())
    assert vectors == evidence.totals.vectors
    assert sum(map(len, data["sources"].values())) == covered > 500
    assert sum(map(len, data["deviations"].values())) == 2
    assert sum(map(len, data["trusted"].values())) == len(evidence.trusted)
    groups = re.findall(r'data-kind="([\w-]+)" data-key="([^"]*)"', written.html)
    for kind in ("entries", "obligations", "vectors", "sources", "trusted"):
        assert {key for found, key in groups if found == kind} == set(data[kind])


def test_anchors_are_unique_and_tags_are_closed_in_order(page):
    assert len(page.ids) == len(set(page.ids))
    assert page.misplaced == []
    assert page.open == []


def test_it_is_small_and_nothing_is_loaded_or_tells_where_it_was_made(page, written):
    assert len(written.html.encode()) < 2_000_000
    assert page.nodes < 40_000
    assert page.loaded == ["data:,"]
    assert not re.search(r"@import|url\(|@font-face", written.html)
    assert f"{repo_file('')}/" not in written.html


def test_first_screen_has_claim_argument_evidence_and_the_basis_of_each_line(written):
    first = written.html.partition("<body>")[2].partition('id="trace"')[0]
    assert all(f"<h2>{name}</h2>" in first for name in ("Claim", "Argument", "Evidence"))
    for line in written.evidence.argument:
        shown = line.basis.replace("taken from records, not repeated", "from records")
        assert shown in first.partition(f"<td>{line.name}</td>")[2].partition("</tr>")[0]


def tile(written, title):
    """The text of a tile on the first screen."""
    inside = written.html.partition(f"<h2>{title}</h2>")[2].partition("</li>")[0]
    return re.sub(r"<[^>]+>", " ", inside)


def test_tiles_count_requirements_proofs_and_runtimes(written):
    requirements = [entry for entry in written.evidence.all_entries if entry.requirement]
    refuted = sum(entry.refuted for entry in requirements)
    met, total = len(requirements) - refuted, len(requirements)
    shown = tile(written, "Requirements")
    assert re.findall(r"\d+", shown) == [str(met), str(total), str(refuted), "0"]
    assert "0 not proved" in tile(written, "Proofs")
    assert "numpy: some classes fail" in tile(written, "Runtimes")
    assert '<li class="alarming">' not in written.html


def test_first_screen_names_the_commit_its_date_and_the_machine(written):
    checkout, shown = written.evidence.checkout, written.html.partition('class="tiles"')[0]
    assert checkout is None or f"{checkout.date} (of the commit)" in shown
    commit = checkout.commit if checkout else "not known: written outside a checkout"
    assert commit in shown
    machines = {report.machine for report in written.evidence.runtimes.values() if report}
    assert all(machine in shown for machine in machines)


def test_tiles_show_what_is_open(spoilt):
    assert f"{spoilt.evidence.totals.not_proved} not proved" in tile(spoilt, "Proofs")
    assert "0 open" not in tile(spoilt, "Requirements")
    assert spoilt.html.count('<li class="alarming">') == 2


def test_what_was_not_run_is_listed_with_its_command(written):
    left = written.html.partition('id="remaining"')[2].partition("</details>")[0]
    lines = [line.name for line in written.evidence.argument if line.basis == "not run"]
    assert re.findall(r'<th scope="row">(.*?)</th>', left) == lines
    for command in ("prove --operator max", "prove --road coq", "check --runtime onnxruntime "):
        assert f"<code>sonnx-clip {command}" in left


def test_what_a_person_has_to_check_remains_to_do(written):
    remaining = written.html.partition('id="remaining"')[2].partition("</details>")[0]
    left = {one.id for one in load_kit().constraints if not one.probe}
    assert left
    assert set(re.findall(r"<td>(UC-\d+)</td>", remaining)) == left
    assert f"{len(left)} constraints for a person to check" in remaining


def test_trace_has_a_row_for_each_entry(written):
    trace = written.html.partition('id="trace"')[2].partition("</table>")[0]
    for entry in written.evidence.entries:
        assert f'href="#{entry.section}-{entry.id}"' in trace


def test_findings_are_folded_and_the_most_severe_come_first(written):
    summaries = re.findall(r'<details class="group finding".*?</summary>', written.html)
    order = {"high": 0, "medium": 1, "low": 2}
    places = [
        order[severity]
        for summary in summaries
        for severity in re.findall(r'<span class="soft">(\w+), ', summary)
    ]
    assert len(places) == len(written.evidence.findings)
    assert places == sorted(places)
    assert places[0] < places[-1]


def test_words_of_records_are_escaped(spoilt):
    assert "<img" not in spoilt.html
    assert spoilt.html.count("</script>") == 2
    assert "&lt;/script&gt;&lt;img" in spoilt.html
    assert "<" not in packed({"text": made.HOSTILE})


def test_sections_are_folded_except_the_trace(written):
    sections = re.findall(r'<details class="section" id="([\w-]+)"( open)?>', written.html)
    assert [section for section, opened in sections if opened] == ["trace"]
    assert {"findings", "runtimes", "entries", "sources", "obligations"} <= {s for s, _ in sections}


def test_unchecked_runtime_is_not_run(written):
    block = written.html.partition('id="runtime-onnxruntime"')[2].partition("</details>")[0]
    assert "not run" in block
    assert "v-conforms" not in block


def _luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [1, 2], ids=["light", "dark"])
def test_text_contrasts_with_its_background(theme):
    parts = (
        repo_file("sonnx_clip/evidence/templates/colours.css").read_text().split("@media")[:theme]
    )
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", "".join(parts)))
    names = ("ok", "one", "bad", "find", "off", "inverted", "low", "high", "inside")
    pairs = [(name, f"{name}-bg") for name in names]
    pairs += [
        (name, ground)
        for name in ("ink", "soft", "link")
        for ground in ("paper", "sheet", "band", "one-bg")
    ]
    for text, ground in pairs:
        light, dark = sorted((_luminance(colours[text]), _luminance(colours[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)
