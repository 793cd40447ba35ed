"""The ONNX form of an export: test directories that ONNX's own runner of backend tests executes.

A directory has a model.onnx, folders test_data_set_N of inputs and the output, and a data.json that sets
no tolerance. The runner accepts one answer: where the specification accepts a NaN for a number as well, the
entry is only in the directories of its class, so that whoever takes that latitude leaves these out by name.

This needs onnx.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx.parser
from onnx import numpy_helper

from sonnx_clip.conform.chosen_bounds import covering_scalars
from sonnx_clip.conform.judge import known_opsets
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.plan import LONG
from sonnx_clip.export.suite import ANY_NAN, TABLES, granted
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.layouts import PLAIN
from sonnx_clip.runtimes.model_forms import (
    FIRST_OPSET,
    ModelForm,
    covering,
    every_form,
    text_of_form,
)
from sonnx_clip.runtimes.models import model_of_form
from sonnx_clip.runtimes.opsets import newest_opset
from sonnx_clip.runtimes.runtime import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.export.suite import GrantedTable, SuiteCall, TypeSuite
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_forms import Choice

KIND = "sonnx-clip"
"""The folder of all directories: the `kind` of `onnx.backend.test.loader.load_model_tests`."""

_USED = TABLES.index("used")
_RUNNER = (
    "ONNX's runner takes the expected answer alone, compares by numpy.testing.assert_allclose without a"
    " tolerance, and gives bfloat16 one of 1/64: it sees no sign of a zero, no payload of a NaN, and of"
    " 64-bit integers no difference that float64 rounds away. Directories with `two_answers` expect a"
    " number where the specification accepts a NaN as well."
)


def _short_lengths() -> set[int]:
    lengths = {*range(18), 1000}
    for exponent in range(5, 12):
        power = 2**exponent
        lengths.update((power - 1, power, power + 1))
    return lengths


_SHORT = _short_lengths()
"""The lengths that have data sets, beside the longest one."""


@dataclass(frozen=True)
class _DataSet:
    """Bounds of shape (), X and the expected result of one shape; all as bits."""

    bounds: tuple[int, int]
    x: Array
    due: Array


class Directory:
    """A test directory with its data sets; `about` is a class, (in use) bounds, layouts, lengths or form.

    `two_answers` if the specification accepts a NaN, too, where a number is expected.
    """

    def __init__(self, etype: str, name: str, about: str, form: ModelForm) -> None:
        self.etype = etype
        self.about = about
        self.form = form
        self.folder = f"{KIND}/test_sonnx_clip_{etype}_{name}"
        self.two_answers = False
        self.count = 0
        no_tolerance = json.dumps({"rtol": 0, "atol": 0})
        self.files = {f"{self.folder}/data.json": no_tolerance.encode()}

    def add(self, data: _DataSet) -> None:
        """Add a data set."""
        dtype = numpy_type(self.etype)
        bits = data.x.dtype
        lower, upper = (np.array(bound, bits).view(dtype) for bound in data.bounds)
        if self.count == 0:
            model = model_of_form(self.etype, self.form, CLIP_NODE, data.x.shape, (lower, upper))
            self.files[f"{self.folder}/model.onnx"] = model.SerializeToString(deterministic=True)
        folder = f"{self.folder}/test_data_set_{self.count}"
        self.count += 1
        inputs = {"x": data.x.view(dtype)}
        if self.form.bounds == "inputs":
            inputs["l"] = lower
            inputs["m"] = upper
        for number, (name, value) in enumerate(inputs.items()):
            self.files[f"{folder}/input_{number}.pb"] = _tensor(value, name)
        self.files[f"{folder}/output_0.pb"] = _tensor(data.due.view(dtype), "y")

    @property
    def fields(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        form = {
            "bounds": self.form.bounds,
            "shape": self.form.shape,
            "rank": self.form.rank,
            "opset": self.form.opset,
        }
        return {
            "directory": self.folder,
            "type": self.etype,
            "about": self.about,
            "form": form,
            "data_sets": self.count,
            "two_answers": self.two_answers,
        }


def directory_files(
    suites: Sequence[TypeSuite], choice: Choice, newest: int | None
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of all directories by their paths, and their fields in the manifest.

    Forms are those in which every pair of values of two axes occurs, or all of them, up to the newest
    operator set (`_default_opset` by default). UserError if that is no set of this Clip.
    """
    known = known_opsets(CLIP_NODE, "float32")
    if newest is None:
        newest = _default_opset(known)
    elif newest not in known:
        message = f"the installed onnx has no operator set {newest} with this Clip"
        todo = f"choose one from {known[0]} to {known[-1]}"
        raise UserError(message, "--opset", todo)
    if choice == "all":
        forms: Sequence[ModelForm] = _forms(opset for opset in known if opset <= newest)
    else:
        ends = dict.fromkeys((FIRST_OPSET, newest))  # one operator set, if these are the same
        forms = covering(_forms(ends))
    directories: list[Directory] = []
    for suite in suites:
        directories += _of_classes(suite)
        directories += _of_calls(suite)
        directories += _of_used_constants(suite)
        for form in forms:
            directories += _of_form(suite, form)
    files: dict[str, bytes] = {}
    for directory in directories:
        files.update(directory.files)
    return files, {
        "onnx": onnx.__version__,
        "newest_opset": newest,
        "runner": _RUNNER,
        "types": [{"type": suite.etype.id} for suite in suites],
        "directories": [directory.fields for directory in directories],
    }


