"""The pages of ONNX and DirectML, parsed: what each version takes, and how it is given its bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.spec.texts import Section, fold, sections

if TYPE_CHECKING:
    from pathlib import Path

_VERSION = re.compile(r"^Clip - (?P<version>\d+)$")
_LEVEL = re.compile(r"^DML_FEATURE_LEVEL_(?P<major>\d+)_(?P<minor>\d+) and above$")
_TYPES = re.compile(r"\bT in \((?P<names>[^:]*)\)\s*:")
_NAME = re.compile(r"tensor\((\w+)\)")
_BOUND = re.compile(
    r"• (?P<name>min|max)(?P<optional> \(optional, heterogeneous\))? - (?P<type>\w+)\s*"
    r"(?:\(default is '\((?P<default>[^)]*)\)'\))?"
)
_FUNCTION = re.compile(r"• function: (True|False)\b")
_INPUTS = re.compile(r"\bBetween (\d+) and (\d+) inputs\.")
_ATTRIBUTE = re.compile(r"• (?P<name>\w+) - (?:FLOATS?|INTS?|STRINGS?|TENSORS?)\b")
_ROW = re.compile(
    r"^(?P<tensor>InputTensor Input|OutputTensor Output) (?P<least>\d+)(?: to (?P<greatest>\d+))? "
    r"(?P<types>[A-Z0-9, ]+)$"
)


@dataclass(frozen=True)
class Version:
    """What a page says of a version of Clip.

    Args:
        version: as the page numbers it.
        line: of its heading.
        types: the element types by the names of the page.
        ranks: least and greatest number of dimensions; None where the page names none.
        bounds: inputs, attributes or members.
        bound_type: by the name of the page; ``T`` for that of the input.
        optional: whether a bound may be missing.
        defaults: what the page prints for a missing bound, min and max; None where it prints none.
        limits: whether it says that a missing bound is a numeric limit.
        in_place: whether it says that the result may take the place of the input.
        scale_bias: whether it has a scale and a bias.
        function: whether it says that there is a function body; None where it says nothing of one.
        inputs: the least and the greatest number of inputs; None where it prints none.
        attributes: the names of attributes that are no bounds.
    """

    version: str
    line: int
    types: tuple[str, ...]
    ranks: tuple[int, int | None] | None
    bounds: str
    bound_type: str
    optional: bool
    defaults: tuple[str, str] | None
    limits: bool
    in_place: bool
    scale_bias: bool
    function: bool | None = None
    inputs: tuple[int, int] | None = None
    attributes: tuple[str, ...] = ()


class UnreadError(ValueError):
    """A page does not have the form in which it is read."""


def onnx_versions(path: Path) -> tuple[Version, ...]:
    """Every version of Clip on ONNX's page; UnreadError if one is not in the form of the others."""
    found = [(match["version"], s) for s in sections(path) if (match := _VERSION.match(s.title))]
    return tuple(_onnx(path, version, section) for version, section in found)


def _onnx(path: Path, version: str, section: Section) -> Version:
    text = fold("\n".join(section.lines))
    where = f"{path.name}:{section.first}"
    listed = _TYPES.search(text)
    bounds = {match["name"]: match for match in _BOUND.finditer(text)}
    if listed is None or set(bounds) != {"min", "max"}:
        raise UnreadError(f"{where}: `Clip - {version}` has no list of types, or not both bounds")
    low, high = bounds["min"], bounds["max"]
    if low["type"] != high["type"] or low["optional"] != high["optional"]:
        raise UnreadError(f"{where}: the bounds of `Clip - {version}` are not alike")
    attributes, _, inputs = text.partition(" Inputs ")
    in_attributes = _BOUND.search(attributes) is not None
    printed = (low["default"], high["default"]) if low["default"] and high["default"] else None
    function, number = _FUNCTION.search(text), _INPUTS.search(text)
    limits = "default to numeric_limits::lowest() and numeric_limits::max()" in text
    return Version(
        version=version,
        line=section.first,
        types=tuple(_NAME.findall(listed["names"])),
        ranks=None,
        bounds="attributes" if in_attributes else "inputs",
        bound_type=low["type"],
        optional=bool(low["optional"]) or in_attributes,
        defaults=printed,
        limits=limits,
        in_place="in-place" in text or "in place" in text,
        scale_bias="scale" in inputs.lower(),
        function=function[1] == "True" if function else None,
        inputs=(int(number[1]), int(number[2])) if number else None,
        attributes=tuple(name for name in _ATTRIBUTE.findall(attributes) if name not in bounds),
    )


def directml_levels(path: Path) -> tuple[Version, ...]:
    """Every feature level on DirectML's page; UnreadError if one is not in the form of the others."""
    found = [(match, s) for s in sections(path) if (match := _LEVEL.match(s.title))]
    text = fold(path.read_text(encoding="utf-8"))
    scale = re.search(r"\bconst DML_SCALE_BIAS \*ScaleBias;", text) is not None
    members = re.findall(r"\b(\w+) (Min|Max);", text)
    if {name for _, name in members} != {"Min", "Max"} or len({of for of, _ in members}) != 1:
        raise UnreadError(f"{path.name}: the structure does not have Min and Max of one type")
    levels = []
    for match, section in found:
        rows = {row["tensor"]: row for line in section.lines if (row := _ROW.match(line.strip()))}
        if set(rows) != {"InputTensor Input", "OutputTensor Output"}:
            raise UnreadError(f"{path.name}:{section.first}: no rows for InputTensor and OutputTensor")
        one, other = rows.values()
        if one.groups()[1:] != other.groups()[1:]:
            raise UnreadError(f"{path.name}:{section.first}: InputTensor and OutputTensor differ")
        least = int(one["least"])
        levels.append(
            Version(
                version=f"{match['major']}.{match['minor']}",
                line=section.first,
                types=tuple(name.strip() for name in one["types"].split(",")),
                ranks=(least, int(one["greatest"]) if one["greatest"] else least),
                bounds="members",
                bound_type=members[0][0],
                optional=False,
                defaults=None,
                limits=False,
                in_place="supports in-place execution" in text,
                scale_bias=scale,
            )
        )
    return tuple(levels)
