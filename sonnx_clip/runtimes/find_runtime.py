"""Finds a runtime by its name: one of ours, an entry point of another package, a function or a program.

Entry points of the group ``"sonnx_clip.runtimes"`` name a function (x, min, max) or a `Runtime`. They are
imported in the process of the runtime alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import nearest
from sonnx_clip.runtimes.adapter import for_node
from sonnx_clip.runtimes.operator_node import CLIP_NODE, OperatorNode
from sonnx_clip.runtimes.runtime import EXTRAS, KNOWN, Runtime
from sonnx_clip.runtimes.runtime_names import (
    command_name,
    file_name,
    library_name,
    opener_name,
    program_name,
    quoted,
    require_ascii,
)

if TYPE_CHECKING:
    from types import ModuleType

    from sonnx_clip.runtimes.board import Board

GROUP = "sonnx_clip.runtimes"

_OPENED_BY = (
    (program_name, "sonnx_clip.runtimes.program"),
    (library_name, "sonnx_clip.runtimes.shared_library"),
    (opener_name, "sonnx_clip.runtimes.model_opener"),
    (command_name, "sonnx_clip.runtimes.model_command"),
)  # the kinds of names, each with a module whose `open_named` takes a name and a board


def module_of(name: str) -> str:
    """The module of a runtime, which is not imported; UserError if there is no such runtime."""
    require_ascii(name)
    other = shipped(name)
    if name in KNOWN:
        return KNOWN[name]
    if other is not None:
        return other.module
    for kind, opens in _OPENED_BY:
        if kind(name) is not None:
            return opens
    if file_name(name) is not None:
        return __name__
    module, _, function = name.partition(":")
    if all(module.split(".")) and not set("/\\ ") & set(module) and function.isidentifier():
        return module  # and no path: what lies at one is no Python, or lacks its .py
    names = [*KNOWN, *(f"{one.name} ({_package(one)})" for one in _entry_points(tuple(sys.path)))]
    near = "".join(f"did you mean `{found}`? " for found in nearest(name, names)[:1])
    todo = (
        f"{near}known: {', '.join(names)}; your own: module:function or ./file.py:function,"
        " called with (x, min, max); a library: --so; a program: --exec, --onnx-cmd"
    )
    raise UserError(f"there is no runtime `{name}`", todo=todo)


def find_runtime(name: str, board: Board | None = None, node: OperatorNode = CLIP_NODE) -> Runtime:
    """Import a runtime, or start its program; without a board outside of `check`.

    Raises:
        ImportError: a package is missing.
        UserError: a tool is missing, or the function cannot be called with the operands of the node.
        AttributeError: the module has no such function.
    """
    module = module_of(name)
    other = shipped(name)
    if name in KNOWN:
        found: Runtime = importlib.import_module(module).RUNTIME
    elif other is not None:
        found = _shipped_runtime(other)
    elif module in {opens for _, opens in _OPENED_BY}:
        found = importlib.import_module(module).open_named(name, board)
    else:
        found = _own_runtime(name, node)
    own = name not in KNOWN and other is None and found.open_model is None
    return found if node == CLIP_NODE or own else for_node(name, found, node)


def environment(name: str, words: str, where: str | None = None, todo: str | None = None) -> UserError:
    """The error for a runtime that this machine does not run: no verdict on the runtime."""
    target = opener_name(name) or name  # of what opens models, the function
    if (other := shipped(name)) is not None:
        todo = f"mend or update that package: its entry point is {other.value}"
        name = f"{name} of the package {_package(other)}"
    elif todo is None:
        if program_name(name) is not None:
            todo = "it must send a hello first: docs/integrations.md"
        elif (found := file_name(target)) is not None:
            todo = f"make `python {found[0]}` work in this folder; the name is ./file.py:function"
        elif library_name(name) is not None:
            todo = "make it a library that this Python can load: docs/integrations.md"
        elif name in EXTRAS:
            todo = f"install it: pip install 'sonnx-clip[{EXTRAS[name]}]'"
        else:
            module = module_of(target)
            todo = f"make `python -c 'import {module}'` work in this folder; the name is module:function"
    return UserError(f"environment: the runtime {name} cannot be loaded: {words}", where, todo)


# --- Functions of modules and files -------------------------------------------------------------------------


def _own_runtime(name: str, node: OperatorNode) -> Runtime:
    function, version = named(name)
    if isinstance(function, Runtime):
        return function
    module_name, _, function_name = name.rpartition(":")
    _require_function(function, f"{module_name}.{function_name}", node)
    imports = f"from {module_name} import {function_name}"
    if file_name(name) is not None:
        imports = f"from {__name__} import function_in; {function_name} = function_in({quoted(name)})"
    return Runtime(version, lambda _: function, imports, lambda _: f"{function_name}({node.call})")


def named(name: str) -> tuple[Any, str]:
    """The function ``module:function`` or ``./file.py:function``, and its name with the module's version.

    Raises UserError or AttributeError if it does not exist, and whatever its module raises.
    """
    if (found := file_name(name)) is not None:
        function, module = function_in(name), _imported(found[0])
    else:
        module_name, _, function_name = name.partition(":")
        module = importlib.import_module(module_name)
        function = getattr(module, function_name)
    return function, f"{name} {getattr(module, '__version__', '')}".strip()


@cache
def function_in(name: str) -> Any:
    """The function ``./file.py:function``, for reproducers; UserError if it does not exist."""
    found = file_name(name)
    if found is None:
        raise UserError(f"`{name}` names no function of a file", todo="for example ./file.py:clip")
    path, function = found
    module = _imported(path)
    if not hasattr(module, function):
        own = [key for key, value in vars(module).items() if inspect.isroutine(value) and key[0] != "_"]
        there = f"it has {', '.join(own)}" if own else "it has no function at all"
        raise UserError(f"there is no `{function}` in {path}", None, there)
    return getattr(module, function)


@cache
def _imported(path: str) -> ModuleType:
    """The module of a file, which can import what lies beside it."""
    file = Path(path)
    if not file.is_file():
        what = "is no file" if file.exists() else "there is no such file"
        raise UserError(f"{path}: {what}", None, f"a relative name is looked up from {Path.cwd()}")
    name = f"runtime in {file.name}"  # no name that an import could mean
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.resolve().parent))
    spec.loader.exec_module(module)
    return module


def _require_function(found: object, where: str, node: OperatorNode) -> None:
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


# --- Entry points of other packages -------------------------------------------------------------------------


def shipped(name: str) -> metadata.EntryPoint | None:
    """The entry point of that name; None if no package ships one.

    Raises:
        UserError: the name is one of ours, or of two packages, or the entry point is no module:function.
    """
    found = [one for one in _entry_points(tuple(sys.path)) if one.name == name]
    packages = " and ".join(sorted(map(_package, found)))
    if found and name in KNOWN:
        what = f"the package {packages} ships a runtime `{name}`, which is the name of one of sonnx-clip"
        raise UserError(what, todo=f"remove that package, or have it choose another name in {GROUP}")
    if len(found) > 1:
        what = f"two packages ship a runtime `{name}`: {packages}"
        raise UserError(what, todo="remove one of them, or name the function: module:function")
    for one in found:
        if one.pattern.fullmatch(one.value) is None or not one.attr:
            what = f"environment: {packages} ships a runtime `{name}` that names no module:function"
            raise UserError(what, todo=f"mend its entry point in the group {GROUP}")
    return found[0] if found else None


@cache
def _entry_points(_path: tuple[str, ...]) -> tuple[metadata.EntryPoint, ...]:
    """All of them, as they are on a path."""
    return tuple(metadata.entry_points(group=GROUP))


def _package(one: metadata.EntryPoint) -> str:
    return "a package" if one.dist is None else f"{one.dist.name} {one.dist.version}"


def _shipped_runtime(other: metadata.EntryPoint) -> Runtime:
    found = other.load()
    if isinstance(found, Runtime):
        return found
    where = f"{other.module}.{other.attr}"
    if not callable(found):
        raise TypeError(f"{where} is neither a function nor a Runtime")
    try:
        _require_function(found, where, CLIP_NODE)
    except UserError as error:  # not ours to mend: the package is named
        raise TypeError(error.what) from None
    version = f"{other.name} of {_package(other)}"
    return Runtime(version, lambda _: found, f"import {other.module}", lambda _: f"{where}({CLIP_NODE.call})")
