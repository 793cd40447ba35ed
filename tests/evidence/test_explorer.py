"""The explorer: its JavaScript has the meaning of spec/clip.yaml, and the page loads nothing."""

import json
import re
from dataclasses import replace
from itertools import product

import pytest

from sonnx_clip.backends.javascript import JavaScriptPrinter, render_javascript
from sonnx_clip.language import encode, hex_float, show, show_bits, tree
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator, load_spec
from sonnx_clip.spec.dialects import defaults
from tests.evidence import explored, made
from tests.evidence.conftest import unpacked, written_in
from tests.evidence.test_browser import CHROMIUM
from tests.evidence.test_page import Page

TYPES = load_spec().element_types
needs_engine = pytest.mark.skipif(
    explored.NODE is None and CHROMIUM is None,
    reason="no JavaScript engine: install Node.js, or Chromium by tools/setup.sh browser",
)


def told(folder, inputs, meaning=None):
    """What the script finds for triples, by element type."""
    written = {etype.id: [explored.texts(etype, t) for t in triples] for etype, triples in inputs}
    source = f"""{explored.script(meaning)}
    const inputs = {json.dumps(written)};
    const told = (id, all) => all.map((texts) => tell(data.types[id], texts));
    const output = Object.entries(inputs).map(([id, all]) => told(id, all));"""
    return dict(zip(written, explored.run(folder, source), strict=True))


@needs_engine
def test_printed_javascript_finds_what_the_oracle_finds(tmp_path):
    inputs = [(etype, [*explored.few(etype), *explored.drawn(etype, 60)]) for etype in TYPES]
    found = told(tmp_path, inputs)
    for etype, triples in inputs:
        for triple, line, due in zip(
            triples, found[etype.id], explored.due(etype, triples), strict=True
        ):
            assert line == due, (etype.id, explored.texts(etype, triple))


WRONG = {
    "<": "{0}.n <= {1}.n", "<=": "{0}.n < {1}.n", "==": "{0}.n < {1}.n",
    "and": "{0} || {1}", "or": "{0} && {1}", "not": "{0}", "if": "{0} ? {2} : {1}",
}  # fmt: skip


@needs_engine
@pytest.mark.parametrize("operator", WRONG)
def test_wrong_operator_is_found(tmp_path, monkeypatch, operator):
    form = replace(JavaScriptPrinter.forms[operator], text=WRONG[operator])
    with monkeypatch.context() as patch:
        patch.setattr(JavaScriptPrinter, "forms", {**JavaScriptPrinter.forms, operator: form})
        spoilt = render_javascript(load_spec())
    inputs = [(etype, explored.few(etype)) for etype in TYPES if etype.id in ("int8", "float32")]
    found = told(tmp_path, inputs, spoilt)
    assert any(found[etype.id] != explored.due(etype, triples) for etype, triples in inputs)


@needs_engine
def test_every_connective_has_its_meaning(tmp_path):
    spec, etype = load_spec(), load_spec().element_type("int8")
    x, l, m = (tree.Name(name, tree.Kind.ELEMENT) for name in spec.signature.ids)
    less, other = (tree.Compare("<", a, b, tree.Kind.ELEMENT) for a, b in ((x, l), (l, m)))
    words = ("and", "or", "implies", "iff")
    inner = [tree.Connective(word, less, tree.Not(other)) for word in words]
    exprs = [tree.Connective(word, a, tree.Not(b)) for word in words for a in inner for b in inner]
    triples = list(product((0, 1, 2), repeat=3))
    functions = ", ".join(f"(X, L, M) => {JavaScriptPrinter().show(expr)}" for expr in exprs)
    source = f"""const triples = {json.dumps(triples)}.map((t) => t.map((n) => ({{ n }})));
    const output = [{functions}].map((f) => triples.map((t) => f(...t)));"""
    of = evaluator(spec, etype)
    due = [[of(expr, of.named(t)) for t in triples] for expr in exprs]
    assert explored.run(tmp_path, source) == due


NUMBERS = (
    "0", "-0", "1", "-6.1", "0.1", "1e-3", "65519.99", "65520", "3.4e38", "1e39", "0x1.8p+1", "-0x.8p-3",
    "0x1p-149", "0x1p-150", "0x1.000001p-150", "1e-400", "300", "-129", "9223372036854775807",
    "18446744073709551615",
    "9223372036854775808", "2.5", "16777217", "0x7fc00000", "0x7c00", "0xFF", "0x1", "0xffffffffffffffff",
    "nan", "-nan", "snan", "inf", "-inf", "lowest", "-lowest", "highest", "-highest", "smallest_subnormal",
    "abc", "", "1,5", "--1", "0x", "0xp1", "1e99999", "+1", " 7 ",
)  # fmt: skip


