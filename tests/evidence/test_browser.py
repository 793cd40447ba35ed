"""The page in headless Chromium: details appear, no error, no dead link, nothing wider than the screen.

A wrapper page loads it in frames of two widths, measures, and leaves what it found in its own text.
"""

import json
import re
import shutil
import subprocess

import pytest

from sonnx_clip.evidence.witness_inputs import witness_inputs
from sonnx_clip.spec import load_spec

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: tools/setup.sh browser installs it"),
]

_WRAPPER = """<!DOCTYPE html><meta charset="utf-8"><pre id="found"></pre><script>
const found = {};
const until = async (what) => { while (!what()) await new Promise((done) => setTimeout(done, 20)); };
async function measure(width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.src = "index.html#o-float32.total";
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  const page = frame.contentDocument, root = page.documentElement;
  const result = {closed: root.scrollWidth - root.clientWidth};
  const window_ = frame.contentWindow;
  await until(() => page.getElementById("o-float32.total"));
  const target = page.getElementById("o-float32.total");
  await until(() => target.querySelector("pre"));
  result.opened = target.open && target.parentElement.open;
  result.shown = target.textContent;
  await search(page, window_, result);
  for (const part of page.querySelectorAll("details")) part.open = true;
  await until(() => page.querySelectorAll("details[data-kind]:not([data-filled])").length === 0);
  result.kinds = {};
  for (const part of page.querySelectorAll("details[data-kind]"))
    result.kinds[part.dataset.kind] = (result.kinds[part.dataset.kind] ?? 0)
      + part.querySelectorAll(":scope > :not(summary, input)").length;
  result.dead = [...page.querySelectorAll("a")].map(a => a.getAttribute("href"))
    .filter(h => !h.startsWith("#") || !page.getElementById(decodeURIComponent(h.slice(1))))
    .filter(h => !h.startsWith("#v-"));
  result.explored = [...page.querySelectorAll("a[href^='explorer.html#']")].map(a => a.getAttribute("href"));
  result.open = root.scrollWidth - root.clientWidth;
  const texts = [...page.querySelectorAll("svg text")];
  result.hidden = texts.filter(t => t.getBoundingClientRect().width === 0).length;
  result.paper = frame.contentWindow.getComputedStyle(page.body).backgroundColor;
  found[width] = result;
}
async function search(page, window_, result) {
  const field = page.getElementById("search"), results = page.getElementById("results");
  const press = (key, on) =>
    on.dispatchEvent(new window_.KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  press("/", page.body);
  result.focused = page.activeElement === field;
  const ask = (query) => {
    field.value = query;
    field.dispatchEvent(new window_.Event("input", {bubbles: true}));
    return [...results.querySelectorAll("a")].map(link => link.getAttribute("href"));
  };
  const queries = [
    "float32.total", "low_max_nan", "sign of zero", "numpy", "IEEE 754 semantics", "no such words anywhere",
  ];
  result.hits = Object.fromEntries(queries.map(query => [query, ask(query)]));
  ask("R1");
  press("ArrowDown", field);
  page.activeElement.click();
  await until(() => page.querySelector("#restrictions-R1.target"));
  result.folds = [...page.querySelectorAll("#entries, #restrictions")].map(one => one.open);
  page.querySelector("#restrictions-R1 a[href='#trace-restrictions-R1']").click();
  await until(() => page.querySelector("#trace-restrictions-R1.target"));
  const row = page.getElementById("trace-restrictions-R1"), head = page.querySelector(".trace thead");
  const label = window_.getComputedStyle(row.querySelector("td:last-child"), "::before").content;
  result.labelled = label.includes("onnx-reference") || label.includes("numpy");
  result.headIsAbove = head.getBoundingClientRect().bottom <= row.getBoundingClientRect().bottom
    && head.getBoundingClientRect().top >= 0;
  result.rowIsMarked = window_.getComputedStyle(row.cells[0]).backgroundColor
    !== window_.getComputedStyle(page.body).backgroundColor;
  row.querySelector("a").click();
  await until(() => page.querySelector("#restrictions-R1.target"));
  result.followed = row.classList.contains("followed");
  press("Escape", field);
  result.cleared = results.hidden && field.value === "";
}
async function height() {
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:1400px;height:900px;border:0";
  frame.src = "index.html";
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  await until(() => frame.contentDocument.querySelector(".contents"));
  found.height = frame.contentDocument.documentElement.scrollHeight;
  const page = frame.contentDocument;
  const link = page.querySelector(".contents a[href='#findings']");
  link.click();
  await until(() => page.getElementById("findings").open);
  page.getElementById("findings").open = false;
  link.click();
  await until(() => page.getElementById("findings").open);
  found.current = page.querySelector(".contents [aria-current]").textContent;
}
(async () => {
  await height();
  for (const width of [1400, 400]) await measure(width);
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


def browse(folder, profile, *options, wrapper=_WRAPPER):
    """What the wrapper found, and the lines that the page wrote to the console."""
    (folder / "wrapper.html").write_text(wrapper)
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        f"--user-data-dir={profile}", "--enable-logging=stderr", "--window-size=1500,2000",
        "--virtual-time-budget=20000", *options, "--dump-dom", (folder / "wrapper.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stdout[-2000:]
    text = found[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    return json.loads(text or "{}"), [
        line for line in done.stderr.splitlines() if "CONSOLE" in line
    ]


@pytest.fixture(scope="module")
def seen(written, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(written.folder / "index.html", folder)
    return browse(folder, tmp_path_factory.mktemp("profile"))


@pytest.mark.parametrize("width", ["1400", "400"])
def test_links_lead_somewhere_and_nothing_is_wider_than_the_screen(seen, written, width):
    found, console = seen[0][width], seen[1]
    assert console == []
    assert [
        link for link in found["dead"] if not (written.folder / link.partition("#")[0]).is_file()
    ] == []
    assert (found["closed"], found["open"], found["hidden"]) == (0, 0, 0)


def test_link_opens_what_it_leads_into(seen, written):
    found = seen[0]["400"]
    task = (
        next(o for o in written.evidence.obligations if o.obligation.id == "float32.total")
        .replies[0]
        .task
    )
    assert found["opened"]
    assert task in found["shown"]
    assert "why3 prove" in found["shown"]


def test_page_as_opened_is_short(seen):
    assert seen[0]["height"] <= 6000


def test_a_link_opens_its_section_again_after_it_was_folded(seen):
    assert seen[0]["current"] == "Findings"


@pytest.mark.parametrize("width", ["1400", "400"])
def test_search_finds_ids_titles_and_sentences(seen, width):
    hits = seen[0][width]["hits"]
    assert hits["float32.total"][0] == "#o-float32.total"
    assert hits["low_max_nan"][0] == "#classes-low_max_nan"
    assert "#finding-sign-of-zero" in hits["sign of zero"]
    assert "#runtime-numpy" in hits["numpy"][:3]
    assert any(link.startswith("#source-") for link in hits["IEEE 754 semantics"])
    assert hits["no such words anywhere"] == []


@pytest.mark.parametrize("width", ["1400", "400"])
def test_search_is_used_by_keyboard_alone(seen, width):
    found = seen[0][width]
    assert found["focused"]
    assert found["folds"] == [True, True]
    assert found["cleared"]


@pytest.mark.parametrize("width", ["1400", "400"])
def test_row_of_the_trace_is_marked_below_its_head_and_found_again(seen, width):
    found = seen[0][width]
    # On a narrow screen each cell stands after the head of its column.
    assert found["headIsAbove"] if width == "1400" else found["labelled"]
    assert found["rowIsMarked"]
    assert found["followed"]


def test_classes_witnesses_and_deviations_lead_to_the_explorer(seen, written):
    links = seen[0]["1400"]["explored"]
    witness = f"explorer.html#{witness_inputs(load_spec())['sign-of-zero'][0]}"
    assert witness in links
    assert "explorer.html#type=float32&x=0x7fc00000" in "".join(links)
    types = [etype for etype in written.evidence.element_types if etype != "real"]
    assert all(f"explorer.html#type={etype}&" in "".join(links) for etype in types)


def test_every_kind_of_detail_is_rendered(seen, written):
    found = seen[0]["1400"]["kinds"]
    assert found["entries"] == len(written.evidence.entries)
    assert found["obligations"] >= len(written.evidence.obligations)
    assert found["deviations"] == 2
    assert all(found[kind] > 0 for kind in ("vectors", "sources", "trusted", "files"))


def test_it_is_dark_where_dark_is_preferred(seen, written, tmp_path):
    shutil.copy(written.folder / "index.html", tmp_path)
    dark, console = browse(tmp_path, tmp_path / "profile", "--force-dark-mode")
    assert console == []
    assert seen[0]["400"]["paper"] == "rgb(251, 250, 247)"
    assert dark["400"]["paper"] == "rgb(22, 24, 28)"


def test_it_prints_every_section_unfolded_in_few_bytes(written, tmp_path):
    """Gradients made it 26 MB: each is printed as a picture."""
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
        "--virtual-time-budget=20000", f"--print-to-pdf={tmp_path}/page.pdf",
        (written.folder / "index.html").as_uri(),
    ]  # fmt: skip
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    printed = (tmp_path / "page.pdf").read_bytes()
    assert len(printed) < 4_000_000
    assert 25 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 120
