"""Mutants of the theories: of what the YAML is rendered to, of the hand-written text, drivers and table.

Each is put in the place of its definition, and the obligations that rest on it are evaluated. One that is
false of some value cannot be proved: it has found the mutant, and the values say how.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.mutants.family import of_formula
from sonnx_clip.root.errors import UserError
from sonnx_clip.whyml.evaluate_goals import Goals, Statement
from sonnx_clip.whyml.node import FALSE, TRUE, Node, shown
from sonnx_clip.whyml.normal import Normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.evaluate_whyml import WhymlChange
    from sonnx_clip.whyml.whyml_scope import Key

_OF_THE_YAML = ("", "readings_", "dialects_", "examples_", "findings_")
_RENDERED = (*_OF_THE_YAML, "numpy_", "c_")  # of the kernels the programs are changed
_DEFINED = ("predicate", "function", "constant", "let")
WRITTEN = ("clip", "composition", "elements", "kernel", "memory", "profile", "scale_bias", "tensor", "numpy")
SWAPS: Mapping[str, tuple[str, ...]] = {
    "le": ("lt", "swapped", "never", "always", "unsteady"),
    "lt": ("le", "swapped", "never"), "eq": ("le", "never"),
    "nan": ("never", "always"), "ule": ("ult", "swapped", "unsteady"), "ult": ("ule", "swapped"),
    "sle": ("slt", "swapped", "unsteady"),
    "slt": ("sle", "swapped"), "bw_and": ("bw_or",), "bw_or": ("bw_and",), "bw_xor": ("bw_or",),
    "bw_add": ("bw_sub",), "bw_sub": ("bw_add", "swapped"), "bw_ashr": ("bw_and",),
    "converts": ("negated", "never", "always"), "exactly": ("negated", "never", "always"),
    "whole": ("negated", "always"),
    "not_above": ("negated", "always"), "not_below": ("negated", "always"), "truncated": ("zero",),
    "low_half": ("zero",), "in_low_half": ("zero",), "moved_up": ("zero",),
    "product": ("negated", "always"), "sum": ("negated", "always"), "fused": ("negated", "always"),
    "exact_product": ("negated",), "rounded": ("negated", "always"), "within_half_unit": ("negated",),
    "finite": ("negated", "always"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class TheoryMutant:
    """A change of one definition, wherever it stands.

    Args:
        area: what was changed: the YAML as it is rendered, a written theory, a driver, the table of NumPy.
        name: the subject and the definition.
        change: what was put for what.
        bodies: the declarations that it changes, with what it puts there.
    """

    area: str
    name: str
    change: str
    bodies: Mapping[Key, WhymlChange]


class Theories:
    """All theories, their obligations, and what each of these rests on."""

    def __init__(self, spec: Spec, obligations: Sequence[Obligation]) -> None:
        self.spec = spec
        self.goals = Goals(spec)
        self.statements: dict[str, Statement] = {}
        self.obligations = {o.id: o for o in obligations if o.kind != "smoke"}
        self.resting: dict[Key, list[str]] = defaultdict(list)
        for o in self.obligations.values():
            statement = self.goals.statement(o)
            assert statement is not None
            self.statements[o.id] = statement
            for key in self.goals.used(statement):
                self.resting[key].append(o.id)

    def of_subject(self, subject: str) -> Iterator[TheoryMutant]:
        """The mutants of what the YAML is rendered to for an element type."""
        groups: dict[tuple[str, Node], list[Key]] = defaultdict(list)
        parameters: dict[tuple[str, Node], tuple[str, ...]] = {}
        for prefix in _OF_THE_YAML:
            for module in self._modules(f"{prefix}{subject}"):
                for name, body, names in self._definitions(module):
                    groups[name, body].append((module, name))
                    parameters[name, body] = names
        for (name, body), keys in groups.items():
            constant = self._constant(subject, keys[0])
            for change, node in self._once(keys[0][0], body, parameters[name, body], constant):
                yield TheoryMutant("yaml", f"{subject}.{name}", change, dict.fromkeys(keys, node))

    def of_written(self, stem: str) -> Iterator[TheoryMutant]:
        """The mutants of a hand-written theory: its definitions, and its goals."""
        area = "table" if stem == "numpy" else "theories"
        for module in self._modules(stem):
            for d in self.goals.library.module(module).declarations:
                if d.body is None or not d.kind.startswith((*_DEFINED, "goal", "lemma")) or d.body == FALSE:
                    continue
                names = tuple(p for p, of in d.parameters if of == (d.parameters[0][1]))
                for change, node in self._once(module, d.body, names):
                    yield TheoryMutant(area, f"{module}.{d.name}", change, {(module, d.name): node})

    def of_kernels(self, subject: str) -> Iterator[TheoryMutant]:
        """The mutants of the programs from which C is extracted, and of what describes them."""
        for module in self._modules(f"c_{subject}"):
            for name, body, names in self._definitions(module):
                for change, node in self._once(module, body, names):
                    yield TheoryMutant("kernel theories", f"{module}.{name}", change, {(module, name): node})

    def of_drivers(self, module: str, scope: Mapping[str, Any]) -> Iterator[TheoryMutant]:
        """The symbols of a module that the drivers give, each taken for another or made constant."""
        for name, symbol in scope.items():
            key = getattr(symbol, "key", ("", ""))
            given = getattr(symbol, "run", None)  # a definition has none, and is changed as such
            if key[0] != module or key[1] != name or given is None:
                continue
            for other in SWAPS.get(name, ()):
                run = _other(other, given, scope)
                if run is not None:
                    yield TheoryMutant("drivers", f"{module}.{name}", f"{name} => {other}", {key: run})

    def found_by(self, mutant: TheoryMutant, first: bool = True) -> Iterator[tuple[str, str]]:
        """The obligations that are false under a mutant, each with values."""
        ids = list(dict.fromkeys(id_ for key in mutant.bodies for id_ in self.resting.get(key, ())))
        for id_ in sorted(ids, key=self._promising):
            example = self.false(id_, mutant)
            if example is not None:
                yield id_, example
                if first:
                    return

    def false(self, id_: str, mutant: TheoryMutant) -> str | None:
        """Values of which an obligation is false under a mutant; None where it cannot be evaluated, too."""
        try:
            return self.goals.counterexample(self.statements[id_], mutant.bodies)
        except (UserError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
            return None

    def _constant(self, subject: str, key: Key) -> Node | None:
        """A number of an element type, to stand for the result of a function; None for other definitions."""
        d = next(d for d in self.goals.library.module(key[0]).declarations if d.name == key[1])
        if d.kind != "function" or d.of != "t":
            return None
        etype = next((e for e in self.spec.element_types if e.id == subject), None)
        if etype is None:
            return None
        if etype.width is None:
            return Node("number", "7.0")
        return Node("typed", "t", (Node("number", f"0x{7:0{etype.width // 4}x}"),))

    def _once(
        self, module: str, body: Node, names: tuple[str, ...], constant: Node | None = None
    ) -> Iterator[tuple[str, Node]]:
        """The mutants of a body, each once; what names something that is not there is none."""
        try:
            known = set(self.goals.library.scope(module).symbols)
        except UserError:  # of a module that makes sense in copies alone
            known = {d.name for d in self.goals.library.module(module).declarations}
        seen = {body}
        for change, node in of_formula(body, names, constant, formula=self._says(module, body)):
            if node not in seen and all(
                name in known for name in node.names - body.names - set(names) - {"true", "false"}
            ):
                seen.add(node)
                yield change, node

    def _says(self, module: str, body: Node) -> bool:
        """Whether a body is that of a predicate or goal, and no term or program."""
        found = [d for d in self.goals.library.module(module).declarations if d.body is body]
        return all(d.kind in ("predicate", "goal", "lemma") for d in found)

    def _promising(self, id_: str) -> int:
        """Equivalences and completeness find most, and fastest; data is evaluated last."""
        name = id_.partition(".")[2]
        slow = name.startswith(("C1", "C2", "C3", "R", "c_clip"))
        return 3 if slow else 0 if name in ("clip_is_cases", "cases_results", "result_is_operand") else 1

    def _modules(self, stem: str) -> list[str]:
        try:
            return self.goals.library.modules_of(stem)
        except FileNotFoundError:
            return []

    def _definitions(self, module: str) -> Iterator[tuple[str, Node, tuple[str, ...]]]:
        for d in self.goals.library.module(module).declarations:
            if d.body is not None and d.kind.startswith(_DEFINED):
                names = tuple(p for p, of in d.parameters if of == d.parameters[0][1])
                yield d.name, d.body, names


def _other(name: str, run: Any, scope: Mapping[str, Any]) -> Any:
    match name:
        case "swapped":
            return lambda a, b: run(b, a)
        case "negated":
            return lambda *given: np.logical_not(run(*given))
        case "never" | "always":
            return lambda *given: np.full(np.shape(run(*given)), name == "always")
        case "zero":
            return lambda *given: run(*given) * 0
        case "unsteady":
            return lambda a, b: run(a, b) != _apart(a, b)
        case _:
            found = scope.get(name)
            return getattr(found, "run", None)


def _apart(a: Any, b: Any) -> Any:
    """Whether the second bits of two patterns differ and the last do not: 0 and 2, with 1 in between."""
    return ((np.asarray(a) ^ np.asarray(b)) & 3) == 2


def of_renderer(statement: Statement) -> Iterator[tuple[str, Node]]:
    """A goal as a renderer that errs writes it: under a false premise, as ``A -> A``, true, or denied."""
    node = statement.node
    inner, around = node, []
    while inner.kind == "forall":
        around.append(inner)
        inner = inner.parts[0]

    def whole(body: Node) -> Node:
        for outer in reversed(around):
            body = Node("forall", "", (body,), outer.binders)
        return body

    yield "under a false premise", whole(Node("binary", "->", (FALSE, inner)))
    yield "its conclusion is its premise", whole(Node("binary", "->", (inner, inner)))
    yield "its conclusion is true", whole(Node("binary", "=", (TRUE, TRUE)))
    yield "it is denied", whole(Node("not", "", (inner,)))


def says_nothing(goals: Goals, statement: Statement, node: Node) -> str | None:
    """How `sonnx-clip prove` names a statement that says nothing; None if it says something."""
    changed = Statement(statement.key, node, statement.scope)
    normal = Normal()
    if normal.statement(changed) == normal.true:
        return "by definition"
    empty = [p for p in goals.parts(changed) if p.premises and p.witness is None]
    return f"vacuous: {shown(empty[0].premises[0])}" if empty else None
