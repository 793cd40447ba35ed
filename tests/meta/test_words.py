"""Numbers, lists and places that the texts have: a planted one that is not theirs is refused by name.

No test here runs a prover, and none generates: reading the specification is enough.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.coverage import require_coverage

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from tests.prove.workbench import Workbench

YAML = "spec/clip.yaml"
PAGE, ONNX, DIRECTML = (
    f"spec/sources/{name}" for name in ("sonnx-clip.md", "onnx-clip-versions.txt", "directml-clip.txt")
)
TEXT = repo_file(YAML).read_text(encoding="utf-8")


def _refused(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        load_spec(path)
    return str(caught.value)


def _changed(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = TEXT
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} must stand once in the file"
        text = text.replace(old, new)
    path = tmp_path / "clip.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def _swapped(one: str, other: str) -> list[tuple[str, str]]:
    """Two texts that take each other's place."""
    return [(one, "\0"), (other, one), ("\0", other)]


R1, R2 = (f'"`[{tag}]`     | Input {name} must be set"' for tag, name in (("R1", "L"), ("R2", "M")))
INT16 = "numpy: int16, c: int16_t"
ONNX_12 = "[int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64]"
DIRECTML_5 = "[float16, float32, int8, int16, int32, int64, uint8, uint16, uint32, uint64]"
SCALARS = TEXT[
    TEXT.index("  - id: scalar_bounds") : TEXT.index("\n# ----", TEXT.index("  - id: scalar_bounds"))
]
R4 = TEXT[TEXT.index("  - id: R4\n") : TEXT.index("  - id: R5\n")]
INT_2 = TEXT[TEXT.index("  - id: int_2\n") : TEXT.index("  - id: float_1\n")]
CONSUMED = '      attributes: {at: 227, quote: "consumed_inputs - INTS : legacy optimization attribute."}\n'
LEVEL_3 = TEXT[TEXT.index("  - id: directml-3.0\n") : TEXT.index("  - id: directml-5.0\n")]

