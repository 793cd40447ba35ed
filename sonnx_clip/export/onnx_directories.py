"""The ONNX form of an export: test directories that ONNX's own runner of backend tests executes.

A directory has a model.onnx, folders test_data_set_N of inputs and the output, and a data.json that sets
no tolerance. The runner accepts one answer: where the specification accepts a NaN for a number as well, the
entry is only in the directories of its class, so that whoever takes that latitude leaves these out by name.

This needs onnx.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx.parser
from onnx import numpy_helper

from sonnx_clip.conform.call_plan import LONG
from sonnx_clip.conform.chosen_bounds import covering_rows
from sonnx_clip.export.suite import ANY_NAN, SPECIAL, USED, granted, granted_table
from sonnx_clip.language import encode
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.layouts import PLAIN
from sonnx_clip.runtimes.model_forms import (
    FIRST_OPSET,
    ModelForm,
    covering,
    every_form,
    model_text,
)
from sonnx_clip.runtimes.opsets import newest_opset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.export.suite import GrantedTable, SuiteCall, TypeSuite
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_forms import Choice, Shape

KIND = "sonnx-clip"
"""The folder of all directories: the `kind` of `onnx.backend.test.loader.load_model_tests`."""

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
    """The operands of one call, each in the shape of its tensor, and the expected result; all as bits."""

    operands: tuple[Array, ...]
    expected: Array


class Directory:
    """A test directory with its data sets; `about` is a class, (in use) bounds, layouts, lengths or form.

    `two_answers` if the specification accepts a NaN, too, where a number is expected.
    """

    def __init__(self, suite: TypeSuite, name: str, about: str, form: ModelForm) -> None:
        self.operator = suite.operator
        self.etype = suite.etype.id
        self.about = about
        self.form = form
        function = self.operator.signature.function
        self.folder = f"{KIND}/test_sonnx_{function}_{self.etype}_{name}"
        self.two_answers = False
        self.count = 0
        # Without this file the runner would accept a relative deviation of 0.001.
        no_tolerance = json.dumps({"rtol": 0, "atol": 0})
        self.files = {f"{self.folder}/data.json": no_tolerance.encode()}

    def add(self, data: _DataSet) -> None:
        """Add a data set; the first one decides the shapes of the model, and its constants."""
        dtype = numpy_type(self.etype)
        values = [operand.view(dtype) for operand in data.operands]
        if self.count == 0:
            model = _model(self.operator, self.etype, self.form, values)
            # The same bytes at each export, which `evidence` compares.
            content = model.SerializeToString(deterministic=True)
            self.files[f"{self.folder}/model.onnx"] = content

        folder = f"{self.folder}/test_data_set_{self.count}"
        self.count += 1
        # Operands behind the inputs are constants of the model, and have no file.
        input_count = _inputs(self.operator, self.form)
        names = self.operator.signature.parameters[:input_count]
        for number, name in enumerate(names):
            input_path = f"{folder}/input_{number}.pb"
            self.files[input_path] = _tensor(values[number], name)
        output_path = f"{folder}/output_0.pb"
        expected = data.expected.view(dtype)
        self.files[output_path] = _tensor(expected, "y")

    @property
    def fields(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        form = self.form
        return {
            "directory": self.folder,
            "type": self.etype,
            "about": self.about,
            "form": {
                "bounds": form.bounds,
                "shape": form.shape,
                "rank": form.rank,
                "opset": form.opset,
            },
            "data_sets": self.count,
            "two_answers": self.two_answers,
        }


def directory_files(
    operator: Operator, suites: Sequence[TypeSuite], choice: Choice, newest: int | None
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of all directories by their paths, and their fields in the manifest.

    Forms are those in which every pair of values of two axes occurs, or all of them, up to the newest
    operator set (`_default_opset` by default). UserError if that is no set of this operator.
    """
    op_type = operator.spec.operator
    known = {}  # the operator sets by element type
    for suite in suites:
        known[suite.etype.id] = opsets_of_node(op_type, suite.etype)
    opsets = sorted(set().union(*known.values()))
    if newest is None:
        newest = _default_opset(operator, suites[0].etype.id, opsets)
    elif newest not in opsets:
        message = f"the installed onnx has no operator set {newest} with this {op_type}"
        todo = f"choose one from {opsets[0]} to {opsets[-1]}"
        raise UserError(message, "--opset", todo)

    directories: list[Directory] = []
    for suite in suites:
        # A type may come later than the operator.
        type_id = suite.etype.id
        opsets_of_type = [opset for opset in known[type_id] if opset <= newest]
        if not opsets_of_type:
            message = f"{op_type} has no {type_id} up to operator set {newest}"
            raise UserError(message, "--opset", f"choose {known[type_id][0]} or more")
        directories += _of_type(suite, choice, opsets_of_type)

    files: dict[str, bytes] = {}
    for directory in directories:
        files.update(directory.files)
    fields = {
        "onnx": onnx.__version__,
        "newest_opset": newest,
        "runner": _RUNNER,
        "types": [{"type": suite.etype.id} for suite in suites],
        "directories": [directory.fields for directory in directories],
    }
    return files, fields


