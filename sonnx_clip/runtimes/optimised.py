"""The runtime behind ``optimised[onnxruntime]:module:function``: an optimiser of models before a runtime.

The function takes an onnx.ModelProto and returns one. It may be the name of a known optimiser, or a command
with ``{in}`` and ``{out}``, the files of both models. The runtime itself does not optimise.
"""

from __future__ import annotations

import tempfile
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import how_to_install
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.find_runtime import (
    DEFAULT_RUNNER,
    OPTIMISERS,
    find_runtime,
    named_function,
    optimiser_words,
    python_quoted,
    split_name,
)
from sonnx_clip.runtimes.model_command import LARGEST, FileProgram
from sonnx_clip.runtimes.models import runtime_of_models
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.runtime import ModelFunction, OpenModel, Runtime

    Optimise = Callable[[onnx.ModelProto], Any]

_KNOWN = {
    "onnxscript": ("onnxscript.optimizer", "onnxscript.optimizer.optimize(p)"),
    "onnxoptimizer": (
        "onnxoptimizer", "onnxoptimizer.optimize(p, onnxoptimizer.get_fuse_and_elimination_passes())",
    ),
    "onnxsim": ("onnxsim", "onnxsim.simplify(p)[0]"),
    "onnxslim": ("onnxslim", "onnxslim.slim(p)"),
}  # fmt: skip
"""The module of each known optimiser, and the call on a model ``p``: it is run here, and by reproducers."""


class WrongModelError(AssertionError):
    """The result of an optimiser is no model that can take the place of the one it was given."""


def open_named(name: str, _: Board | None = None) -> Runtime:
    """The runtime of a name such as ``optimised[onnxruntime]:onnxscript``; UserError as `opened`."""
    runner, optimise, version = _parts(name)
    assert runner.open_unoptimised is not None
    open_plain = runner.open_unoptimised
    starts_a_program = optimiser_words(split_name(name)[2]) is not None
    imports, call = _text(name)
    set_up, result = runner.run_texts[False]
    # The runtime of models that is made here imports onnx.parser, too.
    of_runner = runner.imports.removeprefix("import onnx.parser; ")

    def run_text(optimised: bool) -> tuple[str, str]:
        return (f"p = {call}; {set_up}" if optimised else set_up), result

    return runtime_of_models(
        _through(optimise, open_plain), f"{version}, run by {runner.version}",
        f"{of_runner}; {imports}", run_text, open_unoptimised=open_plain,
        graph_that_runs=lambda model: _checked(optimise, model).SerializeToString(),
        few=runner.few or starts_a_program, is_optimiser=True,
    )  # fmt: skip


def _text(name: str) -> tuple[str, str]:
    """Python that imports an optimiser, and that applies it to the model ``p``; a known one needs no more."""
    target = split_name(name)[2]
    if target in OPTIMISERS:
        module, call = _KNOWN[target]
        return f"import {module}", call
    return f"from {__name__} import optimiser", f"optimiser({python_quoted(name)})(p)"


def optimiser(name: str) -> Optimise:
    """The optimiser of a name, for reproducers."""
    return _parts(name)[1]


def _parts(name: str) -> tuple[Runtime, Optimise, str]:
    """The runtime that runs models, the optimiser, and what this is called."""
    _, options, target = split_name(name)
    runner = find_runtime(options or DEFAULT_RUNNER, CLIP_SIGNATURE)
    # A runner that optimises would hide, or be blamed for, what the optimiser did.
    if runner.open_unoptimised is None:
        todo = f"use --runtime {DEFAULT_RUNNER}"
        raise UserError(f"{options} cannot run models without optimising them", "--runtime", todo)
    if target in OPTIMISERS:
        try:
            return runner, _known(target), f"{target} {metadata.version(target)}"
        except (ImportError, metadata.PackageNotFoundError) as error:
            raise UserError(str(error), target, how_to_install("optimisers")) from None
    words = optimiser_words(target)
    if words is not None:
        return runner, _by_command(words), target
    function, version = named_function(target)
    if not callable(function):
        raise TypeError(f"{target} is not a function")
    return runner, function, version


def _known(name: str) -> Optimise:
    """An optimiser by the name of its package; ImportError if it is not installed."""
    module, call = _KNOWN[name]
    # Both: the call names the package, which need not import the module in it.
    import_module(module)
    package = import_module(name)
    code = compile(call, f"<{name}>", "eval")
    return lambda model: eval(code, {name: package, "p": model})  # noqa: S307 - the text is above


def _by_command(words: list[str]) -> Optimise:
    """An optimiser that is a program; it ends with this process, which the supervisor limits."""
    program = FileProgram(words)

    def optimise(model: onnx.ModelProto) -> onnx.ModelProto:
        with tempfile.TemporaryDirectory(
            prefix="sonnx-clip-", ignore_cleanup_errors=True
        ) as folder:
            places = {"in": Path(folder) / "in.onnx", "out": Path(folder) / "out.onnx"}
            places["in"].write_bytes(model.SerializeToString())
            program.run(places)
            if not places["out"].is_file():
                raise WrongModelError("it ended with status 0 and wrote no model")
            data = places["out"].read_bytes()
        try:
            return onnx.load_from_string(data)
        except Exception as error:  # noqa: BLE001 - whatever is in it
            reason = printable(str(error), 300)
            raise WrongModelError(f"what it wrote is no model: {reason}") from None

    return optimise


def _through(optimise: Optimise, open_plain: OpenModel) -> OpenModel:
    def open_model(model: bytes) -> ModelFunction:
        return open_plain(_checked(optimise, model).SerializeToString())

    return open_model


def _checked(optimise: Optimise, model: bytes) -> onnx.ModelProto:
    """The result of an optimiser; WrongModelError if it is no valid model of the same inputs and outputs."""
    before = onnx.load_from_string(model)
    optimised = optimise(onnx.load_from_string(model))  # it may change what it is given
    if not isinstance(optimised, onnx.ModelProto):
        raise WrongModelError(f"it returned {type(optimised).__name__}, not an onnx.ModelProto")
    # The models that are asked have a few thousand bytes.
    if optimised.ByteSize() > LARGEST:
        raise WrongModelError(f"it returned a model of {optimised.ByteSize():,} bytes")
    mistake = _mistake(optimised)
    # A form of a model without ranks is not valid before, either: its optimiser is not to blame.
    if mistake and not _mistake(before):
        raise WrongModelError(f"its model is not valid: {mistake}")
    _require_same_names("input", before.graph.input, optimised.graph.input)
    _require_same_names("output", before.graph.output, optimised.graph.output)
    return optimised


def _require_same_names(
    kind: str, before: Iterable[onnx.ValueInfoProto], after: Iterable[onnx.ValueInfoProto]
) -> None:
    """WrongModelError if the inputs or the outputs of a model have other names or another order."""
    names = [value.name for value in before]
    now = [value.name for value in after]
    if names != now:
        message = f"its model has the {kind}s {', '.join(now)}, not {', '.join(names)}"
        raise WrongModelError(printable(message, 300))


def _mistake(model: onnx.ModelProto) -> str:
    """Why a model is not valid; empty if it is."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # noqa: BLE001 - its exceptions have no common class
        return printable(str(error), 300)
    return ""
