"""The cells of the trace: failures in some types are told from failures in all; lines lead to sentences."""

from types import SimpleNamespace

import pytest

from sonnx_clip.evidence.runtimes import RuntimeView
from sonnx_clip.evidence.trace_cells import SentenceAnchors, runtime_cell
from sonnx_clip.evidence.witness_inputs import witness_inputs
from sonnx_clip.language.values import encode
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.quotation import readable


def entry(section="classes", violated_by=(), types=("float16", "bfloat16", "float32")):
    vectors = dict.fromkeys(types, 3)
    return SimpleNamespace(
        section=section, classes=("low",), vectors=vectors, violated_by=violated_by
    )


def cell(verdicts, **fields):
    view = RuntimeView(
        "numpy", None, {type_: {"low": verdict} for type_, verdict in verdicts.items()}
    )
    return runtime_cell(view, entry(**fields))


def test_failure_in_one_type_alone_is_not_shown_as_a_failure_of_all():
    found = cell({"float16": "conforms", "bfloat16": "violates", "float32": "conforms"})
    assert (found.style, found.sign) == ("v-some", "◐")
    assert found.title == "conforms in float16, float32; violates in bfloat16"


def test_failure_in_every_judged_type_is_a_failure():
    verdicts = {"float16": "violates", "bfloat16": "unsupported", "float32": "violates"}
    assert (cell(verdicts).style, cell(verdicts).sign) == ("v-violates", "×")


def test_success_in_every_type_is_a_success():
    assert cell({"float16": "conforms", "float32": "conforms"}).style == "v-conforms"


def test_what_was_not_run_is_not_a_success():
    assert cell({"float16": "conforms", "float32": "not run"}).style == "v-not-run"


def test_type_that_the_runtime_lacks_hides_no_success():
    some = cell({"float16": "conforms", "bfloat16": "unsupported"})
    assert (some.style, some.title) == (
        "v-conforms",
        "conforms in float16; unsupported in bfloat16",
    )
    assert cell({"float16": "unsupported", "bfloat16": "unsupported"}).style == "v-unsupported"


def test_runtime_without_the_class_has_no_cell():
    assert cell({}) is None


def test_property_violated_in_some_types_differs_from_one_violated_in_all():
    some = cell({}, section="properties", violated_by=("numpy, float16", "other, float32"))
    assert (some.style, some.title) == ("v-some", "violated in float16")
    every = cell({}, section="properties", types=("float16",), violated_by=("numpy, float16",))
    assert every.style == "v-violates"
    assert cell({}, section="properties", violated_by=("other, float32",)) is None


def test_line_leads_to_the_sentence_in_which_it_lies():
    sentences = [SimpleNamespace(source="page", line=line) for line in (9, 4, 4)]
    anchors = SentenceAnchors.of(sentences)
    assert [anchors.anchor("page", line) for line in (3, 4, 8, 9, 50)] == [
        None,
        "source-page-4",
        "source-page-4",
        "source-page-9",
        "source-page-9",
    ]
    assert anchors.anchor("another", 4) is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        (r"X[i] & \text{if } L \gt M", "X[i] if L > M"),
        (r"A = \begin{bmatrix} -6 & 9 \end{bmatrix}", "A = [-6 9]"),
        ("in the interval $[L, M]$ or equal to `M`.", "in the interval [L, M] or equal to M."),
        ('`[C1]` <a id="C1ia"></a> Shape', "[C1] (anchor C1ia) Shape"),
        ("[FP16, FP32](#floats)", "FP16, FP32 (to #floats)"),
        ("[C2]</span></b>](#C2ia) on `X`", "[C2] (to #C2ia) on X"),
        (
            "Operator **clip** is x < y > z & w, __init__",
            "Operator clip is x < y > z & w, __init__",
        ),
    ],
)
def test_quotation_is_shown_without_markup(quote, text):
    assert readable(quote) == text


def test_no_markup_is_left_in_any_quotation_of_the_page():
    spec = load_spec()
    quotes = [source.words for finding in spec.findings for source in finding.words]
    texts = [readable(" ".join(quote.split())) for quote in quotes]
    assert [
        text for text in texts if "`" in text or "\\" in text or "</" in text or "$" in text
    ] == []
    assert all(texts)


def test_witness_has_the_bits_that_the_specification_names():
    finding = next(finding for finding in load_spec().findings if finding.id == "sign-of-zero")
    etype = load_spec().element_type(finding.witnesses[0].type)
    x = int(encode(finding.witnesses[0].texts()["X"], etype))
    fragment = witness_inputs(load_spec())["sign-of-zero"][0]
    assert fragment.startswith(f"type={etype.id}&x=0x{x:0{etype.width // 4}x}&min=")
