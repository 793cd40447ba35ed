"""Finds a runtime by its name: one of ours, an entry point of another package, a function or a program.

A name is one line that is enough to open the runtime, in its process or in a reproducer: ``numpy``,
``module:function``, ``./file.py:function``, ``exec[big]:qemu-s390x ./harness``,
``so[clip.toml]:./libclip.so``, ``onnx:module:open``, ``onnx-cmd:./run {model} {in} {out}`` or
``optimised[onnxruntime]:module:function``. Entry points of the group ``"sonnx_clip.runtimes"`` name a
function (x, min, max) or a `Runtime`. Code is imported in the process of the runtime only.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import shlex
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import how_to_install
from sonnx_clip.root.terminal import nearest
from sonnx_clip.runtimes.runtime import EXTRAS, KNOWN, Runtime

if TYPE_CHECKING:
    from types import ModuleType

    from sonnx_clip.root.signature import Signature
    from sonnx_clip.runtimes.board import Board

GROUP = "sonnx_clip.runtimes"

_OPENED_BY = {
    "exec": "sonnx_clip.runtimes.program",
    "so": "sonnx_clip.runtimes.shared_library",
    "onnx": "sonnx_clip.runtimes.models",
    "onnx-cmd": "sonnx_clip.runtimes.model_command",
    "optimised": "sonnx_clip.runtimes.optimised",
}
"""The kinds of names, each with a module whose `open_named` takes a name and a board."""
MISSING_HELLO = "the program must first write a hello: a frame with its name and its element types"
ABI_EXAMPLE = 'operands = ["y", "x", "min", "max", "n"], and symbols.float32 = "my_clip"'
_PLACEHOLDERS = ("model", "in", "out")
DEFAULT_RUNNER = "onnxruntime"
"""What runs the models that an optimiser has written."""
OPTIMISERS = ("onnxscript", "onnxoptimizer", "onnxsim", "onnxslim")
"""Optimisers of models that are known by the names of their packages, which are in the extra `optimisers`."""


# --- Names --------------------------------------------------------------------------------------------------


def split_name(name: str) -> tuple[str, str, str]:
    """The kind of a name, its options and its target; the kind of a function or of a known name is empty.

    >>> split_name("exec[big]:./harness")
    ('exec', 'big', './harness')
    >>> split_name("./mine.py:clip")
    ('', '', './mine.py:clip')
    """
    parts = re.fullmatch(r"(exec|so|onnx|onnx-cmd|optimised)(\[.*?\])?:(.*)", name, re.DOTALL)
    if parts is None:
        return "", "", name
    kind, options, target = parts.groups("")
    module, _, function = target.rpartition(":")
    names_a_function = not options and module != "" and function.isidentifier()
    # A module of a user may be called `so` or `onnx`: what does not fit the kind is module:function.
    is_of_kind = {
        "exec": True,
        "so": bool(options),
        "onnx": names_a_function,
        "onnx-cmd": not options,
        "optimised": True,
    }
    if not is_of_kind[kind]:
        return "", "", name
    return kind, options[1:-1], target


def file_function(target: str) -> tuple[str, str] | None:
    """The Python file and the function of ``./file.py:function``; None for other names."""
    path, _, function = target.rpartition(":")
    if path.endswith(".py") and function.isidentifier():
        return path, function
    return None


def python_quoted(text: str) -> str:
    """A text in Python, between double quotes, for reproducers."""
    return json.dumps(text, ensure_ascii=False)


def command_words(command: str, option: str = "--exec", example: str = "./harness") -> list[str]:
    """The words of a command as in a shell; UserError if there are none, or a quotation does not end."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(
            f"{option}: {command}: {error}", todo="quote the command as in a shell"
        ) from None
    if not words:
        raise UserError(f"{option} needs a program", todo=f"for example {option} {example}")
    return words


