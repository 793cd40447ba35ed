"""The interface between a runtime and the checker, and the list of the runtimes that come with the project.

`sonnx_clip.runtimes.find_runtime` finds these and all others by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import package, repo_root
from sonnx_clip.root.signature import CLIP_SIGNATURE, Signature

ClipFunction: TypeAlias = Callable[..., Any]
"""A function of the operands."""
ModelFunction: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""The one output of a model, from its inputs by name."""
OpenModel: TypeAlias = Callable[[bytes], ModelFunction]
"""Opens a serialised ONNX model."""
RunText: TypeAlias = tuple[str, str]
"""Python text that runs a model: statements that open ``p``, perhaps empty, and a result of inputs ``d``."""

RUNTIMES = ("sonnx", "sonnx-c", "numpy", "onnxruntime", "onnx-reference")
"""What `prove` judges by itself, and lists as not run where it was not."""

ADAPTERS = ("onnxruntime-threads", "torch", "torch-numbers", "jax", "openvino", "tract", "litert")
"""What is judged where it is named; each package is an extra of this one."""

KNOWN = {
    name: f"sonnx_clip.runtimes.adapters.{name.replace('-', '_')}"
    for name in (*RUNTIMES, *ADAPTERS)
}
"""The module of each."""

EXTRAS = {
    "onnxruntime": "onnx", "onnx-reference": "onnx", "onnxruntime-threads": "onnx", "torch": "torch",
    "torch-numbers": "torch", "jax": "jax", "openvino": "openvino", "tract": "tract", "litert": "litert",
}  # fmt: skip
"""The extra of this package with which a runtime is installed."""

PACKAGES = {"numpy": "numpy", "onnxruntime": "onnxruntime", "onnx-reference": "onnx"}
"""The package of a runtime that is not ours: its version is the runtime's."""

OF_MODELS = ("onnxruntime", "onnx-reference")
"""Those that run ONNX models, and so every version of Clip: what `check --against` and findings run."""

OURS = ("sonnx", "sonnx-c")
"""The project's own Clip: `sonnx_clip.clip`, and the verified C kernels."""


@dataclass(frozen=True)
class Runtime:
    """An implementation of an operator."""

    version: str  # what it is, for the report: numpy 2.4.6
    # open: element type id -> function of X (any shape), min and max (shape ()); it raises, in its own words,
    # if the runtime does not support the type
    open: Callable[[str], ClipFunction]
    imports: str  # Python statements at the start of a reproducer
    call: Callable[[str], str]  # element type id -> Python text of the same call on x, l and m
    open_model: OpenModel | None = None  # None if it runs no models
    # open_unoptimised: without optimising the graph; None if it cannot be chosen
    open_unoptimised: OpenModel | None = None
    # optimisers: the names of those of its graph optimisers that can be left out
    optimisers: tuple[str, ...] = ()
    # is_optimiser: it optimises models for another runtime. Models that are not optimised are run by that
    # runtime alone, say nothing of the optimiser, and are no forms of a model to judge.
    is_optimiser: bool = False
    # open_without: opens a model without one of these
    open_without: Callable[[bytes, str], ModelFunction] | None = None
    # graph_that_runs: the model that it runs, optimised, as a serialised ONNX model; None if it does not tell
    graph_that_runs: Callable[[bytes], bytes] | None = None
    # run_model: whether optimised -> the text of what these two do, on an onnx.ModelProto. A runtime that has
    # it is judged in several forms of a model.
    run_model: Callable[[bool], RunText] | None = None
    # strides: the memory layout of X matters to it; if not, layouts differ by shape alone
    strides: bool = True
    # entries: the most entries that X can have; longer calls are split. None for no limit
    entries: int | None = None
    few: bool = False  # make few calls, since each starts a program
    set_up: str = ""  # a statement that opens the model p for `call`, which then takes its inputs d
    signature: Signature = CLIP_SIGNATURE  # the operator that it implements
    # of_operator: the runtime for another operator; None if there is none
    of_operator: Callable[[Signature], Runtime] | None = None

    @property
    def run_texts(self) -> dict[bool, RunText]:
        """By optimisation, the text that runs a model; empty where no forms can be judged."""
        if self.open_model is None or self.run_model is None:
            return {}
        has_plain_forms = self.open_unoptimised is not None and not self.is_optimiser
        every = (True, False) if has_plain_forms else (True,)
        return {optimised: self.run_model(optimised) for optimised in every}


CALL, START = 10.0, 60.0  # seconds; the command line shows them as its defaults


@dataclass(frozen=True)
class Limits:
    """Seconds of its own time that a runtime may take, and how often it may die."""

    call: float = CALL  # for one call
    start: float = START  # to be imported and opened for an element type
    deaths: int = 80  # in a form of a model, or in all other calls; then it is given up


LIMITS = Limits()
"""The defaults."""


def runtime_of_function(function: ClipFunction, version: str) -> Runtime:
    """The runtime of a function (x, min, max) of a module, which copies X: layouts do not matter to it."""
    name = function.__name__
    return Runtime(
        version=version,
        open=lambda _: function,
        imports=f"from {function.__module__} import {name}",
        call=lambda _: f"{name}({CLIP_SIGNATURE.call})",
        strides=False,
    )


def code_digest(name: str) -> str | None:
    """SHA-256 of the code on which a verdict on one of `OURS` depends, in hex; None of others."""
    if name not in OURS:
        return None
    python_files = sorted(package().glob("oracle/*.py"))
    c_files = sorted(repo_root().glob("generated/c/*.[ch]"))
    # Both of them for either: `sonnx` uses the C kernels where they are built.
    parts: list[str | bytes] = [name]
    for file in (*python_files, *c_files):
        parts += [file.name, file.read_bytes()]
    return digest_of_parts(parts)
