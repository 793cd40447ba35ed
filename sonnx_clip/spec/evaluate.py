"""The meaning of conditions, computed for values and tensors: independent of everything that is generated.

An evaluator is made for one element type. It compiles each tree to a Python function once; that is called
with an environment: the value of each variable by its name.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

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
    node = declared_example(spec)
    for name, change in restriction.broken_alone_by.items():
        tensor = node[name]
        if isinstance(change, Change) and tensor is not None:
            # Only what the file sets: a default would change the rest of the tensor, too.
            changed = {key: getattr(change, key) for key in change.model_fields_set}
            node[name] = replace(tensor, **changed)
        else:
            node[name] = None
    return node


def as_tensors(
    spec: Spec,
    etype: ElementType,
    numbers: Mapping[str, Value],
) -> dict[str, TensorValue]:
    """Numbers as tensors: of one entry, or scalars for the operands that are scalars."""
    tensors: dict[str, TensorValue] = {}
    for name, value in numbers.items():
        shape = () if name in spec.signature.scalars else (1,)
        tensors[name] = TensorValue(etype.id, shape, (value,))
    return tensors


# --- The meaning of a tree --------------------------------------------------------------------------------


Environment: TypeAlias = "Mapping[str, Any]"
Function: TypeAlias = "Callable[[Environment], Any]"

# Of comparison keys: NaN is a key that is not equal to itself, as Python's own is.
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
_KEYS = 1 << 16  # comparison keys kept at once: those of all values of a type of 16 bits


def _explicit(tensor: DeclaredTensor | None) -> bool:
    if tensor is None:
        return True
    if tensor.dims is None:
        return False
    return all(isinstance(dim, int) and dim >= 0 for dim in tensor.dims)


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


class UsedEntry(NamedTuple):
    """An entry that trees use by its name; without parameters its body is about the operands."""

    parameters: tuple[str, ...]
    body: Function


class Evaluator:
    """Evaluates trees in one element type; result, case, class and latitude of one triple."""

    def __init__(self, spec: Spec, etype: ElementType) -> None:
        self.spec = spec
        self.etype = etype
        self._signature = spec.signature
        self._operands = self._signature.ids

        comparison_key = partial(values.comparison_key, etype=etype)
        self._key: Callable[[Any], Any] = lru_cache(maxsize=_KEYS)(comparison_key)
        # Result and classes of the same operands ask for their case one after the other.
        self.case = lru_cache(maxsize=4096)(self._first_case)
        self._conditions = _stated_conditions(spec)
        self._classes: dict[str, tuple[ValueClass, ...]] = {}  # by case
        for case in spec.cases:
            self._classes[case.id] = spec.classes_of(etype.family, case.id)
        self._functions: dict[str, Callable[..., Any]] = {
            "identical": values.identical,
            "is_nan": self._is_nan,
            "is_signalling": partial(values.is_signalling, etype=etype),
            "opposite": partial(values.opposite, etype=etype),
            "shape": operator.attrgetter("shape"),
            "becomes": self._becomes,
            **DECLARED_WORDS,
        }
        self._uses: dict[str, UsedEntry] = {}  # by its name
        self._compiled: dict[int, tuple[Expr, Function]] = {}  # by identity; keeps the tree alive

    def _is_nan(self, value: Any) -> bool:
        key = self._key(value)
        return bool(key != key)  # noqa: PLR0124 - true of the key of a NaN alone

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
        compiled = self._compiled.get(id(expr))
        if compiled is None:
            compiled = (expr, self._compile(expr))
            self._compiled[id(expr)] = compiled
        return compiled[1]

    def _compile(self, expr: Expr) -> Function:
        match expr:
            case tree.Compare():
                return self._compare(expr)
            case tree.Not(operand=operand):
                inner = self._compile(operand)
                return lambda env: not inner(env)
            case tree.Connective(operator=word):
                left = self._compile(expr.left)
                right = self._compile(expr.right)
                return self._connect(word, left, right)
            case tree.If():
                test = self._compile(expr.condition)
                yes = self._compile(expr.then)
                no = self._compile(expr.otherwise)
                return lambda env: yes(env) if test(env) else no(env)
            case tree.Call():
                return self._compile_call(expr)
            case tree.Use(id=name, arguments=arguments):
                compiled = [self._compile(argument) for argument in arguments]
                return self._use(name, compiled)
            case tree.Every(body=body):
                return self._every(self._compile(body))
            case tree.Let(name=name):
                compute = self._compile(expr.value)
                inner = self._compile(expr.body)
                return lambda env: inner({**env, name: compute(env)})
            case tree.Parentheses(inner=part):
                return self._compile(part)
            case _:
                return self._leaf(expr)

    def _compile_call(self, call: tree.Call) -> Function:
        arguments = [self._compile(argument) for argument in call.arguments]
        if isinstance(call, tree.CasesResult):
            return self._result_of(arguments)
        return self._call(call.function, arguments, call.arguments)

    def _every(self, body: Function) -> Function:
        """Whether a condition holds for every index that all tensors have."""
        names = (*self._signature.tensors, self._signature.result.id)

        def holds(env: Environment) -> bool:
            lengths = [len(env[name].entries) for name in names if name in env]
            # The least: what is claimed of shapes that differ is another constraint (C1).
            return all(body({**env, "i": i}) for i in range(min(lengths)))

        return holds

    def _leaf(self, expr: tree.Name | tree.Number | tree.Subscript | tree.Value) -> Function:
        match expr:
            case tree.Name(id=name, kind=Kind.ELEMENT):
                return _element(name)
            case tree.Name(id=name):
                return operator.itemgetter(name)
            case tree.Number(text=text, kind=kind):
                etype = self.etype
                if kind is Kind.FLOAT:  # DirectML's, which is one whatever the element type
                    etype = self.spec.element_type("float32")
                number = values.encode(text, etype)
                return lambda _: number
            case tree.Value(value=known):
                return lambda _: known
            case tree.Subscript(tensor=tensor):
                name = tensor.id
                return lambda env: env[name].entries[env["i"]]

    def _compare(self, expr: tree.Compare) -> Function:
        left = self._compile(expr.left)
        right = self._compile(expr.right)
        if expr.kind is not Kind.ELEMENT:  # shapes and element types, for which there is only ==
            return lambda env: bool(left(env) == right(env))

        # By the comparison keys: a float is compared as IEEE 754 does, not by its bits.
        key = self._key
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
            case _:  # iff
                return lambda env: left(env) == right(env)

    def _call(
        self,
        name: str,
        arguments: list[Function],
        trees: tuple[Expr, ...],
    ) -> Function:
        if name == "type":  # an element has no type beside its bits: its tree says whose it is
            return _type_of(trees[0], self.etype)
        function = self._functions[name]
        # Most have one or two arguments: to collect them in an expression takes longer than the call.
        match arguments:
            case [only]:
                return lambda env: function(only(env))
            case [first, second]:
                return lambda env: function(first(env), second(env))
            case _:
                return lambda env: function(*(argument(env) for argument in arguments))

    def _becomes(self, value: Value, number: Value) -> bool:
        """Whether a FLOAT is converted to a number; any NaN is as good as another."""
        float32 = self.spec.element_type("float32")
        converted = convert(value, float32, self.etype)
        if converted is None or self.etype.family != "float":
            return converted == number
        if values.is_nan(converted, self.etype):
            return values.is_nan(number, self.etype)
        return converted == number

    def _result_of(self, arguments: list[Function]) -> Function:
        return lambda env: self.result(*(argument(env) for argument in arguments))

    def _use(self, name: str, arguments: list[Function]) -> Function:
        if name not in self._uses:
            self._uses[name] = self._entry(name)
        parameters, body = self._uses[name]
        if not parameters:
            return body
        pairs = list(zip(parameters, arguments, strict=True))
        # The body sees its parameters alone. Most have one, for which no comprehension is run.
        if len(pairs) == 1:
            ((parameter, argument),) = pairs
            return lambda env: body({parameter: argument(env)})
        return lambda env: body({parameter: argument(env) for parameter, argument in pairs})

    def _entry(self, name: str) -> UsedEntry:
        """The parameters and the body of what has a name: an entry, or what a reading or dialect allows."""
        condition = self._conditions.get(name)
        if condition is not None:
            return UsedEntry((), self._compile(condition))
        # No two of these sections share an id, so that the order of the look-ups does not matter.
        for klass in self.spec.classes:
            if klass.id == name:
                return UsedEntry((), self._condition_of_class(klass))
        allowed = allowed_answers(self.spec).get(name)
        if allowed is not None:
            return self._allowed(allowed)
        for stated in self.spec.properties:
            if stated.id == name:
                claim = self._compile(stated.claim)
                return UsedEntry((), self._of_result(claim))
        # What a family does not have may hold a number that its types lack, so it is not compiled.
        definition = self.spec.definition(name)
        if not definition.is_for(self.etype.family):
            return UsedEntry(definition.parameters, lambda _: False)
        return UsedEntry(definition.parameters, self._compile(definition.is_))

    def _condition_of_class(self, klass: ValueClass) -> Function:
        """Whether operands are in a class: in its case, and in the class among those of the case."""
        if self.etype.family not in klass.families:
            return lambda _: False
        in_case = self._use(klass.case, [])
        return self._connect("and", in_case, self._compile(klass.when))

    def _of_result(self, claim: Function) -> Function:
        """A claim in an environment that has the operands, and not the result."""
        # So a finding uses a property by its name: of the result of the cases, as it is stated.
        names = self._operands
        result = self._signature.result.id

        def holds(env: Environment) -> Any:
            operands = [env[name] for name in names]
            return claim({**env, result: self.result(*operands)})

        return holds

    def _allowed(self, answers: Allowed) -> UsedEntry:
        """The function for what a reading or dialect allows, with defaults for missing bounds."""
        reading = self.spec.reading(answers.reading)
        returns = self._compile(reading.returns)
        missing: dict[str, Value] = {}
        if answers.dialect:
            dialect = self.spec.dialect(answers.dialect)
            bounds = defaults(self.spec, dialect, self.etype)
            if bounds:
                missing = dict(zip(self._signature.scalars, bounds, strict=True))
        # Last, so that bounds that are given take the place of the defaults.
        return UsedEntry(answers.parameters, lambda env: returns({**missing, **env}))

    # --- the operator on one element

    def named(self, values: Iterable[Value]) -> dict[str, Value]:
        """The values of the operands, each by its name."""
        return dict(zip(self._operands, values, strict=True))

    def is_defined(self, *values: Value) -> bool:
        """Whether values of the operands are in the domain of the operator."""
        domain = self.spec.domain_of(self.etype.family)
        if domain is None:
            return True
        return bool(self(domain, self.named(values)))

    def _first_case(self, *values: Value) -> Case:
        """The case of values of the operands: the first whose condition holds."""
        environment = self.named(values)
        for case in self.spec.cases:
            if self(case.when, environment):
                return case
        place = f"{shown_path(self.spec.path)} (cases)"
        shown = self._shown(environment)
        raise NoCaseError(f"no case holds for {shown}", place, "exactly one case must hold")

    def _shown(self, environment: Environment) -> str:
        """Values of the operands with the element type: ``X = 1, L = nan, M = 2 (float32)``."""
        numbers = []
        for name, value in environment.items():
            numbers.append(f"{name} = {show(value, self.etype)}")
        return f"{', '.join(numbers)} ({self.etype.id})"

    def result(self, *values: Value) -> Value:
        """The result of the cases."""
        case = self.case(*values)
        result: Value = self(case.result, self.named(values))
        return result

    def classes(self, *values: Value) -> list[ValueClass]:
        """The classes of values of the operands; one, if the specification is right."""
        environment = self.named(values)
        case = self.case(*values)
        of_case = self._classes[case.id]  # the condition of a class is one within its case
        return [klass for klass in of_case if self(klass.when, environment)]

    def class_of(self, *values: Value) -> ValueClass:
        """The class of values of the operands; UserError if there is not exactly one."""
        classes = self.classes(*values)
        if len(classes) == 1:
            return classes[0]
        shown = self._shown(self.named(values))
        message = f"no class has {shown}"
        if classes:
            ids = " and ".join(f"`{klass.id}`" for klass in classes)
            message = f"the classes {ids} all have {shown}"
        place = f"{shown_path(self.spec.path)} (classes)"
        todo = "change the `when` of the classes, so that exactly one has each value"
        raise UserError(message, place, todo)

    def latitudes(self, values: Sequence[Value], answer: Value) -> list[Latitude]:
        """The latitudes that accept an answer other than the result of the cases."""
        # As conditions of latitude name them: Y is the result, A the answer that is judged.
        environment = self.named(values) | {"Y": self.result(*values), "A": answer}
        accepting: list[Latitude] = []
        for entry in self.spec.latitude:
            if self(entry.when, environment) and self(entry.accepts, environment):
                accepting.append(entry)
        return accepting


def _stated_conditions(spec: Spec) -> dict[str, Expr]:
    """The conditions that trees use by the id of their entry, without parameters and in every family."""
    conditions: dict[str, Expr] = {}
    for case in spec.cases:
        conditions[case.id] = case.when
    for constraint in spec.constraints:
        conditions[constraint.id] = constraint.holds
    for restriction in spec.restrictions:
        conditions[restriction.id] = restriction.holds
    return conditions


def _element(name: str) -> Function:
    """The element of a variable; a scalar tensor is its entry."""

    def element(env: Environment) -> Any:
        value = env[name]
        # `isinstance` would take twice the time, and this runs for every variable of every value.
        return value.entries[0] if value.__class__ is TensorValue else value

    return element


def _type_of(argument: Expr, etype: ElementType) -> Function:
    """The element type of a variable. In one evaluator, an expression has the evaluator's type."""
    if not isinstance(argument, tree.Name):
        return lambda _: etype.id
    name = argument.id

    def type_of(env: Environment) -> str:
        value = env[name]
        # A tensor has a tag, which the type of its entries need not be.
        return value.type if isinstance(value, TensorValue) else etype.id

    return type_of


def evaluator(spec: Spec, etype: ElementType) -> Evaluator:
    """The evaluator of a specification in an element type, made once for each."""
    key = ("evaluator", etype.id)
    if key not in spec.memo:
        spec.memo[key] = Evaluator(spec, etype)
    shared: Evaluator = spec.memo[key]
    return shared
