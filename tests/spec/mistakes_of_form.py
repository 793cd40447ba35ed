"""Mistakes in the form of spec/clip.yaml and in its references, in the form of `tests.spec.mistake`."""

from __future__ import annotations

from tests.spec.mistake import m

# fmt: off

CLIP_13 = 'source: {page: onnx-clip, section: "Clip - 13", quote: "They default'

YAML = [
    m("unclosed", "aliases: {Y: C2}", "aliases: {Y: C2\n  - §]", "", "not YAML"),
    m("duplicate key", "title: the bounds are inverted", "title: a\n    §title: b", "(cases[…].title)",
      "the key `title` is there twice", "keep one"),
    m("tag", "operator: Clip", "operator: §!!binary Clip", "(operator)", "tag"),
    m("alias", "operator: Clip", "operator: &a Clip\nmore: *a", "(more)", "aliases are not part"),
    m("complex key", "operator: Clip", "operator: Clip\n§[a]: b", "", "a key must be a text"),
]

STRUCTURE = [
    m("unknown key", "title: the bounds are inverted", "§titel: the bounds are inverted", "(cases[…].titel)",
      "the key `titel` is not known here", "did you mean `title`?"),
    m("key like no other", "title: the bounds are inverted", "title: inverted\n    §colour: red",
      "(cases[…].colour)", "the key `colour` is not known here",
      "known keys: id, title, when, result, not_for, inhabited_by, source"),
    m("misspelt key beside two", 'chapter: "clip (real)"', '§chaptre: "clip (real)"', "(families[…].chaptre)",
      "did you mean `chapter`?"),
    m("missing key", "  - id: inverted\n    title: the bounds are inverted\n", "  - §id: inverted\n",
      "(cases[…])", "the key `title` is missing"),
    m("blank text", "title: the bounds are inverted", 'title: §"  "', "(cases[…].title)",
      "this one is empty: write it out"),
    m("text for list", "dims: [2, 3]}\n  L:", "dims: §six}\n  L:", "(declared_example.X.dims)",
      "a list is expected", "this is `six`"),
    m("bad result", "result: L\n", "result: §N\n", "(cases[…].result)",
      "`N` is not defined in the result of a case", "it has: X, L, M"),
    m("choice as a result", "result: L\n", "result: §if X < L then L else X\n", "(cases[…].result)",
      "the result of a case is an operand, a number, or the opposite of one"),
    m("unknown type of a family", 'chapter: "clip (real)"\n',
      'chapter: "clip (real)"\n    types: [§reel]\n',
      "(families[…].types[0])", "there is no element type of the family real `reel`"),
    m("type of another family", 'chapter: "clip (real)"\n',
      'chapter: "clip (real)"\n    types: [§int8]\n',
      "(families[…].types[0])", "there is no element type of the family real `int8`"),
    m("element types of its own", "\ncases:\n", "\nelement_types:\n  §- {id: float8}\n\ncases:\n",
      "(element_types)", "element types are stated once, in spec/element_types.yaml"),
    m("version", "format: 1\n", "format: §2\n", "(format)", "at most 1"),
    m("bad id", "- id: zero_tie", "- id: §zero-tie", "(definitions[…].id)", "`zero-tie` is not a valid name"),
    m("comma without quotes", 'repaired: {float: "not (high and zero_tie(L, M)) or identical(L, M)"}',
      "repaired: {float: not (high and zero_tie(L, §M)) or identical(L, M)}", "",
      "inside { } a text with a comma needs quotes"),
    m("empty list", "parameters: [a, b]\n    is: a == b", "parameters: [a, §a]\n    is: a == a",
      "(definitions[…].parameters[1])", "the parameter `a` is there twice"),
    m("empty condition", "when: not inverted and X <= L\n", 'when: §""\n', "(cases[…].when)",
      "a condition is expected"),
]

REFERENCES = [
    m("operand named as the result", "result: {id: Y", "result: {id: §M", "(result.id)", "`M` is an operand"),
    m("duplicate id", "  - id: high\n", "  - id: §low\n", "(cases[…].id)",
      "the id `low` is taken by cases[1]"),
    m("unknown section", CLIP_13, CLIP_13.replace('"Clip - 13"', '§"Clip - 14"'),
      "(properties[…].source.section)",
      "has no section `Clip - 14`", "did you mean `Clip - 1` or `Clip - 13`"),
    m("wrong quote", '"Otherwise, the value is unchanged."', '§"Otherwise, the value is left."',
      "(properties[…].source.quote)", "does not contain this", "quote it exactly"),
    m("missing page", "file: spec/sources/directml-clip.txt", "file: §spec/sources/directml.txt",
      "(sources[…].file)", "there is no file spec/sources/directml.txt"),
    m("page neither kept nor cited",
      '  - id: onnx-where\n    title: "ONNX: the element types of Where and Less"\n'
      "    file: spec/sources/onnx-where.txt\n",
      "  - §id: onnx-where\n    title: a page\n", "(sources[…])", "give one of `file` and `cites`"),
    m("quotation of a page that is only cited", "{page: numpy-extrema, section: minimum, fact:",
      "§{page: numpy-extrema, section: minimum, quote:", "(findings[…].words[7])",
      "the text of numpy-extrema is only cited", "give a `fact`"),
    m("fact of a page that is kept here", '{page: sonnx-clip, section: "clip (real)", quote:',
      '§{page: sonnx-clip, section: "clip (real)", fact:', "(families[…].source)",
      "the text of sonnx-clip is in the repository", "give a `quote`"),
    m("unknown case", "{id: low_tie, case: low,", "{id: low_tie, case: §lo,", "(classes[…].case)",
      "there is no case `lo`", "did you mean `low`"),
    m("refuted and held",
      "claim: (L <= Y and Y <= M) or Y == M\n    holds_for: [real, int]\n    refuted_for: {float",
      "claim: (L <= Y and Y <= M) or Y == M\n    holds_for: [real, int, float]\n    refuted_for: {§float",
      "(properties[…].refuted_for.float)", "under `holds_for` and under `refuted_for`"),
    m("not repaired",
      "    refuted_for: {float: {X: 1, L: nan, M: 2}}\n    repaired: {float: bounds_are_numbers}\n",
      "    refuted_for: {§float: {X: 1, L: nan, M: 2}}\n", "(properties[…].refuted_for.float)",
      "no condition is given under which it holds"),
    m("repaired, not refuted", "    refuted_for: {float: {X: 1, L: nan, M: 2}}\n    repaired: {float",
      "    not_for: {float: unknown}\n    repaired: {§float", "(properties[…].repaired.float)",
      "nothing to repair"),
    m("refuted for another family",
      "holds: type(X) == type(L) and type(X) == type(M) and type(X) == type(Y)\n",
      "holds: type(X) == type(L)\n"
      "    refuted_for: {§real: {X: 1, L: 1, M: 1}}\n    repaired: {real: X == X}\n",
      "(constraints[…].refuted_for.real)", "is not stated for the family `real`"),
    m("length of an example", "Y: [0, 9.5, 10]", "Y: §[0, 9.5]", "(examples[…].Y)",
      "X has 3 entries, Y has 2"),
    m("type of another family", "not_representable_in: [uint8,", "not_representable_in: [§float16,",
      "(examples[…].not_representable_in[0])", "there is no element type of int `float16`"),
]