def _default_opset(known: Sequence[int]) -> int:
    """The newest of these operator sets that the installed onnxruntime serves.

    Without onnxruntime: the last but one of onnx, since runtimes follow onnx by some months.
    """
    try:
        from sonnx_clip.runtimes.adapters.onnxruntime import open_model
    except ImportError:
        return max(FIRST_OPSET, min(known[-1], newest_opset() - 1))
    for opset in reversed(known):
        form = replace(_ordinary(0), opset=opset)
        model = onnx.parser.parse_model(text_of_form("float32", form, CLIP_NODE))
        # onnxruntime has no function that returns its newest operator set.
        try:
            open_model(model.SerializeToString())
        except Exception:  # noqa: BLE001, S112 - whatever a runtime raises is its refusal
            continue
        return opset
    return FIRST_OPSET


def _forms(opsets: Iterable[int]) -> list[ModelForm]:
    """The forms that ONNX's checker accepts: it requires a shape of every input."""
    return [form for form in every_form(CLIP_NODE, opsets, (True,)) if form.shape != "no rank"]


def _ordinary(rank: int) -> ModelForm:
    """The form for all tests but those of forms."""
    if rank == 0:
        return ModelForm("inputs", "static", rank, FIRST_OPSET, optimised=True)
    return ModelForm("inputs", "symbolic", rank, FIRST_OPSET, optimised=True)


def _tensor(value: Array, name: str) -> bytes:
    tensor = numpy_helper.from_array(value, name)
    content: bytes = tensor.SerializeToString(deterministic=True)
    return content


def _has_two_answers(also: Array) -> Array:
    """Where NaN is accepted and a number is expected; any runner accepts NaN for NaN."""
    wanted = 0
    for latitude in granted():
        if latitude.accepts == ANY_NAN and not latitude.always:
            wanted |= latitude.flag
    mask: Array = (also & wanted) != 0
    return mask


def _bounds(table: GrantedTable, pair: int) -> tuple[int, int]:
    low, high = (scalar[pair].item() for scalar in table.scalars)
    return low, high


def _of_classes(suite: TypeSuite) -> Iterator[Directory]:
    """A directory for each class: all its vectors, a data set for each pair of bounds."""
    for id_ in clip_operator().class_ids(suite.etype.family):
        rows = np.array([vector["class"] == id_ for vector in suite.vectors])
        x, lower, upper, due = (part[rows] for part in suite.operands)
        directory = Directory(suite.etype.id, id_, id_, _ordinary(1))
        two_answers = _has_two_answers(suite.also[rows])
        directory.two_answers = bool(two_answers.any())
        pairs = zip(lower.tolist(), upper.tolist(), strict=True)
        for low, high in dict.fromkeys(pairs):
            of_pair = (lower == low) & (upper == high)
            data = _DataSet((low, high), x[of_pair], due[of_pair])
            directory.add(data)
        yield directory


