"""Renders the rewrites of spec/rewrites.yaml as theories: that each is legal exactly where it says so.

The statements are about abstract floats and integers (why3/rewrites.mlw), and about reals; each element type
is proved to meet the axioms of its kind. That a rewrite is legal is proved for every X. That it is illegal
elsewhere is proved at the critical points: where both terms agree at all of them, the condition holds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from sonnx_clip.backends.declared import opposite_function
from sonnx_clip.backends.templating import header_lines
from sonnx_clip.backends.theory import (
    CLIP,
    FOLDER,
    ORDERED,
    Declared,
    Generated,
    Goal,
    Module,
    axioms_of,
    instance_goals,
)
from sonnx_clip.backends.whyml_printer import AND, WhymlPrinter
from sonnx_clip.language import tree
from sonnx_clip.language.values import encode
from sonnx_clip.rewrites.critical_points import OPPOSITES, STRENGTHS
from sonnx_clip.rewrites.rewrite import FILE, known_rewrites
from sonnx_clip.rewrites.terms import ELEMENT, constants_in, functions_in, operators
from sonnx_clip.rewrites.views import WORDS, goal_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.rewrites.critical_points import Strength
    from sonnx_clip.rewrites.rewrite import Rewrite
    from sonnx_clip.spec import Spec


PATH: Final = f"{FOLDER}/rewrites.mlw"
SUBJECT: Final = "rewrites"
ABSTRACT: Final = "why3/rewrites.mlw"
WRONG_CONDITIONS: Final = "WrongConditions"
"""The module of the canaries on rewrites."""
_SAME_VALUE: Final = Declared(
    "predicate same_value (a b: t)",
    "a = b \\/ eq a b \\/ nan a /\\ nan b",
    "The same value, zeros of both signs and all NaNs taken together.",
)


@dataclass(frozen=True)
class Theory:
    """What the terms of a family are printed in.

    Args:
        family: its id.
        module: the module of the theory.
        uses: what it uses.
        literals: what numbers are called; of reals, which are printed as they are, none.
        points: the critical points beside the constants.
        others: critical points of any constants, as variables with what is known of them.
    """

    family: FamilyId
    module: str
    uses: Sequence[str]
    literals: Mapping[str, str]
    points: Sequence[str]
    others: Mapping[str, str]

    @property
    def has_opposite(self) -> bool:
        """Whether it declares the function `opposite`."""
        return self.family != "real"


_FLOATS: Final = Theory(
    family="float",
    module="RewritesOfFloats",
    uses=("use export rewrites.Floats", CLIP),
    literals={"0": "zero", "-0": "minus_zero", "inf": "infinity", "-inf": "minus_infinity"},
    points=("zero", "minus_zero", "infinity", "minus_infinity"),
    others={"n": "nan n"},
)
_INTEGERS: Final = Theory(
    family="int",
    module="RewritesOfIntegers",
    uses=("use export rewrites.Integers", CLIP),
    # An integer has one zero: -0 is read as 0.
    literals={"0": "zero", "-0": "zero", "lowest": "least", "highest": "greatest"},
    points=("zero", "least", "greatest"),
    others={},
)
_REALS: Final = Theory(
    family="real",
    module="RewritesOfReals",
    uses=("use real.RealInfix", "use elements.Real", CLIP),
    literals={},
    points=("0.0",),
    # No real is the least or the greatest: in their places, one below all constants and one above.
    others={"below": "lt below {0}", "above": "lt {0} above"},
)
_THEORIES: Final = (_FLOATS, _INTEGERS, _REALS)


def theory_of(family: FamilyId) -> Theory:
    """The theory of a family."""
    return next(theory for theory in _THEORIES if theory.family == family)


@dataclass(frozen=True)
class _Equation:
    """Two terms that stand in no file: what a statement needs of a rewrite."""

    before: Expr
    after: Expr
    id: ClassVar[str] = "terms"
    given: ClassVar[Expr | None] = None

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of its constants."""
        return constants_in(self.before, self.after)


