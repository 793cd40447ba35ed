"""The page of `sonnx-clip report` in headless Chromium: filters hide what is not asked for, links open it."""

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.evidence.verdicts_page import render_verdicts
from sonnx_clip.spec import load_spec
from tests.evidence.test_browser import browse

pytestmark = pytest.mark.browser

_WRAPPER = """<!DOCTYPE html><meta charset="utf-8"><pre id="found"></pre><script>
const found = {};
async function measure(width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.src = "index.html";
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  const page = frame.contentDocument, root = page.documentElement, of = {};
  const rows = [...page.querySelectorAll("details.ob")], count = () => rows.filter(r => !r.hidden).length;
  of.dead = [...page.querySelectorAll("a")].map(a => a.getAttribute("href"))
    .filter(h => !h.startsWith("#") || !page.getElementById(decodeURIComponent(h.slice(1))));
  of.all = [rows.length, count()];
  const select = page.querySelector('select[data-of="type"]');
  select.value = "float32";
  select.dispatchEvent(new Event("input", {bubbles: true}));
  of.chosen = [count(), rows.filter(r => !r.hidden).every(r => r.dataset.type === "float32")];
  of.said = page.querySelector("form.filters output").textContent;
  const hidden = rows.find(r => r.hidden && r.id);
  frame.contentWindow.location.hash = hidden.id;
  await new Promise(done => setTimeout(done, 200));
  of.opened = [hidden.open, !hidden.hidden];
  for (const part of rows) part.open = true;
  of.wider = root.scrollWidth - root.clientWidth;
  found[width] = of;
}
(async () => {
  for (const width of [1400, 400]) await measure(width);
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


def test_filters_and_links(tmp_path):
    reports = [run_campaign("numpy", ["float32", "float16"])]
    (tmp_path / "index.html").write_text(render_verdicts(reports, load_spec()))
    seen, console = browse(tmp_path, tmp_path / "profile", wrapper=_WRAPPER)
    assert console == []
    for width in ("1400", "400"):
        found = seen[width]
        every, shown = found["all"]
        assert every == shown > 5
        chosen, right = found["chosen"]
        assert right
        assert 0 < chosen < every
        assert found["said"] == f"{chosen} of {every} shown"
        assert found["opened"] == [True, True]
        assert found["dead"] == []
        assert found["wider"] == 0