def _of_calls(suite: TypeSuite) -> Iterator[Directory]:
    """Directories of the calls whose layout a tensor can have; a model takes X of one rank."""
    by_name: dict[str, Directory] = {}
    for call in suite.calls:
        entries = np.zeros(call.length, np.uint32)
        x = call.layout.arrange(entries)
        about = _subject(suite, call, x)
        if about is None:
            continue
        name = f"layouts_rank{x.ndim}" if about == "layouts" else about
        if name not in by_name:
            form = _ordinary(x.ndim)
            by_name[name] = Directory(suite.etype.id, name, about, form)
        by_name[name].add(_data(suite, call))
    yield from by_name.values()


def _subject(suite: TypeSuite, call: SuiteCall, x: Array) -> str | None:
    """What the directory of a call is about; None if it is in no directory."""
    if call.table == _USED:
        return "bounds_in_use"
    if call.layout is not PLAIN:
        is_tensor = x.flags.c_contiguous and x.flags.aligned and call.layout.id != "offset"
        return "layouts" if is_tensor else None
    size = len(suite.tables[0].pool)
    if (call.table, call.length, call.start) == (0, size, 0):
        return "bounds"
    is_longest = (call.length, call.pair) == (LONG, 0)  # one pair: these are the largest files
    return "lengths" if call.length in _SHORT or is_longest else None


def _of_used_constants(suite: TypeSuite) -> Iterator[Directory]:
    """A directory for each pair of bounds in use, which are initializers of its model."""
    form = replace(_ordinary(1), bounds="initializers")
    for call in suite.calls:
        if call.table == _USED:
            name = f"bounds_in_use_constant{call.pair}"
            directory = Directory(suite.etype.id, name, "bounds_in_use", form)
            directory.add(_data(suite, call))
            yield directory


def _data(suite: TypeSuite, call: SuiteCall) -> _DataSet:
    """The data of a call; for a value that has two answers the next value of the pool is taken."""
    table = suite.tables[call.table]
    entries = suite.entries(call)
    has_two_answers = _has_two_answers(table.also[call.pair])
    with_one_answer = np.flatnonzero(~has_two_answers)
    next_ = np.searchsorted(with_one_answer, entries) % len(with_one_answer)
    entries = with_one_answer[next_]
    x = call.layout.arrange(table.pool[entries])
    results = table.results[call.pair]
    due = call.layout.arrange(results[entries])
    return _DataSet(_bounds(table, call.pair), x, due)


def _of_form(suite: TypeSuite, form: ModelForm) -> Iterator[Directory]:
    """The directories of a form: one where bounds are inputs, else one for each of a few pairs of them."""
    table = suite.tables[0]
    bounds = form.bounds.lower().replace(" ", "_")
    shape = form.shape.replace(" ", "_")
    of_form = f"form_{bounds}_{shape}_rank{form.rank}_opset{form.opset}"
    by_name: dict[str, Directory] = {}
    covering_pairs = len(
        covering_scalars(suite.etype, 0, clip_operator())[0]
    )  # they are the first of the table
    for pair in range(covering_pairs):
        name = of_form if form.bounds == "inputs" else f"{of_form}_bounds{pair}"
        if name not in by_name:
            by_name[name] = Directory(suite.etype.id, name, "form", form)
        for places in _places(table, form.rank, pair):
            x = table.pool[places]
            due = table.results[pair][places]
            data = _DataSet(_bounds(table, pair), x, due)
            by_name[name].add(data)
    yield from by_name.values()


def _places(table: GrantedTable, rank: int, pair: int) -> Iterator[Array]:
    """Places in the pool, as arrays of a rank: all special values; at rank 0 a value of each class."""
    every = np.flatnonzero(~_has_two_answers(table.also[pair]))
    if rank == 0:
        classes = table.classes[pair][every]
        _, firsts = np.unique(classes, return_index=True)
        for first in firsts:
            yield np.asarray(every[first])
        return
    twos = (2,) * (rank - 1)
    size = len(table.pool)  # of the whole pool: one shape for all data sets
    last = -(-size // 2 ** (rank - 1))
    yield np.resize(every, (*twos, last))
