"""The explorer has the meaning of the other operators, and decides rewrites as the command does."""

import json
import random
from contextlib import suppress
from itertools import product

import pytest

from sonnx_clip.language import encode
from sonnx_clip.language.special import FEW
from sonnx_clip.rewrites.critical_points import STRENGTHS, difference
from sonnx_clip.rewrites.rewrite import known_rewrites
from sonnx_clip.rewrites.terms import meaning, operators
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import answers_told
from tests.evidence import explored
from tests.evidence.test_browser import CHROMIUM
from tests.meta.judged import nightly_but

pytestmark = pytest.mark.skipif(
    explored.NODE is None and CHROMIUM is None,
    reason="no JavaScript engine: install Node.js, or Chromium by tools/setup.sh browser",
)
OTHERS = {name: spec for name, spec in operators().items() if name != "clip"}
# Integers have no infinity and no NaN, and read -0 as 0.
NUMBERS = {
    "real": ("-2", "-1", "0", "1", "2.5"),
    "int": ("lowest", "-1", "0", "1", "2", "highest"),
    "uint": ("0", "1", "2", "highest"),
    "float": ("-2", "-0", "0", "1", "inf", "-inf", "nan", "snan", "smallest_subnormal"),
}
MOST = 40  # choices of constants of a rewrite in a type


def numbers_of(etype):
    """The values of the numbers that a type has: an unsigned one has no -1."""
    values = {}
    for text in (*NUMBERS[etype.family], *FEW.get(etype.family, ())):
        with suppress(UserError):
            values[encode(text, etype)] = text
    return list(values)


def inputs_of(spec, etype):
    """Special values in every combination."""
    return list(product(numbers_of(etype), repeat=len(spec.signature.operands)))


def line_of(spec, etype, values):
    """A line as `tell` of the script makes it, by evaluation of the YAML."""
    evaluate = evaluator(spec, etype)
    if not evaluate.is_defined(*values):
        return "outside"
    result = evaluate.result(*values)
    parts = [evaluate.case(*values).id, evaluate.class_of(*values).id]
    parts.append(explored.word(etype, result))
    for reading in spec.readings:
        allowed, any_nan = answers_told(spec, etype, reading, values)
        words = [explored.word(etype, value) for value in allowed]
        parts.append("|".join([*words, *(["any"] if any_nan else [])]))
    return " ".join(parts)


TELL = """
const line = (type, texts) => {
  const found = explore(type, texts.map((text) => parse(text, type)));
  if (found.outside) return "outside";
  const readings = found.readings.map((reading) => allowedWords(reading, type));
  return [found.case, found.classes.join("+"), word(found.due, type), ...readings].join(" ");
};
"""


@pytest.mark.parametrize("name", OTHERS)
def test_other_operator_has_the_meaning_of_its_file(tmp_path, name):
    spec = OTHERS[name]
    inputs = {etype.id: inputs_of(spec, etype) for etype in spec.element_types}
    texts = {
        etype.id: [explored.texts(etype, values) for values in inputs[etype.id]]
        for etype in spec.element_types
    }
    source = f"""{explored.script_of_all()} {TELL}
    use({json.dumps(name)});
    const output = Object.entries({json.dumps(texts)}).map(([id, all]) =>
      all.map((texts) => line(data.types[id], texts)));"""
    lines = dict(zip(texts, explored.run(tmp_path, source), strict=True))
    for etype in spec.element_types:
        expected = [line_of(spec, etype, values) for values in inputs[etype.id]]
        assert lines[etype.id] == expected, etype.id


TYPES = ["real", "int8", "uint16", "float16", "float32", "float64"]


def choices(rewrite, etype):
    """Constants of a rewrite: all if they are few, else some that are drawn."""
    every = list(product(numbers_of(etype), repeat=len(rewrite.constants)))
    source = random.Random(f"{rewrite.id} {etype.id}")
    chosen = every if len(every) <= MOST else source.sample(every, MOST)
    return [dict(zip(rewrite.constants, values, strict=True)) for values in chosen]


def verdicts_of(rewrite, etype, family, constants):
    """Of each strength what the condition says, and whether an X differs."""
    in_type = meaning(etype.id)
    covered = rewrite.given is None or in_type.holds(rewrite.given, constants)
    verdicts = []
    for strength in STRENGTHS:
        condition = rewrite.condition(family, strength)
        if condition is None or not covered:
            stated = None
        elif isinstance(condition, bool):
            stated = condition
        else:
            stated = in_type.holds(condition, constants)
        differs = difference(in_type, rewrite.before, rewrite.after, constants, strength)
        verdicts.append([stated, differs is not None])
    return verdicts


@pytest.mark.parametrize("type_id", nightly_but({"real", "uint16"}, TYPES))
def test_rewrites_are_decided_as_by_the_command_line(tmp_path, type_id):
    etype = operators()["clip"].element_type(type_id)
    asked, expected = [], []
    for rewrite in known_rewrites():
        family = etype.family
        if etype not in rewrite.element_types(family) or not rewrite.fits(family):
            continue
        for constants in choices(rewrite, etype):
            texts = {name: explored.word(etype, value) for name, value in constants.items()}
            asked.append([rewrite.id, texts])
            expected.append(verdicts_of(rewrite, etype, family, constants))
    source = f"""{explored.script_of_all()}
    use("rewrites");
    const type = data.types[{json.dumps(type_id)}];
    const output = {json.dumps(asked)}.map(([id, texts]) => {{
      const constants = Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [name, parse(text, type)]));
      const {{ strengths }} = decide({{ id, ...data.rewrites[id] }}, constants, type);
      return strengths.map(({{ stated, differs }}) => [stated, differs !== null]);
    }});"""
    decided = explored.run(tmp_path, source)
    assert len(decided) > 300
    for question, got, verdicts in zip(asked, decided, expected, strict=True):
        assert got == verdicts, question
