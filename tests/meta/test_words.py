"""Numbers, lists and places that the texts have: a planted one that is not theirs is refused by name.

No test here runs a prover, and none generates: reading the specification is enough.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import render_theories
from sonnx_clip.claims.evaluation import check_claims
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import check_findings, check_spec, load_spec
from sonnx_clip.spec.coverage import require_coverage
from tests.spec import test_transcription as transcription

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec

TEXT = repo_file("spec/clip.yaml").read_text(encoding="utf-8")


def _is_transcribed(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the tests that compare spec/clip.yaml with the pinned texts accept this specification."""
    dialects = [dialect for dialect in spec.dialects if dialect.system != "sonnx"]
    monkeypatch.setattr(transcription, "SPEC", spec)
    monkeypatch.setattr(transcription, "VENDORS", dialects)
    try:
        transcription.test_families_are_the_chapters()
        transcription.test_each_version_is_a_dialect()
        transcription.test_restrictions_quote_their_rows()
        for etype in spec.element_types:
            transcription.test_names_of_an_element_type_mean_the_same_type(etype)
        for family in spec.families:
            transcription.test_chapter_is_transcribed(family)
            transcription.test_worked_examples_have_the_numbers_of_the_page(family)
        for dialect in dialects:
            transcription.test_types_of_a_dialect_are_those_of_its_page(dialect)
            if dialect.system == "onnx":
                transcription.test_bounds_of_onnx_are_those_of_its_page(dialect)
            else:
                transcription.test_ranks_of_directml_are_those_of_its_page(dialect)
    except (AssertionError, LookupError, ValueError, UserError):
        return False
    return True


