"""The page for the SONNX group against the rules of its documents; its cases, run by a driver; its trace."""

import importlib.util
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.sonnx_files import sonnx_files
from sonnx_clip.export.sonnx_page import read_page_file, tags_of
from sonnx_clip.export.suite import suites_of
from sonnx_clip.spec import load_spec
from tests.command import run

PAGE, CASES, TRACE = "ops/clip.md", "verification/clip/cases.py", "trace.md"
FAMILIES = {
    "real": ["real"],
    "float": ["float16", "float", "double"],
    "int": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
}
TAG = re.compile(r"E_CLIP_(REAL|FLOAT|INT)_(FUNC|CONSTR_[XLMY])_\d\d\d0")
ANCHOR = r'<a id="\w+_CONSTR_\w+"></a>'
SECTIONS = [
    "Signature",
    "Restrictions",
    "Function",
    "Error conditions",
    "Attributes",
    "Inputs",
    "Outputs",
]


@cache
def files():
    return {
        name: content.decode()
        for name, content in sonnx_files(clip_operator(), suites_of(clip_operator())).items()
    }


def broken_rules(page):
    text = page.replace("\r\n", "\n")
    red = re.findall(r'<span style="background: red;[^>]*>\[([^\]]*)\]<br></span>', text)
    declared = {*red[::2], *re.findall(r"`\[(E_\w+)\]`", text)}
    linked = re.findall(r"\[<b><span [^>]*>(\w+)</span></b>\]\(#(\w+)\)", text)
    anchors = re.findall(r'<a id="(\w+)"></a>', text)
    contents = re.findall(
        r"^- \*\*Clip\*\* operator for types? \[[^\]]+\]\(#(\w+)\)$", text, re.MULTILINE
    )
    lines = text.splitlines()
    signs = [place for place, line in enumerate(lines) if line == "$$"]
    outside = [lines[place - 1] for place in signs[::2]] + [
        lines[place + 1] for place in signs[1::2]
    ]
    kept = {
        "line ends": "\n" not in page.replace("\r\n", ""),
        "modality": not re.search(r"\b(must|should|shall|can be checked)\b", text, re.IGNORECASE),
        "rule line or fence": not re.search(r"^(---|```)", text, re.MULTILINE),
        "based on": re.search(r"^Based on ONNX .*version 13\]\(https://", text, re.MULTILINE),
        "revision": re.search(r"^Revision \d{4}-\d\d-\d\d: .*opset 13", text, re.MULTILINE),
        "red spans": all(tag.startswith("E_") for tag in red[::2]) and set(red[1::2]) == {"END"},
        "form of a tag": all(map(TAG.fullmatch, declared)),
        "anchor twice": len(anchors) == len(set(anchors)),
        "links of tags": {of for link in linked for of in link} <= declared & set(anchors),
        "contents": contents == [one for one in anchors if not one.startswith("E_")],
        "reals first": contents[:1] == ["real"],
        "blank lines around anchors": not re.search(rf"\S\n{ANCHOR}|{ANCHOR}\n\S", text),
        "blank lines around formulas": signs and len(signs) % 2 == 0 and not any(outside),
        "open results": "zero-sized dimension" in text and "no dimension" in text,
    }
    broken = [rule for rule, holds in kept.items() if not holds]
    return broken + [f"{rule} of {name}" for name in FAMILIES for rule in _of_section(text, name)]


def _of_section(text, name):
    section = text.partition(f'<a id="{name}"></a>')[2].split("\n# ")[1]
    heading, *lines = [
        line for line in section.splitlines() if line and not line.startswith("<a id=")
    ]
    errors = (
        section.partition("| Condition | Disposition |")[2].partition("\n\n")[0].splitlines()[2:]
    )
    many = name != "real"
    kept = {
        "heading": heading == f"**Clip** ({name}, {name}, {name})",
        "sections": re.findall(r"^## (.*)", section, re.MULTILINE) == SECTIONS,
        "where": many == lines[0].startswith(f"where {name} is in {{"),
        "types": not many or all(f"`{one}`" in lines[0] for one in FAMILIES[name]),
        "justification": not many or "share one semantics" in lines[1],
        "restrictions": "[General restrictions](" in section and "| `[R1]` | Input $L$ is set |" in section,
        "error conditions": len(errors) > 2 and all(
            re.search(r"\| (nominal: .*FUNC|ruled out by|error|not applicable: )", row) for row in errors
        ),
        "tensors": all(
            f"### $\\text{{{name}}}$: " in section and f"_CONSTR_{name}_0010]`" in section for name in "XLMY"
        ),
        "examples": section.count("### Example") > 2,
    }  # fmt: skip
    return [rule for rule, holds in kept.items() if not holds]