def _of_type(suite: TypeSuite, choice: Choice, opsets: Sequence[int]) -> Iterator[Directory]:
    """The directories of an element type, in these operator sets."""
    operator = suite.operator
    if choice == "all":
        forms: Sequence[ModelForm] = _forms(operator, opsets)
    else:
        # Operator sets between the first and the last differ in their types alone, not in the meaning.
        ends = dict.fromkeys((opsets[0], opsets[-1]))  # one operator set, if these are the same
        forms = covering(_forms(operator, ends))
    # Everything but the forms is in one operator set, since the meaning is the same in all.
    first = opsets[0]
    yield from _of_classes(suite, first)
    yield from _of_calls(suite, first)
    yield from _of_used_constants(suite, first)
    table, rows = _table_of_forms(suite)
    for form in forms:
        yield from _of_form(suite, form, table, rows)


def opsets_of_node(op_type: str, etype: ElementType) -> list[int]:
    """The operator sets from `FIRST_OPSET` on in which a node of the operator takes an element type.

    From there on, the operators of this project differ between operator sets in their types alone.
    UserError if there are none.
    """
    type_text = f"tensor({(etype.onnx or etype.id).lower()})"
    opsets = []
    for opset in range(FIRST_OPSET, newest_opset() + 1):
        try:
            schema = onnx.defs.get_schema(op_type, opset, "")
        except onnx.defs.SchemaError:  # an operator that came later
            continue
        if type_text in schema.inputs[0].types:
            opsets.append(opset)
    if not opsets:
        message = f"the installed onnx has no operator {op_type} of {etype.id}"
        raise UserError(message, todo="name the element types that it has with --dtype")
    return opsets


def _default_opset(operator: Operator, type_id: str, known: Sequence[int]) -> int:
    """The newest of these operator sets that the installed onnxruntime serves.

    Without onnxruntime: the last but one of onnx, since runtimes follow onnx by some months.

    Args:
        operator: whose node is tried, in float32 if it has this type.
        type_id: the element type that is tried otherwise.
        known: the operator sets, in ascending order.
    """
    try:
        from sonnx_clip.runtimes.adapters.onnxruntime import open_model
    except ImportError:
        return max(FIRST_OPSET, min(known[-1], newest_opset() - 1))
    if "float32" in operator.element_types:
        type_id = "float32"  # onnxruntime has kernels of few types for some operators
    # Scalars suffice, since the model is only loaded.
    scalar = np.zeros((), numpy_type(type_id))
    values = [scalar] * len(operator.signature.operands)
    # onnxruntime has no function that returns its newest operator set: models are tried.
    for opset in reversed(known):
        model = _model(operator, type_id, _ordinary(0, opset), values)
        try:
            open_model(model.SerializeToString())
        except Exception:  # noqa: BLE001, S112 - whatever a runtime raises is its refusal
            continue
        return opset
    return known[0]


def _forms(operator: Operator, opsets: Iterable[int]) -> list[ModelForm]:
    """The forms that ONNX's checker accepts: it requires a shape of every input."""
    forms = []
    for form in every_form(operator.signature, opsets, (True,)):
        is_broadcast = form.given != "operands of one shape"  # a second tensor, as a scalar
        if form.shape != "no rank" and is_broadcast:
            forms.append(form)
    return forms


def _ordinary(rank: int, opset: int) -> ModelForm:
    """The form for all tests but those of forms."""
    shape: Shape = "symbolic" if rank else "static"
    return ModelForm("inputs", shape, rank, opset, optimised=True)


def _inputs(operator: Operator, form: ModelForm) -> int:
    """How many of the operands are inputs of a model: those behind the first one may be constants."""
    return len(operator.signature.operands) if form.bounds == "inputs" else 1


