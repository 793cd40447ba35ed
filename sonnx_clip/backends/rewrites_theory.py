"""Renders the rewrites of spec/rewrites.yaml as theories: that each is legal exactly where it says so.

The statements are about abstract floats and integers (why3/rewrites.mlw), and about reals; each element type
is proved to meet the axioms of its kind. That a rewrite is legal is proved for every X. That it is illegal
elsewhere is proved at the critical points: where both terms agree at all of them, the condition holds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from sonnx_clip.backends.declared import opposite
from sonnx_clip.backends.templating import header_lines
from sonnx_clip.backends.theory import CLIP, FOLDER, Declared, Goal, Module
from sonnx_clip.backends.whyml_printer import AND, WhymlPrinter
from sonnx_clip.language import tree
from sonnx_clip.language.values import encode
from sonnx_clip.rewrites.critical_points import OPPOSITES, STRENGTHS
from sonnx_clip.rewrites.model import FILE, known_rewrites
from sonnx_clip.rewrites.terms import ELEMENT, constants_of, functions_of, operators
from sonnx_clip.rewrites.views import WORDS, goal_name
from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.declarations import declarations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.rewrites.critical_points import Strength
    from sonnx_clip.rewrites.model import Rewrite
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
class _Theory:
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


_FLOATS: Final = _Theory(
    "float",
    "RewritesOfFloats",
    ("use export rewrites.Floats", CLIP),
    {"0": "zero", "-0": "minus_zero", "inf": "infinity", "-inf": "minus_infinity"},
    ("zero", "minus_zero", "infinity", "minus_infinity"),
    {"n": "nan n"},
)
_INTEGERS: Final = _Theory(
    "int",
    "RewritesOfIntegers",
    ("use export rewrites.Integers", CLIP),
    {"0": "zero", "-0": "zero", "lowest": "least", "highest": "greatest"},
    ("zero", "least", "greatest"),
    {},
)
_REALS: Final = _Theory(
    "real",
    "RewritesOfReals",
    ("use real.RealInfix", "use elements.Real", CLIP),
    {},
    ("0.0",),
    {"below": "lt below {0}", "above": "lt {0} above"},
)
_THEORIES: Final = (_FLOATS, _INTEGERS, _REALS)


@dataclass(frozen=True)
class _Equation:
    """Two terms that stand in no file: what a statement needs of a rewrite."""

    before: Expr
    after: Expr
    id: str = "terms"
    given: Expr | None = None

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of its constants."""
        return constants_of(self.before, self.after)


_Terms: TypeAlias = "Rewrite | _Equation"


@dataclass(frozen=True)
class _Printer(WhymlPrinter):
    """Prints terms and conditions in an abstract theory, where a few numbers have names."""

    literals: Mapping[str, str] = field(default_factory=dict)

    def literal(self, text: str) -> str:
        """The name of a number; that of a real is the number."""
        return self.literals[text] if self.literals else super().literal(text)


def rewrite_theories(spec: Spec) -> tuple[Mapping[str, str], list[Obligation]]:
    """The theory file of all rewrites, and its obligations."""
    program, _ = header_lines(spec)
    header = f"(* {program}\n   Source: {FILE} and the operators of spec/ *)\n"
    modules: list[Module] = []
    obligations: list[Obligation] = []
    for theory in _THEORIES:
        module = _module(theory)
        modules.append(module)
        obligations += module.obligations(SUBJECT, PATH)
    for etype in spec.element_types:
        if etype.family != "real":
            module = _instance(etype)
            modules.append(module)
            obligations += [
                replace(o, id=f"{etype.id}.rewrites_{o.goal}")
                for o in module.obligations(etype.id, PATH)
            ]
    return {PATH: "\n".join([header, *(module.text for module in modules)])}, obligations


def obligations_by_condition(spec: Spec) -> dict[str, list[Obligation]]:
    """The obligations of each condition, by its `goal_name`: legal where it holds, and nowhere else."""
    _, obligations = rewrite_theories(spec)
    by_name: dict[str, list[Obligation]] = defaultdict(list)
    for obligation in obligations:
        name, _, part = obligation.goal.rpartition("_")
        if part in ("legal", "exact"):
            by_name[name].append(obligation)
    return by_name


