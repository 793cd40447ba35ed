"""Copies of the traced functions that note where they go, and what the notes say: where each path goes in the
source, and what none passes.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar

from sonnx_clip.root.errors import UserError
from sonnx_clip.trace.arrays import SymbolicArray
from sonnx_clip.trace.explore import follow
from sonnx_clip.trace.subject import Subject
from sonnx_clip.trace.symbolic_run import Branch, Fork, Language, SymbolicRun

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.trace.explore import Path, Traced


_Node = TypeVar("_Node", bound=ast.AST)

_PASS, _DECIDE = "__sonnx_pass__", "__sonnx_decide__"
_STATEMENTS = (ast.Expr, ast.Assign, ast.Return, ast.If)
_EXPRESSIONS = (
    ast.Name, ast.Attribute, ast.Tuple, ast.Constant, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp,
    ast.Compare, ast.Call, ast.Subscript,
)  # fmt: skip


@dataclass(frozen=True)
class Point:
    """A place that a run can pass.

    Args:
        kind: the head of a function, a statement, or one outcome of a condition.
        function: the name of the function.
        file: where it stands.
        line: of the function, the statement or the condition.
        column: of the same.
    """

    kind: Literal["function", "statement", "true", "false"]
    function: str
    file: str
    line: int
    column: int


class PassedPoints:
    """What one run passed."""

    def __init__(self) -> None:
        self.places: list[int] = []
        """The numbers of the points, in the order in which they were passed."""
        self.decided: dict[str, bool] = {}
        """The conditions on symbols, each with its outcome, in the order in which they were met first."""


class Instrumented:
    """Copies of all functions of a subject, the points that a run can pass, and what a run passed.

    Raises:
        UserError: a function is not written in its module, or holds what is not instrumented.
    """

    def __init__(self, what: Subject) -> None:
        self.points: list[Point] = []
        """All points; a point is noted by its number here."""
        self._record = PassedPoints()
        twins: dict[Any, Any] = {module: ModuleType(module.__name__) for module in what.modules}
        for module, file in zip(what.modules, what.files, strict=True):
            vars(twins[module]).update(vars(module) | {_PASS: self._pass, _DECIDE: self._decide})
            written = _written(file)
            for function in what.functions:
                if function.__module__ == module.__name__:
                    twins[function] = self._copied(function, file, written, vars(twins[module]))
        modules = tuple(twins[module] for module in what.modules)
        for twin in modules:
            vars(twin).update(
                {n: _swapped(v, twins) for n, v in vars(twin).items() if not n.startswith("__")}
            )
        self.subject = Subject(modules, what.constants, _swapped(dict(what.planners), twins))
        """The copies, to be run in place of the functions."""

    @contextmanager
    def watch(self) -> Iterator[PassedPoints]:
        """Note what the copies pass meanwhile."""
        self._record = PassedPoints()
        yield self._record

    def _pass(self, number: int) -> None:
        self._record.places.append(number)

    def _decide(self, number: int, value: Any) -> Any:
        """The value; notes whether it is true. A symbol decides once, however often it is asked."""
        outcome = bool(value)
        self._record.places.append(number if outcome else number + 1)
        if type(value) is SymbolicArray:
            self._record.decided.setdefault(value.value.text, outcome)
        return value

    def _copied(
        self,
        function: FunctionType,
        file: pathlib.Path,
        written: Mapping[tuple[str, int], ast.FunctionDef],
        globals_: dict[str, Any],
    ) -> FunctionType:
        """A function compiled anew, with its points."""
        name, line = function.__name__, function.__code__.co_firstlineno
        node = written.get((name, line))
        if node is None:
            raise UserError(f"{name} is not written as a function of the module", f"{file}:{line}", _AGAIN)
        made = _Instrument(str(file), name, self.points).function(node)
        if where := _unseen(made):
            raise UserError(f"{name} goes ways that are not recorded", f"{file}:{where}", _REPORT)
        tree = ast.fix_missing_locations(ast.Module([made], []))
        kept = globals_.get(name)
        exec(compile(tree, str(file), "exec"), globals_)  # noqa: S102 - the text of the module itself
        copy = globals_.pop(name)
        if kept is not None:
            globals_[name] = kept
        assert isinstance(copy, FunctionType)
        return copy


_AGAIN = "define it there"
_REPORT = "report it"


def _written(file: pathlib.Path) -> dict[tuple[str, int], ast.FunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {(node.name, node.lineno): node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _swapped(value: Any, twins: Mapping[Any, Any]) -> Any:
    """A value in which copies take the place of functions and modules; a class is not searched."""
    if isinstance(value, (FunctionType, ModuleType)):
        return twins.get(value, value)
    if type(value) is dict:
        return {key: _swapped(part, twins) for key, part in value.items()}
    if type(value) in (tuple, list, set, frozenset):
        return type(value)(_swapped(part, twins) for part in value)
    return value


class _Instrument:
    """One function with a call at each point. The tree that it is given stays as it is."""

    def __init__(self, file: str, name: str, points: list[Point]) -> None:
        self.file, self.name, self.points = file, name, points

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function; its annotations are left out, since they are not what runs."""
        head = self._call(_PASS, node, "function")
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        names = [ast.arg(a.arg) for a in (*node.args.posonlyargs, *node.args.args)]
        args = ast.arguments([], names, None, [], [], None, [])
        made = ast.FunctionDef(node.name, args, [ast.Expr(head), *self._body(body)], [])
        return ast.copy_location(made, node)

    def _body(self, statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in statements:
            yield ast.copy_location(ast.Expr(self._call(_PASS, statement, "statement")), statement)
            yield self._statement(statement)

    def _statement(self, node: ast.stmt) -> ast.stmt:
        if not isinstance(node, _STATEMENTS):
            self._refuse(node)
        if isinstance(node, ast.If):
            test = self._condition(node.test)
            made = ast.If(test, list(self._body(node.body)), list(self._body(node.orelse)))
            return ast.copy_location(made, node)
        return self._parts(node)

    def _value(self, node: ast.expr) -> ast.expr:
        """An expression whose value is used."""
        match node:
            case ast.BoolOp(op=op, values=[*first, last]):
                made: ast.expr = ast.BoolOp(op, [*map(self._condition, first), self._value(last)])
            case ast.IfExp(test=test, body=body, orelse=other):
                made = ast.IfExp(self._condition(test), self._value(body), self._value(other))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                made = ast.UnaryOp(ast.Not(), self._condition(operand))
            case _:
                if not isinstance(node, _EXPRESSIONS) or (
                    isinstance(node, ast.Compare) and len(node.ops) > 1
                ):
                    self._refuse(node)
                return self._parts(node)
        return ast.copy_location(made, node)

    def _condition(self, node: ast.expr) -> ast.expr:
        """An expression that is a condition, or a part of one by ``and``, ``or``, ``not``."""
        match node:
            case ast.BoolOp(op=op, values=parts):
                made: ast.expr = ast.BoolOp(op, [self._condition(part) for part in parts])
            case ast.IfExp(test=test, body=body, orelse=other):
                made = ast.IfExp(*(self._condition(part) for part in (test, body, other)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                made = ast.UnaryOp(ast.Not(), self._condition(operand))
            case _:
                call = self._call(_DECIDE, node, "true", "false")
                call.args.append(self._value(node))
                made = call
        return ast.copy_location(made, node)

    def _parts(self, node: _Node) -> _Node:
        """A node of the same kind, with the values of its expressions."""
        made = type(node)(**{field: self._part(value) for field, value in ast.iter_fields(node)})
        return ast.copy_location(made, node)

    def _part(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._part(part) for part in value]
        if isinstance(value, ast.expr):
            return self._value(value)
        return self._parts(value) if isinstance(value, ast.keyword) else value

    def _call(
        self, name: str, node: ast.stmt | ast.expr, *kinds: Literal["function", "statement", "true", "false"]
    ) -> ast.Call:
        number = len(self.points)
        place = (self.file, node.lineno, node.col_offset)
        self.points += [Point(kind, self.name, *place) for kind in kinds]
        made = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(number)], [])
        return ast.copy_location(made, node)

    def _refuse(self, node: ast.stmt | ast.expr) -> NoReturn:
        what = f"{self.name} holds {type(node).__name__.lower()}, whose ways are not recorded"
        raise UserError(what, f"{self.file}:{node.lineno}", "write it without")


def _unseen(made: ast.FunctionDef) -> int | None:
    """The line of a statement or condition of which nothing is noted; read from the instrumented function."""
    for node in ast.walk(made):
        for condition in _conditions(node):
            if not _is_seen(condition):
                return condition.lineno
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(body, list):
                for before, statement in pairwise([ast.Pass(), *body]):
                    if not _is_call(before, _PASS) and not _is_call(statement, _PASS):
                        return int(statement.lineno)
    return None


def _conditions(node: ast.AST) -> Sequence[ast.expr]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.BoolOp(values=[*first, _]):
            return first
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [operand]
    return []


def _is_seen(node: ast.expr) -> bool:
    match node:
        case ast.BoolOp(values=parts):
            return all(map(_is_seen, parts))
        case ast.IfExp(test=test, body=body, orelse=other):
            return all(map(_is_seen, (test, body, other)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_seen(operand)
    return _is_call(node, _DECIDE)


def _is_call(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Expr(value=value):
            return _is_call(value, name)
        case ast.Call(func=ast.Name(id=called)):
            return called == name
    return False


# --- Where each path goes in the source, and what no path passes --------------------------------------------


Places: TypeAlias = tuple[int, ...]
"""The numbers of the points that a run passes, in order."""

_WRONG = "the recording is wrong: report it"


def places_of(traced: Traced, copies: Instrumented) -> tuple[Places, ...]:
    """The points that each path passes: the copies, run on symbols, have to do what the functions did.

    Raises:
        UserError: a copy computes or decides otherwise, decides unseen, or two paths cannot be distinguished.
    """
    language = Language(traced.etype)
    found = tuple(_places(traced, path, copies, language) for path in traced.paths)
    first: dict[Places, int] = {}
    for number, places in enumerate(found, 1):
        if (other := first.setdefault(places, number)) != number:
            what = f"{traced.etype.id}: ways {other} and {number} pass the same places"
            raise UserError(what, _file(copies), _WRONG)
    return found


def _places(traced: Traced, path: Path, copies: Instrumented, language: Language) -> Places:
    taken = tuple(step.taken for step in path.steps if isinstance(step, Branch))
    run = SymbolicRun(language, Fork(taken, path.samples.first()), again=True)
    with copies.watch() as record:
        kernel, result = follow(copies.subject, run, in_place=traced.in_place)
    of = f"{traced.etype.id}: the recorded copy of {path.kernel}"
    if (kernel, result, tuple(run.steps)) != (path.kernel, path.result, path.steps):
        raise UserError(f"{of} does something else than the kernel", _file(copies), _WRONG)
    if list(record.decided.values()) != run.taken:
        raise UserError(f"{of} goes a way that is not recorded", _file(copies), _WRONG)
    return tuple(record.places)


def _file(copies: Instrumented) -> str:
    return str(copies.subject.files[0])


def unreached(points: Sequence[Point], paths: Iterable[Places]) -> list[str]:
    """A line for each function, statement and outcome of a condition that no path passes."""
    passed = {number for places in paths for number in places}
    order = sorted(range(len(points)), key=lambda n: (_FIRST.get(points[n].kind, 2), points[n].file, n))
    return [line for number in order if number not in passed for line in _missed(points, number, passed)]


_FIRST = {"function": 0, "statement": 1}
"""What is said first: that a line is not reached explains a branch that is not taken."""


def _missed(points: Sequence[Point], number: int, passed: set[int]) -> Iterator[str]:
    point = points[number]
    place = f"{point.file}:{point.line}"
    called = {points[n].function for n in passed if points[n].file == point.file}
    match point.kind:
        case "function":
            yield f"{place}: {point.function} is never called"
        case _ if point.function not in called:
            return  # said of the function
        case "statement":
            yield f"{place}: no input reaches this line"
        case "true" if number + 1 not in passed:
            yield f"{place}: no input reaches this condition"
        case "false" if number - 1 not in passed:
            return  # said of the other outcome
        case _:
            yield f"{place}: no input takes the other way of this branch"
