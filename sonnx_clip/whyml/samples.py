"""The values on which theories are evaluated: special and ordinary patterns, small shapes, tensors and nodes,
and models of abstract symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language.special import special_patterns
from sonnx_clip.whyml.evaluate_whyml import width_of
from sonnx_clip.whyml.natives import UNSIGNED, WIDTHS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.whyml_scope import ModuleScope


TOY = "Toy"
"""The type of eight elements: -inf, -1, -0, +0, 1, inf and two NaNs, by their places in this list."""

_KEYS = np.array([-np.inf, -1.0, 0.0, 0.0, 1.0, np.inf, np.nan, np.nan])
COUNT = len(_KEYS)


def _key(a: Any) -> Any:
    return _KEYS[np.asarray(a, np.int64)]


def _valid(index: Any, shape: Any) -> bool:
    if shape[0] == "Scalar":
        return bool(index[0] == "Origin")
    return index[0] == "At" and 0 <= index[1] < shape[1] and _valid(index[2], shape[2])


ABSTRACT: dict[str, Any] = {
    "type t": TOY, "type elt": TOY, "type shape": "Shape", "type index": "Index", "type size": "size",
    "nan": lambda a: np.isnan(_key(a)),
    "le": lambda a, b: _key(a) <= _key(b),
    "lt": lambda a, b: _key(a) < _key(b),
    "eq": lambda a, b: _key(a) == _key(b),
    "valid": _valid, "empty": ("Scalar",), "origin": ("Origin",),
    "value": lambda a: a, "largest": 1000,
    "lo": np.uint8(0), "hi": np.uint8(5), "probe": np.uint8(6),
    "inverted": lambda a, b: _key(a) < _key(b),
    "at_lower": lambda a, b: _key(a) <= _key(b),
    "at_upper": lambda a, b: _key(a) <= _key(b),
    "before": lambda place: np.uint8(place % COUNT),  # what is in memory, by its place: of each element one
    "after": lambda place: np.uint8(place % COUNT),
    "read": None, "write": None, "memory": None,
}  # fmt: skip


@cache
def models_of(module: str) -> tuple[Mapping[str, Any], ...]:
    """The models in which the goals of a module are evaluated, beside the one above."""
    if module != "composition.Composition":
        return ({},)
    found: list[Mapping[str, Any]] = [{}]
    for name, right in (("inverted", np.less), ("at_lower", np.less_equal), ("at_upper", np.less_equal)):
        for a in range(COUNT):
            found += [{name: _flipped(right, a, b)} for b in range(COUNT)]
    return tuple(found)


def _flipped(right: Any, a: int, b: int) -> Any:
    """A comparison that is wrong of one pair."""

    def compare(x: Any, y: Any) -> Any:
        return right(_key(x), _key(y)) ^ ((np.asarray(x) == a) & (np.asarray(y) == b))

    return compare


# ------------------------------------------------------------------------------------------------------------
# The values on which theories are evaluated: special and ordinary patterns, small shapes, tensors and
# nodes
#
# They are few and fixed. A goal that is false of one of them is false; a premise that one of them meets can
# hold.


_REALS = (-100.0, -7.0, -6.1, -2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 9.5, 10.0, 11.0, 20.0, 35.7, 1e10)


def patterns(spec: Spec, of: str, more: Sequence[int] = ()) -> np.ndarray[Any, Any]:
    """The values of an element type (by the name that WhyML has for it) that are taken everywhere."""
    if of == "real":
        return np.array([*_REALS, *more])
    if of == TOY:
        return np.arange(COUNT, dtype=np.uint8)
    width = width_of(of)
    if of.startswith("Bits"):
        found = [0, 1, 2, 2 ** (width - 1) - 1, 2 ** (width - 1), 2 ** (width - 1) + 1, 2**width - 1, 10, 100]
    else:
        etype = next(e for e in spec.element_types if e.why3 == of)
        found = [int(p) % 2**width for p in special_patterns(etype)]
    return np.array(list(dict.fromkeys([*found, *more])), dtype=UNSIGNED[width])


def is_element(of: Any) -> bool:
    """Whether a type is an element type, whose values are patterns or reals."""
    return isinstance(of, str) and (of in ("real", TOY) or of in WIDTHS or of.startswith("Bits"))


def columns(  # noqa: C901
    spec: Spec, types: Sequence[Any], more: Sequence[int] = (), seed: int = 1, rows: int = 6000
) -> list[Any]:
    """Values for variables: all combinations of few special values, then rows in which variables coincide.

    Args:
        spec: what the element types are.
        types: the type of each variable: an element type or ``bool``.
        more: patterns to be taken as well, those of literals above all.
        seed: chooses the random rows.
        rows: how many there may be.
    """
    if not types:
        return []
    random = np.random.default_rng(seed)
    pools = [np.array([False, True]) if t == "bool" else patterns(spec, t, more) for t in types]
    grid = 1
    for pool in pools:
        grid *= len(pool)
    if grid <= rows or (grid <= _WHOLE and TOY in types):
        return [np.ascontiguousarray(c.reshape(-1)) for c in np.meshgrid(*pools, indexing="ij")]
    found = [pool[random.integers(0, len(pool), rows)] for pool in pools]
    for at, of in enumerate(types):
        if of == "bool":
            continue
        earlier = [k for k in range(at) if types[k] == of]
        if earlier:
            # A third of the rows repeats what an earlier variable has: answers and ties are of this kind.
            for k in earlier:
                rows_of = random.random(rows) < _REPEATED / len(earlier)
                found[at] = np.where(rows_of, found[k], found[at])
        if of not in ("real", TOY):
            highest = UNSIGNED[width_of(of)](2 ** width_of(of) - 1)
            anything = random.integers(0, highest, rows, dtype=UNSIGNED[width_of(of)], endpoint=True)
            found[at] = np.where(random.random(rows) < _WILD, anything, found[at])
        for k in range(at):
            if types[k] == "Float32" and of in ("Float16", "Float64"):
                with np.errstate(all="ignore"):
                    converted = found[k].view(np.float32).astype(np.dtype(of.lower()))
                converted = converted.view(UNSIGNED[width_of(of)])
                found[at] = np.where(random.random(rows) < _REPEATED / at, converted, found[at])
    return [np.ascontiguousarray(column) for column in found]


_WHOLE = 40_000
_REPEATED = 0.4
_WILD = 0.08


@cache
def shapes() -> tuple[Any, ...]:
    """Shapes of ranks 0 to 2."""
    scalar = ("Scalar",)
    ones = [("Dim", d, scalar) for d in (-1, 0, 1, 2, 1001)]
    return (scalar, *ones, ("Dim", 2, ones[3]), ("Dim", 0, ones[2]))


@cache
def indices() -> tuple[Any, ...]:
    """Indexes of ranks 0 to 2."""
    origin = ("Origin",)
    ones = [("At", k, origin) for k in (-1, 0, 1, 1000)]
    return (origin, *ones, ("At", 1, ones[1]), ("At", 0, ones[2]))


ELEMENT_TYPES = ("Float32", "Int8", "Float64")


@cache
def declared() -> tuple[Any, ...]:
    """What a model may declare of a tensor."""

    def known(k: int, rest: Any) -> Any:
        return ("And", ("Known", k), rest)

    def symbol(k: int, rest: Any) -> Any:
        return ("And", ("Symbolic", k), rest)

    none = ("NoMore",)
    dims = [none, known(1, none), known(7, none), known(5, none), known(2, known(3, none)), symbol(0, none),
            known(2, symbol(0, none)), symbol(0, known(5, none)), known(0, none)]  # fmt: skip
    found: list[Any] = [("Absent",)]
    for dim in (("Undeclared",), *(("Dims", d) for d in dims)):
        found += [("Present", {"element": (e,), "sparse": False, "dims": dim}) for e in ELEMENT_TYPES[:2]]
    found.append(("Present", {"element": ("Float32",), "sparse": True, "dims": ("Dims", none)}))
    return tuple(found)


@cache
def nodes() -> tuple[Any, ...]:
    """Nodes of Clip: one that meets every restriction, and all that differ from it in one or two tensors."""
    every = declared()
    good = every[
        next(k for k, d in enumerate(every) if d[0] == "Present" and d[1]["dims"] == ("Dims", ("NoMore",)))
    ]
    base = dict.fromkeys("xlmy", good)
    found = [base]
    for name in "xlmy":
        found += [{**base, name: tensor} for tensor in every]
    for one, other in (("x", "y"), ("l", "m"), ("x", "l")):
        found += [{**base, one: a, other: b} for a, b in product(every[::2], every[1::3])]
    return tuple(found)


def domain_of(spec: Spec, of: Any, scope: ModuleScope) -> Sequence[Any]:
    """The values over which a quantifier goes, by what `described` says of the type."""
    if isinstance(of, str):
        simple = _SIMPLE.get(of)
        return simple() if simple is not None else list(patterns(spec, of))
    form, content, *_ = of
    if form == "variants":
        if content[0][0] == "Nothing":  # what a tensor of a node holds
            tensors = _records(spec, ("element", "shape", "entry"), scope)
            return [("Nothing",), ("Sparse",), *(("Dense", x) for x in tensors)]
        listed: Sequence[Any] = _BY_CONSTRUCTOR[content[0][0]]()
        return listed
    return _records(spec, tuple(content), scope)


_SIMPLE: dict[str, Any] = {
    "bool": lambda: (False, True),
    "int": lambda: (-2, -1, 0, 1, 2, 3, 5, 7, 999, 1000, 1001),
    "size": lambda: (0, 1, 2, 3),
    "Shape": lambda: shapes()[:6],
    "Index": lambda: indices()[:4],
}
_BY_CONSTRUCTOR: dict[str, Any] = {
    "Scalar": shapes, "Origin": indices, "Absent": declared,
    "NoMore": lambda: tuple({str(d[1]["dims"][1]): d[1]["dims"][1] for d in declared()
                             if d[0] == "Present" and d[1]["dims"][0] == "Dims"}.values()),
    "Real": lambda: tuple((e,) for e in ELEMENT_TYPES),
    "Known": lambda: (("Known", 5), ("Known", 0), ("Symbolic", 0)),
}  # fmt: skip


def _records(spec: Spec, fields: tuple[str, ...], scope: ModuleScope) -> Sequence[Any]:
    match fields:
        case ("element", "shape", "entry"):
            of = scope.types.get("elt") or scope.types["t"]
            own = ("Real" if of == "real" else of,) if of != TOY else ()
            tags = dict.fromkeys((*own, *ELEMENT_TYPES))
            return _tensors(tuple(patterns(spec, of)), tuple(tags)[:3])
        case ("element", "sparse", "dims"):
            return tuple(d[1] for d in declared() if d[0] == "Present")
        case ("x", "l", "m", "y"):
            return nodes()
        case ("from", "readable"):
            return tuple({"from": a, "readable": n} for a in (0, 1, 2, 5) for n in (0, 2, 3))
        case ("into", "writable"):
            return tuple({"into": a, "writable": n} for a in (0, 1, 2, 5) for n in (0, 2, 3))
        case _:
            raise LookupError(f"no samples of a record with {', '.join(fields)}")


@cache
def _tensors(values: tuple[Any, ...], tags: tuple[str, ...]) -> tuple[Any, ...]:
    """Scalars of every kind of value, vectors of none, one and two entries, with several tags."""
    few = values[:: max(1, len(values) // 9)]
    scalar, one, two = ("Scalar",), ("Dim", 1, ("Scalar",)), ("Dim", 2, ("Scalar",))
    random = np.random.default_rng(7)
    found: list[tuple[Any, ...]] = []
    for tag in tags:
        for value in few:
            found.append((tag, scalar, (value,)))
            found.append((tag, one, (value,)))
        found.append((tag, ("Dim", 0, ("Scalar",)), ()))
        found += [(tag, two, tuple(few[int(k)] for k in random.integers(0, len(few), 2))) for _ in range(8)]
    # What an index that is not valid gives is any value at all: of each tensor another.
    return tuple(
        {"element": (t,), "shape": s, "entry": Entries(s, v, few[at % len(few)])}
        for at, (t, s, v) in enumerate(found)
    )


@dataclass(frozen=True)
class Entries:
    """The entries of a scalar or vector by their index; beyond its shape there is a value, too."""

    shape: Any
    values: tuple[Any, ...]
    beyond: Any

    def __call__(self, index: Any) -> Any:
        """The entry at an index, whether it is valid or not."""
        at = 0 if self.shape[0] == "Scalar" else (index[1] if index[0] == "At" else -1)
        return self.values[at] if 0 <= at < len(self.values) else self.beyond

    def __str__(self) -> str:
        """As a witness shows them."""
        return f"({', '.join(map(_value, self.values))}), beyond it {_value(self.beyond)}"


def _value(value: Any) -> str:
    if isinstance(value, np.unsignedinteger):
        return f"0x{int(value):0{value.dtype.itemsize * 2}x}"
    return str(value)
