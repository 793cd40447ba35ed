"""Brings statements into a normal form, in which two that say the same in other words are often one.

Definitions are put in, variables are numbered, premises are a set, and what is plainly true or false is
reduced: ``a -> a``, ``t = t``, a NaN of an integer. No prover is asked, and nothing is searched for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.whyml.evaluate_whyml import described
from sonnx_clip.whyml.whyml_scope import Closure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.whyml.evaluate_goals import Statement
    from sonnx_clip.whyml.node import Node
    from sonnx_clip.whyml.whyml_scope import ModuleScope

_DEEP = 40  # calls within calls: what is recursive is left as it is


_NUMBER = re.compile(r"number [0-9]+( |$)")  # a whole number: one text for one number


@dataclass(frozen=True)
class NormalForm:
    r"""A normal form: two are the same object exactly when they are equal.

    Args:
        head: what it is: ``true``, ``/\``, ``variable`` …
        parts: the forms that it is made of.
    """

    head: str
    parts: tuple[int, ...] = ()


class Normal:
    """Makes normal forms and gives each a number; equal forms have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[NormalForm, int] = {}
        self._forms: list[NormalForm] = []
        self.true, self.false = self._make("true"), self._make("false")
        self._bound = 0
        # What an application came to: statements apply the same definitions to the same variables.
        self._known: dict[tuple[int, tuple[int, ...], int, int], tuple[Closure, int]] = {}

    def statement(self, statement: Statement) -> int:
        """The number of the normal form of a statement."""
        self._bound = 0
        node, scope = statement.node, statement.scope
        program = statement.program
        if program is not None:
            return self._make(f"program {statement.key} {program.text}")
        return self._of(node, {}, scope, 0)

    def head(self, number: int) -> str:
        """The head of a form."""
        return self._forms[number].head

    def _make(self, head: str, *parts: int) -> int:
        form = NormalForm(head, parts)
        if form not in self._numbers:
            self._numbers[form] = len(self._forms)
            self._forms.append(form)
        return self._numbers[form]

    def _of(self, node: Node, env: Mapping[str, int], scope: ModuleScope, depth: int) -> int:  # noqa: C901
        match node.kind:
            case "name":
                return self._name(node.text, env, scope, depth)
            case "number":
                return self._make(f"number {node.text}")
            case "typed":
                text = node.parts[0].text
                value = text if "." in text else str(int(text, 0))
                return self._make(f"number {value} {described(node.text, scope)}")
            case "let":
                value_of = self._of(node.parts[0], env, scope, depth)
                return self._of(node.parts[1], {**env, node.text: value_of}, scope, depth)
            case "forall" | "exists":
                return self._quantified(node, env, scope, depth)
            case "fun" | "match":
                return self._bound_inside(node, env, scope, depth)
            case "apply":
                given = [self._of(part, env, scope, depth) for part in node.parts]
                return self._applied(node.text, given, env, scope, depth)
            case "not":
                return self._not(self._of(node.parts[0], env, scope, depth))
            case "binary":
                left, right = (self._of(part, env, scope, depth) for part in node.parts)
                return self._binary(node.text, left, right)
            case "if":
                test, then, otherwise = (self._of(part, env, scope, depth) for part in node.parts)
                return self._if(test, then, otherwise)
            case _:
                parts = [self._of(part, env, scope, depth) for part in node.parts]
                return self._make(f"{node.kind} {node.text}", *parts)

    def _name(self, name: str, env: Mapping[str, int], scope: ModuleScope, depth: int) -> int:
        if name in env:
            return env[name]
        if name in ("true", "false"):
            return self._make(name)
        return self._applied(name, [], env, scope, depth)

    def _applied(
        self, name: str, given: list[int], env: Mapping[str, int], scope: ModuleScope, depth: int
    ) -> int:
        if name in env:
            return self._make("call", env[name], *given)
        symbol = scope.symbols.get(name)
        if isinstance(symbol, Closure):
            if depth < _DEEP and name not in symbol.body.names:
                key = (id(symbol), tuple(given), self._bound, depth)
                if key not in self._known:
                    inner = dict(zip(symbol.parameters, given, strict=True))
                    # The symbol is kept with it, so that no other one has its number.
                    self._known[key] = symbol, self._of(symbol.body, inner, symbol.scope, depth + 1)
                return self._known[key][1]
            return self._make(f"closure {symbol.key}", *given)
        # A native symbol is that of one theory: symbols of two types have one name and are two functions.
        return self._make(
            f"symbol {getattr(symbol, 'name', name)} {id(getattr(symbol, 'run', symbol))}", *given
        )

    def _quantified(self, node: Node, env: Mapping[str, int], scope: ModuleScope, depth: int) -> int:
        """A variable is known by how many stand around it, so that formulas that differ in names are one.

        The binder has that number too: where a value is put in deeper than it was made, its variables are
        its own.
        """
        inner, around = dict(env), self._bound
        for name, of in node.binders:
            self._bound += 1
            inner[name] = self._make(f"variable {self._bound} {described(of, scope)!s:.60}")
        body = self._of(node.parts[0], inner, scope, depth)
        self._bound = around
        return body if body in (self.true, self.false) else self._make(f"{node.kind} {around}", body)

    def _bound_inside(self, node: Node, env: Mapping[str, int], scope: ModuleScope, depth: int) -> int:
        names = [name for name, _ in node.binders]
        names += [name for pattern in node.patterns for name in sorted(pattern.names) if name[0].islower()]
        inner, around = dict(env), self._bound
        for name in names:
            self._bound += 1
            inner[name] = self._make(f"variable {self._bound}")
        parts = [self._of(part, inner, scope, depth) for part in node.parts]
        self._bound = around
        return self._make(f"{node.kind} {around} {node.patterns}", *parts)

    def _not(self, part: int) -> int:
        if part in (self.true, self.false):
            return self.false if part == self.true else self.true
        form = self._forms[part]
        return form.parts[0] if form.head == "not" else self._make("not", part)

    def _binary(self, sign: str, left: int, right: int) -> int:
        match sign:
            case "/\\" | "\\/":
                return self._connected(sign, left, right)
            case "->":
                return self._implied(left, right)
            case "<->":
                if left == right:
                    return self.true
                if self.true in (left, right):
                    return left + right - self.true
                if self.false in (left, right):
                    return self._not(left + right - self.false)
                return self._make(sign, *sorted((left, right)))
            case "=":
                return self._equal(left, right)
            case "<>":
                return self._not(self._binary("=", left, right))
            case _:
                return self._make(sign, left, right)

    def _connected(self, sign: str, left: int, right: int) -> int:
        """A conjunction or disjunction: a set of parts, in the order of their numbers."""
        whole, none = (self.false, self.true) if sign == "/\\" else (self.true, self.false)
        found: set[int] = set()
        for part in (left, right):
            form = self._forms[part]
            found |= set(form.parts) if form.head == sign else {part}
        found.discard(none)
        if whole in found or any(self._not(part) in found for part in found):
            return whole
        if len(found) < 2:
            return found.pop() if found else none
        return self._make(sign, *sorted(found))

    def _implied(self, premise: int, conclusion: int) -> int:
        """Premises are a set; a conclusion that is among them is true."""
        if premise == conclusion:
            return self.true
        premises = set(self._forms[premise].parts if self._forms[premise].head == "/\\" else (premise,))
        form = self._forms[conclusion]
        if form.head == "->":
            *more, conclusion = form.parts
            premises |= set(more)
            form = self._forms[conclusion]
        premises.discard(self.true)
        if self.false in premises or conclusion == self.true:
            return self.true
        parts = set(form.parts) if form.head == "/\\" else {conclusion}
        if parts <= premises or any(self._not(p) in premises for p in premises):
            return self.true
        if form.head == "\\/" and any(self._conjuncts(part) <= premises for part in form.parts):
            return self.true
        return self._make("->", *sorted(premises), conclusion) if premises else conclusion

    def _conjuncts(self, part: int) -> set[int]:
        form = self._forms[part]
        return set(form.parts) if form.head == "/\\" else {part}

    def _equal(self, left: int, right: int) -> int:
        """Two numbers are one or are not; a choice is a number where each of its ends is."""
        if left == right:
            return self.true
        one, other = self._forms[left], self._forms[right]
        if _NUMBER.match(one.head) and _NUMBER.match(other.head):
            return self.false
        for choice, end in ((one, right), (other, left)):
            if choice.head == "if" and _NUMBER.match(self._forms[end].head):
                test, then, otherwise = choice.parts
                found = self._equal(then, end), self._equal(otherwise, end)
                if all(part in (self.true, self.false) for part in found):
                    return self._chosen(test, *found)
        return self._make("=", *sorted((left, right)))

    def _chosen(self, test: int, then: int, otherwise: int) -> int:
        """A choice between truths."""
        if then == otherwise:
            return then
        return test if then == self.true else self._not(test)

    def _if(self, test: int, then: int, otherwise: int) -> int:
        if test == self.true or then == otherwise:
            return then
        if test == self.false:
            return otherwise
        return self._make("if", test, then, otherwise)
