"""generated/vectors: read, compared with the specification, and assigned to the entries that they test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from sonnx_clip.backends.vectors import vector_of
from sonnx_clip.evidence.evidence_model import VectorEvidence
from sonnx_clip.evidence.read import read_record, require_digest
from sonnx_clip.language import encode, show
from sonnx_clip.language.tree import Connective, Name, subtrees
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Excerpt
from sonnx_clip.spec import class_of, evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Example, Property


class _Acceptable(Excerpt):
    latitude: str


class _Record(Excerpt):
    id: str
    klass: str = Field(alias="class")
    case: str
    x: str
    min: str
    max: str
    expected: str
    acceptable: tuple[_Acceptable, ...]


class _File(Excerpt):
    spec_sha256: str
    type: str
    vectors: tuple[_Record, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Vector:
    """A test vector: bit patterns of X, L, M and of what is expected, and the latitudes that it leaves."""

    id: str
    klass: str
    case: str
    x: int
    l: int
    m: int
    due: int
    latitudes: frozenset[str]

    @property
    def triple(self) -> tuple[int, int, int]:
        """X, L and M."""
        return self.x, self.l, self.m


Vectors = dict[str, tuple[Vector, ...]]
"""The vectors of each machine type, by its id."""


def read_vectors(generated: Path, spec: Spec) -> Vectors:
    """The vectors of every machine type; UserError if a file is missing, damaged or stale."""
    return {t.id: _read(generated, spec, t) for t in spec.element_types if t.width is not None}


def _read(generated: Path, spec: Spec, etype: ElementType) -> tuple[Vector, ...]:
    path = generated / "vectors" / f"{etype.id}.json"
    todo = "run `sonnx-clip generate`"
    found, text = read_record(path, _File, todo)
    require_digest(found.spec_sha256, spec, path, todo)
    known, vectors = spec.memo.get(("vectors", etype.id), ("", ()))
    if known != text:  # else they have been computed already
        _as_given(spec, etype, json.loads(text)["vectors"], path, todo)
        vectors = tuple(_vector(record, etype) for record in found.vectors)
        spec.memo["vectors", etype.id] = text, vectors
    computed: tuple[Vector, ...] = vectors
    return computed


def _as_given(spec: Spec, etype: ElementType, vectors: list[dict[str, Any]], path: Path, todo: str) -> None:
    """UserError for the first vector that is not what the specification gives for its bits."""
    evaluate = evaluator(spec, etype)
    count: dict[str, int] = {}
    for vector in vectors:
        try:
            triple = tuple(int(encode(vector[name], etype)) for name in ("x", "min", "max"))
            x, l, m = triple
            klass = class_of(spec, etype, x, l, m)
        except (UserError, ValueError) as error:
            raise UserError(f"{vector['id']}: {error}", str(path), todo) from error
        count[klass.id] = count.get(klass.id, 0) + 1
        due = vector_of(evaluate, klass, count[klass.id], (x, l, m))
        for key, value in due.items():
            if vector.get(key) != value:
                what = f"{vector['id']}: `{key}` is {vector.get(key)}, the specification gives {value}"
                raise UserError(what, str(path), todo)


def _vector(record: _Record, etype: ElementType) -> Vector:
    x, l, m, due = (int(encode(text, etype)) for text in (record.x, record.min, record.max, record.expected))
    latitudes = frozenset(entry.latitude for entry in record.acceptable)
    return Vector(record.id, record.klass, record.case, x, l, m, due, latitudes)


def shown_vectors(spec: Spec, vectors: Vectors) -> dict[str, dict[str, tuple[VectorEvidence, ...]]]:
    """The vectors as people read them, by element type and class, in the order of the specification."""
    found: dict[str, dict[str, tuple[VectorEvidence, ...]]] = {}
    for type_id, of_type in vectors.items():
        etype = spec.element_type(type_id)
        by_class: dict[str, list[VectorEvidence]] = {c.id: [] for c in spec.classes_of(etype.family)}
        for vector in of_type:
            by_class[vector.klass].append(_shown(vector, etype))
        found[type_id] = {class_id: tuple(items) for class_id, items in by_class.items()}
    return found


def _shown(vector: Vector, etype: ElementType) -> VectorEvidence:
    assert etype.width is not None
    values = (*vector.triple, vector.due)
    x, low, high, due = (f"0x{value:0{etype.width // 4}x}" for value in values)
    a, b, c, d = (show(value, etype) for value in values)
    return VectorEvidence(
        id=vector.id,
        x=x,
        min=low,
        max=high,
        expected=due,
        shown=(a, b, c, d),
        acceptable=tuple(sorted(vector.latitudes)),
    )


def count(
    vectors: Vectors, types: Iterable[str], speaks: Callable[[str, Vector], bool]
) -> dict[str, dict[str, int]]:
    """How many vectors speak of an entry, by element type and class; what has none is left out."""
    found: dict[str, dict[str, int]] = {}
    for type_id in types:
        by_class: dict[str, int] = {}
        for vector in vectors.get(type_id, ()):
            if speaks(type_id, vector):
                by_class[vector.klass] = by_class.get(vector.klass, 0) + 1
        if by_class:
            found[type_id] = by_class
    return found


def speaks_of_property(spec: Spec, entry: Property) -> Callable[[str, Vector], bool]:
    """Whether a vector meets what a property presupposes: the left side of its `implies`, if it has one."""
    claim = entry.claim
    if not isinstance(claim, Connective) or claim.operator != "implies":
        return lambda _type, _vector: True
    premise = claim.left
    names = {node.id for node in subtrees(premise) if isinstance(node, Name)}
    if not names <= {"X", "L", "M", "Y"}:  # a second input: every vector can be its first
        return lambda _type, _vector: True

    def met(type_id: str, vector: Vector) -> bool:
        environment = {"X": vector.x, "L": vector.l, "M": vector.m, "Y": vector.due}
        return bool(evaluator(spec, spec.element_type(type_id))(premise, environment))

    return met


def speaks_of_example(spec: Spec, entry: Example) -> Callable[[str, Vector], bool]:
    """Whether a vector is an entry of a worked example."""
    triples = {
        etype.id: {tuple(encode(text, etype) for text in (x, entry.L, entry.M)) for x in entry.X}
        for etype in spec.types_of(entry.family)
        if etype.id not in entry.not_representable_in
    }
    return lambda type_id, vector: vector.triple in triples.get(type_id, set())
