"""The entries of spec/clip.yaml that transcribe lists and code of the pinned texts have what stands there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.language.types import FloatBits, IntegerBits
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.dialects import ComputedBy, DialectExample
from sonnx_clip.spec.quotes import lines_of
from sonnx_clip.spec.texts import fold, plain, source_text

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType, Family
    from sonnx_clip.spec.dialects import Dialect

SPEC = load_spec()


def _page(source: str) -> str:
    return repo_file(SPEC.page(source).file).read_text(encoding="utf-8")


# --- Names of element types ---------------------------------------------------------------------------------


def names_of(etype: ElementType) -> frozenset[str]:
    """What a type with these bits is called in all places, in lower case."""
    match etype.bits:
        case IntegerBits(signed=signed):
            name = f"{'' if signed else 'u'}int{etype.width}"
            return frozenset((name, f"{name}_t"))
        case FloatBits(exponent=8) if etype.width == 16:
            return frozenset(("bfloat16",))
        case FloatBits():
            width = etype.width or 0
            return frozenset(
                (f"fp{width}", f"float{width}", {32: "float", 64: "double"}.get(width, ""))
            )
        case _:
            return frozenset(("real",))


@pytest.mark.parametrize("etype", SPEC.element_types, ids=lambda etype: etype.id)
def test_names_of_an_element_type_mean_the_same_type(etype: ElementType) -> None:
    """C has no type of its own for floats of 16 bits: an unsigned integer carries the bits."""
    carried = etype.family == "float" and etype.width == 16
    names = {etype.id, etype.sonnx, etype.onnx, etype.directml, etype.numpy, etype.why3} - {None}
    assert {name.lower() for name in names if name} <= names_of(etype)
    assert (
        etype.c in (None, "uint16_t") if carried else etype.c is None or etype.c in names_of(etype)
    )


# --- The node tests of Clip on ONNX's page ------------------------------------------------------------------

# The code in front of each name, by name.
CODE, *NAMED = re.split(r"name='test_clip_(\w+)'\)", fold(_page("onnx-clip-examples")))
EXAMPLES = dict(zip(NAMED[::2], [CODE, *NAMED[1::2]], strict=False))
LIMITS = {
    "np.inf": "inf",
    "-np.inf": "-inf",
    "np.iinfo(np.int8).min": "lowest",
    "np.iinfo(np.int8).max": "highest",
}


OF_ONNX = [e for e in SPEC.dialect_examples if e.source.page == "onnx-clip-examples"]


def test_each_node_test_of_the_page_is_an_example() -> None:
    assert {f"onnx_{name}" for name in EXAMPLES} == {example.id for example in OF_ONNX}
    assert len(EXAMPLES) > 5


@pytest.mark.parametrize("example", OF_ONNX, ids=lambda example: example.id)
def test_example_has_the_numbers_of_the_code(example: DialectExample) -> None:
    code = EXAMPLES[example.id.removeprefix("onnx_")]
    bounds = dict(re.findall(r"\b(min|max)_val = np\.\w+\((-?[\d.]+)\)", code))
    entries = {
        name: tuple(part.strip() for part in numbers.split(","))
        for name, numbers in re.findall(r"\b([xy]) = np\.array\(\[([^\]]*)\]\)", code)
    }
    drawn = re.search(r"\bx = np\.random\.randn\(", code) is not None
    clipped = re.search(r"\by = np\.clip\(x, (\S+), (\S+)\) expect", code)
    assert (bounds.get("min"), bounds.get("max")) == (
        example.values.get("L"),
        example.values.get("M"),
    )
    assert ("finite" if drawn else entries["x"]) == example.X
    if isinstance(example.Y, ComputedBy):
        assert clipped is not None
        given = [
            bounds.get(word.removesuffix("_val"), LIMITS.get(word, word))
            for word in clipped.groups()
        ]
        assert given == [example.Y.L, example.Y.M]
    else:
        assert entries["y"] == example.Y
    types = set(re.findall(r"np\.(float32|int8)\b", re.sub(r"np\.iinfo\(\S+", "", code)))
    assert types == {SPEC.element_type(example.type).numpy}
    assert f"name='test_clip_{example.id.removeprefix('onnx_')}')" in example.source.quote


# --- The chapters of the SONNX page -------------------------------------------------------------------------

CHAPTERS = {  # without the remarks of reviewers
    section.title: "\n".join(line for line in section.lines if not line.startswith(">"))
    for section in source_text(repo_file(SPEC.page("sonnx-clip").file)).sections
    if section.lines[0].startswith("# ") and "(" in section.title
}
BRANCHES = {
    "X": r"X[i] & \text{otherwise}", "inverted": r"M & \text{if } L \gt M",
    "low": r"L & \text{if } X[i] \leq L", "high": r"M & \text{if } X[i] \geq M",
}  # fmt: skip


def test_families_are_the_chapters() -> None:
    assert [plain(family.chapter) for family in SPEC.families] == list(CHAPTERS)


@pytest.mark.parametrize("family", SPEC.families, ids=lambda family: family.id)
def test_chapter_is_transcribed(family: Family) -> None:
    """Types, restrictions, constraints with their tags, worked examples, and the order of the cases."""
    chapter = CHAPTERS[plain(family.chapter)]
    types = [etype.sonnx for etype in SPEC.types_of(family.id)]
    for listed in re.findall(r"is in \{([^}]*)\}|^### \$\w+\$: (.*)$", chapter, re.MULTILINE):
        assert sorted(name.strip() for name in (listed[0] or listed[1]).split(",")) == sorted(types)
    rows = re.findall(r"^\|\s*`\[(\w+)\]`[^|]*\|([^|]*)\|([^|]*)\|", chapter, re.MULTILINE)
    links = re.compile(r"\[([^\]]*)\]\([^)]*\)")
    assert [(tag, plain(says), plain(links.sub(r"\1", origin))) for tag, says, origin in rows] == [
        (r.id, r.statement, r.origin)
        for r in SPEC.restrictions
        if family.id in r.families and re.fullmatch(r"R\d", r.id)
    ]
    tagged: dict[str, dict[str, str]] = {}
    for tensor, below in re.findall(r"(?ms)^### \$(\w)\$:(.*?)(?=^### \$|^## |\Z)", chapter):
        for tag, title, says in re.findall(
            r"(?m)^ *- `\[(\w+)\]`(.*)\n *- Statement: (.*)$", below
        ):
            tagged.setdefault(plain(title), {})[tensor] = tag
            (constraint,) = (c for c in SPEC.constraints if c.title == plain(title))
            assert "see constraint" in says or plain(says) == constraint.statement
    assert tagged == {c.title: c.aliases for c in SPEC.constraints if family.id in c.families}
    starts = re.findall(r"^([XLM](?:\[i\])? & .*?)(?: *\\\\.*)?$", chapter, re.MULTILINE)
    wanted = [BRANCHES.get(case.id, BRANCHES["X"]) for case in SPEC.cases]
    assert [fold(branch).removesuffix(r"\\") for branch in starts] == wanted
    assert [case.result_text for case in SPEC.cases] == [branch[0] for branch in wanted]


def test_restrictions_quote_their_rows() -> None:
    """A tagged one its own row; the one without a tag each place that says it."""
    lines = _page("sonnx-clip").splitlines()
    for restriction in SPEC.restrictions:
        if re.fullmatch(r"R\d", restriction.id):
            assert all(
                f"[{restriction.id}]" in lines[at - 1] for at in lines_of(SPEC, restriction.source)
            )
    says = [n for n, line in enumerate(lines, 1) if re.search(r"scalar\b.*\)\.$", line)]
    untagged = SPEC.restriction("scalar_bounds")
    assert says == sorted(
        at for source in (untagged.source, *untagged.also) for at in lines_of(SPEC, source)
    )


@pytest.mark.parametrize("family", SPEC.families, ids=lambda family: family.id)
def test_worked_examples_have_the_numbers_of_the_page(family: Family) -> None:
    chapter = CHAPTERS[plain(family.chapter)]
    found = re.findall(r"^### Example (\d+)$(.*?)(?=^#|\Z)", chapter, re.MULTILINE | re.DOTALL)
    assert {f"{family.id}_{number}" for number, _ in found} == {
        example.id for example in SPEC.examples if example.family == family.id
    }
    for number, text in found:
        matrices = dict(re.findall(r"^([AY]) = \\begin\{bmatrix\}(.*)\\end", text, re.MULTILINE))
        numbers = {name: tuple(n.strip() for n in row.split("&")) for name, row in matrices.items()}
        scalars = dict(re.findall(r"^([LM]) = (\S+)$", text, re.MULTILINE))
        example = SPEC.example(f"{family.id}_{number}")
        assert (numbers["A"], numbers["Y"]) == (example.X, example.Y)
        assert (scalars["L"], scalars["M"]) == (example.values.get("L"), example.values.get("M"))


# --- The versions on the pages of ONNX and DirectML ---------------------------------------------------------

VERSIONS = {
    (system, section.title): fold("\n".join(section.lines))
    for system, page in (("onnx", "onnx-clip"), ("directml", "directml-clip"))
    for section in source_text(repo_file(SPEC.page(page).file)).sections
    if re.match(r"Clip - \d+$|DML_FEATURE_LEVEL_\S+ and above", section.title)
}


def _title(dialect: Dialect) -> tuple[str, str]:
    level = f"DML_FEATURE_LEVEL_{dialect.version.replace('.', '_')} and above"
    return dialect.system, f"Clip - {dialect.version}" if dialect.system == "onnx" else level


VENDORS = [dialect for dialect in SPEC.dialects if dialect.system != "sonnx"]


def test_each_version_is_a_dialect() -> None:
    assert {_title(dialect) for dialect in VENDORS} == set(VERSIONS)


@pytest.mark.parametrize("dialect", VENDORS, ids=lambda dialect: dialect.id)
def test_types_of_a_dialect_are_those_of_its_page(dialect: Dialect) -> None:
    text = VERSIONS[_title(dialect)]
    if dialect.system == "onnx":
        named = re.findall(r"tensor\((\w+)\)", text.partition("T in (")[2])
    else:
        named = re.findall(r"\b(?:FLOAT|U?INT)\d+\b", text)
    names = [names_of(SPEC.element_type(id_)) for id_ in dialect.element_types]
    assert all(any(name.lower() in of for of in names) for name in named)
    assert all(not of.isdisjoint(map(str.lower, named)) for of in names)


@pytest.mark.parametrize(
    "dialect", [d for d in VENDORS if d.system == "onnx"], ids=lambda dialect: dialect.id
)
def test_bounds_of_onnx_are_those_of_its_page(dialect: Dialect) -> None:
    text = VERSIONS[_title(dialect)]
    before_inputs, _, inputs = text.partition(" Inputs ")
    assert dialect.bounds == ("attributes" if "• min - " in before_inputs else "inputs")
    assert dialect.bound_type == (
        "tensor" if "heterogeneous) - T" in inputs.partition("min")[2] else "float32"
    )
    printed = re.findall(r"\(default is '\(([^)]*)\)'\)", text)
    shown = dialect.printed_default
    assert sorted(printed) == sorted((shown.min, shown.max) if shown else ())
    limits = "default to numeric_limits::lowest() and numeric_limits::max()" in text
    assert dialect.missing is not None
    assert not limits or (dialect.missing.min, dialect.missing.max) == ("lowest", "highest")
    assert (
        dialect.function
        == {"True": True, "False": False}[text.partition("function: ")[2].split()[0]]
    )


@pytest.mark.parametrize(
    "dialect", [d for d in VENDORS if d.system == "directml"], ids=lambda dialect: dialect.id
)
def test_ranks_of_directml_are_those_of_its_page(dialect: Dialect) -> None:
    rows = set(
        re.findall(r"Tensor (?:Input|Output) (\d+)(?: to (\d+))? ", VERSIONS[_title(dialect)])
    )
    assert rows == {(str(dialect.ranks.least), str(dialect.ranks.greatest))} or rows == {
        (str(dialect.ranks.least), "")
    }
    assert (dialect.bounds, dialect.bound_type, dialect.missing) == ("members", "float32", None)
    assert dialect.scale_bias
    assert dialect.in_place == ("supports in-place execution" in fold(_page("directml-clip")))
