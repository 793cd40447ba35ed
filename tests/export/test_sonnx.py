"""The page for the SONNX group against the rules of its documents; its cases, run by a driver; its trace."""

import importlib.util
import re
import shutil
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sonnx_clip.conform.operator import operator_named
from sonnx_clip.export.page_file import read_page_file, tags_of
from sonnx_clip.export.sonnx_files import sonnx_files
from sonnx_clip.export.suite import suites_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.operators import known_operators, specification
from tests.command import run

PAGE, CASES, TRACE = "ops/clip.md", "verification/clip/cases.py", "trace.md"
OPERATORS = tuple(known_operators())
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
def files(name="clip"):
    operator = operator_named(name)
    written = sonnx_files(operator, suites_of(operator))
    return {path: content.decode() for path, content in written.items()}


def families_of(spec):
    """The names of the types of each family, in ONNX."""
    names = {}
    for family in ("real", "float", "int", "uint"):
        if any(known.id == family for known in spec.families):
            types = spec.types_of(family)
            names[family] = [(etype.onnx or etype.id).lower() for etype in types]
    return names


def broken_rules(page, spec):
    op = spec.operator
    families = families_of(spec)
    text = page.replace("\r\n", "\n")
    red = re.findall(r'<span style="background: red;[^>]*>\[([^\]]*)\]<br></span>', text)
    declared = {*red[::2], *re.findall(r"`\[(E_\w+)\]`", text)}
    linked = re.findall(r"\[<b><span [^>]*>(\w+)</span></b>\]\(#(\w+)\)", text)
    anchors = re.findall(r'<a id="(\w+)"></a>', text)
    contents = re.findall(
        rf"^- \*\*{op}\*\* operator for types? \[[^\]]+\]\(#(\w+)\)$", text, re.MULTILINE
    )
    lines = text.splitlines()
    signs = [place for place, line in enumerate(lines) if line == "$$"]
    outside = [lines[place - 1] for place in signs[::2]] + [
        lines[place + 1] for place in signs[1::2]
    ]
    based_on = re.search(r"^Based on ONNX .*version (\d+)\]\(https://", text, re.MULTILINE)
    opset = based_on and based_on[1]
    tag = re.compile(rf"E_{op.upper()}_(REAL|FLOAT|INT|UINT)_(FUNC|CONSTR_[A-Z])_\d\d\d0")
    kept = {
        "line ends": "\n" not in page.replace("\r\n", ""),
        "modality": not re.search(r"\b(must|should|shall|can be checked)\b", text, re.IGNORECASE),
        "rule line or fence": not re.search(r"^(---|```)", text, re.MULTILINE),
        "based on": based_on,
        "revision": re.search(
            rf"^Revision \d{{4}}-\d\d-\d\d: .*opset {opset}\b", text, re.MULTILINE
        ),
        "red spans": all(of.startswith("E_") for of in red[::2]) and set(red[1::2]) == {"END"},
        "form of a tag": all(map(tag.fullmatch, declared)),
        "anchor twice": len(anchors) == len(set(anchors)),
        "links of tags": {of for link in linked for of in link} <= declared & set(anchors),
        "unlinked braces": not re.search(r"\{(function|latitude|domain)\}", text),
        "contents": contents == [one for one in anchors if not one.startswith("E_")],
        "every family": contents == list(families),
        "blank lines around anchors": not re.search(rf"\S\n{ANCHOR}|{ANCHOR}\n\S", text),
        "blank lines around formulas": signs and len(signs) % 2 == 0 and not any(outside),
        "open results": "zero-sized dimension" in text and "no dimension" in text,
    }
    broken = [rule for rule, holds in kept.items() if not holds]
    for name, types in families.items():
        broken += [f"{rule} of {name}" for rule in _of_section(text, spec, name, types)]
    return broken


def _of_section(text, spec, name, types):
    section = text.partition(f'<a id="{name}"></a>')[2].split("\n# ")[1]
    heading, *lines = [
        line for line in section.splitlines() if line and not line.startswith("<a id=")
    ]
    errors = (
        section.partition("| Condition | Disposition |")[2].partition("\n\n")[0].splitlines()[2:]
    )
    many = name != "real"
    tensors = [*spec.signature.ids, spec.signature.result.id]
    families = ", ".join([name] * len(spec.signature.operands))
    restricted = (
        "| `[R1]` | Input $L$ is set |" if spec.restrictions else "No specific restrictions apply"
    )
    kept = {
        "heading": heading == f"**{spec.operator}** ({families})",
        "sections": re.findall(r"^## (.*)", section, re.MULTILINE) == SECTIONS,
        "where": many == lines[0].startswith(f"where {name} is in {{"),
        "types": not many or all(f"`{one}`" in lines[0] for one in types),
        "justification": not many or "share one semantics" in lines[1],
        "restrictions": "[General restrictions](" in section and restricted in section,
        "error conditions": len(errors) > 1 and all(
            re.search(r"\| (nominal: .*FUNC|ruled out by|error|not applicable: )", row) for row in errors
        ),
        "no domain": ("_CONSTR_X_0030]` Domain" in section) == (name in spec.domain),
        "tensors": all(
            f"### $\\text{{{one}}}$: " in section and f"_CONSTR_{one}_0010]`" in section for one in tensors
        ),
        "examples": section.count("### Example") > 1,
    }  # fmt: skip
    return [rule for rule, holds in kept.items() if not holds]


