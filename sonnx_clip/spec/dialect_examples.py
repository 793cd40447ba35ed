"""Worked examples of a dialect: the node tests of Clip that ONNX's page prints, compared with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import Id, NumberText, Part, Source, Word
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.dialects import DialectId
from sonnx_clip.spec.sentences import items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.model import Spec

PAGE = "onnx-clip-examples"
Numbers: TypeAlias = Annotated[tuple[NumberText, ...], Field(min_length=1)]
_NAME = re.compile(r"\bname='test_clip_(\w+)'\)")
_BOUND = re.compile(r"\b(min|max)_val = np\.(\w+)\((-?[\d.]+)\)")
_LITERAL = re.compile(r"\b([xy]) = np\.array\(\[([^\]]*)\]\)\.astype\(np\.(\w+)\)")
_DRAWN = re.compile(r"\bx = np\.random\.randn\([^)]*\)\.astype\(np\.(\w+)\)")
_CLIPPED = re.compile(r"\by = np\.clip\(x, (\S+), (\S+)\) expect")
_LIMITS = {"np.inf": "inf", "-np.inf": "-inf"}


class ComputedBy(Part):
    """The reading that gives the expected result, and the bounds that it is given."""

    reading: Id
    L: NumberText
    M: NumberText


class DialectExample(Part):
    """A worked example of a dialect; a bound that is left out is missing.

    Args:
        id: its permanent id.
        dialect: whose example it is.
        type: the element type.
        X: the entries; or `finite`: they are drawn at random, so that it speaks of all that are finite.
        L: the lower bound.
        M: the upper one.
        Y: the entries of the result, or what computes them.
        source: the words of the page.
    """

    id: Word
    dialect: DialectId
    type: Word
    X: Literal["finite"] | Numbers
    L: NumberText | None = None
    M: NumberText | None = None
    Y: ComputedBy | Numbers
    source: Source

    @model_validator(mode="after")
    def _fits(self) -> Self:
        drawn = self.X == "finite"
        if drawn != isinstance(self.Y, ComputedBy):
            raise ValueError(
                "entries that are drawn need a Y that is computed, and entries that are listed one"
            )
        if not drawn and len(self.X) != len(self.Y):  # type: ignore[arg-type]
            raise ValueError(f"X has {len(self.X)} entries, and Y another number")
        return self

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The entries of X and of Y, if they are listed."""
        return () if isinstance(self.Y, ComputedBy) else tuple(zip(self.X, self.Y, strict=True))


def bounds_of(spec: Spec, example: DialectExample) -> tuple[Value, Value]:
    """The bounds of an example as its dialect has them, a missing one too; UserError if it refuses that."""
    from sonnx_clip.language.values import encode
    from sonnx_clip.spec.dialects import defaults

    etype = spec.element_type(example.type)
    missing = defaults(spec, spec.dialect(example.dialect), etype)
    found = []
    for index, text in enumerate((example.L, example.M)):
        if text is None and missing is None:
            raise UserError(f"{example.dialect} refuses a missing bound")
        found.append(encode(text, etype) if text is not None else (missing or ())[index])
    return found[0], found[1]


