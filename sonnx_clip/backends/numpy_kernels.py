"""Renders what the NumPy kernels compute into obligations: for all x, min and max, kernel = Clip."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import CLIP, FOLDER, Generated, Goal, Module, header
from sonnx_clip.backends.whyml_printer import element_printer, goal
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.language.show import show_bits
from sonnx_clip.language.values import float_bits, sign_bit
from sonnx_clip.trace.branches import lines, tree, words
from sonnx_clip.trace.symbolic_run import clone_name
from sonnx_clip.trace.tracing import traced_kernels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.trace.evaluate_table import ReadingName
    from sonnx_clip.trace.explore import Path, Traced
    from sonnx_clip.trace.numpy_meaning import ValueKind

_SYMBOLS: dict[ReadingName, Mapping[str, str]] = {
    "Float": {"nan": "nan", "lt": "lt", "le": "le", "eq": "eq"},
    "Signed": {"nan": "never", "lt": "slt", "le": "sle", "eq": "same"},
    "Unsigned": {"nan": "never", "lt": "ult", "le": "ule", "eq": "same"},
}
THEORIES = ("NumpyOutOfPlace", "NumpyInPlace")  # by whether `out` is `x`
_WIDTH = 60  # of the substitutions of a clone beside its head
_BITS = ("bw_and", "bw_or", "bw_xor", "bw_add", "bw_sub")


def kernel_goal_name(traced: Traced, part: str) -> str:
    """The name of a goal about a kernel: ``numpy_limit_in_place``."""
    return f"numpy_{part}_{'in_place' if traced.in_place else 'out_of_place'}"


def kernels_of(traced: Traced) -> Mapping[str, tuple[Path, ...]]:
    """The kernels that a planner chooses, each with the paths through it, in the order of their names."""
    in_order = sorted(traced.paths, key=lambda path: path.kernel)
    kernels: dict[str, tuple[Path, ...]] = {}
    for kernel, paths in groupby(in_order, key=lambda path: path.kernel):
        kernels[kernel] = tuple(paths)
    return kernels


def numpy_theories(spec: Spec) -> Generated:
    """The kernels of all machine types, by path in the repository, and their obligations.

    Raises:
        UserError: the kernels hold what tracing cannot see, or what no input reaches.
    """
    kernels_by_type: dict[ElementType, list[Traced]] = {}
    for traced in traced_kernels(tuple(spec.element_types)):
        kernels_by_type.setdefault(traced.etype, []).append(traced)

    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype, kernels in kernels_by_type.items():
        path = f"{FOLDER}/numpy_{etype.id}.mlw"
        modules = _modules(spec, etype, kernels)
        for module in modules:
            obligations += module.obligations(etype.id, path)
        files[path] = template("numpy_type.mlw.j2").render(
            header=header(spec),
            etype=etype,
            modules=[module.text for module in modules],
        )
    return Generated(files, tuple(obligations))


def _modules(spec: Spec, etype: ElementType, kernels: Iterable[Traced]) -> list[Module]:
    """The theory of the kernels of one element type, out of place and in place."""
    cases = [case.id for case in spec.cases]
    shows = (etype.id, *cases)
    of_kernels = [_module(traced, shows) for traced in kernels]
    return [*_integer_route(spec, etype), *of_kernels]


def _integer_route(spec: Spec, etype: ElementType) -> Iterator[Module]:
    """Why a float type may be limited as integers; nothing for other types."""
    # Between bounds on both sides of zero, 16-bit floats are clipped on their patterns: subtract, two
    # integer clips, add.
    if etype.family != "float":
        return
    printer = element_printer(spec, etype)
    plus_zero = printer.value(0)
    minus_zero = printer.value(sign_bit(float_bits(etype)))
    yield Module(
        name="IntegerRoute",
        about="Why the bits of a float may be limited as integers.",
        uses=[f"use elements.{etype.why3}"],
        parts=[
            f"  predicate plus (a: t) = ult a {minus_zero}",
            "  predicate minus (a: t) = not plus a",
            f"  predicate zero (a: t) = a = {plus_zero} \\/ a = {minus_zero}",
        ],
        goals=[goal(claim, printer) for claim in claims_of(spec, etype.id, "integer route")],
        smoke="smoke_integer_route",
    )


def _module(traced: Traced, shows: tuple[str, ...]) -> Module:
    """The module of a kernel: which path an input takes, and that each path computes Clip."""
    # Declarations first, then the clones that name them, then the function that uses the clones.
    parts = []
    reads_integers = any(reading not in (None, "Float") for _, reading in traced.clones)
    if reads_integers:
        # Integers have no NaN and one zero: what the clones take for these predicates.
        parts.append("  predicate never (_a: t) = false\n  predicate same (a b: t) = a = b")
    clones = [f"  {clone}" for clone in _clones(traced)]
    parts.append("\n".join(clones))
    parts.append(_way_function(traced))
    return Module(
        name=THEORIES[traced.in_place],
        about="`out` is `x`." if traced.in_place else "`out` shares no memory with `x`.",
        uses=[f"use elements.{traced.etype.why3}", CLIP],
        parts=parts,
        goals=list(_goals(traced, shows)),
        smoke=f"smoke_{kernel_goal_name(traced, 'kernels')}",
    )


def _way_function(traced: Traced) -> str:
    """The function from an input to the number of its path."""
    ways = _ways(traced)
    used = words(ways)
    parameters = []
    for name, kind in _parameters(traced).items():
        unused_mark = "" if name in used else "_"  # Why3 warns of a parameter that is not used
        parameters.append(f"({unused_mark}{name}: {_type(kind)})")
    about = "The number of the way that an input takes through planner and kernel; 0 if it was not followed."
    head = f"function way {' '.join(parameters)} : int ="
    body = "\n    ".join(lines(ways))
    return f"  (** {about} *)\n  {head}\n    {body}"


def _ways(traced: Traced) -> Any:
    """The number of the path of an input, as a tree of branches."""
    # From 1 on: 0 is that of an input for which no path was recorded.
    numbers = {id(path): str(number) for number, path in enumerate(traced.paths, 1)}
    return tree(traced.paths, lambda path: numbers[id(path)], "0")


def _goals(traced: Traced, shows: tuple[str, ...]) -> Iterator[Goal]:
    """Each kernel is Clip where it is planned; every input takes a path, and some input each of them.

    Samples found the paths. Without the last two goals one that they missed would not be noticed, and one
    that no input takes would be proved of nothing.
    """

    def refinement(part: str, title: str, *printed: str) -> Goal:
        statement = " ".join(" ".join(printed).split())  # without the indents of the lines
        name = kernel_goal_name(traced, part)
        return Goal(
            name=name,
            kind="refinement",
            shows=shows,
            title=title,
            statement=statement,
            lines=printed,
        )

    manner = "in place" if traced.in_place else "out of place"
    for kernel, paths in kernels_of(traced).items():
        # "true" where the planner chooses another kernel, whose own goal is about that input.
        claim = tree(paths, lambda path: f"{path.result} = clip x l m", "true")
        title = f"{kernel}, {manner}, is Clip for every input for which it is planned"
        quantifier = _forall(_united(paths), words(claim))
        yield refinement(kernel, title, quantifier, *lines(claim))

    parameters = _parameters(traced)
    yield refinement(
        "ways_complete",
        f"every input takes one of the {len(traced.paths)} recorded paths",
        _forall(parameters, frozenset(parameters)),
        f"way {' '.join(parameters)} <> 0",
    )

    equations = []
    for number, path in enumerate(traced.paths, 1):
        witness = _numbers(path, parameters, traced.etype)
        equations.append(f"way {witness} = {number}")
    *first, last = equations
    conjuncts = [f"{equation} /\\" for equation in first]
    yield refinement("ways_inhabited", "some input takes each path", *conjuncts, last)


def _parameters(traced: Traced) -> Mapping[str, ValueKind]:
    """What the branches depend on: the input, and what is left open."""
    # A statement needs the operands, also where no branch depends on one of them.
    used = {*words(_ways(traced)), "x", "l", "m"}
    return {name: kind for name, kind in _united(traced.paths).items() if name in used}


def _united(paths: Iterable[Path]) -> Mapping[str, ValueKind]:
    """The free variables of some paths; a variable has the same kind in all paths."""
    united: dict[str, ValueKind] = {}
    for path in paths:
        united |= path.free
    return united


def _forall(free: Mapping[str, ValueKind], used: frozenset[str]) -> str:
    """The quantifier over free variables that are used, elements before masks."""
    elements: list[str] = []
    masks: list[str] = []
    for name, kind in free.items():
        if name in used:  # Why3 warns of a variable that is bound and not used
            names = elements if kind == "element" else masks
            names.append(name)
    groups = []
    if elements:
        groups.append(f"{' '.join(elements)}: {_type('element')}")
    if masks:
        groups.append(f"{' '.join(masks)}: {_type('mask')}")
    return f"forall {', '.join(groups)}."


def _type(kind: str) -> str:
    return "bool" if kind == "mask" else "t"


def _numbers(path: Path, parameters: Mapping[str, ValueKind], etype: ElementType) -> str:
    """The values of the parameters in the witness of a path; one that the path does not have is any."""
    shown = []
    for name, kind in parameters.items():
        value = path.witness.get(name, 0)
        if kind == "mask":
            shown.append("true" if value else "false")
        else:
            shown.append(f"({show_bits(value, etype)}: t)")
    return " ".join(shown)


def _clones(traced: Traced) -> Iterator[str]:
    """The clones of the modules of why3/numpy.mlw that the paths use."""
    for module, reading in sorted(traced.clones, key=str):
        substitutions = ["type t = t"]
        if reading is not None:
            symbols = _SYMBOLS[reading]
            # `Reduce` declares no more than these two.
            names = symbols if module == "Order" else ("nan", "lt")
            substitutions += [f"predicate {name} = {symbols[name]}" for name in names]
        if module == "Bits":
            substitutions += [f"function {name} = {name}" for name in _BITS]
        if module == "SignedBits":
            substitutions.append("function bw_ashr = bw_ashr")
        name = clone_name(module, reading)
        yield f"clone numpy.{module} as {name} with {_broken_lines(substitutions)}"


def _broken_lines(substitutions: Sequence[str]) -> str:
    """The substitutions of a clone, in lines that are not too long."""
    text = ", ".join(substitutions)
    if len(text) < _WIDTH:
        return text
    # Only those of `Bits` need two lines: the second begins with this substitution.
    lines_of_clone: list[str] = []
    for substitution in substitutions:
        if lines_of_clone and substitution != "function bw_xor = bw_xor":
            lines_of_clone[-1] += f", {substitution}"
        else:
            lines_of_clone.append(substitution)
    return "\n    " + ",\n    ".join(lines_of_clone)
