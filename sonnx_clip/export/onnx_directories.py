"""The ONNX form of an export: test directories that ONNX's own runner of backend tests executes.

A directory has a model.onnx, folders test_data_set_N of inputs and the output, and a data.json that sets
no tolerance. The runner accepts one answer: where the specification accepts a NaN for a number as well, the
entry is only in the directories of its class, so that whoever takes that latitude leaves these out by name.

This needs onnx.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import onnx
from onnx import numpy_helper

from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.chosen_bounds import covering_scalars
from sonnx_clip.conform.judge import opsets_of_this_clip
from sonnx_clip.conform.plan import LONG
from sonnx_clip.export.suite import ANY_NAN, TABLES, granted
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.layouts import PLAIN
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, ModelForm, covering, every_form
from sonnx_clip.runtimes.models import model_of_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.export.suite import GrantedTable, SuiteCall, TypeSuite
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_forms import Choice

KIND = "sonnx-clip"
"""The folder of all directories: the `kind` of `onnx.backend.test.loader.load_model_tests`."""

_USED = TABLES.index("used")
_SHORT = {*range(18), *(2**k + d for k in range(5, 12) for d in (-1, 0, 1)), 1000}
"""The lengths that have data sets, beside the longest one."""
_RUNNER = (
    "ONNX's runner takes the expected answer alone, compares by numpy.testing.assert_allclose without a"
    " tolerance, and gives bfloat16 one of 1/64: it sees no sign of a zero, no payload of a NaN, and of"
    " 64-bit integers no difference that float64 rounds away. Directories with `two_answers` expect a"
    " number where the specification accepts a NaN as well."
)

_Data: TypeAlias = "tuple[tuple[int, int], Array, Array]"
"""Bounds of shape (), X and the expected result of one shape; all as bits."""


class Directory:
    """A test directory with its data sets; `about` is a class, (in use) bounds, layouts, lengths or form.

    `two_answers` if the specification accepts a NaN, too, where a number is expected.
    """

    def __init__(self, one: TypeSuite, name: str, about: str, form: ModelForm) -> None:
        self.etype, self.about, self.form = one.etype.id, about, form
        self.folder = f"{KIND}/test_sonnx_clip_{self.etype}_{name}"
        self.two_answers, self.count = False, 0
        self.files = {f"{self.folder}/data.json": json.dumps({"rtol": 0, "atol": 0}).encode()}

    def add(self, bounds: tuple[int, int], x: Array, due: Array) -> None:
        """Add a data set."""
        dtype = numpy_type(self.etype)
        lower, upper = (np.array(bound, x.dtype).view(dtype) for bound in bounds)
        if self.count == 0:
            model = model_of_form(self.etype, self.form, x.shape, (lower, upper))
            self.files[f"{self.folder}/model.onnx"] = model.SerializeToString(deterministic=True)
        folder = f"{self.folder}/test_data_set_{self.count}"
        self.count += 1
        inputs = {
            "x": x.view(dtype),
            **({"l": lower, "m": upper} if self.form.bounds == "inputs" else {}),
        }
        for number, (name, value) in enumerate(inputs.items()):
            self.files[f"{folder}/input_{number}.pb"] = _tensor(value, name)
        self.files[f"{folder}/output_0.pb"] = _tensor(due.view(dtype), "y")

    @property
    def fields(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        form = {name: getattr(self.form, name) for name in ("bounds", "shape", "rank", "opset")}
        return {
            "directory": self.folder, "type": self.etype, "about": self.about, "form": form,
            "data_sets": self.count, "two_answers": self.two_answers,
        }  # fmt: skip


def directory_files(
    suites: Sequence[TypeSuite], choice: Choice, newest: int | None
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of all directories by their paths, and their fields in the manifest.

    Forms are those in which every pair of values of two axes occurs, or all of them, up to the newest
    operator set (that of the installed onnx by default). UserError if that is no set of this Clip.
    """
    known = opsets_of_this_clip()
    if newest is not None and newest not in known:
        what = f"the installed onnx has no operator set {newest} with this Clip"
        raise UserError(what, "--opset", f"choose one from {known[0]} to {known[-1]}")
    known = tuple(n for n in known if newest is None or n <= newest)
    every = every_form(known if choice == "all" else {FIRST_OPSET: 0, known[-1]: 0}, (True,))
    forms = every if choice == "all" else covering(every)
    found = []
    for one in suites:
        found += [*_of_classes(one), *_of_calls(one), *_of_used_constants(one)]
        found += [directory for form in forms for directory in _of_form(one, form)]
    files = {name: content for one in found for name, content in one.files.items()}
    types = [{"type": one.etype.id} for one in suites]
    fields = [one.fields for one in found]
    return files, {
        "onnx": onnx.__version__,
        "runner": _RUNNER,
        "types": types,
        "directories": fields,
    }


