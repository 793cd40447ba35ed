"""Mistakes in spec/clip.yaml that are well formed: a test, a check or a summary refuses each by name.

tests/spec/test_errors.py has those of form, references, language and numbers; spec_bugs.py those of meaning.
"""

import re
from unittest import mock

import pytest

from sonnx_clip.backends.generate import render_theories
from sonnx_clip.backends.pages import render_readings
from sonnx_clip.claims import evaluation
from sonnx_clip.prove.weakened import refuse_weakened
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import check_findings, check_spec, element_types, load_spec
from tests.spec import test_transcription as transcription

TEXT = repo_file("spec/clip.yaml").read_text(encoding="utf-8")
TYPES = repo_file("spec/element_types.yaml").read_text(encoding="utf-8")


def _between(start, end):
    at = TEXT.index(start)
    return TEXT[at : TEXT.index(end, at)]


def _swapped(one, other):
    """Two texts that take each other's place."""
    return [(one, "\0"), (other, one), ("\0", other)]


R1, R2 = (f'"`[{tag}]`     | Input {name} must be set"' for tag, name in (("R1", "L"), ("R2", "M")))
INT16 = "numpy: int16, c: int16_t"
ONNX_12 = "[int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64]"
SCALARS = _between("  - id: scalar_bounds", "\n# ----")
R4, INT_2 = (
    _between("  - id: R4\n", "  - id: R5\n"),
    _between("  - id: int_2\n", "  - id: float_1\n"),
)
SUBNORMAL = _between("  - {id: inside_subnormal,", "  - {id: inside_infinite,")
R5 = "families: [int, float]\n    not_for: {real: the chapter has one type and does not list the restriction}"
QUOTE = 'source: {page: sonnx-clip, section: "clip (real)", quote: "# **clip** (real)"}'
PROPERTY = "  - id: result_is_operand\n"
# ruff: noqa: E501
BFLOAT16 = (
    "  - {id: bfloat16, family: float, sonnx: BFLOAT16, onnx: BFLOAT16, directml: null, numpy: bfloat16, "
    "c: uint16_t, why3: BFloat16, width: 16, bits: {exponent: 8, significand: 8}}\n"
)


def _a_property(id_, claim):
    return (
        f"  - {{id: {id_}, title: T, claim: '{claim}', holds_for: [real, int, float], "
        "false_for: no_bounds, source: {page: sonnx-clip, section: Inputs, "
        'quote: "Tensor `X` is the input tensor"}}\n' + PROPERTY
    )


