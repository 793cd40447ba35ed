"""The runtimes that the checker knows, one file each; the worker opens them by name.

A runtime is named by an entry of `RUNTIMES`, or as ``module:function`` for a function ``(x, min, max)`` on
NumPy arrays that returns an array. What is named may be a `Runtime` as well. Other names are those of
`sonnx_clip.conform.foreign`: ``./file.py:function``, and ``exec:./harness`` for a program that speaks frames,
and ``so[clip.toml]:./libclip.so`` for C functions, and ``onnx:module:open`` for what opens models;
and those that other packages ship, as entry points of the group ``"sonnx_clip.runtimes"``.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sonnx_clip.conform.foreign.runtime_names import file_name, library_name, opener_name, program_name
from sonnx_clip.conform.foreign.shipped import shipped, shipped_names
from sonnx_clip.language.names import nearest
from sonnx_clip.root.digest import digest_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_root

if TYPE_CHECKING:
    from sonnx_clip.conform.board import Board
    from sonnx_clip.conform.foreign.shipped import Shipped

_PACKAGE = Path(__file__).resolve().parents[3]  # where the folder sonnx_clip is

ClipFunction: TypeAlias = Callable[[Any, Any, Any], Any]
ModelFunction: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""The one output of a model, from its inputs by name."""
OpenModel: TypeAlias = Callable[[bytes], ModelFunction]
"""Opens a serialised ONNX model."""
RunText: TypeAlias = tuple[str, str]
"""Python text that runs a model: statements that open ``p``, perhaps empty, and a result of inputs ``d``."""

RUNTIMES = {
    "sonnx": "sonnx_clip.conform.runtimes.sonnx",
    "sonnx-c": "sonnx_clip.conform.runtimes.sonnx_c",
    "numpy": "sonnx_clip.conform.runtimes.numpy",
    "onnxruntime": "sonnx_clip.conform.runtimes.onnxruntime",
    "onnx-reference": "sonnx_clip.conform.runtimes.onnx_reference",
}

OURS = ("sonnx", "sonnx-c")
"""The project's own Clip: `sonnx_clip.clip`, and the verified C kernels."""

# What a verdict on our own implementations speaks of, by runtime: files of the repository.
_CODE = {
    "sonnx": ("sonnx_clip/oracle/*.py", "generated/c/*.h", "generated/c/*.c"),
    "sonnx-c": ("sonnx_clip/oracle/*.py", "generated/c/*.h", "generated/c/*.c"),
}


@dataclass(frozen=True)
class Runtime:
    """An implementation of Clip.

    Args:
        version: what it is, for the report: ``numpy 2.4.6``.
        open: element type id -> function of X (any shape), min and max (shape ()); raises, in its own
            words, when the runtime does not support the type.
        imports: Python statements that a reproducing line begins with.
        call: element type id -> Python text of the same call on ``x``, ``l`` and ``m``.
        open_model: a serialised ONNX model -> function of its inputs; None if it runs no models.
        open_unoptimised: the same, and the graph is run as it stands; None if that cannot be chosen.
        run_model: whether optimised -> the text of what these two do, on an ``onnx.ModelProto``. A runtime
            that has it is judged in several forms of a model.
        caller: element type id and board -> what makes the calls of a request itself, not one by one by the
            function of `open`; it raises as that does.
        strides: whether it matters to it how X lies in memory; if not, X is given in layouts that differ by
            their shape alone.
        entries: the most entries that X can have; None for no limit. Longer calls are made in pieces.
    """

    version: str
    open: Callable[[str], ClipFunction]
    imports: str
    call: Callable[[str], str]
    open_model: OpenModel | None = None
    open_unoptimised: OpenModel | None = None
    run_model: Callable[[bool], RunText] | None = None
    caller: Callable[[str, Board], Callable[[Any, Board], None]] | None = None
    strides: bool = True
    entries: int | None = None

    @property
    def run_texts(self) -> dict[bool, RunText]:
        """By optimisation, the text that runs a model; empty where no forms can be judged."""
        if self.open_model is None or self.run_model is None:
            return {}
        every = (True,) if self.open_unoptimised is None else (True, False)
        return {optimised: self.run_model(optimised) for optimised in every}


def code_digest(name: str) -> str | None:
    """SHA-256 of the code of one of our own implementations, in hex; None for what others have written."""
    if name not in _CODE:
        return None
    parts = [name.encode()]
    for pattern in _CODE[name]:
        folder = _PACKAGE if pattern.startswith("sonnx_clip/") else repo_root()
        for file in sorted(folder.glob(pattern)):
            text = file.read_bytes()
            parts.append(f"{file.name} {len(text)}:".encode() + text)
    return digest_of(b"".join(parts))


