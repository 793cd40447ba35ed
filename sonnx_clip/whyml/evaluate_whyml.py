"""Evaluates terms, formulas and programs: many values at once where they are patterns, else one by one.

A variable of a machine type may stand for an array of patterns: then a formula is an array of truths. What
has a tensor, a shape or a memory in it is evaluated for one value at a time.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.root.errors import UserError
from sonnx_clip.whyml.natives import UNSIGNED, WIDTHS
from sonnx_clip.whyml.whyml_scope import Closure, Constructor, Native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.whyml.declarations import WhymlDeclaration
    from sonnx_clip.whyml.node import Node, Pattern
    from sonnx_clip.whyml.whyml_scope import Key, ModuleScope

WhymlEnvironment: TypeAlias = "dict[str, Any]"
WhymlChange: TypeAlias = "Node | Callable[..., Any]"
"""What a mutant puts for a declaration: another body, or for what the drivers give another function."""

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "<.": operator.lt, "<=.": operator.le, ">.": operator.gt, ">=.": operator.ge,
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "+.": operator.add, "-.": operator.sub, "*.": operator.mul,
}  # fmt: skip


class Cells(dict[int, Any]):
    """The elements of a memory by their place.

    Args:
        found: those of the samples.
        beyond: what every other place holds.
    """

    def __init__(self, found: Mapping[int, Any], beyond: Any) -> None:
        super().__init__(found)
        self.beyond = beyond

    def at(self, place: Any) -> Any:
        """The element at a place."""
        return self.get(int(place), self.beyond)


@dataclass
class WhymlMemory:
    """The memory of a program."""

    cells: Cells


class WhymlEvaluator:
    """Evaluates under a domain for each type, and with other bodies for declarations that a mutant changes.

    Args:
        domain: the values over which a quantifier goes, by the type's description.
        together: all combinations of values of element types, as an array for each; empty if they are not
        few.
        changed: bodies of declarations in the place of their own.
    """

    def __init__(
        self,
        domain: Callable[[Any], Sequence[Any]],
        together: Callable[[Sequence[Any]], list[Any]],
        changed: Mapping[Key, WhymlChange] | None = None,
    ) -> None:
        self.domain, self.together = domain, together
        self.changed = {key: body for key, body in (changed or {}).items() if not callable(body)}
        self.natives = {key: run for key, run in (changed or {}).items() if callable(run)}
        self._calls: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = {}
        self.vectors = False  # whether a variable stands for an array

    def value(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        """The value of a node."""
        return getattr(self, f"_{node.kind}")(node, env, scope)

    # ------------------------------------------------------------------------------------------- leaves

    def _name(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        name = node.text
        if name in env:
            return env[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        return self._symbol(name, (), scope)

    def _number(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:  # noqa: ARG002
        return float(node.text) if "." in node.text else int(node.text, 0)

    def _typed(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:  # noqa: ARG002
        return literal(node.parts[0].text, scope.types.get(node.text))

    def run(self, program: WhymlDeclaration, env: WhymlEnvironment, scope: ModuleScope, allowed: Any) -> Any:
        """Whether a program gives what it ensures, of values that meet what it requires."""
        memory = env.get("memory")
        before = (
            {"memory": WhymlMemory(Cells(memory.cells, memory.cells.beyond))} if memory is not None else {}
        )
        inner = {**env, "before": before}
        assert program.body is not None
        body = self.changed.get((scope.module, program.name), program.body)
        try:
            result = self.value(body, inner, scope)
        except (EndlessError, AssertionIsFalseError):
            return np.False_
        kept: Any = np.True_
        for promise in program.ensures:
            kept = np.logical_and(kept, self.value(promise, {**inner, "result": result}, scope))
        return np.logical_or(np.logical_not(allowed), kept)

    def _unit(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:  # noqa: ARG002
        return None

    # ------------------------------------------------------------------------------------------ formulas

    def _not(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        return np.logical_not(self.value(node.parts[0], env, scope))

    def _negative(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        return -self.value(node.parts[0], env, scope)

    def _binary(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        sign = node.text
        left = self.value(node.parts[0], env, scope)
        if sign in _SHORT:
            stops, result = _SHORT[sign]
            if np.ndim(left) == 0 and bool(left) is stops:
                return result
            if np.ndim(left) and (left.all() if stops else not left.any()):
                return np.full(left.shape, result)
        right = self.value(node.parts[1], env, scope)
        match sign:
            case "/\\":
                return np.logical_and(left, right)
            case "\\/":
                return np.logical_or(left, right)
            case "->":
                return np.logical_or(np.logical_not(left), right)
            case "<->":
                return np.equal(left, right)
            case "=":
                return _identical(left, right)
            case "<>":
                return np.logical_not(_identical(left, right))
            case _:
                return _COMPARED[sign](_int(left), _int(right))

    def _if(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        condition, then, otherwise = node.parts
        test = self.value(condition, env, scope)
        if np.ndim(test) == 0:
            return self.value(then if test else otherwise, env, scope)
        if test.all():
            return self.value(then, env, scope)
        if not test.any():
            return self.value(otherwise, env, scope)
        return np.where(test, self.value(then, env, scope), self.value(otherwise, env, scope))

    def _let(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        value = self.value(node.parts[0], env, scope)
        return self.value(node.parts[1], {**env, node.text: value}, scope)

    def _forall(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        return self._all(node.binders, node.parts[0], env, scope, every=True)

    def _exists(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        return self._all(node.binders, node.parts[0], env, scope, every=False)

    def _all(
        self, binders: Any, body: Node, env: WhymlEnvironment, scope: ModuleScope, *, every: bool
    ) -> Any:
        if not binders:
            return self.value(body, env, scope)
        if not self.vectors and (grid := self.together([described(of, scope) for _, of in binders])):
            self.vectors = True
            names = [name for name, _ in binders]
            found = self.value(body, {**env, **dict(zip(names, grid, strict=True))}, scope)
            self.vectors = False
            return np.all(found) if every else np.any(found)
        (name, of), *rest = binders
        result: Any = every
        for value in self.domain(described(of, scope)):
            found = self._all(rest, body, {**env, name: value}, scope, every=every)
            result = np.logical_and(result, found) if every else np.logical_or(result, found)
            if np.ndim(result) == 0 and bool(result) is not every:
                break
        return result

    def _apply(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        arguments = tuple([self.value(part, env, scope) for part in node.parts if part.kind != "unit"])
        if node.text in env:
            return env[node.text](*arguments)
        if node.text == "abs":
            return np.abs(arguments[0])
        if node.text in ("read", "write", "clip_elements") and "memory" in env:
            return self._in_memory(node.text, arguments, env, scope)
        return self._symbol(node.text, arguments, scope)

    def _in_memory(
        self, name: str, arguments: tuple[Any, ...], env: WhymlEnvironment, scope: ModuleScope
    ) -> Any:
        cells = env["memory"].cells
        if name == "read":
            pointer, index = arguments
            return cells.at(pointer["from"] + index)
        if name == "write":
            pointer, index, value = arguments
            cells[int(pointer["into"] + index)] = value
            return None
        closure = scope.symbols[name]
        assert isinstance(closure, Closure)
        inner = dict(zip(closure.parameters, arguments, strict=True)) | {"memory": env["memory"]}
        return self.value(self.changed.get(closure.key, closure.body), inner, closure.scope)

    def _call(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        function, *arguments = [self.value(part, env, scope) for part in node.parts]
        return function(*arguments)

    def _fun(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        names = [name for name, _ in node.binders]
        return lambda *given: self.value(
            node.parts[0], {**env, **dict(zip(names, given, strict=True))}, scope
        )

    def _symbol(self, name: str, arguments: tuple[Any, ...], scope: ModuleScope) -> Any:
        symbol = scope.symbols.get(name)
        match symbol:
            case Closure():
                return self.call(symbol, arguments)
            case Native():
                return self.natives.get(symbol.key, symbol.run)(*arguments)
            case Constructor():
                return (name, *arguments)
            case None:
                raise UserError(f"nothing says what {name} is", f"module {scope.module}")
            case _:
                return symbol

    def call(self, closure: Closure, arguments: tuple[Any, ...]) -> Any:
        """A function of arguments; the same arrays again give the result that is known."""
        key = (closure.key, id(closure.scope), *map(id, arguments))
        known = self._calls.get(key)
        if known is not None:
            return known[1]
        body = self.changed.get(closure.key, closure.body)
        env = dict(zip(closure.parameters, arguments, strict=True))
        result = self.value(body, env, closure.scope)
        if all(isinstance(a, np.ndarray) and a.ndim for a in arguments):
            self._calls[key] = (arguments, result)  # the arguments are kept: an id is not given twice
        return result

    # --------------------------------------------------------------------------------- data and programs

    def _match(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        subject = self.value(node.parts[0], env, scope)
        for pattern, body in zip(node.patterns, node.parts[1:], strict=True):
            bound: WhymlEnvironment = {}
            if _fits(pattern, subject, bound):
                return self.value(body, {**env, **bound}, scope)
        raise UserError("no branch of a match fits", f"module {scope.module}")

    def _record(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        names = node.text.split()
        changed = len(node.parts) > len(names)
        base = dict(self.value(node.parts[0], env, scope)) if changed else {}
        given = node.parts[1:] if changed else node.parts
        return {**base, **{n: self.value(p, env, scope) for n, p in zip(names, given, strict=True)}}

    def _field(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        owner = self.value(node.parts[0], env, scope)
        return owner.cells if isinstance(owner, WhymlMemory) else owner[node.text]

    def _at(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        owner, index = (self.value(part, env, scope) for part in node.parts)
        return owner.at(index)

    def _update(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        owner, index, value = (self.value(part, env, scope) for part in node.parts)
        return Cells({**owner, int(index): value}, owner.beyond)

    def _old(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        return self.value(node.parts[0], {**env, **env.get("before", {})}, scope)

    def _seq(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        result = None
        for part in node.parts:
            result = self.value(part, env, scope)
        return result

    def _ref(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        inner = {**env, node.text: self.value(node.parts[0], env, scope)}
        return self.value(node.parts[1], inner, scope)

    def _assign(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        env[node.text] = self.value(node.parts[0], env, scope)

    def _while(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> Any:
        condition, *_, body = node.parts
        for _ in range(_STEPS):
            if not self.value(condition, env, scope):
                return
            self.value(body, env, scope)
        raise EndlessError

    def _assert(self, node: Node, env: WhymlEnvironment, scope: ModuleScope) -> None:
        if not np.all(self.value(node.parts[0], env, scope)):
            raise AssertionIsFalseError


class EndlessError(Exception):
    """A loop goes on for longer than any of the samples needs."""


class AssertionIsFalseError(Exception):
    """What a program asserts does not hold."""


_STEPS = 64
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "True": True, "False": False}
_SHORT = {"/\\": (False, False), "\\/": (True, True), "->": (False, True)}


def literal(text: str, of: Any) -> Any:
    """A literal of an element type."""
    if of == "real":
        return float(text)
    width = width_of(of)
    return UNSIGNED[width](int(text, 0))


def width_of(of: Any) -> int:
    """The bits of an element type."""
    name = str(of)
    return int(name[4:]) if name.startswith("Bits") else WIDTHS[name]


def described(of: str, scope: ModuleScope) -> Any:
    """What a type is: the id of an element type, ``bool``, ``int``, or what its declaration says."""
    if of in ("bool", "int"):
        return of
    found = scope.types.get(of)
    return of if found is None else found


def _int(value: Any) -> Any:
    return value


def _identical(left: Any, right: Any) -> Any:
    """Identity: of patterns the same bits, of data the same parts."""
    if isinstance(left, tuple | dict) or isinstance(right, tuple | dict):
        return left == right
    return np.equal(left, right)


def _fits(pattern: Pattern, value: Any, bound: WhymlEnvironment) -> bool:
    if pattern.text == "_":
        return True
    if not pattern.parts and not pattern.text[0].isupper():
        bound[pattern.text] = value
        return True
    if pattern.text in ("True", "False"):
        return bool(value) is (pattern.text == "True")
    return (
        value[0] == pattern.text
        and len(value) == len(pattern.parts) + 1
        and all(_fits(p, v, bound) for p, v in zip(pattern.parts, value[1:], strict=True))
    )