# ruff: noqa: E501
# fmt: off
MISTAKES = {
    "a number of an example": (
        [("X: [6, 9, 35]", "X: [6, 8, 35]")], "(examples[3].X)", "in Example 2 of spec/sources/sonnx-clip.md:237 X is"),
    "a bound of an example": (
        [("L: 20.2\n", "L: 20.5\n")], "(examples[5].L)", "L is 20.2"),
    "a zero that an example does not write": (
        [("Y: [10.0, 10.0, 10.0]", "Y: [10, 10, 10.0]")], "(examples[5].Y)", "Y is [10.0, 10.0, 10.0]"),
    "SONNX's names of two types swapped": (
        _swapped("sonnx: INT8,", "sonnx: INT16,"), "(element_types[1].sonnx)", "`INT16` means a signed integer of 16 bits"),
    "ONNX's names of two types swapped": (
        _swapped("onnx: FLOAT,", "onnx: DOUBLE,"), "(element_types[11].onnx)", "`DOUBLE` means a float of 64 bits"),
    "NumPy's name of another type": (
        [(INT16, INT16.replace("numpy: int16", "numpy: uint16"))], "(element_types[2].numpy)", "means an unsigned integer"),
    "two quotations swapped": (
        _swapped(f"at: [25, 182, 336], quote: {R1}", f"at: [26, 183, 337], quote: {R2}"), "(restrictions[0].source.quote)",
        "this quotation is not of the row [R1]"),
    "two quotations swapped, and not their places": (
        _swapped(R1, R2), "(restrictions[0].source.at)", "these words stand at 26, 183, 337 of sonnx-clip.md"),
    "two quotations of dialects swapped": (
        [("bounds: {at: 181, quote: \"min - FLOAT (default is '(-3.402823e+38)')\"", "bounds: {at: 181, quote: \"max - FLOAT (default is '(3.402823e+38)')\""),
         ("at: 177, quote: \"max - FLOAT (default is '(3.402823e+38)')\"}\n  - id: onnx-11", "at: 177, quote: \"min - FLOAT (default is '(-3.402823e+38)')\"}\n  - id: onnx-11")],
        "(dialects[4].says.bounds.at)", "stand at 177"),
    "a place that is not that of the words": (
        [('at: 414, quote: "Values of the output tensor may be IEEE 754 infinity or NaN."}\n\n', 'at: 415, quote: "Values of the output tensor may be IEEE 754 infinity or NaN."}\n\n')], "(properties[7].source.at)", "stand at 414"),
    "a quotation without a place": (
        [('at: 414, quote: "Values of the output tensor may be IEEE 754 infinity or NaN."}\n\n', 'quote: "Values of the output tensor may be IEEE 754 infinity or NaN."}\n\n')], "(properties[7].source.quote)", "this entry does not say so"),
    "a quotation that leaves a chapter out": (
        [("at: [119, 268, 428]", "at: [119, 268]")], "(constraints[0].source.at)", "stand at 119, 268, 428"),
    "the role of C1": (
        [("role: postcondition\n    aliases: {X: C1", "role: precondition\n    aliases: {X: C1")],
        "(constraints[0].role)", "`C1` is a postcondition by what it says"),
    "the role of C3": (
        [("role: precondition and postcondition ", "role: precondition ")], "(constraints[2].role)", "`C3` is a"),
    "a number below a tensor": (
        [("aliases: {X: C2, L: C1, M: C1,", "aliases: {X: C2, L: C1, M: C2,")], "(constraints[2].aliases)",
        "below M `Type consistency` is [C1]"),
    "the families of R5": (
        [("families: [int, float]\n    not_for: {real: the chapter has one type and does not list the restriction}",
          "families: [float]\n    not_for: {real: the chapter has one type, int: it too}")],
        "(restrictions[4]", "the chapter of int lists R5"),
    "R5 in a chapter that lacks it": (
        [("families: [int, float]\n    not_for: {real: the chapter has one type and does not list the restriction}",
          "families: [real, int, float]")], "(restrictions[4].families)", "has no row [R5]"),
    "the statement of a restriction": (
        [("statement: Shape of tensors shall be explicit", "statement: Shapes shall be explicit")],
        "(restrictions[3].statement)", "the row [R4]"),
    "the origin of a restriction": (
        [("origin: General restriction GR2", "origin: General restriction GR3")], "(restrictions[3].origin)", "GR2"),
    "a restriction that is left out": (
        [(R4, "")], "(restrictions", "no restriction takes the row [R4]"),
    "scalar_bounds left out": (
        [(SCALARS, "")], "(restrictions)", "no restriction of real quotes spec/sources/sonnx-clip.md:124"),
    "a chapter of scalar_bounds left out": (
        [('      - {page: sonnx-clip, section: Inputs, at: [284, 445], quote: "The shape of tensor `M` must be empty (scalar)."}\n', "")],
        "(restrictions)", "sonnx-clip.md:284"),
    "an example that is left out": (
        [(INT_2, "")], "(examples)", "no entry takes Example 2 of spec/sources/sonnx-clip.md:237"),
    "int16 dropped from onnx-12": (
        [(f"element_types: {ONNX_12}", f"element_types: {ONNX_12.replace(' int16,', '', 1)}")],
        "(dialects[6].element_types)", "`onnx-12` does not take int16"),
    "uint64 dropped from directml-5.0": (
        [(f"element_types: {DIRECTML_5}", f"element_types: {DIRECTML_5.replace(', uint64', '')}")],
        "(findings[28].witnesses[3].dialect)", "`directml-5.0` converts no bound to"),
    "a type that DirectML 1.0 lacks": (
        [("    element_types: [float16, float32]\n", "    element_types: [float16, float32, int8]\n")],
        "(dialects[8].element_types)", "takes int8"),
    "the ranks of DirectML 3.0": (
        [("ranks: {least: 1, greatest: 8}", "ranks: {least: 1, greatest: 7}")], "(dialects[10].ranks)", "ranks 1 to 8"),
    "in place where nothing says so": (
        [("    in_place: true\n", "    in_place: false\n")], "(dialects[8].in_place)", "has in place"),
    "no scale and bias": (
        [("    scale_bias: true\n", "    scale_bias: false\n")], "(dialects[8].scale_bias)", "has scale bias"),
    "bounds as inputs where they are attributes": (
        [("    bounds: attributes\n", "    bounds: inputs\n")], "(dialects[3].bounds)", "has attributes"),
    "the type of a bound": (
        [("    bound_type: tensor\n    missing: {min: lowest, max: highest, of: element}",
          "    bound_type: float32\n    missing: {min: lowest, max: highest, of: element}")],
        "(dialects[5]", "onnx-11"),
    "a function body that the page has": (
        [("    function: true\n", "    function: false\n")], "(dialects[7].function)", "has function: True"),
    "a function body that the page has not": (
        [("    function: false\n", "    function: true\n")], "(dialects[3].function)", "has function: False"),
    "an attribute that nothing names": (
        [(CONSUMED, "")], "(dialects[3].id)", "has an attribute consumed_inputs"),
    "an attribute that a version no longer has": (
        [("    unsaid:\n      attributes: no attribute beside the bounds\n", "")], "(dialects[4].section)",
        "does not say this: `consumed_inputs - INTS : legacy optimization attribute.`, taken over for attributes"),
    "a version that is left out": (
        [(LEVEL_3, ""), ("after: directml-3.0", "after: directml-2.1\n    ranks: {least: 1, greatest: 8}")],
        "(dialects)", "no dialect takes version 3.0"),
    "monotone of nothing": (
        [("claim: X <= X2 implies Y <= clip(X2, L, M)", "claim: X <= X2 implies X <= X2")],
        "(properties[10].claim)", "`monotone` is true of the wrong Clip `swapped_ends` too"),
    "a property that is true of everything": (
        [("claim: same(clip(Y, L, M), Y)", "claim: same(Y, Y)")], "(properties[11].claim)", "`idempotent` is true"),
    "a constraint that is true of everything": (
        [("holds: shape(X) == shape(Y)", "holds: shape(X) == shape(X)")], "(constraints[0]", "C1"),
    "C2 that is true of a wrong Clip": (
        [("holds: every(L <= Y[i] and Y[i] <= M) or every(Y[i] == M)",
          "holds: every(L <= Y[i] and Y[i] <= M) or every(Y[i] == M) or every(Y[i] <= L or M <= Y[i])")],
        "(constraints[1].role)", "`C2` is a statement of nothing by what it says"),
    "a wrong Clip that nothing excludes": (
        [("  - {id: always_min,", "  - {id: idle, title: nothing names it, is: L}\n  - {id: always_min,")],
        "(wrong_clips[1].id)", "nothing is false of `idle`"),
    "a latitude that accepts other zeros": (
        [("accepts: A == 0 and (identical(A, X) or (low and identical(A, M)))", "accepts: A == 0")],
        "(latitude[0].when)", "which no reading of `given_by` answers"),
    "a latitude that accepts zeros of inverted bounds": (
        [("when: not inverted and is_signed_zero(Y)", "when: is_signed_zero(Y)")], "(latitude[0].when)",
        "which no reading of `given_by` answers"),
    "a latitude without the ties of both bounds": (
        [(" or (low and identical(A, M)))", ")")], "(latitude[0].given_by)", "which no latitude accepts"),
    "a latitude that names a reading which does not do it": (
        [("given_by: [onnx-body, formula-2019, numpy]", "given_by: [formula-c]")], "(latitude[2].when)",
        "which no reading of `given_by` answers"),
    "a latitude that names no reading": (
        [("given_by: [formula-2019, numpy]", "given_by: [formula-2018, numpy]")], "(latitude[1].given_by[0])",
        "there is no reading `formula-2018`"),
    "a latitude that accepts every number": (
        [("when: is_nan(Y)\n    accepts: is_nan(A)", "when: is_nan(Y)\n    accepts: is_nan(A) or A == A")],
        "(latitude[1].when)", "which no reading of `given_by` answers"),
}
# fmt: on


