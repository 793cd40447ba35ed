"""What the explorer must find for an input, by evaluation of the specification; and what it finds."""

import json
import random
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from itertools import product

from sonnx_clip.backends.javascript import render_javascript
from sonnx_clip.evidence.explorer import meaning_data
from sonnx_clip.language import encode, hex_float, show, show_bits
from sonnx_clip.language.special import FEW, special_patterns
from sonnx_clip.language.values import is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import evaluator, load_spec
from sonnx_clip.spec.dialects import used_bounds
from sonnx_clip.spec.readings import answers, answers_told, same_value
from tests.evidence.test_browser import browse

NODE = shutil.which("node")
TEMPLATES = repo_file("sonnx_clip/evidence/templates")
TELL = """
const word = (v, type) => (type.width ? bitsText(v, type) : decimal(v, type));
const allowedWords = ({ numbers, anyNaN }, type) =>
  [...numbers.map((v) => word(v, type)), ...(anyNaN ? ["any"] : [])].join("|");
function tell(type, texts) {
  const found = explore(type, texts.map((text) => (text === null ? null : parse(text, type))));
  const dialects = found.dialects.map((d) => (d.refused ? "refused" :
    [...[d.result, ...d.used.slice(1)].map((v) => word(v, type)), allowedWords(d.allowed, type)].join(":")));
  if (!found.due) return dialects.join(" ");
  const accepted = found.accepted.map((a) => `${a.latitude}=${a.answer ? word(a.answer, type) : "any"}`);
  const readings = found.readings.map((r) => `${r.agreement}:${allowedWords(r, type)}`);
  const first = [found.case, found.classes.join("+"), word(found.due, type), accepted.join(",")];
  return [...first, ...readings, ...dialects].join(" ");
}
"""


def script(meaning=None):
    """The script of the page without what draws it."""
    parts = [(TEMPLATES / name).read_text() for name in ("values.js", "answers.js")]
    data = json.dumps(meaning_data(load_spec()))
    return "\n".join(["let data;", meaning or render_javascript(load_spec()), *parts, TELL,
                      f"data = {data}; prepare(data);"])  # fmt: skip


def run(folder, source):
    """What a script leaves in `output`, as JSON, by Node.js or else by Chromium."""
    if NODE is None:
        found = "document.getElementById('found').textContent = JSON.stringify(output);"
        page = (
            f'<!DOCTYPE html><meta charset="utf-8"><pre id="found"></pre><script>{source}\n{found}</script>'
        )
        return browse(folder, folder / "profile", wrapper=page)[0]
    (folder / "script.js").write_text(f"{source}\nconsole.log(JSON.stringify(output));\n")
    command = [NODE, folder / "script.js"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout)


# --- Inputs -------------------------------------------------------------------------------------------------


def drawn(etype, count, seed=0):
    """Triples: special values, values of random bits, and some of them twice in a triple."""
    source = random.Random(f"{etype.id} {seed}")
    if etype.family == "real":
        pool = [Fraction(n, d) for n in range(-9, 10) for d in (1, 2, 10, 1000)]
        one = lambda: source.choice(pool)  # noqa: E731
    else:
        pool = special_patterns(etype)
        one = lambda: source.choice(pool) if source.random() < 0.6 else source.getrandbits(etype.width)  # noqa: E731
    found = [tuple(one() for _ in range(3)) for _ in range(count)]
    return [(t[0], t[source.randrange(3)], t[source.randrange(3)]) if source.random() < 0.2 else t
            for t in found]  # fmt: skip


def few(etype):
    """Triples of the values that distinguish the readings, and of a float a part of them."""
    every = list(product([encode(text, etype) for text in FEW[etype.family]], repeat=3))
    return every[:: 3 if len(every) > 100 else 1]


def texts(etype, triple):
    return [word(etype, value) for value in triple]


def word(etype, value):
    return show(value, etype) if etype.width is None else show_bits(int(value), etype)


# --- What is due --------------------------------------------------------------------------------------------


def due(etype, triples):
    """A line for each triple, as `tell` of the script makes it, by evaluation of the specification."""
    return [" ".join(_due(etype, triple)) for triple in triples]


def _due(etype, triple):
    spec, of = load_spec(), evaluator(load_spec(), etype)
    y = of.result(*triple)
    yield from (of.case(*triple).id, of.class_of(*triple).id, word(etype, y))
    yield ",".join(_accepted(etype, triple, y))
    for reading in spec.readings:
        allowed = answers(spec, etype, reading, triple)
        bitwise, by_value = all(a == y for a in allowed), all(same_value(a, y, etype) for a in allowed)
        agreement = "bits" if bitwise else "values" if by_value else "differs"
        yield f"{agreement}:{_allowed(etype, reading, triple)}"
    for dialect in spec.dialects:
        bounds = [_bound(dialect.id, etype.id, bound) for bound in triple[1:]]
        if etype.id not in dialect.element_types or None in bounds:
            yield "refused"
            continue
        used = (triple[0], *bounds)
        result = answers(spec, etype, spec.reading(dialect.answers), used)[0]
        shown = (word(etype, value) for value in (result, *bounds))
        yield ":".join((*shown, _allowed(etype, spec.reading(dialect.reading), used)))


def _accepted(etype, triple, y):
    """The other answers that a latitude accepts; all NaNs are one answer."""
    every = special_patterns(etype) if etype.family == "float" else ()
    nans = [value for value in every if is_nan(value, etype)]
    for value in [*nans[:1], *(v for v in every if v not in nans)]:
        for latitude in evaluator(load_spec(), etype).latitudes(triple, value):
            if value in nans or value != y:
                yield f"{latitude.id}={'any' if value in nans else word(etype, value)}"


def _allowed(etype, reading, triple):
    numbers, any_nan = answers_told(load_spec(), etype, reading, triple)
    return "|".join([*(word(etype, number) for number in numbers), *(["any"] if any_nan else [])])


@cache
def _bound(dialect_id, type_id, bound):
    """A bound in the element type; None for one that the dialect refuses."""
    spec = load_spec()
    etype, dialect = spec.element_type(type_id), spec.dialect(dialect_id)
    if dialect.bound_type in ("tensor", type_id):
        return bound
    text = hex_float(int(bound), etype) if etype.family == "float" else show(bound, etype)
    try:
        return used_bounds(spec, dialect, etype, [text, text])[0]
    except UserError:
        return None
