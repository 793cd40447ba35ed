"""Runtimes of one's own by their names, ``module:function`` or ``./file.py:function``, and those that other
packages ship as entry points.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.runtime_names import file_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
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


# ------------------------------------------------------------------------------------------------------------
# Runtimes that other packages ship: entry points of the group ``"sonnx_clip.runtimes"``, found by name
#
# What an entry point names is a function (x, min, max) or a `Runtime`. It is imported in the process of the
# runtime alone; here its name is read.


GROUP = "sonnx_clip.runtimes"


@dataclass(frozen=True)
class Shipped:
    """A runtime of another package.

    Args:
        name: by which it is asked for.
        package: its package.
        version: that of the package.
        module: what is imported.
        attribute: what of the module is the runtime, perhaps with dots.
    """

    name: str
    package: str
    version: str
    module: str
    attribute: str

    def load(self) -> Any:
        """What the entry point names.

        Raises:
            AttributeError: the module has no such attribute.
            BaseException: whatever the module raises while it is imported.
        """
        return metadata.EntryPoint(self.name, f"{self.module}:{self.attribute}", GROUP).load()


def shipped(name: str, ours: Container[str] = ()) -> Shipped | None:
    """The runtime of that name, None if no package ships one.

    Args:
        name: of a runtime.
        ours: the names that no other package may take.

    Raises:
        UserError: a package has taken a name of ours, two have taken the same one, or an entry point of that
            name is none.
    """
    found = [one for one in _all(tuple(sys.path)) if one.name == name]
    packages = " and ".join(sorted(f"{one.package} {one.version}".strip() for one in found))
    if found and name in ours:
        what = f"the package {packages} ships a runtime `{name}`, which is the name of one of sonnx-clip"
        raise UserError(what, todo=f"remove that package, or have it choose another name in {GROUP}")
    if len(found) > 1:
        what = f"two packages ship a runtime `{name}`: {packages}"
        raise UserError(what, todo="remove one of them, or name the function: module:function")
    for one in found:
        if not one.module or not one.attribute:
            what = f"environment: {packages} ships a runtime `{name}` that names no module:function"
            raise UserError(what, todo=f"mend its entry point in the group {GROUP}")
    return found[0] if found else None


def shipped_names() -> list[str]:
    """The names that packages ship, each with its package: ``fast (fast-clip 1.2)``."""
    return [f"{one.name} ({one.package} {one.version})" for one in _all(tuple(sys.path))]


@cache
def _all(_path: tuple[str, ...]) -> tuple[Shipped, ...]:
    """All of them, as they are on a path."""
    found: dict[str, list[Shipped]] = {}
    for distribution in metadata.distributions():
        package = str(distribution.metadata["Name"] or "?")
        if package not in found:  # the first on the path is the one that is imported
            found[package] = list(_of(distribution, package))
    return tuple(one for package in sorted(found) for one in found[package])


def _of(distribution: metadata.Distribution, package: str) -> Iterator[Shipped]:
    text = distribution.read_text("entry_points.txt") or ""
    section = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == GROUP and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            module, _, attribute = value.partition("[")[0].partition(":")
            parts = (module.strip(), attribute.strip())
            right = all(word.isidentifier() for part in parts for word in part.split("."))
            yield Shipped(name.strip(), package, distribution.version, *(parts if right else ("", "")))
