"""What the explorer must find for an input, by the NumPy oracle and by evaluation; and what it finds."""

import json
import random
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from sonnx_clip.backends.javascript import render_javascript, rewrites_script
from sonnx_clip.evidence.explorer import meaning_data, rewrites_data
from sonnx_clip.language import encode, hex_float, show, show_bits
from sonnx_clip.language.special import FEW, special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.dialect import named
from sonnx_clip.rewrites.rewrite import known_rewrites
from sonnx_clip.rewrites.terms import operators
from sonnx_clip.root.dtypes import from_bits
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import evaluator, load_spec
from sonnx_clip.spec.dialects import effective_bounds
from sonnx_clip.spec.readings import answers, same_value
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
    meaning = meaning or render_javascript(load_spec())
    parts = [(TEMPLATES / name).read_text() for name in ("values.js", "answers.js")]
    data = json.dumps(meaning_data(load_spec()))
    return "\n".join(["let data;", meaning, *parts, TELL, f"prepare({data});"])


def script_of_all():
    """The same for every operator and rewrite; `use(name)` chooses the operator, or the rewrites."""
    meaning = render_javascript(*operators().values()) + rewrites_script(known_rewrites())
    parts = [(TEMPLATES / name).read_text() for name in ("values.js", "answers.js", "rewrites.js")]
    scopes = {name: meaning_data(spec) for name, spec in operators().items()}
    scopes |= {"rewrites": rewrites_data()}
    use = "const use = (name) => { data = scopes[name]; };"
    prepared = "Object.values(scopes).forEach(prepare);"
    words = f"let data; const scopes = {json.dumps(scopes)};"
    return "\n".join([words, meaning, *parts, TELL, use, prepared])


def run(folder, source):
    """What a script leaves in `output`, as JSON, by Node.js or else by Chromium."""
    if NODE is None:
        found = "document.getElementById('found').textContent = JSON.stringify(output);"
        page = (
            f'<!DOCTYPE html><meta charset="utf-8"><pre id="found"></pre><script>{source}\n{found}'
        )
        return browse(folder, folder / "profile", wrapper=f"{page}</script>")[0]
    (folder / "script.js").write_text(f"{source}\nconsole.log(JSON.stringify(output));\n")
    command = [NODE, folder / "script.js"]
    return json.loads(
        subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    )


def drawn(etype, count, seed=0):
    """Triples: special values, values of random bits, and some of them twice in a triple."""
    source = random.Random(f"{etype.id} {seed}")
    if etype.family == "real":
        pool = [Fraction(n, d) for n in range(-9, 10) for d in (1, 2, 10, 1000)]
        one = lambda: source.choice(pool)  # noqa: E731
    else:
        pool = special_patterns(etype)

        def one():
            return source.choice(pool) if source.random() < 0.6 else source.getrandbits(etype.width)

    for _ in range(count):
        t = tuple(one() for _ in range(3))
        yield (t[0], t[source.randrange(3)], t[source.randrange(3)]) if source.random() < 0.2 else t


def few(etype):
    """Triples of the values that distinguish the readings, and of a float a part of them."""
    every = list(product([encode(text, etype) for text in FEW[etype.family]], repeat=3))
    return every[:: 3 if len(every) > 100 else 1]


def texts(etype, triple):
    return [word(etype, value) for value in triple]


def word(etype, value):
    return show(value, etype) if etype.width is None else show_bits(int(value), etype)


def due(etype, triples):
    """A line for each triple, as `tell` of the script makes it."""
    return _due_of_reals(etype, triples) if etype.width is None else _due_of_bits(etype, triples)


def _due_of_bits(etype, triples):
    spec, oracle, family, width = load_spec(), load_oracle(), etype.family, f"u{etype.width // 8}"
    columns = [np.array([t[i] for t in triples], width) for i in range(3)]
    x, l, m = (from_bits(column, etype.id) for column in columns)
    result = oracle.clip(x, l, m)
    cases, classes = (_holding(of[family], x, l, m) for of in (oracle.CASES, oracle.CLASSES))
    found = zip(cases, classes, result.view(width), strict=True)
    lines = [[*case, "+".join(klass), word(etype, bits)] for case, klass, bits in found]
    for line, accepted in zip(lines, _accepted(etype, x, l, m, result), strict=True):
        line.append(",".join(accepted))
    for allows in oracle.READINGS[family].values():
        for i, (all_, told) in enumerate(_answers(etype, allows, (x, l, m))):
            y = int(result.view(width)[i])
            same = all(a == y for a in all_), all(same_value(a, y, etype) for a in all_)
            lines[i].append(f"{'bits' if same[0] else 'values' if same[1] else 'differs'}:{told}")
    for dialect in spec.dialects:
        bounds = [_bounds(dialect.id, etype.id, l, m) for l, m in zip(*columns[1:], strict=True)]
        there = np.array([None not in of for of in bounds])
        low, high = (
            from_bits(np.array([of[i] or 0 for of in bounds], width), etype.id) for i in range(2)
        )
        if not there.any():
            got = tolds = bounds
        else:
            got = named(dialect.id).answer(x, low, high).view(width)
            tolds = _answers(etype, oracle.READINGS[family][dialect.reading], (x, low, high))
        for line, ok, y, bound, told in zip(lines, there, got, bounds, tolds, strict=True):
            used = (word(etype, v) for v in (y, *bound)) if ok else ()
            line.append(":".join((*used, told[1])) if ok else "refused")
    return [" ".join(line) for line in lines]