# fmt: off
# Numbers, lists and places that the pinned texts contradict.
CONTRADICTED = {
    "a number of an example": [("X: [6, 9, 35]", "X: [6, 8, 35]")],
    "a zero that an example does not write": [("Y: [10.0, 10.0, 10.0]", "Y: [10, 10, 10.0]")],
    "an example that is left out": [(INT_2, "")],
    "SONNX's names of two types swapped": _swapped("sonnx: INT8,", "sonnx: INT16,"),
    "NumPy's name of another type": [(INT16, INT16.replace("numpy: int16", "numpy: uint16"))],
    "two quotations swapped": _swapped(f"quote: {R1}", f"quote: {R2}"),
    "a number below a tensor": [("aliases: {X: C2, L: C1, M: C1,", "aliases: {X: C2, L: C1, M: C2,")],
    "the families of R5": [(R5, "families: [float]\n    not_for: {real: the chapter has one type, int: it too}")],
    "R5 in a chapter that lacks it": [(R5, "families: [real, int, float]")],
    "the statement of a restriction": [("statement: Shape of tensors shall be explicit", "statement: Shapes shall be explicit")],
    "a restriction that is left out": [(R4, "")],
    "scalar_bounds left out": [(SCALARS, "")],
    "a type dropped from a dialect": [(f"element_types: {ONNX_12}", f"element_types: {ONNX_12.replace(' int16,', '', 1)}")],
    "a type that a dialect lacks": [("    element_types: [float16, float32]\n", "    element_types: [float16, float32, int8]\n")],
    "the ranks of a dialect": [("ranks: {least: 1, greatest: 8}", "ranks: {least: 1, greatest: 7}")],
    "in place where nothing says so": [("    in_place: true\n", "    in_place: false\n")],
    "no scale and bias": [("    scale_bias: true\n", "    scale_bias: false\n")],
    "bounds as inputs where they are attributes": [("    bounds: attributes\n", "    bounds: inputs\n")],
    "a function body that the page has": [("    function: true\n", "    function: false\n")],
}
# What loading, checking or rendering refuses, and the words of its message.
REFUSED = {
    "a quotation of a sign": (QUOTE, QUOTE.replace('"# **clip** (real)"', '"#"'), "too short to be found"),
    "a wrong operator that nothing excludes": (
        "  - {id: always_min,", "  - {id: idle, title: nothing names it, is: L}\n  - {id: always_min,", "nothing is false of `idle`"),
    "a latitude of no reading": (
        "given_by: [formula-2019, numpy]", "given_by: [formula-2018, numpy]", "there is no reading `formula-2018`"),
    "a property named like an axiom": (
        PROPERTY, _a_property("transitive", "identical(Y, L)"), "two obligations are called real.transitive"),
    "a definition that redefines a comparison": (
        "  - id: formula\n", "  - {id: le, title: T, parameters: [a, b], is: a < b}\n  - id: formula\n",
        "`le` is a name or keyword of the rendered theories"),
    "a condition that nothing meets": (
        "refuted_for: {float: {X: 1, L: nan, M: 2}}\n    repaired: {float: bounds_are_numbers}",
        "refuted_for: {float: {X: 1, L: nan, M: 2}}\n    repaired: {float: is_nan(L) and not is_nan(L)}",
        "the condition of prose_is_complete may be empty"),
    "a family that is forgotten": (
        "    claim: is_nan(Y) iff (is_nan(X) and not M < L)\n    holds_for: [real, int, float]\n",
        "    claim: is_nan(Y) iff (is_nan(X) and not M < L)\n    holds_for: [real, int]\n", "`nan_out` leaves out float"),
    "an excuse for a family of which it speaks": (
        "    not_for: {real: the reals have no limits}\n    refuted_for: {float: {X: inf, L: lowest,",
        "    not_for: {real: none, int: none}\n    refuted_for: {float: {X: inf, L: lowest,", "is stated for int and excused from it"),
    "an element type that is forgotten": (BFLOAT16, "", "there is no element type `bfloat16`"),
    "a constraint without a counterpart": ("  - id: C1\n    title: Shape", "  - id: C4\n    title: Shape", "C4"),
}
# What stays true and says less: the line of spec/clip.expected.yaml that it contradicts.
WEAKENED = [
    ("properties.interval.float",
     "inverted or high or (not is_nan(X) and bounds_are_numbers)", "X == 3 and L == 2 and M == 10"),
    ("constraints.C2.float",
     "M < L or every(not is_nan(X[i]) and not is_nan(L) and not is_nan(M)) or every(M <= X[i])",
     "every(X[i] == 3 and L == 2 and M == 10)"),
    ("properties.monotone.claim", "claim: X <= X2 implies", "claim: L <= M and X <= X2 implies"),
    ("properties.idempotent.proved for",
     "claim: same(clip(Y, L, M), Y)\n    holds_for: [real, int, float]\n",
     "claim: same(clip(Y, L, M), Y)\n    holds_for: [real, int]\n    not_for: {float: open}\n"),
    ("classes.inside.float", SUBNORMAL, ""),
    ("latitude.nan-inverted.with --policy strict",
     "    when: is_nan(X) and inverted\n", "    when: is_nan(X) and inverted\n    always: true\n"),
    ("definitions.any_infinite.is",
     "is_infinite(X) or is_infinite(L) or is_infinite(M)", "is_infinite(X) or is_infinite(L)"),
    ("conditions of classes.high_tie.when",
     "not is_nan(L) and not zero_tie(X, M) and X == M", "not zero_tie(X, M) and X == M and not is_nan(L)"),
    ("restrictions.R4.ours", "dimensions is a number, 0 or more", "dimensions is a number"),
    ("restrictions.R2.holds", "holds: is_set(M)", "holds: is_set(L)"),
    ("element_types.float32.is called", "onnx: FLOAT, directml: FLOAT32", "onnx: DOUBLE, directml: FLOAT32"),
]
# fmt: on


