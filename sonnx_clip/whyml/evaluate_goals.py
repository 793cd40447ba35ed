"""Goals evaluated: on which values they are false, and on which their premises hold.

`Goals` reads the theories, rendered or changed, and answers for one obligation at a time. A goal that is
false of some values is false, and no prover can prove it: that is how mutants are found without provers. A
premise that holds of some values is not empty: that is the witness that the evidence shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.whyml.evaluate_whyml import Cells, WhymlEvaluator, WhymlMemory, described, width_of
from sonnx_clip.whyml.natives import UNSIGNED, float_type, float_value
from sonnx_clip.whyml.node import TRUE, Node
from sonnx_clip.whyml.samples import ABSTRACT, TOY, columns, domain_of, is_element, models_of, patterns
from sonnx_clip.whyml.whyml_scope import Closure, ModuleScope, Native, TheoryLibrary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.declarations import WhymlDeclaration
    from sonnx_clip.whyml.evaluate_whyml import WhymlChange, WhymlEnvironment
    from sonnx_clip.whyml.whyml_scope import Key

_COMPLETE = 16  # bits of an element type of which all patterns are taken where one variable is bound
_TRIES, _MANY = 12, 30_000  # samples for a witness of a premise that few values meet
_ROWS_OF_DATA = 250  # combinations of tensors, shapes or nodes
_ALLOWED, _DRAWN = 20, 20_000  # how many of them a program shall be given, and how many are drawn for that


@dataclass(frozen=True)
class Statement:
    """What an obligation states, ready to be evaluated.

    Args:
        key: module and name of the goal.
        node: the formula, with all its quantifiers.
        scope: what its names mean.
        program: the declaration, if it is the contract of a program.
    """

    key: Key
    node: Node
    scope: ModuleScope
    program: WhymlDeclaration | None = None


@dataclass(frozen=True)
class Sequent:
    """A conclusion with the premises over it, and values of which these hold.

    Args:
        conclusion: the formula that is left.
        premises: those on the way to it, ``if`` conditions included.
        witness: the values of the variables; None if none of the samples meets the premises.
    """

    conclusion: Node
    premises: tuple[Node, ...]
    witness: Mapping[str, str] | None


class Goals:
    """The obligations of the theories, evaluated without a prover.

    Args:
        spec: what the element types are.
        texts: theory files by path that stand for those on disk.
    """

    def __init__(self, spec: Spec, texts: Mapping[str, str] | None = None) -> None:
        self.spec = spec
        self.texts = dict(texts or {})
        self.library = TheoryLibrary(self.texts, ABSTRACT)
        self._statements: dict[Key, Statement | None] = {}
        self._rows: dict[Key, list[WhymlEnvironment]] = {}

    # ------------------------------------------------------------------------------------- what is stated

    def statement(self, o: Obligation) -> Statement | None:
        """What an obligation states; None for a smoke obligation."""
        if o.kind == "smoke":
            return None
        key = (f"{o.file.rpartition('/')[2].removesuffix('.mlw')}.{o.theory}", o.goal)
        if key not in self._statements:
            self._statements[key] = self._find(key, o)
        return self._statements[key]

    def _find(self, key: Key, o: Obligation) -> Statement:
        module, goal = key
        name = goal.removesuffix("'vc").removesuffix("'refn")
        scope = self.library.scope(module)
        if o.kind == "instance":
            return self._instance(key, scope)
        if goal.endswith("'refn'vc"):
            return self._refinement(key, name, scope)
        found = [
            d for d in self.library.module(module).declarations if d.name == name and d.kind not in _IMPORTS
        ]
        d = found[-1]
        if goal.endswith("'vc") and d.kind.startswith("let"):
            return Statement(key, _contract(d), scope, d)
        if d.body is None:
            raise LookupError(goal)
        return Statement(key, d.body, scope)

    def _instance(self, key: Key, scope: ModuleScope) -> Statement:
        """The axiom of a clone, with the symbols put in."""
        module, goal = key
        for d in self.library.module(module).declarations:
            if d.kind == "clone" and ("goal", goal, goal) in d.given:
                symbols = {old: scope.symbols[by] for kind, old, by in d.given if kind == "predicate"}
                types = {old: scope.types[by] for kind, old, by in d.given if kind == "type"}
                copy = self.library.instantiate(d.name, symbols, types)
                axiom = next(a for a in copy.axioms if a.name == goal)
                assert axiom.body is not None
                return Statement((d.name, goal), axiom.body, copy)
        raise LookupError(goal)

    def _refinement(self, key: Key, name: str, scope: ModuleScope) -> Statement:
        """That the contract of a program implies that of the ``val`` for which a clone puts it: its body does
        not matter.
        """
        mine = self.library.module(key[0]).declarations
        program = next(d for d in mine if d.name == name and d.kind.startswith("let"))
        clone = next(d for d in mine if d.kind == "clone" and ("val", name, name) in d.given)
        val = next(d for d in self.library.module(clone.name).declarations if d.name == name)
        renamed = [old for kind, old, by in clone.given if kind != "val" and old != by]
        if renamed or program.requires or val.parameters != program.parameters:
            raise LookupError(key[1])
        body = Node("binary", "->", (_gives(program), _gives(val)))
        for premise in reversed(val.requires):
            body = Node("binary", "->", (premise, body))
        return Statement(key, Node("forall", "", (body,), (*val.parameters, ("result", val.of))), scope)

    def used(self, statement: Statement) -> frozenset[Key]:
        """The declarations that a statement rests on, its own included."""
        return frozenset(self._reached(statement)[0])

    def _reached(self, statement: Statement) -> tuple[set[Key], list[Node]]:
        """The declarations that a statement rests on, its own included, and the bodies that it reaches."""
        found: set[Key] = {statement.key}
        bodies: list[Node] = []
        open_: list[tuple[Node, ModuleScope]] = [(statement.node, statement.scope)]
        if statement.program is not None and statement.program.body is not None:
            found.add((statement.key[0], statement.program.name))
            open_.append((statement.program.body, statement.scope))
        while open_:
            node, scope = open_.pop()
            bodies.append(node)
            for name in node.names | {part.text for _, part in node.walk() if part.kind == "call"}:
                symbol = scope.symbols.get(name)
                if isinstance(symbol, Native):
                    found.add(symbol.key)
                if isinstance(symbol, Closure) and symbol.key not in found:
                    found.add(symbol.key)
                    open_.append((symbol.body, symbol.scope))
        return found, bodies

    # ------------------------------------------------------------------------------------------ evaluation

    def counterexample(
        self, statement: Statement, changed: Mapping[Key, WhymlChange] | None = None
    ) -> str | None:
        """Values of which the statement is false, as text; None if none of the samples is such.

        Args:
            statement: what is evaluated.
            changed: bodies of declarations in the place of their own; the goal's own key stands for its
            formula.
        """
        changed = changed or {}
        own = changed.get(statement.key, statement.node)
        node = own if isinstance(own, Node) else statement.node
        if statement.program is not None:
            body = changed.get((statement.key[0], statement.program.name))
            if isinstance(body, Node):
                statement = replace(statement, program=replace(statement.program, body=body))
        for models in models_of(statement.scope.module):
            scope = self._with(statement.scope, models)
            evaluator = WhymlEvaluator(
                self._domain(scope), self._together, {k: v for k, v in changed.items() if k != statement.key}
            )
            for env in self._environments(statement, node):
                evaluator.vectors = any(np.ndim(v) for v in env.values() if isinstance(v, np.ndarray))
                with np.errstate(all="ignore"):
                    truth = self._truth(evaluator, statement, _body(node), env, scope)
                if not np.all(truth):
                    return _shown_at(env, truth)
        return None

    def _truth(
        self,
        evaluator: WhymlEvaluator,
        statement: Statement,
        body: Node,
        env: WhymlEnvironment,
        scope: ModuleScope,
    ) -> Any:
        if statement.program is None:
            return evaluator.value(body, env, scope)
        return _keeps_contract(evaluator, statement.program, env, scope)

    def parts(self, statement: Statement) -> list[Sequent]:
        """Each conclusion of a statement with its premises and, where it has some, a witness of them."""
        found: dict[tuple[Node, ...], Sequent] = {}
        if statement.program is not None:
            return self._of_program(statement)
        for models in models_of(statement.scope.module):
            scope = self._with(statement.scope, models)
            evaluator = WhymlEvaluator(self._domain(scope), self._together)
            for env in self._tries(statement):
                evaluator.vectors = any(np.ndim(v) for v in env.values() if isinstance(v, np.ndarray))
                with np.errstate(all="ignore"):
                    for part, reached in _reach(evaluator, _body(statement.node), env, scope, np.True_, ()):
                        key = (part.conclusion, *part.premises)
                        if key not in found or found[key].witness is None:
                            witness = _first(env, reached)
                            found[key] = Sequent(part.conclusion, part.premises, witness)
                if all(p.witness is not None for p in found.values()):
                    return list(found.values())
        return list(found.values())

    def _tries(self, statement: Statement) -> Iterator[WhymlEnvironment]:
        """The samples; then, for premises that few values meet, more and more of them."""
        yield from self._environments(statement, statement.node)
        binders = _binders(statement.node)
        types = [described(of, statement.scope) for _, of in binders]
        if types and all(is_element(t) or t == "bool" for t in types):
            more = self._literals(statement, statement.node)
            for seed in range(2, _TRIES):
                found = columns(self.spec, types, more, seed, rows=_MANY)
                yield dict(zip((name for name, _ in binders), found, strict=True))

    def _of_program(self, statement: Statement) -> list[Sequent]:
        program = statement.program
        assert program is not None
        conclusion = program.ensures[0] if program.ensures else TRUE
        for env in self._environments(statement, statement.node):
            evaluator = WhymlEvaluator(self._domain(statement.scope), self._together)
            if all(np.any(evaluator.value(r, env, statement.scope)) for r in program.requires):
                return [Sequent(conclusion, program.requires, _first(env, np.True_) or {})]
        return [Sequent(conclusion, program.requires, None)]

    def _with(self, scope: ModuleScope, models: Mapping[str, Any]) -> ModuleScope:
        if not models:
            return scope
        return TheoryLibrary(self.texts, {**ABSTRACT, **models}).scope(scope.module)

    def _domain(self, scope: ModuleScope) -> Any:
        return lambda of: domain_of(self.spec, of, scope)

    def _together(self, types: Sequence[Any]) -> list[Any]:
        if not all(is_element(t) for t in types):
            return []
        if len(types) == 1 and types[0] not in ("real", TOY) and width_of(types[0]) <= _COMPLETE:
            return [np.arange(2 ** width_of(types[0]), dtype=UNSIGNED[width_of(types[0])])]
        return columns(self.spec, types)

    def _environments(self, statement: Statement, node: Node) -> list[WhymlEnvironment]:
        binders = _binders(node)
        types = [described(of, statement.scope) for _, of in binders]
        names = [name for name, _ in binders]
        if all(is_element(t) or t == "bool" for t in types):
            more = self._literals(statement, node)
            found = columns(self.spec, types, more) if types else []
            env = dict(zip(names, found, strict=True))
            if solved := {n: v for n, v in _solved(node, statement.scope).items() if n in env}:
                env = _with_solved(env, solved)
            return [env]
        if statement.key not in self._rows or statement.node is not node:
            rows = list(_rows(self.spec, names, types, statement))
            if statement.program is not None:
                rows += self._more_rows(rows, names, types, statement)
            self._rows[statement.key] = rows
        return self._rows[statement.key]

    def _more_rows(
        self,
        rows: Sequence[WhymlEnvironment],
        names: Sequence[str],
        types: Sequence[Any],
        statement: Statement,
    ) -> list[WhymlEnvironment]:
        """Further values that a program may be given, where few of the first ones are of that kind."""
        program = statement.program
        assert program is not None
        evaluator = WhymlEvaluator(self._domain(statement.scope), self._together)

        def allowed(env: WhymlEnvironment) -> bool:
            return all(np.all(evaluator.value(r, env, statement.scope)) for r in program.requires)

        lacking = _ALLOWED - sum(map(allowed, rows))
        pools = [domain_of(self.spec, t, statement.scope) for t in types]
        if lacking <= 0 or prod(map(len, pools)) <= _ROWS_OF_DATA:
            return []
        drawn = _drawn(names, pools, _DRAWN, len(names) + 1)
        around = (env | _around(self.spec, statement) for env in drawn)
        return list(islice(filter(allowed, around), lacking))

    def _literals(self, statement: Statement, node: Node) -> tuple[Any, ...]:
        """The patterns that the goal names: what happens at its edges is seen there.

        Of a program: those that it and what it rests on name, and their neighbours.
        """
        found: list[Any] = []
        bodies = [node] if statement.program is None else self._reached(statement)[1]
        steps = (0,) if statement.program is None else (0, 1, -1)
        for part in (part for body in bodies for _, part in body.walk()):
            if part.kind == "typed":
                text = part.parts[0].text
                found += [float(text)] if "." in text else [abs(int(text, 0) + step) for step in steps]
        widths = {width_of(t) for t in (described(of, statement.scope) for _, of in _binders(node))
                  if t not in ("bool", "real", TOY) and is_element(t)}  # fmt: skip
        if not widths:
            return tuple(found) if all(isinstance(f, float) for f in found) else ()
        fitting = [int(f) for f in found if isinstance(f, int) and f < 2 ** min(widths)]
        return tuple(dict.fromkeys(fitting))[:120]


_CELLS = 8  # elements of a program's memory
_IMPORTS = ("use", "clone", "val", "type", "meta")


def _contract(d: WhymlDeclaration) -> Node:
    """The contract of a program as a formula, for what compares statements; it is evaluated by running."""
    body = _gives(d)
    for premise in reversed(d.requires):
        body = Node("binary", "->", (premise, body))
    return Node("forall", "", (body,), d.parameters) if d.parameters else body


def _gives(d: WhymlDeclaration) -> Node:
    """What a contract promises of the result."""
    body = d.ensures[0] if d.ensures else TRUE
    for more in d.ensures[1:]:
        body = Node("binary", "/\\", (body, more))
    return body


def _with_solved(env: WhymlEnvironment, solved: Mapping[str, Any]) -> WhymlEnvironment:
    """The rows as they are, each variable solved alone, all of them solved, and their values exchanged."""
    size = len(next(iter(env.values())))
    rows = [{}, *({name: value} for name, value in solved.items()), dict(solved)]
    exchanged = list(product(solved.values(), repeat=len(solved)))
    few = {name: np.array([values[at] for values in exchanged]) for at, name in enumerate(solved)}
    found = {}
    for name, column in env.items():
        parts = [np.full(size, row[name], column.dtype) if name in row else column for row in rows]
        last = few.get(name, np.resize(column, len(exchanged)))
        found[name] = np.concatenate([*parts, last.astype(column.dtype)])
    return found


def _solved(node: Node, scope: ModuleScope) -> dict[str, Any]:
    """What premises on arithmetic say that a variable is: the product or sum of literals, or of such."""
    of = scope.types.get("t")
    found: dict[str, Any] = {}
    if not isinstance(of, str) or "Float" not in of:
        return found
    bits = UNSIGNED[width_of(of)]

    def number(part: Node) -> Any:
        if part.kind == "typed":
            return float_value(np.array(int(part.parts[0].text, 0), bits), of)
        return float_value(np.array(found[part.text], bits), of) if part.text in found else None

    for _, part in node.walk():
        found |= _converted(part, found, of)
        if part.kind == "apply" and part.text in _RESULTS and part.parts[-1].kind == "name":
            given = [number(p) for p in part.parts[:-1]]
            if all(g is not None for g in given):
                exact = _RESULTS[part.text](*given)
                found[part.parts[-1].text] = np.asarray(exact).astype(given[0].dtype).view(bits)[()]
    return found


def _converted(part: Node, found: Mapping[str, Any], of: str) -> dict[str, Any]:
    """A FLOAT literal as an element, and the FLOAT that an element is exactly."""
    if part.kind != "apply" or part.text not in ("converts", "exactly"):
        return {}
    bits, dtype = UNSIGNED[width_of(of)], float_type(of)
    given, result = part.parts
    if part.text == "converts" and given.kind == "typed" and result.kind == "name":
        number = np.array(int(given.parts[0].text, 0), np.uint32).view(np.float32)
        with np.errstate(over="ignore"):  # a FLOAT that is too great becomes infinite
            return {result.text: number.astype(dtype).view(bits)[()]}
    if part.text == "exactly" and given.kind == "name" and result.text in found:
        wide = np.array(found[result.text], bits).view(dtype).astype(np.float32)
        return {given.text: wide.view(np.uint32)[()]}
    return {}


_RESULTS: dict[str, Any] = {
    "product": lambda a, b: a * b,
    "sum": lambda a, b: a + b,
    "fused": lambda a, b, c: np.float64(a) * np.float64(b) + np.float64(c),
}


def _binders(node: Node) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    while node.kind == "forall":
        found += node.binders
        node = node.parts[0]
    return found


def _body(node: Node) -> Node:
    while node.kind == "forall":
        node = node.parts[0]
    return node


def _rows(
    spec: Spec, names: Sequence[str], types: Sequence[Any], statement: Statement
) -> Iterator[WhymlEnvironment]:
    pools = [domain_of(spec, t, statement.scope) for t in types]
    total = 1
    for pool in pools:
        total *= len(pool)
    if total <= _ROWS_OF_DATA:
        for values in product(*pools):
            yield dict(zip(names, values, strict=True)) | _around(spec, statement)
        return
    for env in _drawn(names, pools, _ROWS_OF_DATA, len(names)):
        yield env | _around(spec, statement)


def _drawn(names: Sequence[str], pools: Sequence[Any], rows: int, seed: int) -> Iterator[WhymlEnvironment]:
    """Values drawn for each variable from its own."""
    random = np.random.default_rng(seed)
    for _ in range(rows):
        values = [pool[int(random.integers(len(pool)))] for pool in pools]
        yield dict(zip(names, values, strict=True))


def _around(spec: Spec, statement: Statement) -> WhymlEnvironment:
    """What a program finds: the memory."""
    if statement.program is None or "memory" not in statement.node.names:
        return {}
    pool = patterns(spec, statement.scope.types.get("t", TOY))
    few = pool[:: max(1, len(pool) // _CELLS)][:_CELLS]
    found = {place: few[(5 * place + 2) % len(few)] for place in range(_CELLS)}
    return {"memory": WhymlMemory(Cells(found, few[0]))}


def _reach(
    evaluator: WhymlEvaluator,
    node: Node,
    env: WhymlEnvironment,
    scope: ModuleScope,
    reached: Any,
    premises: tuple[Node, ...],
) -> Iterator[tuple[Sequent, Any]]:
    """Every conclusion, with the truth of the premises over it."""
    match node.kind, node.text:
        case "forall", _:
            yield Sequent(node, premises, None), reached
        case "let", _:
            inner = {**env, node.text: evaluator.value(node.parts[0], env, scope)}
            yield from _reach(evaluator, node.parts[1], inner, scope, reached, premises)
        case "binary", "->":
            held = np.logical_and(reached, evaluator.value(node.parts[0], env, scope))
            yield from _reach(evaluator, node.parts[1], env, scope, held, (*premises, node.parts[0]))
        case "binary", "/\\" if _has_premises(node):
            for part in node.parts:
                yield from _reach(evaluator, part, env, scope, reached, premises)
        case "if", _:
            test = evaluator.value(node.parts[0], env, scope)
            negated = Node("not", "", (node.parts[0],))
            for branch, held, given in (
                (node.parts[1], test, node.parts[0]), (node.parts[2], np.logical_not(test), negated),
            ):  # fmt: skip
                yield from _reach(
                    evaluator, branch, env, scope, np.logical_and(reached, held), (*premises, given)
                )
        case _:
            yield Sequent(node, premises, None), reached


def _has_premises(node: Node) -> bool:
    return any(part.text == "->" for _, part in node.walk() if part.kind == "binary")


def _first(env: WhymlEnvironment, reached: Any) -> dict[str, str] | None:
    if not np.any(reached):
        return None
    at = int(np.argmax(reached)) if np.ndim(reached) else 0
    return {name: _text(value, at) for name, value in env.items() if name not in ("memory", "before")}


def _text(value: Any, at: int) -> str:
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[at if value.ndim else 0]
    if isinstance(value, np.unsignedinteger):
        return f"0x{int(value):0{value.dtype.itemsize * 2}x}"
    if isinstance(value, tuple):
        return "(" + " ".join(_text(v, at) for v in value) + ")" if len(value) > 1 else str(value[0])
    if isinstance(value, dict):
        return "{ " + "; ".join(f"{k} = {_text(v, at)}" for k, v in value.items()) + " }"
    return str(value)


def _shown_at(env: WhymlEnvironment, truth: Any) -> str:
    values = _first(env, np.logical_not(truth)) or {}
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _keeps_contract(
    evaluator: WhymlEvaluator, program: WhymlDeclaration, env: WhymlEnvironment, scope: ModuleScope
) -> Any:
    """Whether a program, run on values that meet what it requires, gives what it ensures."""
    allowed: Any = np.True_
    for premise in program.requires:
        allowed = np.logical_and(allowed, evaluator.value(premise, env, scope))
    if not np.any(allowed):
        return np.True_
    return evaluator.run(program, env, scope, allowed)