def module_of(name: str) -> str:
    """The module that holds a runtime; importing it is left to the worker.

    Raises:
        UserError: there is no such runtime, or another package has taken the name of one of ours.
    """
    other = shipped(name, RUNTIMES)
    if name in RUNTIMES:
        return RUNTIMES[name]
    if other is not None:
        return other.module
    if program_name(name) is not None:
        return "sonnx_clip.conform.foreign.program"
    if opener_name(name) is not None:
        return "sonnx_clip.conform.foreign.model_opener"
    if file_name(name) is not None:
        return "sonnx_clip.conform.foreign.source_file"
    if library_name(name) is not None:
        return "sonnx_clip.conform.foreign.shared_library"
    module, _, function = name.partition(":")
    if all(module.split(".")) and not set("/\\ ") & set(module) and function.isidentifier():
        return module  # and no path: what lies at one is no Python, or lacks its .py
    names = [*RUNTIMES, *shipped_names()]
    near = "".join(f"did you mean `{found}`? " for found in nearest(name, names)[:1])
    todo = (
        f"{near}known: {', '.join(names)}; your own: module:function or ./file.py:function,"
        " called with (x, min, max); a library: --so; a program: --exec"
    )
    raise UserError(f"there is no runtime `{name}`", todo=todo)


def find_runtime(name: str, board: Board | None = None) -> Runtime:
    """Import a runtime, or start its program.

    Args:
        name: see above.
        board: told of the process of the program, if there is one, and of what it does.

    Raises:
        ImportError: a package is missing.
        UserError: a tool is missing, or what is named cannot be called with (x, min, max).
        AttributeError: the module has no such function.
    """
    if program_name(name) is not None:
        from sonnx_clip.conform.foreign.program_runtime import program_runtime

        return program_runtime(name, board)
    if library_name(name) is not None:
        from sonnx_clip.conform.foreign.shared_library import library_runtime

        return library_runtime(name)
    if opener_name(name) is not None:
        from sonnx_clip.conform.foreign.model_opener import opener_runtime

        return opener_runtime(name)
    if name in RUNTIMES:
        found: Runtime = importlib.import_module(RUNTIMES[name]).RUNTIME
        return found
    if (other := shipped(name)) is not None:
        return _shipped_runtime(other)
    function, version = _own(name)
    if isinstance(function, Runtime):
        return function
    module_name, _, function_name = name.rpartition(":")
    _require_function(function, f"{module_name}.{function_name}")
    imports = f"from {module_name} import {function_name}"
    if file_name(name) is not None:
        where = "sonnx_clip.conform.foreign.source_file"
        imports = f"from {where} import function_in; {function_name} = function_in({json.dumps(name)})"
    return Runtime(version, lambda _: function, imports, lambda _: f"{function_name}(x, l, m)")


def find_model_runtime(name: str) -> tuple[str, OpenModel]:
    """What a runtime of ONNX models is, and how it opens one.

    What is named as ``module:function`` takes a serialised model and returns a function of its inputs.

    Raises:
        ImportError: a package is missing.
        UserError: the runtime runs no models, or is no function.
        AttributeError: the module has no such function.
    """
    if program_name(name) is not None or library_name(name) is not None:
        raise _runs_no_models(name)
    if name not in RUNTIMES and shipped(name) is None and opener_name(name) is None:
        own, version = _own(name)
        if not isinstance(own, Runtime):
            return version, own
    found = find_runtime(name)
    if found.open_model is None:
        raise _runs_no_models(name)
    return found.version, found.open_model


def _require_function(found: object, where: str) -> None:
    """UserError unless something can be called with X, min and max."""
    name, todo = where.rpartition(".")[2], "name a function that is called with (x, min, max)"
    if not callable(found):
        raise UserError(f"{where}: {name} is no function", todo=todo)
    try:
        inspect.signature(found).bind(None, None, None)
    except TypeError as error:
        raise UserError(f"{where} cannot be called with (x, min, max): {error}", todo=todo) from None
    except ValueError:  # it does not say what it takes
        return


def _shipped_runtime(other: Shipped) -> Runtime:
    found = other.load()
    if isinstance(found, Runtime):
        return found
    where = f"{other.module}.{other.attribute}"
    if not callable(found):
        raise TypeError(f"{where} is neither a function nor a Runtime")
    version = f"{other.name} of {other.package} {other.version}".strip()
    return Runtime(version, lambda _: found, f"import {other.module}", lambda _: f"{where}(x, l, m)")


def _runs_no_models(name: str) -> UserError:
    return UserError(f"the runtime {name} runs no ONNX models", todo="choose onnxruntime or onnx-reference")


def _own(name: str) -> tuple[Any, str]:
    """What ``module:function`` or ``./file.py:function`` names, and its version."""
    if (found := file_name(name)) is not None:
        from sonnx_clip.conform.foreign.source_file import function_in, imported

        function, module = function_in(name), imported(found[0])
    else:
        module = importlib.import_module(module_of(name))
        function = getattr(module, name.partition(":")[2])
    return function, f"{name} {getattr(module, '__version__', '')}".strip()