def check_dialect_examples(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about examples that are not those of the page, and results that are not the dialect's."""
    for index, example in enumerate(spec.dialect_examples):
        way: Way = ("dialect_examples", index)
        wrong = next(_unknown(spec, way, example), None)
        if wrong is not None:
            yield wrong
            return
        try:
            yield from _results(spec, way, example)
        except UserError as error:
            yield Diagnostic((*way, "id"), f"`{example.id}`: {error.what}", error.todo)
    yield from _of_page(spec)


def _unknown(spec: Spec, way: Way, example: DialectExample) -> Iterator[Diagnostic]:
    dialects, readings = [d.id for d in spec.dialects], [r.id for r in spec.readings]
    if example.dialect not in dialects:
        what = f"there is no dialect `{example.dialect}`"
        yield Diagnostic((*way, "dialect"), what, suggestion(example.dialect, dialects, "there are"))
    elif example.type not in (taken := spec.dialect(example.dialect).element_types):
        what = f"`{example.dialect}` does not take {example.type}"
        yield Diagnostic((*way, "type"), what, suggestion(example.type, taken, "it takes"))
    if isinstance(example.Y, ComputedBy) and example.Y.reading not in readings:
        what = f"there is no reading `{example.Y.reading}`"
        yield Diagnostic((*way, "Y", "reading"), what, suggestion(example.Y.reading, readings, "there are"))


def _results(spec: Spec, way: Way, example: DialectExample) -> Iterator[Diagnostic]:
    """What the words of the dialect allow is what the example expects: those bits, or that value."""
    from sonnx_clip.language.show import show
    from sonnx_clip.language.values import encode, equal, is_nan
    from sonnx_clip.spec.readings import SAMPLES, answers

    etype = spec.element_type(example.type)
    reading, bounds = spec.reading(spec.dialect(example.dialect).reading), bounds_of(spec, example)
    for position, (x, y) in enumerate(example.pairs):
        allowed = answers(spec, etype, reading, (encode(x, etype), *bounds))
        if allowed != (encode(y, etype),):
            told = " or ".join(show(value, etype) for value in allowed)
            yield Diagnostic((*way, "Y", position), f"for X = {x} {example.dialect} allows {told}")
    if isinstance(example.Y, ComputedBy):
        other = spec.reading(example.Y.reading)
        theirs = encode(example.Y.L, etype), encode(example.Y.M, etype)
        for text in SAMPLES[etype.family]:
            x_value = encode(text, etype)
            if is_nan(x_value, etype):
                continue
            pairs = (
                (one, another)
                for one in answers(spec, etype, reading, (x_value, *bounds))
                for another in answers(spec, etype, other, (x_value, *theirs))
            )
            if not all(equal(one, another, etype) for one, another in pairs):
                what = f"for X = {text} {example.dialect} and {other.id} give other values"
                yield Diagnostic((*way, "Y"), what, "see the bounds")


def _of_page(spec: Spec) -> Iterator[Diagnostic]:
    """Each test of the page has its example, and each example is that test."""
    file = spec.page(PAGE).file
    known = {example.id: (i, example) for i, example in enumerate(spec.dialect_examples)}
    for item in items(repo_file(file)):
        name = _NAME.search(item.text) if item.kind == "code" else None
        if name is None:
            continue
        id_, where = f"onnx_{name[1]}", f"{file}:{item.line}"
        if id_ not in known:
            yield Diagnostic(
                ("dialect_examples",), f"no example takes test_clip_{name[1]} of {where}", f"add {id_}"
            )
            continue
        index, example = known.pop(id_)
        for key, said, there in _differences(spec.element_type(example.type), example, item.text):
            what = f"test_clip_{name[1]} of {where} has {there} there, and this is {said}"
            yield Diagnostic(("dialect_examples", index, key), what, "the numbers are those of the page")
        if f"name='test_clip_{name[1]}')" not in example.source.quote:
            yield Diagnostic(("dialect_examples", index, "source", "quote"), "quote the test with its name")
    for id_, (index, _) in known.items():
        yield Diagnostic(("dialect_examples", index, "id"), f"{file} has no test of `{id_}`", "take it away")


def _differences(
    etype: ElementType, example: DialectExample, text: str
) -> Iterator[tuple[str, object, object]]:
    """By key what an example says and what the page has, where these differ."""
    given = {name: number for name, _, number in _BOUND.findall(text)}
    literals = {
        name: (tuple(part.strip() for part in numbers.split(",")), of)
        for name, numbers, of in _LITERAL.findall(text)
    }
    drawn, clipped = _DRAWN.search(text), _CLIPPED.search(text)
    types = {of for _, of, _ in _BOUND.findall(text)} | {of for _, of in literals.values()}
    types |= {drawn[1]} if drawn else set()
    x: object = "finite" if drawn else literals.get("x", ((), ""))[0]
    y: object = literals.get("y", ((), ""))[0]
    said = example.Y
    if clipped is not None:
        y = tuple(_limit(word, given) for word in clipped.groups())
        said = (said.L, said.M) if isinstance(said, ComputedBy) else said
    told = (
        ("type", {etype.numpy}, types),
        ("L", example.L, given.get("min")),
        ("M", example.M, given.get("max")),
        ("X", example.X, x),
        ("Y", said, y),
    )
    yield from ((key, ours, theirs) for key, ours, theirs in told if ours != theirs)


def _limit(word: str, given: dict[str, str]) -> str:
    """A bound of np.clip as the number that the specification writes for it."""
    if word.endswith("_val"):
        return given.get(word.removesuffix("_val"), word)
    if word.startswith("np.iinfo("):
        return "highest" if word.endswith(".max") else "lowest"
    return _LIMITS.get(word, word)
