"""Mistakes in the findings of spec/clip.yaml; the form is that of `tests.spec.mistake`."""

from __future__ import annotations

from tests.spec.mistake import m

# fmt: off

C2 = "{type: float32, X: 5, L: nan, M: 9, refutes: C2}"
DROPS = (
    "{type: float32, X: nan, L: 0, M: 1, "
    "answers: [{by: cases}, {by: formula-c}, {by: formula-cpp}, {by: formula-2008}]}"
)
OTHER = "{type: int32, X: 0, L: 2, M: 1, answers: [{by: onnx-13}, {by: directml-5.0}]}"
PAGE = "{page: sonnx-clip, text: why3, stands_at: [157, 312, 472]}"
WHERE = "X: 7, L: 0, M: 1, answers: [{by: onnx-13}]"
PRINTED = "{by: onnx-6, L: -3.402823e+38, M: 3.402823e+38, note: as printed}"
WIDEST = "{type: float32, X: inf, L: lowest, M: highest, refutes: widest_bounds_are_no_bound}"
BITS = "answers: [{by: cases}, {by: onnx-body}, {by: formula-c}]"
AT = "(findings[…].witnesses[1])"

PASSED = "(formula_2019_returns(X, L, M, Y) or numpy_returns(X, L, M, Y) or onnx_body"
NO_NUMBER = "holds: not becomes(-1, Y)"
UNSIGNED = f"types: [uint8, uint16, uint32, uint64]\n        {NO_NUMBER}"
CLAIM = "(findings[…].claim"

FINDINGS = [
    m("a claim on no type", UNSIGNED, f"types: [§uint7, uint8]\n        {NO_NUMBER}",
      f"{CLAIM}[2].types[0])", "there is no element type `uint7`"),
    m("a claim for no type", UNSIGNED, f"{NO_NUMBER}", f"{CLAIM}[2])",
      "its types are missing"),
    m("a claim on a dialect of another type", NO_NUMBER,
      "holds: not becomes(-1, Y) and §onnx_11_returns(X, L, M, Y)", f"{CLAIM}[2].holds)",
      "`onnx_11_returns` is not defined in the claim of a finding"),
    m("a conversion that no dialect has", PASSED, PASSED.replace("(", "(becomes(1, Y) or ", 1),
      f"{CLAIM}[0].holds)", "`becomes` cannot be used in the claim of a finding"),
    m("a line too few", "stands_at: [75, 91, 224, 240, 378, 394]", "stands_at: §[75, 91, 224, 240, 378]",
      "(findings[…].witnesses[0].stands_at)", "occurs in lines 75, 91, 224, 240, 378, 394 of sonnx-clip.md"),
    m("a text that is not the last", "$i$, ⟨end⟩', stands_at: 476", "$i$, ⟨end⟩', stands_at: §[316, 476]",
      "(findings[…].witnesses[2].stands_at)", "⟨end⟩` occurs in lines 476 of sonnx-clip.md"),
    m("a witness of no kind", C2, "§{type: float32, X: 5, L: nan, M: 9}", AT,
      "the key `answers` is missing"),
    m("a key of another kind", PAGE, PAGE.replace("text:", "§M: 1, text:"),
      "(findings[…].witnesses[0].M)", "the key `M` is not known here"),
    m("refuted entry that is not there", C2, "§{type: float32, X: 5, L: nan, M: 9, refutes: C4}", AT,
      "there is no `C4` among the properties"),
    m("property with another variable", WIDEST,
      f"§{WIDEST.replace('widest_bounds_are_no_bound', 'monotone')}", "(findings[…].witnesses[3])",
      "`monotone` uses X2"),
    m("side that is not there", DROPS, DROPS.replace("{by: formula-c}", "§{by: formula}"),
      "(findings[…].witnesses[0].answers[1])", "there is no `formula` among the readings"),
    m("side that differs in bits alone", f"compared: bits, {BITS}",
      "answers: [{by: cases}, §{by: onnx-body}, {by: formula-c}]", "(findings[…].witnesses[1].answers[1])",
      "`onnx-body` answers 0 here, as `cases` does", "add `compared: bits`"),
    m("side that takes another type", OTHER, OTHER.replace("{by: onnx-13}", "§{by: onnx-11}"),
      "(findings[…].witnesses[1].answers[0])", "`onnx-11` does not take int32"),
    m("reading without bounds", PRINTED, "§{by: onnx-body, note: as printed}",
      "(findings[…].witnesses[0].answers[1])", "`onnx-body` does not define missing bounds"),
    m("dialect that refuses a missing bound", PRINTED, "§{by: directml-1.0, note: as printed}",
      "(findings[…].witnesses[0].answers[1])", "`directml-1.0` refuses a missing bound"),
    m("a claim on texts without a place", "claim:\n      - says: where both rows apply",
      "claim:\n      - §says: a claim on the texts\n      - says: where both rows apply", f"{CLAIM}[0])",
      "a claim on the texts, and no witness has `stands_at`"),
]
