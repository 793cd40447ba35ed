"""The explorer in headless Chromium: every vector, and 10,000 random triples of each type."""

import json
import shutil

import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.evidence import explored
from tests.evidence.test_browser import CHROMIUM, browse

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: tools/setup.sh browser installs it"),
]
COUNT = 10_000
TYPES = [etype.id for etype in load_spec().element_types]
MACHINE_TYPES = [etype.id for etype in load_spec().element_types if etype.width]


@pytest.fixture(scope="module")
def folder(written, tmp_path_factory):
    made = tmp_path_factory.mktemp("explorer")
    shutil.copy(written.folder / "explorer.html", made)
    return made


def in_page(folder, tmp_path, body, hash_="", *options):
    """What `body`, a function of the page's window, finds; no line may go to the console."""
    wrapper = f"""<!DOCTYPE html><meta charset="utf-8"><style>#found {{ display: none }}</style>
    <pre id="found"></pre><script>
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    (async () => {{
      const frame = document.createElement("iframe");
      frame.style.cssText = "width:1400px;height:900px;border:0";
      frame.src = "explorer.html{hash_}";
      document.body.append(frame);
      await new Promise((done) => frame.onload = done);
      const page = frame.contentWindow;
      await page.eval("ready");
      const found = await (async (at) => {{ {body} }})((id) => page.document.getElementById(id));
      document.getElementById("found").textContent = JSON.stringify(found);
    }})();
    </script>"""
    found, console = browse(folder, tmp_path / "profile", *options, wrapper=wrapper)
    assert console == []
    return found


@pytest.mark.parametrize("type_id", TYPES)
def test_it_finds_what_the_oracle_finds_for_random_triples(folder, tmp_path, type_id):
    etype = load_spec().element_type(type_id)
    triples = [*explored.drawn(etype, COUNT)]
    texts = [explored.texts(etype, triple) for triple in triples]
    source = f"{explored.TELL}; (id, all) => all.map((texts) => tell(data.types[id], texts))"
    body = f"return page.eval({json.dumps(source)})({json.dumps(type_id)}, {json.dumps(texts)});"
    found = in_page(folder, tmp_path, body)
    due = explored.due(etype, triples)
    assert len(found) == len(due) == COUNT
    assert [(t, *pair) for t, *pair in zip(texts, found, due, strict=True) if pair[0] != pair[1]][
        :3
    ] == []


@pytest.mark.parametrize("type_id", MACHINE_TYPES)
def test_it_shows_what_the_vectors_say(folder, tmp_path, type_id):
    vectors = json.loads(repo_file(f"generated/vectors/{type_id}.json").read_text())["vectors"]
    keys = list(load_spec().signature.keys)
    inputs = [[vector[key] for key in keys] for vector in vectors]
    body = f"""
      const words = (selector) => [...page.document.querySelectorAll(selector)].map((one) => one.textContent);
      const fields = [...page.document.querySelectorAll("#input input")];
      at("type").value = {json.dumps(type_id)};
      return {json.dumps(inputs)}.map((texts) => {{
        texts.forEach((text, i) => {{ fields[i].value = text; }});
        page.eval("show()");
        return [words(".why [href*='#cases-']"), words(".why [href*='#classes-']"),
          words("#notations tr:last-child td:last-child"),
          words("#acceptable tbody tr:not(:first-child)")];
      }});"""
    found = in_page(folder, tmp_path, body)
    for vector, (case, klass, result, acceptable) in zip(vectors, found, strict=True):
        assert (case, klass, result) == (
            [vector["case"]],
            [vector["class"]],
            [vector["expected"]],
        ), vector
        assert len(acceptable) == len(vector["acceptable"]), vector
        for row, due in zip(acceptable, vector["acceptable"], strict=True):
            assert ("any NaN" if "any_nan" in due else due["bits"]) in row, vector
            assert f"latitude {due['latitude']}" in row, vector


def test_bad_input_gives_one_message_and_good_input_goes_to_the_address(folder, tmp_path):
    body = """
      const type = (id, text) => {
        at(id).value = text;
        at(id).dispatchEvent(new page.Event("input", { bubbles: true }));
        const shown = at("message");
        return [shown.hidden, shown.textContent, page.location.hash, at("result").textContent];
      };
      return [["x", "abc"], ["min", "0x12"], ["x", "-0"], ["min", ""], ["min", "0x0p+0"]]
        .map(([key, text]) => type(`operand-${key}`, text));"""
    wrong, both, one, missing, right = in_page(
        folder, tmp_path, body, "#type=float32&x=1&min=0&max=2"
    )
    assert not wrong[0]
    assert wrong[1].startswith(
        "X: `abc` is not a number; write a decimal number (-6.1), a hex float"
    )
    assert both[1].startswith("X: ")
    assert one[1].startswith("L: 0x12 has 8 bits, float32 has 32; float32 takes 8 hex digits")
    assert "R1" in missing[3]
    assert right == [True, "", "#type=float32&x=-0&min=0x0p%2B0&max=2", "clip(-0, 0, 2) = 0"]


def test_runtimes_that_deviate_are_shown_with_their_call(folder, tmp_path):
    body = "return at('runtimes').textContent;"
    found = in_page(folder, tmp_path, body, "#type=float32&x=0&min=nan&max=1")
    assert "numpy" in found
    assert "violates" in found
    assert "expected 0x00000000" in found


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_the_screen(folder, tmp_path, dark):
    body = """
      const found = [];
      for (const width of [1400, 400]) for (const type of ["float64", "uint64", "real"]) {
        page.frameElement.style.width = `${width}px`;
        page.history.replaceState(null, "", `#type=${type}&x=1&min=2&max=3`);
        page.eval("load()");
        await pause(20);
        const root = page.document.documentElement;
        found.push(root.scrollWidth - root.clientWidth);
      }
      return [found, page.getComputedStyle(page.document.body).backgroundColor];"""
    wider, paper = in_page(folder, tmp_path, body, "", *(["--force-dark-mode"] if dark else []))
    assert wider == [0] * 6
    assert paper == ("rgb(22, 24, 28)" if dark else "rgb(251, 250, 247)")