@pytest.mark.parametrize("name", MISTAKES)
def test_entry_that_contradicts_its_source_is_rejected(name: str, tmp_path: Path) -> None:
    changes, where, says = MISTAKES[name]
    message = _refused(_changed(tmp_path, *changes))
    assert where in message
    assert says in message
    assert re.search(r"clip\.yaml:\d+:\d+ \(", message)


def _findings() -> list[tuple[str, str]]:
    """The id and the text of each finding of the file."""
    body = TEXT.partition("\nfindings:\n")[2].partition("\n# ----")[0]
    parts = [part for part in re.split(r"(?m)^(?=  - id: )", body) if part.startswith("  - id: ")]
    return [(part.partition("\n")[0].removeprefix("  - id: "), part) for part in parts]


@pytest.fixture(scope="module")
def obligations() -> tuple[Obligation, ...]:
    return all_obligations(load_spec())


@pytest.mark.nightly
@pytest.mark.parametrize(("id_", "text"), _findings(), ids=[id_ for id_, _ in _findings()])
def test_a_finding_that_is_left_out_is_missed(
    id_: str, text: str, tmp_path: Path, obligations: tuple[Obligation, ...]
) -> None:
    """Nothing tells what it tells; or others do, and the sentence that it disputes has no answer any more."""
    with pytest.raises(UserError) as caught:
        require_coverage(load_spec(_changed(tmp_path, (text, ""))), (o.id for o in obligations))
    message = str(caught.value)
    assert "no finding tells that " in message or f"there is no finding `{id_}`" in message


