"""No obligation is proved under a conversion that nothing in it needs: a premise makes a theorem weaker."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from collections.abc import Iterator

_GOAL = re.compile(r"^  goal (\w+)[^:]*:\s*(.*?)(?=^  goal |^  \(\*|^end|\Z)", re.MULTILINE | re.DOTALL)
_FLOATS = re.compile(r"forall ([\w ]+): FLOAT\.t")
_ROUNDED = "    forall min max: FLOAT.t, x l m y: t. converts min l -> converts max m -> a x l m y\n"


def idle_conversions(theory: str) -> Iterator[str]:
    """The goals with a FLOAT that stands in a single place, the premise that it becomes something."""
    for name, statement in _GOAL.findall(theory):
        for variables in _FLOATS.findall(statement):
            for variable in variables.split():
                used = len(re.findall(rf"\b{variable}\b", statement)) - 1
                if used == 1 and re.search(rf"\bconverts {variable} \w+\s*->", statement):
                    yield name


def test_no_obligation_has_an_idle_conversion() -> None:
    paths = sorted((repo_root() / "generated/why3").glob("*.mlw"))
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    assert sum(text.count("converts ") for text in texts.values()) > 100
    assert {name: found for name, text in texts.items() if (found := [*idle_conversions(text)])} == {}


def test_one_that_is_planted_is_found() -> None:
    """What onnx_6_after_onnx_1 said of float16 once: the bounds that are converted, where it holds of any."""
    path = repo_root() / "generated/why3/dialects_float16.mlw"
    text = path.read_text(encoding="utf-8")
    planted, count = re.subn(r"(  goal onnx_6_after_onnx_1 .*\n)", rf"\1{_ROUNDED}", text, count=1)
    assert count == 1
    assert [*idle_conversions(planted)] == ["onnx_6_after_onnx_1", "onnx_6_after_onnx_1"]
