"""libyaml and PyYAML's own scanner give the same nodes at the same places, and tags are those of YAML 1.2."""

from __future__ import annotations

from typing import Any

import pytest
from yaml.error import YAMLError

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import compose
from tests.spec.mistakes_of_form import YAML

TEXT = repo_file("spec/clip.yaml").read_text(encoding="utf-8")


def nodes(node: Any) -> list[tuple[Any, ...]]:
    """Every node with its tag, text, style, anchor and place, in the order of the text."""
    start, end = node.start_mark, node.end_mark
    place = (start.index, start.line, start.column, end.index, end.line, end.column)
    scalar = isinstance(node.value, str)
    block = getattr(node, "style", None) in ("|", ">")
    found = [
        (node.tag, node.value if scalar else len(node.value), block, getattr(node, "anchor", None), place)
    ]
    for item in () if scalar else node.value:
        for part in item if isinstance(item, tuple) else (item,):
            found += nodes(part)
    return found


def by(loader: type, text: str) -> list[tuple[Any, ...]] | None:
    """What one scanner makes of a text; None if it refuses it."""
    try:
        return nodes(compose._root(loader(text)))
    except YAMLError:
        return None


OTHERS = [
    "a: |\n  one\n  two\nb: >-\n  three\n  four\n",
    "a: 'it''s'\nb: \"x \\u263a y\"\nc: ☺ and 𝄞 # x\nd: {é: ü}\n",
    "- - - 1\n    - 2\n- {a: [1, 2], b: }\n",
    "a: &here [1]\nb: *here\n",
    "? a\n: b\n",
    "# only a comment\n--- \na: 1 # behind\n...\n",
    "a:\n  b:\nc: \n",
    "- \n-\n- [a, b: ]\n- {a, b: , c: ''}\n",
]


@pytest.mark.skipif(compose.CParser is None, reason="PyYAML without libyaml")
@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), *OTHERS])
def test_both_scanners_agree(text: str) -> None:
    found = by(compose._ByLibyaml, text)
    assert found is not None
    assert found == by(compose._ByPyYaml, text)
    alone = by(compose._ByLibyamlAlone, text)
    assert alone == found or compose._ANCHOR.search(text)


@pytest.mark.skipif(compose.CParser is None, reason="PyYAML without libyaml")
@pytest.mark.parametrize("mistake", YAML, ids=lambda mistake: mistake.name)
def test_both_scanners_agree_on_mistakes(mistake: Any) -> None:
    text = TEXT.replace(mistake.old, mistake.new.replace("§", ""))
    assert text != TEXT
    assert by(compose._ByLibyaml, text) == by(compose._ByPyYaml, text)
    alone = by(compose._ByLibyamlAlone, text)
    assert alone == by(compose._ByPyYaml, text) or compose._ANCHOR.search(text)


@pytest.mark.parametrize(
    "text", ["&a b", "[&a 1]", "[1,&a 2]", "{&k a: 1}", "- &a\n  - 1\n", "a:\n  &b c: 1\n"]
)
def test_an_anchor_is_seen_wherever_it_stands(text: str) -> None:
    node: Any = compose.compose(text)
    assert any(anchor for *_, anchor, _ in nodes(node)), "else it would be read as if it were not there"


def test_the_specification_takes_the_short_way() -> None:
    assert not compose._ANCHOR.search(TEXT)


def test_a_mark_of_the_byte_order_counts() -> None:
    root = compose.compose("\ufeffa: 1\n")
    assert root is not None
    assert root.start_mark.index == 1


def test_a_value_that_is_not_there_ends_its_key() -> None:
    root: Any = compose.compose("a: {bc: }\nd:\n")
    (_, inner), (_, last) = root.value
    assert (inner.value[0][1].start_mark.line, inner.value[0][1].start_mark.column) == (0, 6)
    assert (last.start_mark.line, last.start_mark.column) == (1, 1)


def test_the_message_is_that_of_one_scanner() -> None:
    text = "a: [1\nb: 2\n"
    with pytest.raises(YAMLError) as with_it:
        compose.compose(text)
    with pytest.raises(YAMLError) as without:
        compose._root(compose._ByPyYaml(text))
    assert str(with_it.value) == str(without.value)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("yes", "str"), ("on", "str"), ("No", "str"), ("true", "bool"), ("False", "bool"),
        ("010", "int"), ("-5", "int"), ("0x7fc0", "int"), ("0o17", "int"), ("1:30", "str"), ("1_000", "int"),
        ("1e3", "float"), ("1.5", "float"), (".5", "float"), ("-.inf", "float"), (".nan", "float"),
        ("nan", "str"), ("inf", "str"), ("-inf", "str"), ("0x1p+0", "str"),
        ("null", "null"), ("~", "null"), ("", "null"), ("'5'", "str"), ("2001-01-01", "timestamp"),
        ("=", "value"), ("<<", "merge"),
    ],
)  # fmt: skip
def test_tags_are_those_of_yaml_1_2(text: str, tag: str) -> None:
    root: Any = compose.compose(f"a: {text}\n")
    assert root.value[0][1].tag == f"tag:yaml.org,2002:{tag}"