_Terms: TypeAlias = "Rewrite | _Equation"


@dataclass(frozen=True)
class TermPrinter(WhymlPrinter):
    """Prints terms and conditions in an abstract theory, where a few numbers have names."""

    literals: Mapping[str, str] = field(default_factory=dict)

    @property
    def element_type(self) -> ElementType:
        """The element type of the literals, which every such printer has."""
        assert self.etype is not None
        return self.etype

    def literal(self, text: str) -> str:
        """The name of a number; that of a real is the number."""
        return self.literals[text] if self.literals else super().literal(text)


def printer_of(theory: Theory) -> TermPrinter:
    """Prints terms in a theory."""
    clip = operators()["clip"]
    # Any type of the family will do: numbers are printed by name, and reals have one type.
    etype = clip.types_of(theory.family)[0]
    return TermPrinter(etype, clip.signature, literals=theory.literals)


def rewrite_theories(spec: Spec) -> Generated:
    """The theory file of all rewrites, and its obligations."""
    # The source of rewrites is another file than that of the specification, in the second line.
    program, _ = header_lines(spec)
    header = f"(* {program}\n   Source: {FILE} and the operators of spec/ *)\n"
    modules: list[Module] = []
    obligations: list[Obligation] = []
    for theory in _THEORIES:
        module = _module(theory)
        modules.append(module)
        obligations += module.obligations(SUBJECT, PATH)
    for etype in spec.element_types:
        if etype.family != "real":  # the theory of the reals is about the type itself
            module = _instance(etype)
            modules.append(module)
            for obligation in module.obligations(etype.id, PATH):
                # The theory of the type shows some of these axioms too, under ids without the prefix.
                id_ = f"{etype.id}.rewrites_{obligation.goal}"
                obligations.append(replace(obligation, id=id_))
    text = "\n".join([header, *(module.text for module in modules)])
    return Generated({PATH: text}, tuple(obligations))


def obligations_by_condition(spec: Spec) -> dict[str, list[Obligation]]:
    """The obligations of each condition, by its `goal_prefix`: legal where it holds, and nowhere else."""
    by_name: dict[str, list[Obligation]] = defaultdict(list)
    for obligation in rewrite_theories(spec).obligations:
        name, _, part = obligation.goal.rpartition("_")
        if part in ("legal", "exact"):  # others are smoke goals and axioms that a type meets
            by_name[name].append(obligation)
    return by_name


def _module(theory: Theory) -> Module:
    printer = printer_of(theory)
    rewrites = _of_family(theory.family)
    goals: list[Goal] = []
    for rewrite in rewrites:
        goals += _goals(rewrite, theory, printer)
    about = f"Rewrites in the family {theory.family}: each is legal exactly where it is said to be."
    return Module(
        name=theory.module,
        about=about,
        uses=theory.uses,
        parts=_declarations(rewrites, printer, has_opposite=theory.has_opposite),
        goals=goals,
        smoke=f"smoke_rewrites_{theory.family}",
    )


def wrong_conditions(etype: ElementType) -> Module:
    """False statements on a rewrite that is legal for some constants only: for all of them, and for none.

    They are about one element type: with the axioms of the abstract types no prover finds a model.
    """
    printer = TermPrinter(etype, operators()["clip"].signature)
    abstract = theory_of(etype.family)
    points = abstract.points
    if abstract.literals:
        # An integer reads -0 as 0. Reversed, so that the first name of a value is what stays.
        distinct = {encode(text, etype): text for text in reversed([*abstract.literals])}
        points = [printer.literal(text) for text in distinct.values()]
    theory = replace(abstract, literals={}, points=points)
    uses = abstract.uses
    if etype.family != "real":
        uses = (f"use elements.{etype.why3}", CLIP)
    rewrite, strength = _first_with_condition(etype.family)
    name = goal_prefix(rewrite, etype.family, strength)
    always = _legal(rewrite, strength, condition=True, printer=printer)
    never = _exact(rewrite, strength, condition=False, theory=theory, printer=printer)
    return Module(
        name=WRONG_CONDITIONS,
        about=f"The rewrite {rewrite.id} of {FILE} with wrong conditions. Every goal is false.",
        uses=uses,
        parts=_declarations([rewrite], printer, has_opposite=False),
        goals=[
            _theorem(rewrite, f"{name}_always", "Legal for all constants", always),
            _theorem(rewrite, f"{name}_never", "Legal for no constants", never),
        ],
    )