def model_command_words(command: str) -> list[str]:
    """The words of a command that runs a model; UserError if a placeholder is missing or unknown."""
    example = "'./run {model} {in} {out}'"
    words = command_words(command, "--onnx-cmd", example)
    placeholders: list[str] = []
    for word in words:
        placeholders += re.findall(r"\{(\w*)\}", word)
    todo = f"use {{model}}, {{in}} and {{out}}, for example --onnx-cmd {example}"
    for placeholder in placeholders:
        if placeholder not in _PLACEHOLDERS:
            message = f"--onnx-cmd: unknown placeholder {{{placeholder}}}"
            raise UserError(message, todo=todo)
    for placeholder in _PLACEHOLDERS:
        if placeholder not in placeholders:
            message = f"--onnx-cmd: placeholder {{{placeholder}}} is missing"
            raise UserError(message, todo=todo)
    return words


def optimiser_words(target: str) -> list[str] | None:
    """The words of the command that an optimiser is; None for a function or a known name.

    UserError if one of the placeholders is missing.
    """
    if target in OPTIMISERS or "{" not in target:
        return None
    example = "'./optimise {in} {out}'"
    words = command_words(target, "--optimiser", example)
    for placeholder in ("{in}", "{out}"):
        if not any(placeholder in word for word in words):
            message = f"--optimiser: placeholder {placeholder} is missing"
            raise UserError(
                message, todo=f"use {{in}} and {{out}}, for example --optimiser {example}"
            )
    return words


def require_ascii(name: str) -> None:
    """UserError for a name that is not in ASCII and no path or command: it may look like another name."""
    if name.isascii():
        return
    kind, _, target = split_name(name)
    is_of_file = not kind and file_function(target) is not None
    # Folders and files may have any name.
    if is_of_file or kind in ("exec", "so", "onnx-cmd", "optimised"):
        return
    foreign = next(character for character in name if not character.isascii())
    message = f"the runtime name `{name}` contains U+{ord(foreign):04X}"
    raise UserError(message, todo="write the name in ASCII")


def module_of(name: str) -> str:
    """The module of a runtime, which is not imported; UserError if there is no such runtime."""
    require_ascii(name)
    # Before the known names: a package that ships one of them is reported, and not passed over.
    entry = entry_point(name)
    kind, _, target = split_name(name)
    if name in KNOWN:
        return KNOWN[name]
    if entry is not None:
        return entry.module
    # Mistakes in a command are reported here, before any process is started for it.
    if kind == "onnx-cmd":
        model_command_words(target)
    if kind == "optimised" and optimiser_words(target) is None and target not in OPTIMISERS:
        _require_function(target)
    if kind:
        return _OPENED_BY[kind]
    if file_function(name) is not None:
        return __name__
    module, _, function = name.partition(":")
    has_path = bool(set("/\\ ") & set(module))
    if all(module.split(".")) and not has_path and function.isidentifier():
        return module
    raise _unknown(name)


def _unknown(name: str) -> UserError:
    """The error for a name that is no runtime."""
    file = name.removesuffix(":")
    if file.endswith(".py"):
        message = f"the runtime `{name}` names no function of the file"
        return UserError(message, todo=f"add the function: {file}:function")
    names = list(KNOWN)
    for entry in _entry_points(tuple(sys.path)):
        names.append(f"{entry.name} ({_package(entry)})")
    similar = nearest(name, names)
    near = f"did you mean `{similar[0]}`? " if similar else ""
    todo = (
        f"{near}known: {', '.join(names)}; your own: module:function or ./file.py:function,"
        " called with (x, min, max); a library: --so; a program: --exec, --onnx-cmd"
    )
    return UserError(f"unknown runtime `{name}`", todo=todo)


