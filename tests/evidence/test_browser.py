"""The page in headless Chromium: details appear, no error, no dead link, nothing wider than the screen.

A wrapper page loads it in frames of two widths, measures, and leaves what it found in its own text.
"""

import json
import re
import shutil
import subprocess

import pytest

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
  await until(() => page.getElementById("o-float32.total"));
  const target = page.getElementById("o-float32.total");
  await until(() => target.querySelector("pre"));
  result.opened = target.open && target.parentElement.open;
  result.shown = target.textContent;
  for (const part of page.querySelectorAll("details[data-kind]")) part.open = true;
  await until(() => page.querySelectorAll("details[data-kind]:not([data-filled])").length === 0);
  result.kinds = {};
  for (const part of page.querySelectorAll("details[data-kind]"))
    result.kinds[part.dataset.kind] = (result.kinds[part.dataset.kind] ?? 0)
      + part.querySelectorAll(":scope > :not(summary, input)").length;
  result.dead = [...page.querySelectorAll("a")].map(a => a.getAttribute("href"))
    .filter(h => !h.startsWith("#") || !page.getElementById(decodeURIComponent(h.slice(1))))
    .filter(h => !h.startsWith("#v-"));
  result.open = root.scrollWidth - root.clientWidth;
  const texts = [...page.querySelectorAll("svg text")];
  result.hidden = texts.filter(t => t.getBoundingClientRect().width === 0).length;
  result.paper = frame.contentWindow.getComputedStyle(page.body).backgroundColor;
  found[width] = result;
}
(async () => {
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
    assert [link for link in found["dead"] if not (written.folder / link).is_file()] == []
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


def test_it_prints_the_summary_and_the_whole_trace_in_few_bytes(written, tmp_path):
    """Gradients made it 26 MB: each is printed as a picture."""
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
        "--virtual-time-budget=20000", f"--print-to-pdf={tmp_path}/page.pdf",
        (written.folder / "index.html").as_uri(),
    ]  # fmt: skip
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    printed = (tmp_path / "page.pdf").read_bytes()
    assert len(printed) < 2_000_000
    assert 6 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 20