def test_page_follows_the_rules_of_the_group():
    assert broken_rules(files()[PAGE]) == []


def right(x, low, high):
    return np.where(high < low, high, np.where(x <= low, low, np.where(high <= x, high, x))).astype(
        x.dtype
    )


def numpy_clip(x, low, high):
    return np.clip(x, low, high)  # a NaN bound is passed on


def one_less(x, low, high):
    return np.where(x == 7, x - x.dtype.type(1), right(x, low, high)).astype(x.dtype)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    path = tmp_path_factory.mktemp("sonnx") / "cases.py"
    path.write_text(files()[CASES], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failures(cases, clip, *names):
    """What the sweeps report of an implementation; what they report of ONNX Runtime is in no line of it."""
    found = []
    for sweep in cases.sweeps():
        if sweep.__name__ in names:
            report = sweep(SimpleNamespace(__name__=clip.__name__, clip=clip))
            found += [line for line in report["failures"] if line.startswith(clip.__name__)]
    return found


FAST = ("sweep_examples", "sweep_vectors")


@pytest.mark.parametrize(
    ("clip", "line"),
    [
        (
            numpy_clip,
            r"float32: X = 0x\w{8}, min = 0x7f\w{6}, max = 0x\w{8}: got 0x7f\w{6}, expected .*",
        ),
        (one_less, r"uint8: X = 0x07, .*: got 0x06, expected 0x07"),
    ],
)
def test_right_implementation_passes_and_a_wrong_one_fails_with_its_bits(cases, clip, line):
    assert failures(cases, right, *FAST) == []
    found = failures(cases, clip, *FAST)
    assert any(re.fullmatch(f"{clip.__name__}, {line}", one) for one in found), found[:5]


@pytest.mark.nightly
@pytest.mark.parametrize("clip", [right, one_less])
def test_whole_domain_of_8_bits(cases, clip):
    assert bool(failures(cases, clip, "sweep_8_bits")) == (clip is one_less)


def test_cases_have_every_class_type_and_shape(cases):
    found = [(label.split()[0], label, operands) for label, operands in cases.cases()]
    spec = load_spec()
    for etype in spec.element_types:
        if etype.numpy and etype.id != "bfloat16":
            labels, of_type = zip(*(one[1:] for one in found if one[0] == etype.id), strict=True)
            assert {operand.dtype.name for operands in of_type for operand in operands} == {
                etype.id
            }
            for klass in spec.classes_of(etype.family):
                assert any(f" {klass.id} " in label for label in labels), (etype.id, klass.id)
            assert {0, 1, 3, 4} <= {x.ndim for x, *_ in of_type}
            assert 0 in {x.size for x, *_ in of_type}
    assert (cases.OP, cases.OPSET) == ("Clip", 13)


def test_trace_has_every_tag_of_the_page():
    rows = re.findall(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|", files()[TRACE], re.MULTILINE)
    traced = {tag for tag, _, _ in rows}
    assert set(re.findall(r"\[((?:E_|R)\w+)\]", files()[PAGE])) - {"END"} <= traced
    assert {tag.id for tag in tags_of(load_spec(), read_page_file(load_spec()))} <= traced
    assert all(
        count != "none"
        for tag, _, count in rows
        if tag.startswith(("E_", "R")) and "REQ" not in tag
    )


def test_command_writes_the_folder_or_nothing(tmp_path):
    done = run("export", "sonnx", "-o", "group", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "group" / PAGE).read_bytes().count(b"\r\n") > 500
    assert run("export", "sonnx", "-o", "group", cwd=tmp_path).returncode == 2
    assert run("export", "sonnx", "-o", "other", "--dtype", "int8", cwd=tmp_path).returncode == 2
    assert not (tmp_path / "other").exists()
