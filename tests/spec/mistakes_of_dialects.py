"""Mistakes in the dialects of spec/clip.yaml, in the form of `tests.spec.mistake`."""

from __future__ import annotations

from tests.spec.mistake import m

# fmt: off

DIALECTS = [
    m("a row that is not there", "after: onnx-11\n", "after: §onnx-10\n", "(dialects[…].after)",
      "no earlier row is called `onnx-10`", "`onnx-1`"),
    m("nothing said of missing bounds",
      "    missing: {min: lowest, max: highest, of: element}\n    reading: onnx-words\n",
      "    reading: onnx-words\n", "(dialects[…])",
      "the key `missing` is missing"),
    m("casts forgotten",
      "      casts: the conversion of a FLOAT to a float16 or a double is unspecified; the oracle rounds "
      "to nearest, ties to even\n", "", "(dialects[…].id)", "`onnx-1` has no entry for `casts`"),
    m("said and unsaid", "      casts: the conversion of a FLOAT",
      "      §bounds: not said\n      casts: the conversion of a FLOAT", "(dialects[…].unsaid.bounds)",
      "`bounds` is under `says` and under `unsaid`"),
    m("in place without words",
      "      in_place: {section: DML_ELEMENT_WISE_CLIP_OPERATOR_DESC structure (directml.h), quote: "
      '"This operator supports in-place execution"}\n    unsaid:\n',
      "    unsaid:\n      in_place: not said\n", "(dialects[…].id)",
      "`in_place` is set without a quotation"),
    m("a type without a name", "    element_types: [float16, float32]\n",
      "    element_types: [float16, §float64]\n", "(dialects[…].element_types[1])",
      "directml has no name for float64"),
    m("an unknown reading", "    answers: directml-c\n", "    answers: §directml-cc\n",
      "(dialects[…].answers)",
      "there is no reading `directml-cc`", "`directml-c`"),
    m("a change of another type", "    changes: {float16: inf, float64: inf}\n    printed_default",
      "    changes: {float16: inf, float64: inf, §int8: 1}\n    printed_default",
      "(dialects[…].changes.int8)", "do not both take int8"),
    m("a default that is no number",
      "    missing: {min: lowest, max: highest, of: element}\n    reading: onnx-words\n",
      "    missing: {min: lowest, max: heighest, of: element}\n    reading: onnx-words\n",
      "(dialects[…].id)", "onnx-1: `heighest` is not a number"),
    m("a default that becomes no integer",
      "uint8, uint16, uint32]\n    ranks: {least: 4, greatest: 4}\n    bounds: members\n"
      "    bound_type: float32\n    missing: refused\n",
      "uint8, uint16, uint32]\n    ranks: {least: 4, greatest: 4}\n    bounds: members\n"
      "    bound_type: float32\n    missing: {min: -inf, max: inf, of: bound}\n",
      "(dialects[…].id)", "the default bound -inf becomes no number of int8"),
    m("a bound that the type of an example lacks",
      "    type: int8\n    X: [-1, 0, 1]\n", "    type: int8\n    X: [-1, 0, 1]\n    L: -inf\n",
      "(dialect_examples[…].id)", "`onnx_default_int8_inbounds`: int8 has no `inf`"),
    m("an entry that the type of an example lacks",
      "    type: int8\n    X: [-1, 0, 1]\n", "    type: int8\n    X: [-1, 0, 128]\n",
      "(dialect_examples[…].id)", "`onnx_default_int8_inbounds`: "),
]