def _holding(functions, *operands):
    """Of each triple the ids of the functions that hold."""
    columns = zip(*(holds(*operands) for holds in functions.values()), strict=True)
    return [
        [id_ for id_, here in zip(functions, column, strict=True) if here] for column in columns
    ]


def _accepted(etype, x, l, m, result):
    found, bits = [[] for _ in x], result.view(f"u{x.dtype.itemsize}")
    every = special_patterns(etype) if etype.family == "float" else ()
    nan = lambda value: same_value(value, int(encode("nan", etype)), etype)  # noqa: E731
    for value in [*[v for v in every if nan(v)][:1], *(v for v in every if not nan(v))]:
        answer = from_bits(np.full(len(x), value, bits.dtype), etype.id)
        for id_, accepts in load_oracle().LATITUDE[etype.family].items():
            for i in np.flatnonzero(accepts(x, l, m, result, answer)):
                if nan(value) or bits[i] != value:
                    found[i].append(f"{id_}={'any' if nan(value) else word(etype, value)}")
    return found


def _answers(etype, allows, triple):
    """Of each triple the answers that a reading allows, and the words of them."""
    bits = f"u{triple[0].dtype.itemsize}"
    quiet, sign = (
        int(encode("nan", etype)) if etype.family == "float" else 0,
        1 << (etype.width - 1),
    )
    constant = lambda value: from_bits(np.full(len(triple[0]), value, bits), etype.id)  # noqa: E731
    floats = etype.family == "float"
    tried = [*triple, *(constant(v) for v in (quiet, quiet | sign) if floats)]
    first = int(encode("inf", etype)) + 1 if floats else 0
    others = [constant(v | s) for v in (quiet, quiet + 1, first) for s in (0, sign) if floats]
    none = np.zeros(len(triple[0]), bool)
    any_nan = np.all([allows(*triple, y) for y in others], axis=0) if floats else none
    masks = [np.broadcast_to(allows(*triple, y), len(triple[0])) for y in tried]
    values = [y.view(bits) for y in tried]
    for i, free in enumerate(any_nan):
        all_ = dict.fromkeys(int(v[i]) for v, mask in zip(values, masks, strict=True) if mask[i])
        kept = (y for y in all_ if not (free and same_value(y, quiet, etype)))
        yield list(all_), "|".join([*(word(etype, y) for y in kept), *(["any"] if free else [])])


@cache
def _bounds(dialect_id, type_id, *bounds):
    """The bounds in the element type; None for one that the dialect refuses."""
    dialect = load_spec().dialect(dialect_id)
    if dialect.bound_type == "tensor":
        return bounds if type_id in dialect.element_types else (None, None)
    return tuple(_bound(dialect_id, type_id, bound) for bound in bounds)


@cache
def _bound(dialect_id, type_id, bound):
    spec = load_spec()
    etype = spec.element_type(type_id)
    if type_id == spec.dialect(dialect_id).bound_type:
        return bound
    text = hex_float(int(bound), etype) if etype.family == "float" else show(int(bound), etype)
    try:
        return effective_bounds(spec, spec.dialect(dialect_id), etype, [text, text])[0]
    except UserError:
        return None


def _due_of_reals(etype, triples):
    spec, lines = load_spec(), []
    for triple in triples:
        of = evaluator(spec, etype)
        y, line = of.result(*triple), [of.case(*triple).id, of.class_of(*triple).id]
        line += [word(etype, y), ""]
        for reading in spec.readings:
            all_ = answers(spec, etype, reading, triple)
            told = "|".join(texts(etype, all_))
            line.append(f"{'bits' if all(one == y for one in all_) else 'differs'}:{told}")
        for dialect in spec.dialects:
            if etype.id not in dialect.element_types:
                line.append("refused")
                continue
            (one,) = answers(spec, etype, spec.reading(dialect.answers), triple)
            all_ = answers(spec, etype, spec.reading(dialect.reading), triple)
            line.append(":".join([*texts(etype, (one, *triple[1:])), "|".join(texts(etype, all_))]))
        lines.append(" ".join(line))
    return lines