def _planted(folder, *changes):
    """The specification with these changes, of which those of element types are made in their file."""
    texts = {"clip.yaml": TEXT, "element_types.yaml": TYPES}
    for old, new in changes:
        names = [name for name, text in texts.items() if old in text]
        assert names, f"{old!r} must stand in a file"
        texts[names[0]] = texts[names[0]].replace(old, new, 1)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    with mock.patch.object(element_types, "repo_file", return_value=folder / "element_types.yaml"):
        element_types.known_element_types.cache_clear()
        try:
            return load_spec(folder / "clip.yaml")
        finally:
            element_types.known_element_types.cache_clear()


def _agrees_with_the_texts(spec, monkeypatch):
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


def test_specification_agrees_with_the_pinned_texts(monkeypatch):
    assert _agrees_with_the_texts(load_spec(), monkeypatch)


@pytest.mark.parametrize("name", CONTRADICTED)
def test_entry_that_contradicts_its_source_is_noticed(name, tmp_path, monkeypatch):
    spec = _planted(tmp_path, *CONTRADICTED[name])
    assert not _agrees_with_the_texts(spec, monkeypatch)


def _load_check_and_render(folder, old, new):
    spec = _planted(folder, (old, new))
    check_spec(spec)
    check_findings(spec)
    render_theories(spec)


@pytest.mark.parametrize("name", REFUSED)
def test_entry_is_refused_with_its_place(name, tmp_path):
    old, new, words = REFUSED[name]
    with pytest.raises(UserError) as caught:
        _load_check_and_render(tmp_path, old, new)
    assert words in str(caught.value)


def test_value_in_two_classes_is_refused_when_pages_are_rendered(tmp_path):
    """smallest_subnormal is no special value of the checks that come before."""
    spec = _planted(tmp_path, ("    is: a == 0\n", "    is: a == 0 or a == smallest_subnormal\n"))
    with pytest.raises(UserError, match="`inside_zero` and `inside_subnormal`"):
        render_readings(spec)


def test_property_that_says_nothing_is_refused(tmp_path, monkeypatch):
    """It is true of Clip, and of the wrong operator that it names."""
    monkeypatch.setattr(evaluation, "evaluated_claims", lambda _: ())
    spec = _planted(
        tmp_path, ("claim: X <= X2 implies Y <= clip(X2, L, M)", "claim: X <= X2 implies X <= X2")
    )
    with pytest.raises(UserError, match="`monotone` holds for the wrong operator"):
        evaluation.check_claims(spec)


@pytest.mark.parametrize(("line", "old", "new"), WEAKENED, ids=[line for line, *_ in WEAKENED])
def test_weakened_claim_is_refused(line, old, new, tmp_path):
    summary = repo_file("spec/clip.expected.yaml").read_text(encoding="utf-8")
    (tmp_path / "clip.expected.yaml").write_text(summary, encoding="utf-8")
    spec = _planted(tmp_path, (old, new))
    with pytest.raises(UserError) as caught:
        refuse_weakened(spec)
    message = str(caught.value)
    assert f"({line})" in message
    assert re.search(r"clip\.expected\.yaml:\d+ ", message)
    assert re.search(r"clip\.yaml:\d+ ", message)
    assert "if the change is intended" in message


def test_commands_refuse_a_weakened_claim_and_an_answer_that_does_not_fit(bench):
    bench.plant("spec/clip.yaml", *WEAKENED[2][1:])
    ended = bench.command("generate")
    assert (ended.status, ended.out) == (2, "")
    assert f"({WEAKENED[2][0]})" in ended.err
    bench.plant("spec/clip.yaml", *WEAKENED[2][:0:-1])
    bench.plant(
        "spec/clip.coverage.yaml", "[real, sonnx-real/element_types]", "[real, sonnx-real/bounds]"
    )
    words = r"clip.coverage.yaml:\d+:\d+ .*`sonnx-real/element_types` of spec/clip.yaml quotes these words"
    bench.monkeypatch.setattr(
        "sonnx_clip.cli.prove_command.check_claims", lambda _: None
    )  # seconds
    ended = bench.prove("--only", "restrictions.R1_is_written")
    assert (ended.status, ended.out) == (2, "")
    assert re.search(words, ended.err)
