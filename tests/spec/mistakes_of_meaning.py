"""Mistakes in the conditions and numbers of spec/clip.yaml, in the form of `tests.spec.mistake`."""

from __future__ import annotations

from tests.spec.mistake import m

# fmt: off

LOW = "when: not inverted and X <= L\n"

LANGUAGE = [
    m("undefined name", LOW, "when: not §inverse and X <= L\n", "(cases[…].when)",
      "`inverse` is not defined in a case", "did you mean `inverted`?"),
    m("sum", LOW, "when: not inverted and X §+ 1 <= L\n", "(cases[…].when)",
      "`+` is not part of the language, which has no arithmetic", "`opposite(a)`"),
    m("difference", LOW, "when: not inverted and not (X §- 1 <= L)\n", "(cases[…].when)",
      "`-` is not part of the language, which has no arithmetic", "`opposite(a)`"),
    m("result with a product", "result: L\n", "result: L §* 2\n", "(cases[…].result)",
      "`*` is not part of the language, which has no arithmetic"),
    m("later case", "when: M < L\n", "when: §low\n", "(cases[…].when)", "`low` is not defined in a case"),
    m("Y in a case", LOW, "when: not inverted and §Y <= L\n", "(cases[…].when)",
      "`Y` cannot be used in a case"),
    m("number that integers lack", LOW, "when: not inverted and X <= §9.5\n", "(cases[…].when)",
      "9.5 is not an integer", "int8 holds -128 … 127"),
    m("constant that real lacks", LOW, "when: not inverted and X <= §inf\n", "(cases[…].when)",
      "has no `inf`"),
    m("tensor as element", " or every(Y[i] == M)", " or every(Y[i] == §X)", "(constraints[…].holds)",
      "an element is expected here, this is a tensor value", "inside `every(…)`"),
    m("latitude by the operator", "when: is_nan(Y)\n", "when: identical(Y, §clip(X, L, M))\n",
      "(latitude[…].when)", "`clip`"),
    m("reserved id", "- id: zero_tie", "- id: §is_nan", "(definitions[…].id)", "is built in of the language"),
    m("parameter like a constant",
      "parameters: [a, b]\n    is: a == b", "parameters: [a, §nan]\n    is: a == b",
      "(definitions[…].parameters[1])", "`nan` is a constant of the language"),
    m("parameter like an id", "parameters: [a, b]\n    is: a == b", "parameters: [a, §low]\n    is: a == low",
      "(definitions[…].parameters[1])", "is the id of an entry"),
]

EVALUATED = [
    m("overlapping cases", "and not (M <= X)", "and not (M < X)", "(cases[…])",
      "`real.cases_disjoint` is false for X = 1, L = 0, M = 1"),
    m("example contradicts", "Y: [0, 9.5, 10]", "Y: [0, §9.25, 10]", "(examples[…].Y[1])",
      "`real.example_real_1` is false: clip(9.5, 0, 10) is 9.5, not 9.25", "correct the entry, or the cases"),
]

NUMBERS = [
    m("witness is no number", "inhabited_by: {X: 1, L: 2, M: 10}\n    source",
      "inhabited_by: {X: §one, L: 2, M: 10}\n    source", "(cases[…].inhabited_by.X)",
      "`one` is not a number"),
    m("witness that a type lacks", "inhabited_by: {X: 1, L: 2, M: 10}\n    source",
      "inhabited_by: {X: §-1, L: 2, M: 10}\n    source", "(cases[…].inhabited_by.X)",
      "-1 is not in the range of uint8", "0 … 255"),
    m("property witness without X2",
      "claim: X <= X2 implies Y <= clip(X2, L, M)\n    holds_for: [real, int, float]\n",
      "claim: X <= X2 implies Y <= clip(X2, L, M)\n    holds_for: [real, int]\n"
      "    refuted_for: {float: §{X: 1, L: 1, M: 1}}\n    repaired: {float: X < L}\n",
      "(properties[…].refuted_for.float)", "the claim uses X2, which the witness does not define"),
    m("latitude witness is no number", "inhabited_by: {X: nan, L: 1, M: 0, A: nan}",
      "inhabited_by: {X: nan, L: 1, M: 0, A: §0x7fc0000}", "(latitude[…].inhabited_by.A)",
      "0x7fc0000 has 28 bits, float16 has 16"),
    m("example out of range", "not_representable_in: [uint8, uint16,", "not_representable_in: [uint8,",
      "(examples[…])", "`int_1` does not fit uint16: -6 is not in the range of uint16"),
    m("example in range", "not_representable_in: [uint8, uint16,",
      "not_representable_in: [§int8, uint8, uint16,", "(examples[…].not_representable_in[0])",
      "can be represented in int8"),
]