def _module(theory: _Theory) -> Module:
    clip = operators()["clip"]
    etype = clip.types_of(theory.family)[0]
    printer = _Printer(etype, clip.signature, literals=theory.literals)
    rewrites = _of_family(theory.family)
    goals = [goal for rewrite in rewrites for goal in _goals(rewrite, theory, printer)]
    about = f"Rewrites in the family {theory.family}: each is legal exactly where it is said to be."
    return Module(
        theory.module,
        about,
        theory.uses,
        _declarations(rewrites, etype, printer, has_opposite=theory.family != "real"),
        goals,
        f"smoke_rewrites_{theory.family}",
    )


def wrong_conditions(etype: ElementType) -> Module:
    """False statements on a rewrite that is legal for some constants only: for all of them, and for none.

    They are about one element type: with the axioms of the abstract types no prover finds a model.
    """
    printer = _Printer(etype, operators()["clip"].signature)
    abstract = next(theory for theory in _THEORIES if theory.family == etype.family)
    points = abstract.points
    if abstract.literals:  # an integer reads -0 as 0
        distinct = {encode(text, etype): text for text in reversed([*abstract.literals])}
        points = [printer.literal(text) for text in distinct.values()]
    theory = replace(abstract, literals={}, points=points)
    rewrite, strength = _first_with_condition(etype.family)
    name = goal_name(rewrite, etype.family, strength)
    shows = (rewrite.id,)
    always = _legal(rewrite, strength, condition=True, printer=printer)
    never = _exact(rewrite, strength, condition=False, theory=theory, printer=printer)
    return Module(
        WRONG_CONDITIONS,
        f"The rewrite {rewrite.id} of {FILE} with wrong conditions. Every goal is false.",
        abstract.uses if etype.family == "real" else (f"use elements.{etype.why3}", CLIP),
        _declarations([rewrite], etype, printer, has_opposite=False),
        [
            Goal(f"{name}_always", "theorem", shows, "Legal for all constants", always),
            Goal(f"{name}_never", "theorem", shows, "Legal for no constants", never),
        ],
    )


def lacks(family: FamilyId, *terms: Expr) -> str:
    """A function of terms that the abstract theory of a family lacks; empty if it has all."""
    missing = {"float": {"is_signalling"}, "int": OPPOSITES}.get(family, frozenset())
    return min(functions_of(*terms) & missing, default="")


def critical_points_suffice(before: Expr, after: Expr, family: FamilyId) -> Module:
    """That two terms are the same at every X if they are at the critical points, for all constants.

    The points are fewer than those that are tried. A number without a name in the abstract theory is one more
    constant: what holds for all of them holds for it.
    """
    theory = next(theory for theory in _THEORIES if theory.family == family)
    clip = operators()["clip"]
    etype = clip.types_of(family)[0]
    printer = _Printer(etype, clip.signature, literals=theory.literals)
    equation = _Equation(_generalised(before, theory), _generalised(after, theory))
    strengths = STRENGTHS if family == "float" else STRENGTHS[:1]
    goals = []
    for strength in strengths:
        conclusion = _same(equation, strength, ELEMENT.lower())
        statement = _if_points_agree(equation, strength, conclusion, theory, printer, ELEMENT)
        title = f"The critical points suffice, {WORDS[strength]}"
        goals.append(Goal(f"suffice_{strength}", "theorem", (equation.id,), title, statement))
    declarations = _declarations([equation], etype, printer, has_opposite=family != "real")
    return Module("CriticalPoints", "Terms of a command.", theory.uses, declarations, goals)


def _generalised(term: Expr, theory: _Theory) -> Expr:
    """A term with a constant for each number without a name in a theory."""
    named = theory.literals or {"0"}

    def constant_of(part: Expr) -> Expr | None:
        if not isinstance(part, tree.Number) or part.text in named:
            return None
        digits = part.text.encode().hex()  # no name of another number, nor of a constant
        return tree.Name(f"N{digits}", part.kind)

    return tree.rewritten(term, constant_of)