def _read(text, etype):
    """The value of a text, or the message that refuses it."""
    try:
        return explored.word(etype, encode(text, etype))
    except UserError as error:
        return f"{error.what}; {error.todo}"


@needs_engine
def test_numbers_are_read_as_by_the_command_line(tmp_path):
    source = f"""{explored.script()}
    const output = Object.values(data.types).map((type) => {json.dumps(NUMBERS)}.map((text) => {{
      try {{ return word(parse(text, type), type); }} catch (error) {{ return error.message; }} }}));"""
    for etype, found in zip(TYPES, explored.run(tmp_path, source), strict=True):
        for text, got in zip(NUMBERS, found, strict=True):
            assert got == _read(text, etype), (etype.id, text)


@needs_engine
def test_numbers_are_written_as_by_the_command_line(tmp_path):
    values = {
        e.id: sorted({*special_patterns(e), *(v for t in explored.drawn(e, 80, 1) for v in t)})
        for e in TYPES
        if e.width
    }
    # Integers around the limits of exact printing; the shortest decimal of the second is another number.
    for id_ in ("float32", "float64"):
        integers = ("1e15", "2147483648", "9007199254740991", "1e16")
        values[id_] += [encode(text, load_spec().element_type(id_)) for text in integers]
    written = {
        id_: [show_bits(v, load_spec().element_type(id_)) for v in of] for id_, of in values.items()
    }
    source = f"""{explored.script()}
    const output = Object.entries({json.dumps(written)}).map(([id, all]) => all.map((bits) => {{
      const type = data.types[id], value = parse(bits, type);
      return [decimal(value, type), type.family === "float" ? hexFloat(value, type) : ""]; }}));"""
    for id_, found in zip(values, explored.run(tmp_path, source), strict=True):
        etype = load_spec().element_type(id_)
        for value, got in zip(values[id_], found, strict=True):
            due = [show(value, etype), hex_float(value, etype) if etype.family == "float" else ""]
            assert got == due, (id_, show_bits(value, etype))


@needs_engine
def test_missing_bound_is_that_of_the_dialect(tmp_path):
    etype, dialect = load_spec().element_type("float16"), load_spec().dialect("onnx-6")
    low, _ = defaults(load_spec(), dialect, etype)
    source = f"""{explored.script()}
    const type = data.types.float16;
    const found = explore(type, [parse("-inf", type), null, parse("1", type)]);
    const output = found.dialects.map((d) => [d.id, d.refused ?? d.used.map((v) => word(v, type))]);"""
    found = dict(explored.run(tmp_path, source))
    assert found["onnx-6"][1] == show_bits(low, etype)
    assert "refuses a missing L" in found["sonnx-float"]


@pytest.fixture(scope="module")
def html(written):
    return (written.folder / "explorer.html").read_text()


def test_it_is_small_and_loads_nothing(html):
    page = Page(html)
    assert len(html.encode()) < 500_000
    assert page.loaded == ["data:,"]
    assert not re.search(r"@import|url\(|@font-face|https?:", html)
    assert page.misplaced == []
    assert page.open == []


def test_every_link_leads_to_a_place_of_index(html, written):
    assert 'href="index.html"' in html
    data = unpacked(html)["scopes"]["clip"]
    there = {o["id"] for of in written.data["obligations"].values() for o in of}
    for obligations in data["obligations"].values():
        assert {row[0] for row in obligations} <= there
        assert obligations
    for section in ("cases", "classes", "latitude", "readings", "dialects"):
        assert set(data[section]) <= {entry["id"] for entry in written.data["entries"][section]}


def test_status_of_an_obligation_is_that_of_the_evidence(tmp_path):
    document = made.answered(made.proofs(), "float32.cases_complete", made.replies("smoke", 0))
    html = (written_in(tmp_path, document).folder / "explorer.html").read_text()
    data = unpacked(html)["scopes"]["clip"]
    statuses = {row[0]: row[3] for row in data["obligations"]["float32"]}
    assert statuses["float32.cases_complete"] == "not proved"
    assert statuses["float32.cases_disjoint"] == "proved"
