"""All kernels traced, once a process, with what guards the tracing: their source is refused where a symbolic
run cannot observe it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.errors import UserError
from sonnx_clip.trace import subject
from sonnx_clip.trace.arrays import METHODS
from sonnx_clip.trace.explore import Traced, explore
from sonnx_clip.trace.numpy_meaning import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from sonnx_clip.language import ElementType
    from sonnx_clip.trace.subject import Subject


# Kinds of nodes that a run on symbols follows, or that compute nothing.
_PLAIN = (
    ast.Expr,
    ast.Assign,
    ast.Return,
    ast.If,
    ast.Name,
    ast.Attribute,
    ast.Tuple,
    ast.Constant,
    ast.BoolOp,
    ast.UnaryOp,
    ast.BinOp,
    ast.IfExp,
    ast.keyword,
    ast.Load,
    ast.Store,
    ast.boolop,
    ast.unaryop,
    ast.operator,
    ast.arguments,
    ast.arg,
)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def unobserved_places(what: Subject) -> Iterator[str]:
    """A line for each place in the traced modules that a run on symbols would not see."""
    for module, file in zip(what.modules, what.files, strict=True):
        text = file.read_text(encoding="utf-8")
        places: set[tuple[str, int]] = set()  # name and line of each function
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                places.add((node.name, node.lineno))
                for line, message in _Function(what, module).check(node):
                    yield f"{file}:{line}: {message}"

        # A function that is made in another way would be called and not read.
        for function in what.functions:
            if function.__module__ != module.__name__:
                continue
            name = function.__name__
            line = function.__code__.co_firstlineno
            if (name, line) not in places:
                yield f"{file}:{line}: {name} is not written as a function of the module"


class _Function:
    """Reads one function."""

    def __init__(self, what: Subject, module: ModuleType) -> None:
        self.what = what
        self.module = module

    def check(self, node: ast.FunctionDef) -> Iterator[tuple[int, str]]:
        """Line and reason of each part that a run on symbols would not see."""
        # What a decorator returns is called in place of what is read here.
        if node.decorator_list:
            yield node.lineno, f"{node.name} is decorated"
        parameters = node.args
        has_star = parameters.vararg or parameters.kwarg
        if parameters.defaults or parameters.kwonlyargs or has_star:
            yield node.lineno, f"{node.name} has optional parameters"
        for statement in node.body:
            for part in ast.walk(statement):
                message = self._refused(part)
                if message:
                    yield getattr(part, "lineno", statement.lineno), message

    def _refused(self, node: ast.AST) -> str:
        """Why a node is refused; empty if it is not."""
        match node:
            # An element type is known in a run: a branch on it is no branch on values.
            case ast.Compare(left=ast.Attribute(attr="dtype"), ops=[ast.In()]):
                return ""
            case ast.Compare(ops=[sign, *more], comparators=[other, *_]):
                known = isinstance(sign, _COMPARISONS) or _is_none(other)
                is_allowed = known and not more
                return "" if is_allowed else "a comparison other than <, <=, >, >=, ==, !="
            case ast.cmpop():  # judged with its comparison
                return ""
            case ast.Call():
                return self._call(node)
            # A table of the module, by an element type; an entry of an array would be a value.
            case ast.Subscript(value=ast.Name(id=name)):
                return "" if isinstance(self._global(name), dict) else f"an entry of {name}"
            # `len`, `int` or `isinstance` would see what a run hides, or make numbers of entries.
            case ast.Name(id=name) if hasattr(builtins, name):
                return f"{name} of Python"
            case ast.Attribute(attr=name) if name.startswith("__"):
                return f".{name} of Python"
            case ast.Assign(targets=targets) if not all(_is_local(t) for t in targets):
                return "an assignment to something other than a local name"
        if isinstance(node, _PLAIN):
            return ""
        return f"{_said(node)}, which a run on symbols does not follow"

    def _call(self, node: ast.Call) -> str:
        # Any other, such as `where`, changes what an operation means.
        for keyword in node.keywords:
            if keyword.arg != "out":
                return f"the argument {keyword.arg or '**'}"
        match node.func:
            case ast.Name(id=name):
                traced = self._is_traced(self._global(name))
                return "" if traced else f"a call of {name}, which is not traced"
            case ast.Attribute(value=ast.Name(id="np"), attr=name):
                if self._global("np") is not np:
                    return "a call of np, which is not NumPy"
                known = name in table()
                return "" if known else f"np.{name}, which has no meaning in why3/numpy.mlw"
            case ast.Attribute(value=ast.Attribute(attr="dtype"), attr="type"):
                return ""
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if inspect.ismodule(
                self._global(name)
            ):
                traced = self._is_traced(getattr(self._global(name), attr, None))
                return "" if traced else f"a call of {name}.{attr}, which is not traced"
            case ast.Attribute(attr=name):
                known = name in METHODS
                return "" if known else f".{name}(), which has no meaning in why3/numpy.mlw"
        return "a call of something other than a name"

    def _global(self, name: str) -> Any:
        return vars(self.module).get(name)

    def _is_traced(self, called: Any) -> bool:
        if isinstance(called, type):
            # `Plan`, which only holds what it is given.
            names = {module.__name__ for module in self.what.modules}
            return issubclass(called, tuple) and called.__module__ in names
        return called in self.what.functions


def _is_local(target: ast.expr) -> bool:
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(part, ast.Name) for part in targets)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _said(node: ast.AST) -> str:
    names = {
        ast.JoinedStr: "an f-string",
        ast.Subscript: "an entry",
        ast.Global: "global",
        ast.Try: "try",
    }
    return names.get(type(node), type(node).__name__.lower())


# --- All kernels traced, with what guards the tracing: once a process, since nothing changes meanwhile ------


def trace_all(etypes: Sequence[ElementType], what: Subject) -> tuple[Traced, ...]:
    """Trace every machine type, out of place and in place.

    That the recorded paths are all paths, and that some input takes each, are the obligations
    ``ways_complete`` and ``ways_inhabited``.

    Raises:
        UserError: the kernels hold what tracing cannot see.
    """
    # Before anything is run: what a run does not see, its result cannot show.
    unseen = next(unobserved_places(what), "")
    if unseen:
        place, _, message = unseen.partition(": ")
        raise UserError(f"the kernel cannot be proved: {message}", place, "write it without")
    traced: list[Traced] = []
    for etype in etypes:
        if etype.width is not None:
            traced.append(explore(what, etype, in_place=False))
            traced.append(explore(what, etype, in_place=True))
    return tuple(traced)


@cache
def traced_kernels(etypes: tuple[ElementType, ...]) -> tuple[Traced, ...]:
    """What `sonnx_clip.clip` runs, traced for all machine types; UserError as above."""
    return trace_all(etypes, subject.subject())
