"""An assessor's walk through the evidence in headless Chromium, in both colour schemes, and its contrast."""

import json
import shutil

import pytest

from tests.evidence.test_browser import CHROMIUM, browse

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: tools/setup.sh browser installs it"),
]

_START = """<!DOCTYPE html><meta charset="utf-8"><style>#found { display: none }</style>
<pre id="found"></pre><script>
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const until = async (holds) => {
  for (let i = 0; i < 400; i += 1) { if (holds()) return; await pause(20); }
  throw new Error(`never: ${holds}`);
};
async function open(file) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:1400px;height:900px;border:0";
  frame.src = file;
  document.body.append(frame);
  await new Promise((done) => frame.onload = done);
  return frame.contentWindow;
}
"""
_END = """
(async () => {
  let found;
  try { found = await walk(); } catch (error) { found = { error: String(error) }; }
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""

_WALK = """
async function walk() {
  const page = await open("index.html"), root = page.document;
  const stops = [];
  // Follow a link as a reader does, and note where it leads: the target is marked, open and on the screen.
  const follow = async (link) => {
    const id = decodeURIComponent(link.hash.slice(1));
    link.click();
    await until(() => root.querySelector(".target")?.id === id);
    const target = root.querySelector(".target"), box = target.getBoundingClientRect();
    stops.push({ id, seen: box.height > 0 && box.bottom > 0 && box.top < 900 });
    return target;
  };
  await until(() => root.querySelector("details[data-kind=sources]"));
  const trace = root.getElementById("trace-properties-total") ?? root.querySelector("tr[id^=trace-cases]");
  const sentence = await follow(trace.querySelector(".source a"));
  const entry = await follow(sentence.querySelector(
    "a[href^='#cases-'], a[href^='#properties-'], a[href^='#restrictions-'], a[href^='#constraints-']"));
  const link = entry.querySelector("a[href^='#o-']");
  const obligation = await follow(link);
  await until(() => obligation.querySelector("pre"));
  const statement = obligation.querySelector("pre").textContent;
  const runtime = await follow(root.querySelector(".trace thead a[href='#runtime-numpy']"));
  const isOpen = runtime.open;
  const back = [];
  for (const expected of stops.slice(0, -1).reverse()) {
    page.history.back();
    await until(() => root.querySelector(".target")?.id === expected.id);
    back.push(expected.id);
  }
  return { stops, statement, isOpen, back, paper: page.getComputedStyle(root.body).backgroundColor };
}
"""

_CONTRAST = """
const channels = (text) => text.match(/[\\d.]+/g).map(Number);
const over = ([r, g, b, a = 1], under) => [r, g, b].map((one, i) => one * a + under[i] * (1 - a));
const luminance = (rgb) => rgb.map((one) => one / 255)
  .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
  .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => {
  const [dark, light] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
};
async function walk() {
  const file = FILE;
  const page = await open(file), root = page.document;
  await pause(1500);
  for (const part of root.querySelectorAll("details")) part.open = true;
  await pause(1500);
  // The colours behind an element: those of a gradient are all behind it.
  const backgrounds = (element) => {
    const above = [];
    for (let one = element; one; one = one.parentElement) {
      const style = page.getComputedStyle(one);
      const stripes = style.backgroundImage.match(/rgba?\\([^)]*\\)/g) ?? [];
      if (stripes.length) return stripes.map(channels);
      const colour = channels(style.backgroundColor);
      if ((colour[3] ?? 1) === 1) return [above.reduceRight((under, one) => over(one, under), colour)];
      if (colour[3] > 0) above.push(colour);
    }
    return [[255, 255, 255]];
  };
  const weak = {};
  let checked = 0;
  for (const element of root.body.querySelectorAll("*")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const box = element.getBoundingClientRect();
    if (!hasText || !box.width || element.closest("script, noscript, option, select")) continue;
    const style = page.getComputedStyle(element), size = parseFloat(style.fontSize);
    if (style.visibility === "hidden" || box.right < 0) continue;
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const isSvg = element instanceof page.SVGElement;
    const colour = channels(isSvg ? style.fill : style.color);
    checked += 1;
    for (const background of backgrounds(element)) {
      const contrast = ratio(over(colour, background), background);
      if (contrast < (isLarge ? 3 : 4.5))
        weak[`${element.tagName}.${element.getAttribute("class")} ${colour} on ${background}`] = contrast;
    }
  }
  return { weak, checked, paper: page.getComputedStyle(root.body).backgroundColor };
}
"""
SCHEMES = {"light": [], "dark": ["--force-dark-mode"]}
PAPER = {"light": "rgb(251, 250, 247)", "dark": "rgb(22, 24, 28)"}


@pytest.fixture(scope="module")
def folder(written, tmp_path_factory):
    copied = tmp_path_factory.mktemp("walk")
    for page in written.folder.glob("*.html"):
        shutil.copy(page, copied)
    return copied


@pytest.mark.parametrize("scheme", SCHEMES)
def test_walk_from_a_sentence_to_a_runtime_and_back(folder, tmp_path, scheme):
    wrapper = f"{_START}{_WALK}{_END}"
    found, console = browse(folder, tmp_path / "profile", *SCHEMES[scheme], wrapper=wrapper)
    assert console == []
    assert found.get("error") is None
    ids = [stop["id"] for stop in found["stops"]]
    assert [id_.partition("-")[0] for id_ in ids][::3] == ["source", "runtime"]
    assert ids[2].startswith("o-")
    assert [stop["id"] for stop in found["stops"] if not stop["seen"]] == []
    assert found["statement"]
    assert found["isOpen"]
    assert found["back"] == ids[-2::-1]
    assert found["paper"] == PAPER[scheme]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("page", ["index.html", "explorer.html", "review.html"])
def test_text_has_the_contrast_of_wcag_aa(folder, tmp_path, page, scheme):
    wrapper = f"{_START}{_CONTRAST.replace('FILE', json.dumps(page))}{_END}"
    found, console = browse(folder, tmp_path / "profile", *SCHEMES[scheme], wrapper=wrapper)
    assert console == []
    assert found.get("error") is None
    assert found["checked"] > 50
    assert found["paper"] == PAPER[scheme]
    assert found["weak"] == {}
