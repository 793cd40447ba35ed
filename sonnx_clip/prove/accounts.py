"""Accounts for every command of every task: no prover gets an assertion that is not accounted for.

An assertion of a task is the negated goal, a premise of the goal, a definition, a lemma that is an obligation
itself, or it is listed in why3/trusted.txt. What stands before a goal is read from a task without premises:
that of the smoke goal `false`, the last of its theory, which keeps everything that the theory and what it
uses declare. Where a theory has none, its goals are printed once more as they are, premises in the formula.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from sonnx_clip.prove.smtlib import SmtlibCommand, SmtlibError, Term, commands, smtlib_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What these declare or define is a symbol: they assert nothing.
_DECLARES: Final = ("declare-fun", "declare-const", "define-fun", "declare-sort", "define-sort")
_DATA: Final = "declare-datatypes"
# The place of a symbol that is defined as it is declared, or that is no function.
_NOWHERE: Final = 1 << 60
# What no task may declare anew: symbols of the theories of SMT-LIB, as far as they are plain words.
_RESERVED: Final = frozenset(
    ("true", "false", "not", "and", "or", "xor", "=>", "=", "distinct", "ite", "let", "forall", "exists", "!",
     "as", "select", "store", "div", "mod", "abs", "concat", "extract", "bvnot", "bvneg", "bvand", "bvor",
     "bvxor", "bvadd", "bvsub", "bvmul", "bvudiv", "bvurem", "bvshl", "bvlshr", "bvashr", "bvult", "bvule",
     "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge", "fp", "NaN", "RNE", "RNA", "RTP", "RTN", "RTZ",
     "to_fp", "to_fp_unsigned", "+", "-", "*", "/", "<", "<=", ">", ">=", "Int", "Real", "Bool", "Array",
     "BitVec", "FloatingPoint", "RoundingMode")
)  # fmt: skip
_SETS: Final = ("set-logic", "set-info", "set-option")
_GOAL: Final = "Goal "

GoalName: TypeAlias = tuple[str, str]  # theory and goal
Said: TypeAlias = tuple[Literal["assertion", "setting"], str, str]  # kind, name, statement


@dataclass
class Account:
    """What the tasks that a file gives to a prover say besides premises and goals.

    Args:
        said: what is to be listed: kind, name and statement.
        refused: what is not accounted for, by goal.
        smoke: the task of each smoke goal, without the symbols that nothing else in it uses.
    """

    said: set[Said] = field(default_factory=set)
    refused: dict[GoalName, str] = field(default_factory=dict)
    smoke: dict[GoalName, str] = field(default_factory=dict)


class UnaccountedError(ValueError):
    """Something in a task that is not accounted for."""


@dataclass(frozen=True)
class _Parts:
    """The commands of a task: what it sets, what it asserts before the goal, and the goal."""

    every: tuple[SmtlibCommand, ...]
    sets: tuple[SmtlibCommand, ...]
    asserts: tuple[tuple[int, SmtlibCommand], ...]  # each with its place
    declared: Mapping[str, int]


def account(
    tasks: Mapping[GoalName, str],
    contexts: Mapping[GoalName, str],
    lemmas: frozenset[str],
    prover: str,
) -> Account:
    """Account for all tasks of a theory file.

    Args:
        tasks: the tasks that are proved, comments included, by goal.
        contexts: what shows the context of each theory: its smoke task, or its goals with premises in them.
        lemmas: names of lemmas that are obligations.
        prover: for whom the tasks are.
    """
    result = Account()
    context_of: dict[str, Counter[str]] = {}  # by theory: how often each name is asserted
    broken: dict[str, str] = {}  # by theory: why its context is not known
    for (theory, goal), text in contexts.items():
        try:
            parts = _parts(text, goal)
            names = _context(parts, lemmas, prover, result.said)
        except (UnaccountedError, SmtlibError) as error:
            # Nothing of this theory counts: what its tasks assert cannot be told from premises.
            result.refused[theory, goal] = str(error)
            broken[theory] = str(error)
            continue
        # Where goals show the context, each lacks what comes after it: together they show all of it.
        context_of[theory] = context_of.get(theory, Counter()) | names
        if goal.startswith("smoke_"):
            result.smoke[theory, goal] = _without_unused_symbols(parts)

    for (theory, goal), text in tasks.items():
        context = context_of.get(theory)
        if theory in broken or context is None:
            unknown = f"the context of the goals of {theory} is unknown"
            result.refused[theory, goal] = broken.get(theory, unknown)
            continue
        try:
            _task(text, goal, context, prover, result.said)
        except (UnaccountedError, SmtlibError) as error:
            result.refused[theory, goal] = str(error)
    return result


def _context(
    parts: _Parts,
    lemmas: frozenset[str],
    prover: str,
    said: set[Said],
) -> Counter[str]:
    """The names of all that stands before a goal without premises; what is to be listed goes into `said`."""
    said.update(_settings(parts, prover))
    defined: set[str] = set()
    names: Counter[str] = Counter()
    for place, command in parts.asserts:
        names[command.name] += 1
        if command.name in lemmas or _first(command, parts.declared, place, defined):
            continue
        # The rest is listed in why3/trusted.txt, or refused since it is not.
        statement = smtlib_text(_formula(command))
        said.add(("assertion", command.name, statement))
    return names


def _without_unused_symbols(parts: _Parts) -> str:
    """A task without the symbols that no other command uses, and their definitions.

    The definition of a symbol that occurs nowhere else can be added to any consistent context. So a
    contradiction in the whole task is one in what is left, which provers search in a fraction of the time.
    """
    uses: Counter[str] = Counter()  # in how many commands each symbol occurs
    for command in parts.every:
        uses.update(symbols(command.term))
    kept: list[str] = []
    # From the end, since what a removed command used may be unused then, and is declared before it.
    for place, command in reversed(tuple(enumerate(parts.every))):
        name = ""  # of the symbol that the command declares or defines
        own_uses = 0
        if command.head == "assert":
            name = defines(command, parts.declared, place)
            own_uses = 2  # the declaration and this definition
        elif command.head in _DECLARES:
            name = str(command.term[1])
            own_uses = 1
        is_unused = name and uses[name] == own_uses
        if is_unused:
            uses.subtract(symbols(command.term))
        else:
            kept.append(command.text)
    return "\n".join(reversed(kept))


def _task(
    text: str,
    goal: str,
    context: Counter[str],
    prover: str,
    said: set[Said],
) -> None:
    """Account for a task with premises.

    Raises:
        UnaccountedError: by name, what is neither of the context, nor a definition, nor a premise.
    """
    parts = _parts(text, goal)
    said.update(_settings(parts, prover))
    unmatched = context.copy()  # how often each name of the context may still come
    premise = ""
    defined: set[str] = set()
    for place, command in parts.asserts:
        name = command.name
        is_definition = _first(command, parts.declared, place, defined)
        if is_definition or _sorts(command, parts.declared, place):
            # By its form it is harmless, also where the context has no such name.
            unmatched[name] -= 1
        elif unmatched[name] > 0:
            # The context comes before all premises, so that one behind them has only its name.
            if premise:
                raise UnaccountedError(f"the assertion {name} follows the premise {premise}")
            unmatched[name] -= 1
        elif not name or name in context:
            # Without a name, or once more than the context has it: it is no premise either.
            raise UnaccountedError(f"an unaccounted assertion: {_short(command)}")
        else:
            premise = name


def _parts(text: str, goal: str) -> _Parts:
    """The commands of a task by what they do; UnaccountedError where its form is not that of a task."""
    sets: list[SmtlibCommand] = []
    asserts: list[tuple[int, SmtlibCommand]] = []
    declared: dict[str, int] = {}
    every = commands(text)
    # Why3 adds it for some provers; `tasks.clean` removes it from what they are asked.
    if every and every[-1].text == "(get-info :reason-unknown)":
        every = every[:-1]
    if not every or every[-1].text != "(check-sat)":
        raise UnaccountedError("the task does not end in (check-sat)")
    for place, command in enumerate(every[:-1]):
        if command.head == "assert":
            asserts.append((place, command))
        elif command.head in _SETS:
            sets.append(command)
        elif command.head in _DECLARES:
            _declare(command, place, declared)
        elif command.head != _DATA:
            raise UnaccountedError(f"a command that is not allowed in a task: {_short(command)}")

    # The goal comes right before (check-sat): a declaration behind it would be used by nothing.
    if not asserts or asserts[-1][1] is not every[-2]:
        raise UnaccountedError("the goal is not the last assertion of the task")
    *before_goal, (_, last) = asserts
    _require_negated(last, goal)
    return _Parts(every, tuple(sets), tuple(before_goal), declared)


def _require_negated(last: SmtlibCommand, goal: str) -> None:
    """UnaccountedError if an assertion is not the negated goal of this name; a smoke goal is ``false``."""
    formula = _formula(last)
    is_negated = isinstance(formula, tuple) and formula[0] == "not"
    if last.name != f"{_GOAL}{goal}" or not is_negated:
        raise UnaccountedError(f"the last assertion is not the negated goal {goal}: {_short(last)}")
    if goal.startswith("smoke_") and formula != ("not", "false"):
        raise UnaccountedError(f"the smoke goal {goal} is not `false`: {_short(last)}")


def _declare(command: SmtlibCommand, place: int, declared: dict[str, int]) -> None:
    """Note the symbol of a declaration; UnaccountedError if there is one, or if it defines itself."""
    parts = command.term
    name = parts[1]
    # A second declaration would give another meaning to what was said of the first.
    if not isinstance(name, str) or name in declared or name in _RESERVED:
        raise UnaccountedError(f"a symbol is declared twice: {_short(command)}")
    if command.head == "define-fun" and name in symbols(parts[-1]):
        raise UnaccountedError(f"a definition by itself: {_short(command)}")
    # Only what is declared without a definition may be defined by an assertion further down.
    is_open = command.head in ("declare-fun", "declare-const")
    declared[name] = place if is_open else _NOWHERE


def _settings(parts: _Parts, prover: str) -> Iterator[Said]:
    for command in parts.sets:
        yield "setting", prover, smtlib_text(command.term)


def _formula(command: SmtlibCommand) -> Term:
    """The formula that a command asserts; UnaccountedError if it has more parts."""
    parts = command.term
    if len(parts) != 2:
        raise UnaccountedError(f"an assertion of more than one formula: {_short(command)}")
    return parts[1]


def _short(command: SmtlibCommand) -> str:
    """A command on one line, for messages."""
    name = f"{command.name}: " if command.name else ""
    text = " ".join(command.text.split())
    return f"{name}{text[:200]}"


# --- Definitions by their form --------------------------------------------------------------------------


def _first(
    command: SmtlibCommand,
    declared: Mapping[str, int],
    place: int,
    defined: set[str],
) -> bool:
    """Whether an assertion is the first definition of a symbol in its task."""
    name = defines(command, declared, place)
    if not name or name in defined:
        return False
    defined.add(name)
    return True


def defines(command: SmtlibCommand, declared: Mapping[str, int], place: int) -> str:
    """The symbol that an assertion defines: ``f'def``, of an f declared before, and not by f itself.

    Args:
        command: the assertion.
        declared: where each symbol of the task is declared.
        place: where the assertion stands.

    Returns:
        The symbol, or nothing where the assertion is no such definition.
    """
    if not command.name.endswith("'def"):
        return ""
    formula = _formula(command)
    # Behind its quantifiers the formula says what the symbol is, for these variables.
    bound: list[Term] = []
    while isinstance(formula, tuple) and len(formula) == 3 and formula[0] == "forall":
        _, variables, formula = formula
        if not isinstance(variables, tuple):
            return ""
        for variable in variables:
            bound.append(variable[0])  # a variable comes with its sort

    # A definition by cases has an equation in each, all of the same application.
    heads: set[Term] = set()
    bodies: list[Term] = []
    for is_head, part in _parts_of_definition(formula):
        if is_head:
            heads.add(part)
        else:
            bodies.append(part)
    is_bound_twice = len(set(bound)) != len(bound)
    if len(heads) != 1 or is_bound_twice:
        return ""
    name, arguments = _application(*heads)
    # An equation defines a symbol, and so contradicts nothing, only if it says for each choice of arguments
    # what the value is, once, and in terms of other symbols.
    is_declared = declared.get(name, _NOWHERE) < place
    bound_texts = sorted(map(smtlib_text, bound))
    of_all_bound = sorted(map(smtlib_text, arguments)) == bound_texts
    if not is_declared or not of_all_bound or name in bound:
        return ""
    is_recursive = any(name in symbols(body) for body in bodies)
    return "" if is_recursive else name


def _parts_of_definition(formula: Term) -> Iterator[tuple[bool, Term]]:
    """What is defined (True) by the equations that a formula consists of, by cases, and all that is not."""
    match formula:
        case ("ite", condition, then, otherwise):
            yield False, condition
            yield from _parts_of_definition(then)
            yield from _parts_of_definition(otherwise)
        case ("let", bindings, body):
            yield False, bindings
            yield from _parts_of_definition(body)
        # A predicate is stated to hold or not; of all other symbols an equation gives the value.
        case ("not", head):
            yield True, head
        case ("=", head, body):
            yield True, head
            yield False, body
        case _:
            yield True, formula


def _application(head: Term) -> tuple[str, tuple[Term, ...]]:
    """The symbol and the arguments of ``f``, ``(f x …)`` or ``(select (f x …) i)``."""
    match head:
        case str():
            return head, ()
        case ("select", array, index):
            name, arguments = _application(array)
            return name, (*arguments, index)
        case (str(name), *arguments):
            return name, tuple(arguments)
    return "", ()


def _sorts(command: SmtlibCommand, declared: Mapping[str, int], place: int) -> bool:
    """Whether an assertion gives a constant its sort: ``c_sort: (sort T c)``, where sorts are values."""
    formula = _formula(command)
    if not command.name.endswith("_sort"):
        return False
    match formula:
        case ("sort", _, str(constant)):
            return declared.get(constant, place) < place
        case _:
            return False


def symbols(term: Term) -> frozenset[str]:
    """All words in a term."""
    if isinstance(term, str):
        return frozenset((term,))
    return frozenset().union(*map(symbols, term))