def _model(
    operator: Operator, etype: str, form: ModelForm, values: Sequence[Array]
) -> onnx.ModelProto:
    """The model of a form for operands of these shapes; it has the values of constants."""
    signature = operator.signature
    input_count = _inputs(operator, form)
    shapes = {}
    for name, value in zip(signature.parameters[:input_count], values, strict=False):
        if value.ndim == 0:
            shapes[name] = ""
        elif form.shape == "symbolic":
            # The same letters for each tensor: they have one shape.
            letters = "ABCD"[: value.ndim]
            shapes[name] = f"[{', '.join(letters)}]"
        else:
            shapes[name] = f"[{', '.join(map(str, value.shape))}]"
    text = model_text(etype, form.opset, shapes, f"y = {signature.op_type}({signature.call})")
    model: onnx.ModelProto = onnx.parser.parse_model(text)

    constants = zip(signature.parameters[input_count:], values[input_count:], strict=True)
    for name, value in constants:
        if form.bounds == "initializers":
            model.graph.initializer.append(numpy_helper.from_array(value, name))
        else:
            # Before the node of the operator: ONNX requires nodes in topological order.
            tensor = numpy_helper.from_array(value)
            node = onnx.helper.make_node("Constant", [], [name], value=tensor)
            model.graph.node.insert(0, node)
    return model


def _tensor(value: Array, name: str) -> bytes:
    tensor = numpy_helper.from_array(value, name)
    content: bytes = tensor.SerializeToString(deterministic=True)
    return content


def _has_two_answers(operator: Operator, also: Array) -> Array:
    """Where NaN is accepted and a number is expected; any runner accepts NaN for NaN."""
    # The latitude that is granted always is that on payloads of NaNs.
    flags = 0
    for latitude in granted(operator):
        if latitude.accepts == ANY_NAN and not latitude.always:
            flags |= latitude.flag
    mask: Array = (also & flags) != 0
    return mask


def _of_classes(suite: TypeSuite, opset: int) -> Iterator[Directory]:
    """A directory for each class: all its vectors, a data set for each choice of the scalars."""
    *operands, expected = suite.columns.values()
    tensor_count = suite.operator.tensors
    tensors = operands[:tensor_count]
    scalars = operands[tensor_count:]
    # Entries with two answers are in these directories alone, so that they can be left out by name.
    two_answers = _has_two_answers(suite.operator, suite.also)
    form = _ordinary(1, opset)
    for class_id, rows_of_choice in _rows_of_classes(suite, scalars).items():
        directory = Directory(suite, class_id, class_id, form)
        for choice, rows in rows_of_choice.items():
            if two_answers[rows].any():
                directory.two_answers = True
            values = [tensor[rows] for tensor in tensors]
            for scalar in choice:
                values.append(np.array(scalar, expected.dtype))
            directory.add(_DataSet(tuple(values), expected[rows]))
        yield directory


def _rows_of_classes(
    suite: TypeSuite, scalars: Sequence[Array]
) -> dict[str, dict[tuple[int, ...], list[int]]]:
    """The rows of the vectors in each class, by their scalars: a call has one choice of these."""
    # In the order of the classes and not of the vectors, so that directories are listed by class.
    rows_of_class: dict[str, dict[tuple[int, ...], list[int]]] = {id_: {} for id_ in suite.classes}
    for row, vector in enumerate(suite.vectors):
        choice = tuple(int(scalar[row]) for scalar in scalars)
        rows_of_choice = rows_of_class[vector["class"]]
        rows_of_choice.setdefault(choice, []).append(row)
    return rows_of_class


def _of_calls(suite: TypeSuite, opset: int) -> Iterator[Directory]:
    """Directories of the calls whose layout a tensor can have; a model takes X of one rank."""
    by_name: dict[str, Directory] = {}
    for call in suite.calls:
        about = _subject(suite, call)
        if about is None:
            continue
        # Of an array that the layout has arranged: layouts state no rank.
        arranged = call.layout.arrange(np.zeros(call.length))
        name = about
        if about == "layouts":
            name = f"layouts_rank{arranged.ndim}"
        if name not in by_name:
            form = _ordinary(arranged.ndim, opset)
            by_name[name] = Directory(suite, name, about, form)
        by_name[name].add(_data(suite, call))
    yield from by_name.values()


def _subject(suite: TypeSuite, call: SuiteCall) -> str | None:
    """What the directory of a call is about; None if it is in no directory."""
    if suite.tables[call.table].id == USED:
        return "bounds_in_use"
    if call.layout is not PLAIN:
        # A file of a tensor has its entries one behind the other, from its start: strides are lost.
        return None if call.layout.by_memory else "layouts"

    # The calls of every choice with the whole pool from its start.
    table = suite.tables[call.table]
    has_whole_pool = call.length == len(table.pool) and call.start == 0
    if table.id == SPECIAL and has_whole_pool:
        return "bounds" if suite.operator.scalars else "special_values"
    if call.length in _SHORT:
        return "lengths"
    # Of one pair alone: these are the largest files.
    return "lengths" if call.length == LONG and call.pair == 0 else None


