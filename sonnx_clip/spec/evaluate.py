"""The meaning of conditions, computed for values and tensors: independent of everything that is generated.

An evaluator is made for one element type. It compiles each tree to a Python function once; that is called
with an environment: the value of each variable by its name.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from sonnx_clip.language import tree, values
from sonnx_clip.language.convert import convert
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Expr, Kind
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.dialects import defaults
from sonnx_clip.spec.document import shown_path
from sonnx_clip.spec.entries import Case, Change, DeclaredTensor, Latitude, Restriction, ValueClass
from sonnx_clip.spec.findings import Allowed, allowed_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.model import Spec


@dataclass(frozen=True)
class TensorValue:
    """A tensor value."""

    type: str  # id of the element type
    shape: tuple[int, ...]  # () for a scalar
    entries: tuple[Value, ...]  # in row-major order, as many as the shape has


def declared_example(spec: Spec) -> dict[str, DeclaredTensor | None]:
    """The tensors of the node that meets every restriction, by name."""
    return dict(spec.declared_example or {})


def broken_example(spec: Spec, restriction: Restriction) -> dict[str, DeclaredTensor | None]:
    """The same node after the change that breaks the restriction alone."""
    found = declared_example(spec)
    for name, change in restriction.broken_alone_by.items():
        tensor = found[name]
        if isinstance(change, Change) and tensor is not None:
            found[name] = replace(
                tensor, **{key: getattr(change, key) for key in change.model_fields_set}
            )
        else:
            found[name] = None
    return found


def as_tensors(
    spec: Spec, etype: ElementType, numbers: Mapping[str, Value]
) -> dict[str, TensorValue]:
    """Numbers as tensors: of one entry, or scalars for the operands that are scalars."""
    scalars = spec.signature.scalars
    shapes = {name: () if name in scalars else (1,) for name in numbers}
    return {name: TensorValue(etype.id, shapes[name], (value,)) for name, value in numbers.items()}


# --- The meaning of a tree --------------------------------------------------------------------------------


Environment: TypeAlias = "Mapping[str, Any]"
Function: TypeAlias = "Callable[[Environment], Any]"

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip
_KEYS = 1 << 16  # remembered at once: those of all values of a type of 16 bits


def _explicit(tensor: DeclaredTensor | None) -> bool:
    return tensor is None or (
        tensor.dims is not None and all(isinstance(dim, int) and dim >= 0 for dim in tensor.dims)
    )


# An input that is not set is neither sparse nor without shape nor of another type: R1 and R2 speak of it.
DECLARED_WORDS: dict[str, Callable[..., bool]] = {
    "is_set": lambda tensor: tensor is not None,
    "is_sparse": lambda tensor: tensor is not None and tensor.sparse,
    "has_explicit_shape": _explicit,
    "is_scalar": lambda tensor: tensor is None or tensor.dims == (),
    "same_type": lambda a, b: a is None or b is None or a.type == b.type,
}


class NoCaseError(UserError, ValueError):
    """The cases have a gap: for some input none of them holds."""


class Evaluator:
    """Evaluates trees in one element type; result, case, class and latitude of one triple."""

    def __init__(self, spec: Spec, etype: ElementType) -> None:
        self.spec = spec
        self.etype = etype
        self._signature = spec.signature
        self._operands = self._signature.ids
        key = lru_cache(maxsize=_KEYS)(partial(values.comparison_key, etype=etype))
        self._key: Callable[[Any], Any] = key
        self.case = lru_cache(maxsize=4096)(self._first_case)
        self._conditions = {case.id: case.when for case in spec.cases}
        self._conditions |= {stated.id: stated.holds for stated in spec.constraints}
        self._conditions |= {stated.id: stated.holds for stated in spec.restrictions}
        self._classes = {case.id: spec.classes_of(etype.family, case.id) for case in spec.cases}
        self._functions: dict[str, Callable[..., Any]] = {
            "identical": values.identical,
            "is_nan": lambda value: (
                (key := self._key(value)) != key
            ),  # true of the key of a NaN alone
            "is_signalling": partial(values.is_signalling, etype=etype),
            "opposite": partial(values.opposite, etype=etype),
            "shape": operator.attrgetter("shape"),
            "becomes": self._becomes,
            **DECLARED_WORDS,
        }
        self._uses: dict[str, tuple[tuple[str, ...], Function]] = {}
        self._compiled: dict[int, tuple[Expr, Function]] = {}  # by identity; keeps the tree alive

    def __call__(self, expr: Expr, environment: Environment) -> Any:
        """The value of a tree: a bool, an element, a shape, or the id of an element type.

        The environment has elements (`Value`), a `TensorValue` for each variable of constraints, and a
        `DeclaredTensor` or None for each of restrictions.
        """
        return self.function(expr)(environment)

    def add_function(self, name: str, function: Callable[..., Any]) -> None:
        """Let trees that are not yet compiled call a function of elements by a name."""
        self._functions[name] = function

    @property
    def used(self) -> set[str]:
        """The names of the entries that the trees made functions so far use."""
        return set(self._uses)

    def function(self, expr: Expr) -> Function:
        """A tree as a function of the environment, made once; for many calls in a row."""
        found = self._compiled.get(id(expr))
        if found is None:
            found = self._compiled[id(expr)] = (expr, self._compile(expr))
        return found[1]

    def _compile(self, expr: Expr) -> Function:
        match expr:
            case tree.Compare():
                return self._compare(expr)
            case tree.Not(operand=operand):
                inner = self._compile(operand)
                return lambda env: not inner(env)
            case tree.Connective(operator=word, left=left, right=right):
                return self._connect(word, self._compile(left), self._compile(right))
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                test, yes, no = (
                    self._compile(condition),
                    self._compile(then),
                    self._compile(otherwise),
                )
                return lambda env: yes(env) if test(env) else no(env)
            case tree.Call(function=name, arguments=arguments):
                compiled = [self._compile(argument) for argument in arguments]
                of_cases = isinstance(expr, tree.CasesResult)
                return (
                    self._result_of(compiled) if of_cases else self._call(name, compiled, arguments)
                )
            case tree.Use(id=name, arguments=arguments):
                return self._use(name, [self._compile(argument) for argument in arguments])
            case tree.Every(body=body):
                inner, names = (
                    self._compile(body),
                    (*self._signature.tensors, self._signature.result.id),
                )
                return lambda env: all(
                    inner({**env, "i": i})
                    for i in range(min(len(env[name].entries) for name in names if name in env))
                )
            case tree.Let(name=name, value=value, body=body):
                given, inner = self._compile(value), self._compile(body)
                return lambda env: inner({**env, name: given(env)})
            case tree.Parentheses(inner=part):
                return self._compile(part)
            case _:
                return self._leaf(expr)

    def _leaf(self, expr: tree.Name | tree.Number | tree.Subscript | tree.Value) -> Function:
        match expr:
            case tree.Name(id=name, kind=Kind.ELEMENT):
                return _element(name)
            case tree.Name(id=name):
                return operator.itemgetter(name)
            case tree.Number(text=text, kind=kind):
                of = self.spec.element_type("float32") if kind is Kind.FLOAT else self.etype
                number = values.encode(text, of)
                return lambda _: number
            case tree.Value(value=known):
                return lambda _: known
            case tree.Subscript(tensor=tensor):
                name = tensor.id
                return lambda env: env[name].entries[env["i"]]

    def _compare(self, expr: tree.Compare) -> Function:
        left, right, key = self._compile(expr.left), self._compile(expr.right), self._key
        if expr.kind is not Kind.ELEMENT:
            return lambda env: bool(left(env) == right(env))
        compare = _COMPARISONS[expr.operator]
        return lambda env: compare(key(left(env)), key(right(env)))

    def _connect(self, word: str, left: Function, right: Function) -> Function:
        match word:
            case "and":
                return lambda env: left(env) and right(env)
            case "or":
                return lambda env: left(env) or right(env)
            case "implies":
                return lambda env: not left(env) or right(env)
            case _:
                return lambda env: left(env) == right(env)

    def _call(self, name: str, arguments: list[Function], trees: tuple[Expr, ...]) -> Function:
        if name == "type":
            return _type_of(trees[0], self.etype)
        function = self._functions[name]
        return lambda env: function(*(argument(env) for argument in arguments))

    def _becomes(self, given: Value, number: Value) -> bool:
        """Whether a FLOAT is converted to a number; any NaN is as good as another."""
        found = convert(given, self.spec.element_type("float32"), self.etype)
        if found is None or self.etype.family != "float" or not values.is_nan(found, self.etype):
            return found == number
        return values.is_nan(number, self.etype)

    def _result_of(self, arguments: list[Function]) -> Function:
        return lambda env: self.result(*(argument(env) for argument in arguments))

    def _use(self, name: str, arguments: list[Function]) -> Function:
        if name not in self._uses:
            self._uses[name] = self._entry(name)
        parameters, body = self._uses[name]
        if not parameters:
            return body
        pairs = list(zip(parameters, arguments, strict=True))
        return lambda env: body({parameter: argument(env) for parameter, argument in pairs})

    def _entry(self, name: str) -> tuple[tuple[str, ...], Function]:
        """The parameters and the body of what has a name: an entry, or what a reading or dialect allows."""
        if (condition := self._conditions.get(name)) is not None:
            return (), self._compile(condition)
        for klass in self.spec.classes:
            if klass.id == name:
                own = self.etype.family in klass.families
                parts = self._use(klass.case, []), self._compile(klass.when)
                return (), self._connect("and", *parts) if own else lambda _: False
        if (allowed := allowed_answers(self.spec).get(name)) is not None:
            return self._allowed(allowed)
        if (
            stated := next((entry for entry in self.spec.properties if entry.id == name), None)
        ) is not None:
            claim, operands = self._compile(stated.claim), operator.itemgetter(*self._operands)
            return (), lambda env: claim(
                {**env, self._signature.result.id: self.result(*operands(env))}
            )
        definition = self.spec.definition(name)
        if definition.families is not None and self.etype.family not in definition.families:
            return definition.parameters, lambda _: False
        return definition.parameters, self._compile(definition.is_)

    def _allowed(self, of: Allowed) -> tuple[tuple[str, ...], Function]:
        returns = self._compile(self.spec.reading(of.reading).returns)
        ends = (
            defaults(self.spec, self.spec.dialect(of.dialect), self.etype) if of.dialect else None
        )
        missing = dict(zip(self._signature.scalars, ends, strict=True)) if ends else {}
        return of.parameters, lambda env: returns({**missing, **env})

    # --- the operator on one element

    def named(self, values: Iterable[Value]) -> dict[str, Value]:
        """The values of the operands, each by its name."""
        return dict(zip(self._operands, values, strict=True))

    def is_defined(self, *values: Value) -> bool:
        """Whether values of the operands are in the domain of the operator."""
        domain = self.spec.domain_of(self.etype.family)
        return domain is None or bool(self(domain, self.named(values)))

    def _first_case(self, *values: Value) -> Case:
        """The case of values of the operands: the first whose condition holds."""
        environment = self.named(values)
        for case in self.spec.cases:
            if self(case.when, environment):
                return case
        what = f"no case holds for {self._shown(environment)}"
        raise NoCaseError(
            what, f"{shown_path(self.spec.path)} (cases)", "exactly one case must hold"
        )

    def _shown(self, environment: Environment) -> str:
        """Values of the operands with the element type: ``X = 1, L = nan, M = 2 (float32)``."""
        values = [f"{name} = {show(value, self.etype)}" for name, value in environment.items()]
        return f"{', '.join(values)} ({self.etype.id})"

    def result(self, *values: Value) -> Value:
        """The result of the cases."""
        found: Value = self(self.case(*values).result, self.named(values))
        return found

    def classes(self, *values: Value) -> list[ValueClass]:
        """The classes of values of the operands; one, if the specification is right."""
        environment = self.named(values)
        return [
            klass for klass in self._classes[self.case(*values).id] if self(klass.when, environment)
        ]

    def class_of(self, *values: Value) -> ValueClass:
        """The class of values of the operands; UserError if there is not exactly one."""
        classes = self.classes(*values)
        if len(classes) == 1:
            return classes[0]
        shown = self._shown(self.named(values))
        what = f"no class has {shown}"
        if classes:
            ids = " and ".join(f"`{klass.id}`" for klass in classes)
            what = f"the classes {ids} all have {shown}"
        todo = "change the `when` of the classes, so that exactly one has each value"
        raise UserError(what, f"{shown_path(self.spec.path)} (classes)", todo)

    def latitudes(self, values: Sequence[Value], answer: Value) -> list[Latitude]:
        """The latitudes that accept an answer other than the result of the cases."""
        environment = self.named(values) | {"Y": self.result(*values), "A": answer}
        return [
            entry
            for entry in self.spec.latitude
            if self(entry.when, environment) and self(entry.accepts, environment)
        ]


def _element(name: str) -> Function:
    """The element of a variable; a scalar tensor is its entry."""

    def element(env: Environment) -> Any:
        value = env[name]
        return value.entries[0] if value.__class__ is TensorValue else value

    return element


def _type_of(argument: Expr, etype: ElementType) -> Function:
    """The element type of a variable. In one evaluator, an expression has the evaluator's type."""
    if not isinstance(argument, tree.Name):
        return lambda _: etype.id
    name = argument.id
    return lambda env: env[name].type if isinstance(env[name], TensorValue) else etype.id


def evaluator(spec: Spec, etype: ElementType) -> Evaluator:
    """The evaluator of a specification in an element type, made once for each."""
    found: Evaluator | None = spec.memo.get(("evaluator", etype.id))
    if found is None:
        found = spec.memo["evaluator", etype.id] = Evaluator(spec, etype)
    return found
