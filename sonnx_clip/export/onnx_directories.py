"""The ONNX form of an export: test directories that ONNX's own runner of backend tests executes.

A directory has a model.onnx, folders test_data_set_N of inputs and the output, and a data.json that asks for
no tolerance. The runner accepts one answer: where the specification accepts a NaN for a number as well, the
entry is only in the directories of its class, so that whoever takes that latitude leaves these out by name.

This needs onnx.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import onnx
from onnx import numpy_helper

from sonnx_clip.conform.chosen_triples import LONG, covering_scalars
from sonnx_clip.conform.expected import class_ids
from sonnx_clip.conform.judge_forms import opsets_of_this_clip
from sonnx_clip.export.suite import ANY_NAN, granted, layout_of
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.clip_model import model_of_form
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, ModelForm, covering, every_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.export.suite import SuiteCall, TypeSuite
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_forms import Choice

KIND = "sonnx-clip"
"""The folder of all directories: the `kind` of `onnx.backend.test.loader.load_model_tests`."""

_SHORT = 17
_RUNNER = (
    "ONNX's runner takes the expected answer alone, compares by numpy.testing.assert_allclose without a"
    " tolerance, and gives bfloat16 one of 1/64: it sees no sign of a zero, no payload of a NaN, and of"
    " 64-bit integers no difference that float64 rounds away. Directories with `two_answers` expect a"
    " number where the specification accepts a NaN as well."
)
_NO_TOLERANCE = json.dumps({"rtol": 0, "atol": 0}).encode()

_Bounds: TypeAlias = tuple[Any, Any]


class Directory:
    """A test directory with its data sets; `about` is a class, bounds, layouts, lengths or form.

    `two_answers` if the specification accepts a NaN, too, where a number is expected.
    """

    def __init__(self, one: TypeSuite, name: str, about: str, form: ModelForm) -> None:
        self.name, self.etype, self.about, self.form = name, one.etype.id, about, form
        self.two_answers = False
        self._sets: dict[str, bytes] = {}
        self._count = 0
        self._model: bytes | None = None

    def add(self, bounds: _Bounds, x: Array, due: Array) -> None:
        """Add a data set: bounds, shape (); X and the expected result, of one shape; all as bits."""
        dtype = numpy_type(self.etype)
        lower, upper = (np.array(bound, x.dtype).view(dtype) for bound in bounds)
        if self._model is None:
            model = model_of_form(self.etype, self.form, x.shape, (lower, upper))
            self._model = model.SerializeToString(deterministic=True)
        folder = f"test_data_set_{self._count}"
        self._count += 1
        inputs = {"x": x.view(dtype), **({"l": lower, "m": upper} if self.form.bounds == "inputs" else {})}
        for number, (name, value) in enumerate(inputs.items()):
            self._sets[f"{folder}/input_{number}.pb"] = _tensor(value, name)
        self._sets[f"{folder}/output_0.pb"] = _tensor(due.view(dtype), "y")

    @property
    def folder(self) -> str:
        """Its path in the export; the runner makes the name of the test from it."""
        return f"{KIND}/test_sonnx_clip_{self.etype}_{self.name}"

    @property
    def files(self) -> dict[str, bytes]:
        """The content of each file, by its path in the export."""
        assert self._model is not None, f"{self.name} compares nothing"
        files = {"model.onnx": self._model, "data.json": _NO_TOLERANCE, **self._sets}
        return {f"{self.folder}/{name}": content for name, content in files.items()}

    @property
    def fields(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        form = {name: getattr(self.form, name) for name in ("bounds", "shape", "rank", "opset")}
        return {
            "directory": self.folder, "type": self.etype, "about": self.about, "form": form,
            "data_sets": self._count, "two_answers": self.two_answers,
        }  # fmt: skip


def directory_files(
    suites: Sequence[TypeSuite], choice: Choice, newest: int | None
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of all directories by their paths, and their fields in the manifest.

    Forms are those in which every pair of values of two axes occurs, or all of them, up to the newest
    operator set (that of the installed onnx by default). UserError if that is no set of this Clip.
    """
    found = list(_directories(suites, choice, newest))
    every = [one.fields for one in found]
    files = {name: content for one in found for name, content in one.files.items()}
    types = []
    for suite in suites:
        sets = [one["data_sets"] for one in every if one["type"] == suite.etype.id]
        types.append({"type": suite.etype.id, "directories": len(sets), "data_sets": sum(sets)})
    return files, {"onnx": onnx.__version__, "runner": _RUNNER, "types": types, "directories": every}


def _directories(suites: Sequence[TypeSuite], choice: Choice, newest: int | None) -> Iterator[Directory]:
    """Directories of classes, bounds, layouts, lengths and forms of a model."""
    known = opsets_of_this_clip()
    if newest is not None and newest not in known:
        what = f"operator set {newest} is none of this Clip that the installed onnx knows"
        raise UserError(what, "--opset", f"choose one from {known[0]} to {known[-1]}")
    known = tuple(n for n in known if newest is None or n <= newest)
    every = every_form(known if choice == "all" else {FIRST_OPSET: 0, known[-1]: 0}, (True,))
    for one in suites:
        yield from _of_classes(one)
        yield from _of_calls(one)
        for form in every if choice == "all" else covering(every):
            yield from _of_form(one, form)