def _of_used_constants(suite: TypeSuite, opset: int) -> Iterator[Directory]:
    """A directory for each pair of bounds in use, which are initializers of its model."""
    form = replace(_ordinary(1, opset), bounds="initializers")
    for call in suite.calls:
        if suite.tables[call.table].id == USED:
            name = f"bounds_in_use_constant{call.pair}"
            directory = Directory(suite, name, "bounds_in_use", form)
            directory.add(_data(suite, call))
            yield directory


def _data(suite: TypeSuite, call: SuiteCall) -> _DataSet:
    """The data of a call; for a value that has two answers the next value of the pool is taken."""
    table = suite.tables[call.table]
    with_one_answer = _places_with_one_answer(suite, table, call.pair)
    # The first one at or behind the place of an entry; behind the last one it begins again.
    nearest = np.searchsorted(with_one_answer, suite.entries(call))
    entries = with_one_answer[nearest % len(with_one_answer)]

    arrange = call.layout.arrange
    operands = []
    for pool in (table.pool, *table.beside):
        operands.append(arrange(pool[entries]))
    operands += _scalars(table, call.pair)
    expected = table.results[call.pair][entries]
    return _DataSet(tuple(operands), arrange(expected))


def _places_with_one_answer(suite: TypeSuite, table: GrantedTable, pair: int) -> Array:
    """The places in the pool whose expected result under a choice is the only one, in ascending order."""
    two_answers = _has_two_answers(suite.operator, table.also[pair])
    return np.flatnonzero(~two_answers)


def _scalars(table: GrantedTable, pair: int) -> list[Array]:
    """A choice of the scalars, each of shape ()."""
    return [np.array(scalar[pair]) for scalar in table.scalars]


def _table_of_forms(suite: TypeSuite) -> tuple[GrantedTable, Sequence[int]]:
    """A table in which all operands behind the first are scalars, and choices of them for each form.

    Of several tensors, those behind the first are broadcast, and have the values of the witnesses of classes.
    """
    operator = suite.operator
    etype = suite.etype
    table = suite.tables[0]
    if operator.tensors == 1:
        # These reach every class, and are the first of the table.
        return table, range(len(covering_rows(etype, 0, operator)))

    # A dict, because witnesses of two classes may agree in all but the first operand.
    choices: dict[tuple[int, ...], None] = {}
    for klass in operator.spec.classes_of(etype.family):
        choice = []
        _, *texts = klass.inhabited_by.texts().values()
        for text in texts:
            choice.append(int(encode(text, etype)))
        choices[tuple(choice)] = None
    rows = np.array(list(choices), table.pool.dtype)
    scalars = list(map(np.ascontiguousarray, rows.T))
    # The pool of several tensors repeats each value of the first one.
    pool = np.unique(table.pool)
    broadcast = granted_table(operator, etype, "broadcast", [pool], scalars)
    return broadcast, range(broadcast.count)


def _of_form(
    suite: TypeSuite, form: ModelForm, table: GrantedTable, rows: Sequence[int]
) -> Iterator[Directory]:
    """The directories of a form: one where all operands are inputs, else one for each choice of scalars."""
    bounds = form.bounds.lower().replace(" ", "_")
    shape = form.shape.replace(" ", "_")
    form_name = f"form_{bounds}_{shape}_rank{form.rank}_opset{form.opset}"
    by_name: dict[str, Directory] = {}
    for row in rows:
        # A model has one value of each constant, so that another choice needs another model.
        name = form_name
        if form.bounds != "inputs":
            name += f"_bounds{row}"
        if name not in by_name:
            by_name[name] = Directory(suite, name, "form", form)
        scalars = _scalars(table, row)
        results = table.results[row]
        with_one_answer = _places_with_one_answer(suite, table, row)
        for places in _places(table, form.rank, row, with_one_answer):
            operands = (table.pool[places], *scalars)
            by_name[name].add(_DataSet(operands, results[places]))
    yield from by_name.values()


def _places(table: GrantedTable, rank: int, pair: int, allowed: Array) -> Iterator[Array]:
    """Places in the pool, as arrays of a rank: all allowed ones; at rank 0 one of each class."""
    if rank == 0:
        classes = table.classes[pair][allowed]
        _, firsts = np.unique(classes, return_index=True)
        for first in firsts:
            yield np.asarray(allowed[first])
        return
    # The last axis is as long as the whole pool requires, so that all data sets have one shape.
    twos = (2,) * (rank - 1)
    last = math.ceil(len(table.pool) / math.prod(twos))
    shape = (*twos, last)
    yield np.resize(allowed, shape)