def _first_with_condition(family: FamilyId) -> tuple[Rewrite, Strength]:
    """The first rewrite that is legal in a family for some constants only, and in which strength."""
    return next(
        (rewrite, strength)
        for rewrite in _of_family(family)
        for stated_family, strength in rewrite.stated()
        if stated_family == family and not isinstance(rewrite.condition(family, strength), bool)
    )


def _of_family(family: FamilyId) -> list[Rewrite]:
    """The rewrites with a condition for a family."""
    return [rewrite for rewrite in known_rewrites() if family in rewrite.entry.legal_when]


def _declarations(
    rewrites: Sequence[_Terms], etype: ElementType, printer: _Printer, *, has_opposite: bool
) -> list[str]:
    """The functions that goals of rewrites use; `has_opposite`: whether the theory declares `opposite`."""
    used = functions_of(*(term for r in rewrites for term in (r.before, r.after)))
    functions = [
        _function(of, etype.family, printer)
        for name, of in operators().items()
        if name in used - {"clip"}
    ]
    if not has_opposite and used & OPPOSITES:
        functions.insert(0, opposite(etype, printer))
    sides = [side for rewrite in rewrites for side in _sides(rewrite, printer)]
    return [declared.text for declared in (_SAME_VALUE, *functions, *sides)]


def _function(spec: Spec, family: str, printer: WhymlPrinter) -> Declared:
    """An operator as a function: the result of the first of its cases that holds."""
    of_operator = replace(printer, signature=spec.signature)
    *first, last = spec.giving_cases(family)
    choices = [
        f"if {of_operator.show(case.when)} then {of_operator.show(case.result)} else\n    "
        for case in first
    ]
    result = "".join(choices) + of_operator.show(last.result)
    head = f"function {spec.signature.function} ({spec.signature.arguments}: t) : t"
    return Declared(head, result, f"{spec.operator}, by its cases.", apart=True)


def _sides(rewrite: _Terms, printer: WhymlPrinter) -> Iterator[Declared]:
    """Both terms as functions of X and the constants."""
    name = _name(rewrite)
    variables = " ".join(variable.lower() for variable in (ELEMENT, *rewrite.constants))
    for side, term in (("before", rewrite.before), ("after", rewrite.after)):
        body = printer.show(term)
        used = {part.id for part in tree.subtrees(term) if isinstance(part, tree.Name)}
        shown = " ".join(v if v.upper() in used else f"_{v}" for v in variables.split())
        yield Declared(f"function {side}_{name} ({shown}: t) : t", body)


def _goals(rewrite: Rewrite, theory: _Theory, printer: WhymlPrinter) -> Iterator[Goal]:
    """That it is legal where it says so, and nowhere else."""
    for family, strength in rewrite.stated():
        if family != theory.family:
            continue
        condition = rewrite.condition(family, strength)
        name = goal_name(rewrite, family, strength)
        shows = (rewrite.id,)
        words = f"{rewrite.entry.title}, {WORDS[strength]}, in the family {family}"
        if condition is not False:
            legal = _legal(rewrite, strength, condition, printer)
            yield Goal(
                f"{name}_legal", "theorem", shows, f"{words}: legal where it is stated", legal
            )
        if condition is not True:
            exact = _exact(rewrite, strength, condition, theory, printer)
            yield Goal(f"{name}_exact", "theorem", shows, f"{words}: legal nowhere else", exact)


def _legal(
    rewrite: Rewrite, strength: Strength, condition: Expr | bool | None, printer: WhymlPrinter
) -> str:
    premises = [printer.operand(c, AND) for c in _stated(rewrite, condition)]
    variables = [name.lower() for name in (ELEMENT, *rewrite.constants)]
    same = _same(rewrite, strength, variables[0])
    return f"forall {' '.join(variables)}: t. {' -> '.join([*premises, same])}"


