"""Finds a runtime by its name, for the process that makes its calls, and for whoever has to know its module.

A runtime is named by an entry of `KNOWN`, or as ``module:function`` for a function ``(x, min, max)`` on
NumPy arrays that returns an array. What is named may be a `Runtime` as well. Other names are those of
`sonnx_clip.conform.foreign`: ``./file.py:function``, and ``exec:./harness`` for a program that speaks frames,
and ``so[clip.toml]:./libclip.so`` for C functions, and ``onnx:module:open`` for what opens models,
and ``onnx-cmd:run {model} {in} {out}`` for a program that runs one;
and those that other packages ship, as entry points of the group ``"sonnx_clip.runtimes"``.
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.foreign.runtime_names import (
    command_name,
    file_name,
    library_name,
    opener_name,
    program_name,
    quoted,
)
from sonnx_clip.conform.foreign.shipped import shipped, shipped_names
from sonnx_clip.conform.foreign.source_file import named
from sonnx_clip.conform.operator_node import CLIP_NODE, OperatorNode
from sonnx_clip.conform.runtimes import KNOWN, Runtime
from sonnx_clip.conform.runtimes.node_runtime import for_node
from sonnx_clip.language.names import nearest
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from sonnx_clip.conform.board import Board
    from sonnx_clip.conform.foreign.shipped import Shipped
    from sonnx_clip.conform.runtimes import OpenModel


def module_of(name: str) -> str:
    """The module that holds a runtime; importing it is left to the worker.

    Raises:
        UserError: there is no such runtime, or another package has taken the name of one of ours.
    """
    other = shipped(name, KNOWN)
    if name in KNOWN:
        return KNOWN[name]
    if other is not None:
        return other.module
    if program_name(name) is not None:
        return "sonnx_clip.conform.foreign.program"
    if command_name(name) is not None:
        return "sonnx_clip.conform.foreign.model_command"
    if opener_name(name) is not None:
        return "sonnx_clip.conform.foreign.model_opener"
    if file_name(name) is not None:
        return "sonnx_clip.conform.foreign.source_file"
    if library_name(name) is not None:
        return "sonnx_clip.conform.foreign.shared_library"
    module, _, function = name.partition(":")
    if all(module.split(".")) and not set("/\\ ") & set(module) and function.isidentifier():
        return module  # and no path: what lies at one is no Python, or lacks its .py
    names = [*KNOWN, *shipped_names()]
    near = "".join(f"did you mean `{found}`? " for found in nearest(name, names)[:1])
    todo = (
        f"{near}known: {', '.join(names)}; your own: module:function or ./file.py:function,"
        " called with (x, min, max); a library: --so; a program: --exec, --onnx-cmd"
    )
    raise UserError(f"there is no runtime `{name}`", todo=todo)


def find_runtime(name: str, board: Board | None = None, node: OperatorNode = CLIP_NODE) -> Runtime:
    """Import a runtime, or start its program.

    Args:
        name: see above.
        board: told of the process of the program, if there is one, and of what it does.
        node: the operator that it is asked for.

    Raises:
        ImportError: a package is missing.
        UserError: a tool is missing, or what is named cannot be called with these operands.
        AttributeError: the module has no such function.
    """
    found = _found(name, board, node)
    own = name not in KNOWN and shipped(name) is None and found.open_model is None
    return found if node == CLIP_NODE or own else for_node(name, found, node)


def _found(name: str, board: Board | None, node: OperatorNode) -> Runtime:
    if program_name(name) is not None:
        from sonnx_clip.conform.foreign.program_runtime import program_runtime

        return program_runtime(name, board)
    if library_name(name) is not None:
        from sonnx_clip.conform.foreign.shared_library import library_runtime

        return library_runtime(name)
    if opener_name(name) is not None:
        from sonnx_clip.conform.foreign.model_opener import opener_runtime

        return opener_runtime(name)
    if command_name(name) is not None:
        from sonnx_clip.conform.foreign.model_command import command_runtime

        return command_runtime(name, board)
    if name in KNOWN:
        found: Runtime = importlib.import_module(KNOWN[name]).RUNTIME
        return found
    if (other := shipped(name)) is not None:
        return _shipped_runtime(other)
    function, version = _own(name)
    if isinstance(function, Runtime):
        return function
    module_name, _, function_name = name.rpartition(":")
    _require_function(function, f"{module_name}.{function_name}", node)
    imports = f"from {module_name} import {function_name}"
    if file_name(name) is not None:
        where = "sonnx_clip.conform.foreign.source_file"
        imports = f"from {where} import function_in; {function_name} = function_in({quoted(name)})"
    return Runtime(version, lambda _: function, imports, lambda _: f"{function_name}({node.call})")


def find_model_runtime(name: str, board: Board | None = None) -> tuple[str, OpenModel]:
    """What a runtime of ONNX models is, and how it opens one.

    What is named as ``module:function`` takes a serialised model and returns a function of its inputs.

    Raises:
        ImportError: a package is missing.
        UserError: the runtime runs no models, or is no function.
        AttributeError: the module has no such function.
    """
    if program_name(name) is not None or library_name(name) is not None:
        raise _runs_no_models(name)
    ours = name in KNOWN or opener_name(name) is not None or command_name(name) is not None
    if not ours and shipped(name) is None:
        own, version = _own(name)
        if not isinstance(own, Runtime):
            return version, own
    found = find_runtime(name, board)
    if found.open_model is None:
        raise _runs_no_models(name)
    return found.version, found.open_model


def _require_function(found: object, where: str, node: OperatorNode = CLIP_NODE) -> None:
    """UserError unless something can be called with the operands."""
    todo = f"name a function that is called with {node.signature}"
    if not callable(found):
        raise UserError(f"{where}: {where.rpartition('.')[2]} is no function", todo=todo)
    try:
        inspect.signature(found).bind(*[None] * len(node.operands))
    except TypeError as error:
        raise UserError(f"{where} cannot be called with {node.signature}: {error}", todo=todo) from None
    except ValueError:  # it does not say what it takes
        return


def _shipped_runtime(other: Shipped) -> Runtime:
    found = other.load()
    if isinstance(found, Runtime):
        return found
    where = f"{other.module}.{other.attribute}"
    if not callable(found):
        raise TypeError(f"{where} is neither a function nor a Runtime")
    try:
        _require_function(found, where)
    except UserError as error:  # not ours to mend: the package is named
        raise TypeError(error.what) from None
    version = f"{other.name} of {other.package} {other.version}".strip()
    return Runtime(version, lambda _: found, f"import {other.module}", lambda _: f"{where}({CLIP_NODE.call})")


def _runs_no_models(name: str) -> UserError:
    return UserError(f"the runtime {name} runs no ONNX models", todo="choose onnxruntime or onnx-reference")


def _own(name: str) -> tuple[Any, str]:
    """What ``module:function`` or ``./file.py:function`` names, and its version."""
    module_of(name)  # refuses what is no name
    return named(name)