def _ordinary(rank: int) -> ModelForm:
    """The form in which all but forms are tested: ONNX's checker asks for a shape of every input."""
    return ModelForm("inputs", "symbolic" if rank else "static", rank, FIRST_OPSET, optimised=True)


def _tensor(value: Array, name: str) -> bytes:
    found: bytes = numpy_helper.from_array(value, name).SerializeToString(deterministic=True)
    return found


def _nan_instead(also: Array) -> Array:
    """Where NaN is accepted and a number is due: NaN for NaN is what any runner accepts."""
    wanted = sum(one.flag for one in granted() if one.accepts == ANY_NAN and not one.always)
    found: Array = (also & wanted) != 0
    return found


def _of_classes(one: TypeSuite) -> Iterator[Directory]:
    """A directory for each class: all its vectors, a data set for each pair of bounds."""
    for id_ in class_ids(one.etype.family):
        rows = np.array([v["class"] == id_ for v in one.vectors])
        x, lower, upper, due = (part[rows] for part in one.operands)
        found = Directory(one, id_, id_, _ordinary(1))
        found.two_answers = bool(_nan_instead(one.also[rows]).any())
        for pair in dict.fromkeys(zip(lower.tolist(), upper.tolist(), strict=True)):
            these = (lower == pair[0]) & (upper == pair[1])
            found.add(pair, x[these], due[these])
        yield found


def _of_calls(one: TypeSuite) -> Iterator[Directory]:
    """Directories of the calls whose layout a tensor can have; a model takes X of one rank."""
    size = len(one.tables[0].pool)
    short = set(range(_SHORT + 1)) | {2**k + d for k in range(5, 12) for d in (-1, 0, 1)} | {1000, LONG}
    every: dict[str, Directory] = {}
    for call in one.calls:
        about = "layouts"
        if layout_of(call) is PLAIN:
            about = "bounds" if call.table == 0 and call.length == size and call.start == 0 else "lengths"
        elif not _is_of_tensors(call):
            continue
        if about != "lengths" or (call.length in short and (call.length < LONG or call.pair == 0)):
            operands = _operands(one, call)
            rank = operands[1].ndim
            name = f"{about}_rank{rank}" if about == "layouts" else about
            every.setdefault(name, Directory(one, name, about, _ordinary(rank))).add(*operands)
    yield from every.values()


def _is_of_tensors(call: SuiteCall) -> bool:
    """Whether a layout is the one in which a tensor of its shape lies anyway."""
    array = layout_of(call).arrange(np.zeros(call.length, np.uint32))
    return bool(array.flags.c_contiguous and array.flags.aligned) and layout_of(call).id != "offset"


def _operands(one: TypeSuite, call: SuiteCall) -> tuple[_Bounds, Array, Array]:
    """Bounds, X and what is due, without what has two answers: the next value of the pool stands for it."""
    table = one.tables[call.table]
    entries = one.entries(call)
    left = np.flatnonzero(~_nan_instead(table.also[call.pair]))
    entries = left[np.searchsorted(left, entries) % len(left)]
    arrange = layout_of(call).arrange
    bounds = table.scalars[0][call.pair].item(), table.scalars[1][call.pair].item()
    return bounds, arrange(table.pool[entries]), arrange(table.due[call.pair][entries])


def _of_form(one: TypeSuite, form: ModelForm) -> Iterator[Directory]:
    """The directories of a form: one where bounds are inputs, else one for each of a few pairs of them."""
    pairs = len(covering_scalars(one.etype, 0)[0])  # the first of the table
    shape = form.shape.replace(" ", "_")
    bounds = form.bounds.lower().replace(" ", "_")
    name = f"form_{bounds}_{shape}_rank{form.rank}_opset{form.opset}"
    every: dict[str, Directory] = {}
    for pair in range(pairs):
        own = name if form.bounds == "inputs" else f"{name}_bounds{pair}"
        found = every.setdefault(own, Directory(one, own, "form", form))
        for operands in _of_rank(one, form.rank, pair):
            found.add(*operands)
    yield from every.values()


def _of_rank(one: TypeSuite, rank: int, pair: int) -> Iterator[tuple[_Bounds, Array, Array]]:
    """X of a rank: all special values; at rank 0 a value of each class."""
    table = one.tables[0]
    bounds = table.scalars[0][pair].item(), table.scalars[1][pair].item()
    every = np.flatnonzero(~_nan_instead(table.also[pair]))
    if rank == 0:
        firsts = every[np.unique(table.classes[pair][every], return_index=True)[1]]
        yield from ((bounds, table.pool[at], table.due[pair][at]) for at in firsts)
        return
    layout = next(
        layout for layout in LAYOUTS
        if (array := layout.arrange(np.zeros(layout.length or 1, np.uint32))).ndim == rank
        and array.size and array.flags.c_contiguous
    )  # fmt: skip
    entries = np.resize(every, layout.length or len(every))
    yield bounds, layout.arrange(table.pool[entries]), layout.arrange(table.due[pair][entries])