def _exact(
    rewrite: Rewrite,
    strength: Strength,
    condition: Expr | bool | None,
    theory: _Theory,
    printer: WhymlPrinter,
) -> str:
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
    theory: _Theory,
    printer: WhymlPrinter,
    *concluded: str,
) -> str:
    """The statement that a conclusion follows from the critical points; `concluded` are its variables."""
    constants = [name.lower() for name in terms.constants]
    others = [name for name in theory.others if not (name == "n" and strength == "numbers")]
    premises = [
        known.format(bound)
        for name in others
        for known in [theory.others[name]]
        for bound in ([*constants, "0.0"] if "{0}" in known else [""])
    ]
    if "n" in others:  # a NaN that no constant is: another one may be returned for it
        premises += [f"n <> {constant}" for constant in constants]
    premises += [printer.operand(c, AND) for c in _stated(terms, None)]
    points = [*constants, *theory.points, *others]
    if functions_of(terms.before, terms.after) & OPPOSITES:
        points += [f"(opposite {constant})" for constant in constants]
    agreements = [f"({_same(terms, strength, x)})" for x in points]
    variables = [*(name.lower() for name in concluded), *constants, *others]
    quantified = f"forall {' '.join(variables)}: t. " if variables else ""
    return quantified + " -> ".join([*premises, *agreements, conclusion])


def _stated(rewrite: _Terms, condition: Expr | bool | None) -> Iterator[Expr]:
    for stated in (rewrite.given, condition):
        if not (stated is None or isinstance(stated, bool)):
            yield stated


def _same(rewrite: _Terms, strength: Strength, x: str) -> str:
    """That both terms are the same for an X."""
    name, given = _name(rewrite), " ".join([x, *(c.lower() for c in rewrite.constants)])
    before, after = f"before_{name} {given}", f"after_{name} {given}"
    if strength == "bits":
        return f"{before} = {after}"
    same = f"same_value ({before}) ({after})"
    return f"not nan {x} -> {same}" if strength == "numbers" else same


def _name(rewrite: _Terms) -> str:
    return rewrite.id.replace("-", "_")


def _instance(etype: ElementType) -> Module:
    """That an element type meets the axioms of the abstract one of its family."""
    kind = "Floats" if etype.family == "float" else "Integers"
    text = repo_file(ABSTRACT).read_text(encoding="utf-8")
    axioms = [d.name for d in declarations(text) if d.form == "axiom" and d.module == kind]
    ordered = declarations(repo_file("why3/ordered.mlw").read_text(encoding="utf-8"))
    axioms = [*(d.name for d in ordered if d.form == "axiom"), *axioms]
    printer = WhymlPrinter(etype, operators()["clip"].signature)
    named = _FLOATS.literals if kind == "Floats" else _INTEGERS.literals
    constants = [
        Declared(f"constant {name} : t", printer.value(encode(text, etype), text))
        for text, name in named.items()
        if (kind, text) != ("Integers", "-0")
    ]
    functions = [opposite(etype, printer)] if kind == "Floats" else []
    symbols = ["type t = t", *(f"predicate {p} = {p}" for p in ("nan", "le", "lt", "eq"))]
    symbols += [f"constant {name} = {name}" for name in dict.fromkeys(named.values())]
    symbols += [f"function {f.name} = {f.name}" for f in functions]
    goals = ",\n".join(f"    goal {axiom}" for axiom in axioms)
    clone = f"  clone rewrites.{kind} with\n    {', '.join(symbols)},\n{goals}"
    cloned = [
        Goal(
            axiom, "instance", (etype.id,), f"{etype.id} in rewrites: {axiom.replace('_', ' ')}", ""
        )
        for axiom in axioms
    ]
    return Module(
        f"{etype.why3}Instance",
        f"{etype.id} meets the axioms of why3/rewrites.mlw.",
        [f"use elements.{etype.why3}"],
        [*(declared.text for declared in (*constants, *functions)), clone],
        [],
        cloned=cloned,
    )
