"""Functions of one's own by their names: ``module:function``, or ``./file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.foreign.runtime_names import file_name
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from types import ModuleType


def named(name: str) -> tuple[Any, str]:
    """What ``module:function`` or ``./file.py:function`` names, and its name with the version of its module.

    Raises:
        UserError: there is no such file, or nothing of that name in it.
        AttributeError: the module has no such function.
        BaseException: whatever the module or file raises while it is imported.
    """
    if (found := file_name(name)) is not None:
        function, module = function_in(name), imported(found[0])
    else:
        module_name, _, function_name = name.partition(":")
        module = importlib.import_module(module_name)
        function = getattr(module, function_name)
    return function, f"{name} {getattr(module, '__version__', '')}".strip()


@cache
def function_in(name: str) -> Any:
    """What a name such as ``./file.py:function`` speaks of; a line that repeats a deviation calls it.

    Raises:
        UserError: there is no such file, or nothing of that name in it.
        BaseException: whatever the file raises while it is imported.
    """
    found = file_name(name)
    if found is None:
        raise UserError(f"`{name}` names no function of a file", todo="for example ./file.py:clip")
    path, function = found
    module = imported(path)
    if not hasattr(module, function):
        own = [key for key, value in vars(module).items() if _may_be_meant(key, value)]
        there = f"it has {', '.join(own)}" if own else "it has no function at all"
        raise UserError(f"there is no `{function}` in {path}", None, there)
    return getattr(module, function)


@cache
def imported(path: str) -> ModuleType:
    """The module of a file, which finds what lies beside it; it is imported once.

    Raises:
        UserError: there is no such file.
    """
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


def _may_be_meant(name: str, value: object) -> bool:
    return callable(value) and not isinstance(value, type) and not name.startswith("_")