def _require_function(target: str) -> None:
    """UserError if a target names no function of a module or of a file."""
    module, _, function = target.rpartition(":")
    if not module or not function.isidentifier():
        similar = nearest(target, OPTIMISERS)
        near = f"did you mean `{similar[0]}`? " if similar else ""
        todo = (
            f"{near}known: {', '.join(OPTIMISERS)}; your own: module:function or ./file.py:function,"
            " from onnx.ModelProto to onnx.ModelProto; or a command with {in} and {out}"
        )
        raise UserError(f"unknown optimiser `{target}`", todo=todo)


# --- Runtimes -----------------------------------------------------------------------------------------------


def find_runtime(name: str, signature: Signature, board: Board | None = None) -> Runtime:
    """Import a runtime of an operator, or start its program; there is no board outside of `check`.

    Raises:
        ImportError: a package is missing.
        UserError: a tool is missing, the runtime implements another operator only, or the function cannot be
            called with its operands.
        AttributeError: the module has no such function.
    """
    module = module_of(name)
    entry = entry_point(name)
    kind, _, _ = split_name(name)
    if name in KNOWN:
        runtime: Runtime = importlib.import_module(module).RUNTIME
    elif entry is not None:
        where = f"{module}.{entry.attr}"
        version = f"{name} of {_package(entry)}"
        runtime = _runtime_of_function(
            entry.load(), version, where, f"import {module}", where, signature
        )
    elif kind:
        runtime = importlib.import_module(module).open_named(name, board)
    else:
        function, version = named_function(name)
        place, _, attribute = name.rpartition(":")
        imports = f"from {place} import {attribute}"
        # A file is no module that a reproducer could import by its name.
        if file_function(name) is not None:
            of_file = f"named_function({python_quoted(name)})[0]"
            imports = f"from {__name__} import named_function; {attribute} = {of_file}"
        where = f"{place}.{attribute}"
        runtime = _runtime_of_function(function, version, where, imports, attribute, signature)
    # Most runtimes are functions of Clip; those that open models can make one of another operator's node.
    if runtime.signature == signature:
        return runtime
    if runtime.of_operator is None:
        message = f"the runtime {name} supports only {runtime.signature.op_type}"
        raise UserError(message, todo="choose onnxruntime or onnx-reference, or name a function")
    return runtime.of_operator(signature)


def _runtime_of_function(
    named: object, version: str, where: str, imports: str, call: str, signature: Signature
) -> Runtime:
    """A runtime, or the runtime of a function of the operands; UserError if what is named is neither."""
    if isinstance(named, Runtime):
        return named
    todo = f"name a function that accepts {signature.accepted}"
    if not callable(named):
        _, _, attribute = where.rpartition(".")
        raise UserError(f"{where}: {attribute} is not a function", todo=todo)
    # A function of other parameters would raise in each call, as if it refused all of them.
    operands = [None] * len(signature.parameters)
    try:
        inspect.signature(named).bind(*operands)
    except TypeError as error:
        message = f"{where} cannot be called with {signature.accepted}: {error}"
        raise UserError(message, todo=todo) from None
    except ValueError:  # it has no signature, as many functions of C
        pass
    return Runtime(
        version=version,
        open=lambda _: named,
        imports=imports,
        call=lambda _: f"{call}({signature.call})",
        signature=signature,
    )


def environment(
    name: str, words: str, where: str | None = None, todo: str | None = None
) -> UserError:
    """The error for a runtime that cannot be loaded on this machine, which is no verdict on the runtime."""
    kind, _, target = split_name(name)
    title = f"the optimiser {target}" if kind == "optimised" else f"the runtime {name}"
    entry = entry_point(name)
    # Whatever the error advises, the code of a package can be mended only there.
    if entry is not None:
        todo = f"fix or update that package: its entry point is {entry.value}"
        title += f" of the package {_package(entry)}"
    elif todo is None:
        # The advice is on the likeliest cause for each kind of name; else to import it, which shows
        # Python's error.
        in_file = file_function(target)
        if kind == "exec":
            todo = MISSING_HELLO
        elif kind == "so":
            todo = "build a shared library for this processor, for example: cc -shared -fPIC"
        elif in_file is not None:
            path, _ = in_file
            todo = f"make `python {path}` work in this folder; the name is ./file.py:function"
        elif name in EXTRAS:
            todo = how_to_install(EXTRAS[name])
        elif kind == "optimised" and (target in OPTIMISERS or "{" in target):
            todo = how_to_install("optimisers")
        else:
            module = module_of(target if kind in ("onnx", "optimised") else name)
            todo = f"make `python -c 'import {module}'` work in this folder; the name is module:function"
    return UserError(f"environment: {title} cannot be loaded: {words}", where, todo)