def lacks(family: FamilyId, *terms: Expr) -> str:
    """A function of terms that the abstract theory of a family lacks; empty if it has all."""
    # Integers and reals have no NaN, and so no signalling one: there the function is false.
    if family != "float":
        return ""
    # The abstract floats have NaNs, but no bits that say which of them signal.
    missing = functions_in(*terms) & {"is_signalling"}
    return min(missing, default="")


def critical_points_suffice(before: Expr, after: Expr, family: FamilyId) -> Module:
    """That two terms are the same at every X if they are at the critical points, for all constants.

    The points are fewer than those that are tried. A number without a name in the abstract theory is one more
    constant: what holds for all of them holds for it.
    """
    theory = theory_of(family)
    printer = printer_of(theory)
    equation = _Equation(generalised(before, theory), generalised(after, theory))
    # Only floats have values that are equal with other bits: for others all strengths are one.
    strengths = STRENGTHS if family == "float" else STRENGTHS[:1]
    goals = []
    for strength in strengths:
        conclusion = _same(equation, strength, ELEMENT.lower())
        statement = _if_points_agree(equation, strength, conclusion, theory, printer, ELEMENT)
        title = f"The critical points suffice, {WORDS[strength]}"
        goals.append(_theorem(equation, f"suffice_{strength}", title, statement))
    declarations = _declarations([equation], printer, has_opposite=theory.has_opposite)
    return Module(
        name="CriticalPoints",
        about="Terms of a command.",
        uses=theory.uses,
        parts=declarations,
        goals=goals,
    )


def generalised(term: Expr, theory: Theory) -> Expr:
    """A term with a constant for each number without a name in a theory."""

    def constant_of(part: Expr) -> Expr | None:
        return constant_for(part, theory) if isinstance(part, tree.Number) else None

    return tree.rewritten(term, constant_of)


def constant_for(number: tree.Number, theory: Theory) -> tree.Name | None:
    """The constant that stands for a number without a name in a theory; None if it has one."""
    # Reals are printed as they are. Only 0 is among their critical points whatever the constants are.
    named = theory.literals or {"0"}
    if number.text in named:
        return None
    digits = number.text.encode().hex()  # no name of another number, nor of a constant
    return tree.Name(f"N{digits}", number.kind)


def _first_with_condition(family: FamilyId) -> tuple[Rewrite, Strength]:
    """The first rewrite that is legal in a family for some constants only, and in which strength."""
    for rewrite in _of_family(family):
        for stated_family, strength in rewrite.stated():
            is_total = isinstance(rewrite.condition(stated_family, strength), bool)
            if stated_family == family and not is_total:
                return rewrite, strength
    raise LookupError(f"no rewrite of {family} has a condition")


def _of_family(family: FamilyId) -> list[Rewrite]:
    """The rewrites with a condition for a family."""
    return [rewrite for rewrite in known_rewrites() if family in rewrite.entry.legal_when]


def _declarations(
    rewrites: Sequence[_Terms], printer: TermPrinter, *, has_opposite: bool
) -> list[str]:
    """The functions that goals of rewrites use; `has_opposite`: whether the theory declares `opposite`."""
    terms: list[Expr] = []
    sides: list[Declared] = []
    for rewrite in rewrites:
        terms += (rewrite.before, rewrite.after)
        sides += _sides(rewrite, printer)
    functions = functions_used(terms, printer, has_opposite=has_opposite)
    return [declared.text for declared in (_SAME_VALUE, *functions, *sides)]