# fmt: off
SOURCES = {
    "a row of a table": (
        PAGE, "\n\n## Informal specification\n\nOperator **clip** limits the input",
        "\n| `[R9]` | Tensors must not be empty | [GR9](x) |\n\n## Informal specification\n\nOperator **clip** limits the input",
        "no restriction takes the row [R9]"),
    "a tag that is not in the form of the others": (
        PAGE, " - `[C2]` Interval consistency\n   - Statement: Output tensor entries should either lie in the interval $[L, M]$ or all be equal to `M`.\n\n> C2",
        " * [C4] Interval consistency\n   - Statement: Output tensor entries should either lie in the interval $[L, M]$ or all be equal to `M`.\n\n> C2",
        "in a form that is not read"),
    "a constraint": (
        PAGE, "Tensor `M` has no constraints.\n\n## Outputs", " - `[C7]` Order consistency\n   - Statement: L is below M.\n## Outputs",
        "no constraint takes [C7] Order consistency"),
    "a type": (PAGE, "where float is in {FP16, FP32,", "where float is in {FP8, FP16, FP32,", "FP8"),
    "an example": (
        PAGE, "## Error conditions\nNo error condition\n\n## Inputs\n\n### $X$: real",
        "### Example 3\nA = \\begin{bmatrix} 1 \\end{bmatrix}\n\n## Inputs\n\n### $X$: real",
        "no entry takes Example 3"),
    "a sentence that says what must be": (
        PAGE, "Tensor `M` has no constraints.\n", "Tensor `M` must be finite.\n", "Tensor `M` must be finite."),
    "a version of ONNX": (
        ONNX, "Clip - 13\n\nVersion", "Clip - 14\n\nT in ( tensor(float) ): x • min - T • max - T Inputs\n\nClip - 13\n\nVersion",
        "no dialect takes version 14"),
    "a version of ONNX that cannot be read": (
        ONNX, "Clip - 13\n\nVersion", "Clip - 14\n\nnothing\n\nClip - 13\n\nVersion", "has no list of types"),
    "a feature level of DirectML": (
        DIRECTML, "DML_FEATURE_LEVEL_5_0 and above\n",
        "DML_FEATURE_LEVEL_6_0 and above\n\nInputTensor Input 1 to 8 FLOAT32\nOutputTensor Output 1 to 8 FLOAT32\n\nDML_FEATURE_LEVEL_5_0 and above\n",
        "no dialect takes version 6.0"),
    "an output that is not as the input": (
        DIRECTML, "OutputTensor Output 4 FLOAT32, FLOAT16\n\nReq", "OutputTensor Output 4 FLOAT32\n\nReq", "OutputTensor"),
}
# fmt: on


@pytest.mark.parametrize("name", SOURCES)
def test_statement_of_a_source_without_an_entry_is_rejected(name: str, bench: Workbench) -> None:
    file, old, new, says = SOURCES[name]
    bench.plant(file, old, new)
    # Lines move when words are added; what is asked here is whether the new words are taken.
    for check in ("check_quotes", "check_findings"):
        bench.monkeypatch.setattr(f"sonnx_clip.spec.checked.{check}", lambda _: ())
    assert says in _refused(bench.root / YAML)
