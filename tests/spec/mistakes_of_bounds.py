"""Mistakes in mechanisms, conditions on bounds and bounds in use, in the form of `tests.spec.mistake`."""

from __future__ import annotations

from tests.spec.mistake import m

# fmt: off

RELU6 = "  - {L: 0, M: 6, reason: ReLU6}\n"
THROUGH_FLOAT16 = "title: as if through float16, computes: float16"
MAX_IGNORED = "title: the upper bound is ignored, is: if X <= L then L else X"

CAUSES = [
    m("unknown conversion", THROUGH_FLOAT16, "title: as if through float16, computes: §float17",
      "(mechanisms[…].computes)", "`float17` is not allowed here", "one of: 'float16', "),
    m("unknown limitation of bounds", "bounds: finite", "bounds: §finit",
      "(mechanisms[…].bounds)", "`finit` is not allowed here", "one of: 'finite', "),
    m("mechanism with two kinds", "{id: in_float16, " + THROUGH_FLOAT16,
      "§{id: in_float16, " + THROUGH_FLOAT16 + ", compares: float16", "(mechanisms[…])",
      "give one of `is`, `returns`, `computes`, `compares`, `bounds` and `absent`"),
    m("mechanism without a kind", "{id: max_ignored, " + MAX_IGNORED,
      "§{id: max_ignored, title: the upper bound is ignored", "(mechanisms[…])",
      "give one of `is`, `returns`, `computes`, `compares`, `bounds` and `absent`"),
    m("mechanism with an unknown operand", MAX_IGNORED,
      "title: the upper bound is ignored, is: if X <= §N then L else X", "(mechanisms[…].is)",
      "`N` is not defined in a mechanism"),
    m("mechanism with a duplicate id", "id: max_ignored", "id: §zero_sign", "(mechanisms[…].id)",
      "the id `zero_sign` is taken by mechanisms[0]"),
    m("absent scalar that is none", "absent: {L: 0}", "absent: {§N: 0}", "(mechanisms[…].absent",
      "`N`"),
    m("absent scalar that is no number", "absent: {L: 0}", "absent: {L: §none}", "(mechanisms[…].absent.L)",
      "`none` is not a number"),
    m("condition on bounds with a tensor", "  - {is: M < L}\n", "  - {is: M < §X}\n",
      "(conditions_on_bounds[…].is)", "`X`", "in a condition on bounds"),
]

BOUNDS = [
    m("bounds that no type holds", RELU6, "  - {L: 0, M: §1e-9999, reason: too small}\n" + RELU6,
      "(bounds_in_use[…].M)", "no element type holds `1e-9999`", "write a number, a constant or absent"),
    m("bound that is a word", RELU6, "  - {L: 0, M: §none, reason: Relu}\n" + RELU6,
      "(bounds_in_use[…].M)", "no element type holds `none`", "write a number, a constant or absent"),
    m("pair of bounds that is there twice", RELU6, RELU6 + "  - §{L: 0, M: 6, reason: again}\n",
      "(bounds_in_use[…])", "these bounds are there already: ReLU6", "join the reasons"),
    m("bounds without a side", RELU6, "  - §{L: 0, reason: Relu}\n" + RELU6, "(bounds_in_use[…])", "M"),
    m("bounds with a tensor", RELU6, "  - {L: 0, M: 6, §X: 7, reason: ReLU6}\n", "(bounds_in_use[…]", "X"),
    m("bounds without a reason", RELU6, "  - §{L: 0, M: 6}\n", "(bounds_in_use[…])",
      "the key `reason` is missing"),
]