def functions_used(
    terms: Sequence[Expr], printer: TermPrinter, *, has_opposite: bool
) -> list[Declared]:
    """The operators of terms, but Clip; and `opposite` if they need it and the theory lacks it."""
    used = functions_in(*terms)
    etype = printer.element_type
    functions = []
    if not has_opposite and used & OPPOSITES:  # first, since the operators may use it
        functions.append(opposite_function(etype, printer))
    for name, operator in operators().items():
        if name in used and name != "clip":  # which the theory clones
            functions.append(operator_as_function(operator, etype.family, printer))
    return functions


def operator_as_function(spec: Spec, family: str, printer: WhymlPrinter) -> Declared:
    """An operator as a function: the result of the first of its cases that holds."""
    of_operator = replace(printer, signature=spec.signature)
    # The last case needs no test: that the cases of an operator leave no gap is proved apart.
    *first, last = spec.giving_cases(family)
    result = ""
    for case in first:
        when = of_operator.show(case.when)
        then = of_operator.show(case.result)
        result += f"if {when} then {then} else\n    "
    result += of_operator.show(last.result)
    head = f"function {spec.signature.function} ({spec.signature.arguments}: t) : t"
    return Declared(head, result, f"{spec.operator}, by its cases.", apart=True)


def _sides(rewrite: _Terms, printer: WhymlPrinter) -> Iterator[Declared]:
    """Both terms as functions of X and the constants."""
    name = _name(rewrite)
    variables = (ELEMENT, *rewrite.constants)
    # Both have the same parameters, so that they can be compared; Why3 warns of an unmarked unused one.
    sides = {"before": rewrite.before, "after": rewrite.after}
    for side, term in sides.items():
        used = tree.names_in(term)
        arguments = []
        for variable in variables:
            unused_mark = "" if variable in used else "_"
            arguments.append(f"{unused_mark}{variable.lower()}")
        head = f"function {side}_{name} ({' '.join(arguments)}: t) : t"
        yield Declared(head, printer.show(term))


def _goals(rewrite: Rewrite, theory: Theory, printer: WhymlPrinter) -> Iterator[Goal]:
    """That it is legal where it says so, and nowhere else."""
    for family, strength in rewrite.stated():
        if family != theory.family:
            continue
        condition = rewrite.condition(family, strength)
        name = goal_prefix(rewrite, family, strength)
        claim = f"{rewrite.entry.title}, {WORDS[strength]}, in the family {family}"
        # A rewrite that is never legal has no place where it is, and one that always is no other.
        if condition is not False:
            legal = _legal(rewrite, strength, condition, printer)
            title = f"{claim}: legal where it is stated"
            yield _theorem(rewrite, f"{name}_legal", title, legal)
        if condition is not True:
            exact = _exact(rewrite, strength, condition, theory, printer)
            title = f"{claim}: legal nowhere else"
            yield _theorem(rewrite, f"{name}_exact", title, exact)


def _theorem(rewrite: _Terms, name: str, title: str, statement: str) -> Goal:
    return Goal(name, "theorem", (rewrite.id,), title, statement)


def _legal(
    rewrite: Rewrite, strength: Strength, condition: Expr | bool | None, printer: WhymlPrinter
) -> str:
    """The statement that both terms are the same for every X where the condition holds."""
    # `given` restricts the constants: of others nothing is said, neither legal nor not.
    premises = [printer.operand(c, AND) for c in _stated(rewrite, condition)]
    variables = [name.lower() for name in (ELEMENT, *rewrite.constants)]
    same = _same(rewrite, strength, variables[0])
    statement = " -> ".join([*premises, same])
    return f"forall {' '.join(variables)}: t. {statement}"


def _exact(
    rewrite: Rewrite,
    strength: Strength,
    condition: Expr | bool | None,
    theory: Theory,
    printer: WhymlPrinter,
) -> str:
    """The statement that the condition holds if both terms are the same at the critical points."""
    if condition is False or condition is None:
        conclusion = "false"
    else:
        assert not isinstance(condition, bool)
        conclusion = printer.conclusion(condition)
    return _if_points_agree(rewrite, strength, conclusion, theory, printer)