def _ordinary(rank: int) -> ModelForm:
    """The form for all tests but those of forms: ONNX's checker requires a shape of every input."""
    return ModelForm("inputs", "symbolic" if rank else "static", rank, FIRST_OPSET, optimised=True)


def _tensor(value: Array, name: str) -> bytes:
    found: bytes = numpy_helper.from_array(value, name).SerializeToString(deterministic=True)
    return found


def _has_two_answers(also: Array) -> Array:
    """Where NaN is accepted and a number is expected; any runner accepts NaN for NaN."""
    wanted = sum(one.flag for one in granted() if one.accepts == ANY_NAN and not one.always)
    found: Array = (also & wanted) != 0
    return found


def _bounds(table: GrantedTable, pair: int) -> tuple[int, int]:
    low, high = (scalar[pair].item() for scalar in table.scalars)
    return low, high


def _of_classes(one: TypeSuite) -> Iterator[Directory]:
    """A directory for each class: all its vectors, a data set for each pair of bounds."""
    for id_ in clip_operator().class_ids(one.etype.family):
        rows = np.array([v["class"] == id_ for v in one.vectors])
        x, lower, upper, due = (part[rows] for part in one.operands)
        found = Directory(one, id_, id_, _ordinary(1))
        found.two_answers = bool(_has_two_answers(one.also[rows]).any())
        for pair in dict.fromkeys(zip(lower.tolist(), upper.tolist(), strict=True)):
            these = (lower == pair[0]) & (upper == pair[1])
            found.add(pair, x[these], due[these])
        yield found


def _of_calls(one: TypeSuite) -> Iterator[Directory]:
    """Directories of the calls whose layout a tensor can have; a model takes X of one rank."""
    size = len(one.tables[0].pool)
    every: dict[str, Directory] = {}
    for call in one.calls:
        x = call.layout.arrange(np.zeros(call.length, np.uint32))
        about, name = "layouts", f"layouts_rank{x.ndim}"
        if call.table == _USED:
            about = name = "bounds_in_use"
        elif call.layout is PLAIN:
            about = name = (
                "bounds" if (call.table, call.length, call.start) == (0, size, 0) else "lengths"
            )
            if (
                about == "lengths"
                and call.length not in _SHORT
                and (call.length, call.pair) != (LONG, 0)
            ):
                continue
        elif not (x.flags.c_contiguous and x.flags.aligned) or call.layout.id == "offset":
            continue
        every.setdefault(name, Directory(one, name, about, _ordinary(x.ndim))).add(
            *_data(one, call)
        )
    yield from every.values()


def _of_used_constants(one: TypeSuite) -> Iterator[Directory]:
    """A directory for each pair of bounds in use, which are initializers of its model."""
    form = replace(_ordinary(1), bounds="initializers")
    for call in one.calls:
        if call.table == _USED:
            directory = Directory(one, f"bounds_in_use_constant{call.pair}", "bounds_in_use", form)
            directory.add(*_data(one, call))
            yield directory


def _data(one: TypeSuite, call: SuiteCall) -> _Data:
    """The data of a call; for a value that has two answers the next value of the pool is taken."""
    table, entries = one.tables[call.table], one.entries(call)
    left = np.flatnonzero(~_has_two_answers(table.also[call.pair]))
    entries = left[np.searchsorted(left, entries) % len(left)]
    x, due = table.pool[entries], table.results[call.pair][entries]
    return _bounds(table, call.pair), call.layout.arrange(x), call.layout.arrange(due)


def _of_form(one: TypeSuite, form: ModelForm) -> Iterator[Directory]:
    """The directories of a form: one where bounds are inputs, else one for each of a few pairs of them."""
    table = one.tables[0]
    bounds, shape = form.bounds.lower().replace(" ", "_"), form.shape.replace(" ", "_")
    name = f"form_{bounds}_{shape}_rank{form.rank}_opset{form.opset}"
    every: dict[str, Directory] = {}
    for pair in range(len(covering_scalars(one.etype, 0)[0])):  # the first of the table
        own = name if form.bounds == "inputs" else f"{name}_bounds{pair}"
        found = every.setdefault(own, Directory(one, own, "form", form))
        for at in _places(table, form.rank, pair):
            found.add(_bounds(table, pair), table.pool[at], table.results[pair][at])
    yield from every.values()


def _places(table: GrantedTable, rank: int, pair: int) -> Iterator[Array]:
    """Places in the pool, as arrays of a rank: all special values; at rank 0 a value of each class."""
    every = np.flatnonzero(~_has_two_answers(table.also[pair]))
    if rank == 0:
        firsts = np.unique(table.classes[pair][every], return_index=True)[1]
        yield from (np.asarray(every[at]) for at in firsts)
        return
    shape = (2,) * (rank - 1) + (-(-len(table.pool) // 2 ** (rank - 1)),)  # one for all data sets
    yield np.resize(every, shape)