@pytest.mark.parametrize("name", OPERATORS)
def test_page_follows_the_rules_of_the_group(name):
    spec = specification(name)
    assert broken_rules(files(name)[f"ops/{name}.md"], spec) == []


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("share one semantics", "are alike", "justification of uint"),
        ("where int is in {", "for int in {", "where of int"),
        ("[END]", "[E_ABS_INT_FUNC_0010]", "red spans"),
        ("E_ABS_UINT_FUNC_0010", "E_ABS_UINT_FUNC_001", "form of a tag"),
        ("opset 13", "opset 6", "revision"),
        ("ruled out by the constraint", "by", "error conditions of int"),
        ("Domain", "Range", "no domain of int"),
        ("(#float)", "(#floats)", "contents"),
        ("\r\n\r\n$$", "\r\n$$", "blank lines around formulas"),
        ("\r\n", "\n", "line ends"),
    ],
)
def test_page_with_a_planted_mistake_breaks_a_rule(old, new, rule):
    page = files("abs")["ops/abs.md"]
    assert old in page
    assert rule in broken_rules(page.replace(old, new), specification("abs"))


@pytest.mark.parametrize("name", OPERATORS)
def test_every_tag_of_a_page_is_traced_once(name):
    text = files(name)["trace.md"]
    traced = re.findall(r"^\| (\w+_\d{4}|R\d) \|", text, re.MULTILINE)
    tags = re.findall(r"\[((?:E_|R\d)\w*)\]", files(name)[f"ops/{name}.md"])
    assert sorted(traced) == sorted(set(tags))
    assert ("verification/clip/cases.py" in files(name)) == (name == "clip")


def test_missing_page_file_is_named(tmp_path):
    shutil.copy(repo_file("spec/neg.yaml"), tmp_path / "neg.yaml")
    options = ("export", "sonnx", "-o", "out", "--operator", "./neg.yaml")
    done = run(*options, cwd=tmp_path)
    assert done.returncode == 2
    assert "neg.page.yaml" in done.stderr
    assert not (tmp_path / "out").exists()
    shutil.copy(repo_file("spec/neg.page.yaml"), tmp_path)
    done = run(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/ops/neg.md").is_file()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("  X: tensor", "  W: tensor", "`operands`"),
        ("{any-nan:", "{no-nan:", "`latitude`"),
        (", domain: ", ", range: ", "`constraints`"),
        (" X: {shape", " W: {shape", "`tags`"),
        ('latitude: "0020"', 'latitude: "20"', "latitude"),
        ("  float:\n", "  floats:\n", "families"),
        ("  int:\n", "  uint:\n", "`families` has an unknown uint"),
    ],
)
def test_wrong_page_file_is_one_message(old, new, says, tmp_path):
    shutil.copy(repo_file("spec/neg.yaml"), tmp_path / "neg.yaml")
    text = repo_file("spec/neg.page.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "neg.page.yaml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(says)) as error:
        read_page_file(specification(str(tmp_path / "neg.yaml")))
    assert "neg.page.yaml" in str(error.value)


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


def test_trace_of_clip_has_an_answer_for_every_tag():
    rows = re.findall(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|", files()[TRACE], re.MULTILINE)
    tags = {tag.id for tag in tags_of(load_spec(), read_page_file(load_spec()))}
    assert tags <= {tag for tag, _, _ in rows}
    assert all(count != "none" for tag, _, count in rows if tag in tags)


def test_command_writes_the_folder_or_nothing(tmp_path):
    done = run("export", "sonnx", "-o", "group", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "group" / PAGE).read_bytes().count(b"\r\n") > 500
    assert run("export", "sonnx", "-o", "group", cwd=tmp_path).returncode == 2
    assert run("export", "sonnx", "-o", "other", "--dtype", "int8", cwd=tmp_path).returncode == 2
    assert not (tmp_path / "other").exists()