def _if_points_agree(
    terms: _Terms,
    strength: Strength,
    conclusion: str,
    theory: Theory,
    printer: WhymlPrinter,
    *concluded: str,
) -> str:
    """The statement that a conclusion follows from the critical points; `concluded` are its variables."""
    constants = [name.lower() for name in terms.constants]
    others = list(theory.others)
    if strength == "numbers" and "n" in others:  # a NaN is no number, and `n` is one
        others.remove("n")
    bounds = [*constants, "0.0"]
    premises: list[str] = []
    for name in others:
        known = theory.others[name]
        if "{0}" in known:  # a point beyond all constants
            premises += [known.format(bound) for bound in bounds]
        else:
            premises.append(known)
    if "n" in others:  # a NaN that no constant is: another one may be returned for it
        premises += [f"n <> {constant}" for constant in constants]
    premises += [printer.operand(c, AND) for c in _stated(terms, None)]

    # A term with opposites changes its course at the opposites of the constants too.
    points = [*constants, *theory.points, *others]
    if functions_in(terms.before, terms.after) & OPPOSITES:
        points += [f"(opposite {constant})" for constant in constants]
    agreements = [f"({_same(terms, strength, x)})" for x in points]
    variables = [*(name.lower() for name in concluded), *constants, *others]
    quantified = f"forall {' '.join(variables)}: t. " if variables else ""
    return quantified + " -> ".join([*premises, *agreements, conclusion])


def _stated(rewrite: _Terms, condition: Expr | bool | None) -> Iterator[Expr]:
    """What restricts the constants; always and never are no formula, and need none."""
    for stated in (rewrite.given, condition):
        if not (stated is None or isinstance(stated, bool)):
            yield stated


def _same(rewrite: _Terms, strength: Strength, x: str) -> str:
    """That both terms are the same for an X."""
    name = _name(rewrite)
    constants = [constant.lower() for constant in rewrite.constants]
    arguments = " ".join([x, *constants])
    before = f"before_{name} {arguments}"
    after = f"after_{name} {arguments}"
    if strength == "bits":
        return f"{before} = {after}"
    same = f"same_value ({before}) ({after})"
    # In the weakest strength a rewrite may do with a NaN what it likes.
    return f"not nan {x} -> {same}" if strength == "numbers" else same


def _name(rewrite: _Terms) -> str:
    return rewrite.id.replace("-", "_")


def _instance(etype: ElementType) -> Module:
    """That an element type meets the axioms of the abstract one of its family."""
    is_float = etype.family == "float"
    kind = "Floats" if is_float else "Integers"
    # An abstract element type is a clone of the order, whose axioms come first, and has axioms of its own.
    axioms = [*axioms_of(ORDERED), *axioms_of(ABSTRACT, kind)]
    printer = WhymlPrinter(etype, operators()["clip"].signature)
    literals = _FLOATS.literals if is_float else _INTEGERS.literals
    defined = []
    for text, name in literals.items():
        if text == "-0" and not is_float:  # it has the name of 0
            continue
        value = printer.value(encode(text, etype), text)
        defined.append(Declared(f"constant {name} : t", value))

    symbols = ["type t = t"]
    symbols += [f"predicate {name} = {name}" for name in ("nan", "le", "lt", "eq")]
    symbols += [f"constant {name} = {name}" for name in dict.fromkeys(literals.values())]
    if is_float:
        function = opposite_function(etype, printer)
        defined.append(function)
        symbols.append(f"function {function.name} = {function.name}")
    goals = ",\n".join(f"    goal {axiom}" for axiom in axioms)
    clone = f"  clone rewrites.{kind} with\n    {', '.join(symbols)},\n{goals}"

    return Module(
        name=f"{etype.why3}Instance",
        about=f"{etype.id} meets the axioms of why3/rewrites.mlw.",
        uses=[f"use elements.{etype.why3}"],
        parts=[*(declared.text for declared in defined), clone],
        goals=[],
        cloned=instance_goals(etype, axioms, "in rewrites"),
    )