# --- Functions of modules and files -------------------------------------------------------------------------


def named_function(name: str) -> tuple[Any, str]:
    """The function ``module:function`` or ``./file.py:function``, and its name with the module's version.

    Raises UserError or AttributeError if it does not exist, and whatever its module raises.
    """
    module_name, _, function = name.rpartition(":")
    if file_function(name) is None:
        module = importlib.import_module(module_name)
    else:
        module = _imported(module_name)
        # Of a module, Python's AttributeError names it; a file has no name that the user would know.
        if not hasattr(module, function):
            public = _public_functions(module)
            todo = f"it has {', '.join(public)}" if public else "it has no function"
            raise UserError(f"{module_name} has no function `{function}`", None, todo)
    version = getattr(module, "__version__", "")
    return getattr(module, function), f"{name} {version}".strip()


def _public_functions(module: ModuleType) -> list[str]:
    names = []
    for name, member in vars(module).items():
        if inspect.isroutine(member) and not name.startswith("_"):
            names.append(name)
    return names


@cache
def _imported(path: str) -> ModuleType:
    """The module of a file, which can import other files in its folder."""
    file = Path(path)
    if not file.is_file():
        reason = "not a file" if file.exists() else "no such file"
        raise UserError(f"{path}: {reason}", None, f"a relative name is relative to {Path.cwd()}")
    name = f"runtime in {file.name}"  # no valid name of a module, so it hides none
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Before it runs: dataclasses and pickle look a module up by its name.
    sys.modules[name] = module
    sys.dont_write_bytecode = True  # `check` leaves no __pycache__ in a user's folder
    # As Python does for a script.
    folder = file.resolve().parent
    sys.path.insert(0, str(folder))
    spec.loader.exec_module(module)
    return module


# --- Entry points of other packages -------------------------------------------------------------------------


def entry_point(name: str) -> metadata.EntryPoint | None:
    """The entry point of that name; None if no package ships one.

    Raises:
        UserError: the name is one of ours, or of two packages, or the entry point is no module:function.
    """
    installed = _entry_points(tuple(sys.path))
    matching = [entry for entry in installed if entry.name == name]
    packages = " and ".join(sorted(map(_package, matching)))
    if matching and name in KNOWN:
        message = (
            f"the package {packages} ships a runtime `{name}`, a name that sonnx-clip reserves"
        )
        raise UserError(message, todo=f"remove that package, or rename its entry point in {GROUP}")
    if len(matching) > 1:
        message = f"two packages ship a runtime `{name}`: {packages}"
        raise UserError(message, todo="remove one of them, or name the function: module:function")
    # Checked here, since `load` would import a whole module in the place of a function.
    for entry in matching:
        if entry.pattern.fullmatch(entry.value) is None or not entry.attr:
            message = (
                f"environment: {packages} ships a runtime `{name}` that is not module:function"
            )
            raise UserError(message, todo=f"fix its entry point in the group {GROUP}")
    return matching[0] if matching else None


@cache
def _entry_points(_path: tuple[str, ...]) -> tuple[metadata.EntryPoint, ...]:
    """The entry points of the group; `_path` is sys.path, which they depend on."""
    return tuple(metadata.entry_points(group=GROUP))


def _package(entry: metadata.EntryPoint) -> str:
    """The package that ships an entry point, with its version."""
    return "a package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