def _changed(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = TEXT
    for old, new in changes:
        assert old in text, f"{old!r} must stand in the file"
        text = text.replace(old, new, 1)
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
LEVEL_3 = TEXT[TEXT.index("  - id: directml-3.0\n") : TEXT.index("  - id: directml-5.0\n")]

# ruff: noqa: E501
# fmt: off
MISTAKES = {
    "a number of an example":
        [("X: [6, 9, 35]", "X: [6, 8, 35]")],
    "a bound of an example":
        [("L: 20.2\n", "L: 20.5\n")],
    "a zero that an example does not write":
        [("Y: [10.0, 10.0, 10.0]", "Y: [10, 10, 10.0]")],
    "SONNX's names of two types swapped":
        _swapped("sonnx: INT8,", "sonnx: INT16,"),
    "ONNX's names of two types swapped":
        _swapped("onnx: FLOAT,", "onnx: DOUBLE,"),
    "NumPy's name of another type":
        [(INT16, INT16.replace("numpy: int16", "numpy: uint16"))],
    "two quotations swapped":
        _swapped(f"quote: {R1}", f"quote: {R2}"),
    "two quotations swapped, and not their places":
        _swapped(R1, R2),
    "another quotation of a dialect":
        [("bounds: {quote: \"min - FLOAT (default is '(-3.402823e+38)')\"", "bounds: {quote: \"min - FLOAT (default is '(-3.402824e+38)')\"")],
    "a number below a tensor":
        [("aliases: {X: C2, L: C1, M: C1,", "aliases: {X: C2, L: C1, M: C2,")],
    "the families of R5":
        [("families: [int, float]\n    not_for: {real: the chapter has one type and does not list the restriction}",
         "families: [float]\n    not_for: {real: the chapter has one type, int: it too}")],
    "R5 in a chapter that lacks it":
        [("families: [int, float]\n    not_for: {real: the chapter has one type and does not list the restriction}",
         "families: [real, int, float]")],
    "the statement of a restriction":
        [("statement: Shape of tensors shall be explicit", "statement: Shapes shall be explicit")],
    "the origin of a restriction":
        [("origin: General restriction GR2", "origin: General restriction GR3")],
    "a restriction that is left out":
        [(R4, "")],
    "scalar_bounds left out":
        [(SCALARS, "")],
    "a chapter of scalar_bounds left out":
        [('      - {page: sonnx-clip, section: Inputs, quote: "The shape of tensor `M` must be empty (scalar)."}\n', "")],
    "an example that is left out":
        [(INT_2, "")],
    "int16 dropped from onnx-12":
        [(f"element_types: {ONNX_12}", f"element_types: {ONNX_12.replace(' int16,', '', 1)}")],
    "uint64 dropped from directml-5.0":
        [(f"element_types: {DIRECTML_5}", f"element_types: {DIRECTML_5.replace(', uint64', '')}")],
    "a type that DirectML 1.0 lacks":
        [("    element_types: [float16, float32]\n", "    element_types: [float16, float32, int8]\n")],
    "the ranks of DirectML 3.0":
        [("ranks: {least: 1, greatest: 8}", "ranks: {least: 1, greatest: 7}")],
    "in place where nothing says so":
        [("    in_place: true\n", "    in_place: false\n")],
    "no scale and bias":
        [("    scale_bias: true\n", "    scale_bias: false\n")],
    "bounds as inputs where they are attributes":
        [("    bounds: attributes\n", "    bounds: inputs\n")],
    "the type of a bound":
        [("    bound_type: tensor\n    missing: {min: lowest, max: highest, of: element}",
         "    bound_type: float32\n    missing: {min: lowest, max: highest, of: element}")],
    "a function body that the page has":
        [("    function: true\n", "    function: false\n")],
    "a function body that the page has not":
        [("    function: false\n", "    function: true\n")],
    "a version that is left out":
        [(LEVEL_3, ""), ("after: directml-3.0", "after: directml-2.1\n    ranks: {least: 1, greatest: 8}")],
    "monotone of nothing":
        [("claim: X <= X2 implies Y <= clip(X2, L, M)", "claim: X <= X2 implies X <= X2")],
    "C2 that is true of a wrong Clip":
        [("holds: every(L <= Y[i] and Y[i] <= M) or every(Y[i] == M)",
         "holds: every(L <= Y[i] and Y[i] <= M) or every(Y[i] == M) or every(Y[i] <= L or M <= Y[i])")],
    "a wrong Clip that nothing excludes":
        [("  - {id: always_min,", "  - {id: idle, title: nothing names it, is: L}\n  - {id: always_min,")],
    "a latitude that accepts zeros of inverted bounds":
        [("when: not inverted and is_signed_zero(Y)", "when: is_signed_zero(Y)")],
    "a latitude that names no reading":
        [("given_by: [formula-2019, numpy]", "given_by: [formula-2018, numpy]")],
}
# fmt: on


DIFFERS = "differs from the pinned texts"


def _refusal(path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the comparison with the pinned texts says of the file, or else `generate` and `prove`."""
    try:
        spec = load_spec(path)
        if not _is_transcribed(spec, monkeypatch):
            return DIFFERS
        for check in (check_spec, check_findings, check_claims):
            check(spec)
    except UserError as error:
        return str(error)
    return "accepted"


@pytest.mark.parametrize("name", MISTAKES)
def test_entry_that_contradicts_its_source_is_rejected(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.search(
        rf"{DIFFERS}|clip\.yaml:\d+:\d+ \(", _refusal(_changed(tmp_path, *MISTAKES[name]), monkeypatch)
    )


def _findings() -> list[tuple[str, str]]:
    """The id and the text of each finding of the file."""
    body = TEXT.partition("\nfindings:\n")[2].partition("\n# ----")[0]
    parts = [part for part in re.split(r"(?m)^(?=  - id: )", body) if part.startswith("  - id: ")]
    return [(part.partition("\n")[0].removeprefix("  - id: "), part) for part in parts]


@pytest.fixture(scope="module")
def obligations() -> tuple[Obligation, ...]:
    return render_theories(load_spec()).obligations


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
