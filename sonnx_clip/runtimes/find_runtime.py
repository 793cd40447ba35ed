"""Finds a runtime by its name, for the process that makes its calls and for whoever has to know its module;
and the name that options mean.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import nearest
from sonnx_clip.runtimes.adapter import for_node
from sonnx_clip.runtimes.operator_node import CLIP_NODE, OperatorNode
from sonnx_clip.runtimes.runtime import KNOWN, Runtime
from sonnx_clip.runtimes.runtime_names import (
    ProgramName,
    command_name,
    file_name,
    library_name,
    opener_name,
    program_name,
    quoted,
    require_ascii,
)
from sonnx_clip.runtimes.source_file import named, shipped, shipped_names

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.frames import ByteOrder
    from sonnx_clip.runtimes.runtime import OpenModel
    from sonnx_clip.runtimes.source_file import Shipped


def module_of(name: str) -> str:
    """The module that holds a runtime; importing it is left to the worker.

    Raises:
        UserError: there is no such runtime, or another package has taken the name of one of ours.
    """
    require_ascii(name)
    other = shipped(name, KNOWN)
    if name in KNOWN:
        return KNOWN[name]
    if other is not None:
        return other.module
    if program_name(name) is not None:
        return "sonnx_clip.runtimes.program"
    if command_name(name) is not None:
        return "sonnx_clip.runtimes.model_command"
    if opener_name(name) is not None:
        return "sonnx_clip.runtimes.model_opener"
    if file_name(name) is not None:
        return "sonnx_clip.runtimes.source_file"
    if library_name(name) is not None:
        return "sonnx_clip.runtimes.shared_library"
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
        from sonnx_clip.runtimes.frame_caller import program_runtime

        return program_runtime(name, board)
    if library_name(name) is not None:
        from sonnx_clip.runtimes.shared_library import library_runtime

        return library_runtime(name)
    if opener_name(name) is not None:
        from sonnx_clip.runtimes.model_opener import opener_runtime

        return opener_runtime(name)
    if command_name(name) is not None:
        from sonnx_clip.runtimes.model_command import command_runtime

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
        where = "sonnx_clip.runtimes.source_file"
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


# --- Makes the name of a runtime of the options of `sonnx-clip check` that say which one is meant -----------


@dataclass(frozen=True)
class Given:
    """What the options of the same names say; None, or False, where they are not there."""

    runtime: str | None = None
    exec: str | None = None
    endian: ByteOrder | None = None
    batch: int | None = None
    stdio: bool = False
    so: Path | None = None
    abi: Path | None = None
    onnx: str | None = None
    onnx_cmd: str | None = None


def runtime_of(given: Given) -> str:
    """The name of the runtime that is meant.

    Raises:
        UserError: none is meant, or several, an option does not belong to it, or its file is wrong.
    """
    names = ("runtime", "exec", "so", "onnx", "onnx_cmd")
    ways = [f"--{name.replace('_', '-')}" for name in names if getattr(given, name) is not None]
    if len(ways) != 1:
        what = f"{' and '.join(ways)} are both given" if ways else "no runtime is named"
        raise UserError(
            what,
            todo="give one of --runtime NAME, --exec COMMAND, --so LIBRARY, --onnx FUNCTION and"
            " --onnx-cmd COMMAND",
        )
    of_a_program = {"endian": given.endian, "batch": given.batch, "stdio": given.stdio or None}
    for name, there in of_a_program.items():
        if there is not None and given.exec is None:
            raise UserError(f"--{name} is about a program", todo="name the program: --exec COMMAND")
    if (given.so is None) != (given.abi is None):
        here, lacks = ("--so LIBRARY", "--abi FILE") if given.abi is None else ("--abi FILE", "--so LIBRARY")
        raise UserError(f"{here} needs {lacks}", todo="docs/shared-library.md explains both")
    if given.exec is not None:
        found = ProgramName(given.exec, given.endian or "little", given.batch, given.stdio)
        found.words  # noqa: B018 - raises where there are none
        return str(found)
    if given.so is not None:
        from sonnx_clip.runtimes.shared_library import read_abi

        read_abi(str(given.abi))  # what is wrong with it is better said at once
        return f"so[{given.abi}]:{given.so}"
    if given.onnx is not None:
        if opener_name(f"onnx:{given.onnx}") is None:
            what = f"--onnx {given.onnx} names no function"
            raise UserError(what, todo="give module:open or ./file.py:open, which opens a model (bytes)")
        return f"onnx:{given.onnx}"
    if given.onnx_cmd is not None:
        command_name(f"onnx-cmd:{given.onnx_cmd}")  # raises where it cannot be one
        return f"onnx-cmd:{given.onnx_cmd}"
    assert given.runtime is not None
    return given.runtime
