"""Renders the worked examples of dialects: each is an obligation, entry by entry or for all X."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.reading_goals import THEORIES, returns
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import declare, header, obligations_of, smoke
from sonnx_clip.backends.why3 import declared_cases, definition, definitions_used, result_of_cases
from sonnx_clip.backends.whyml_printer import Printer
from sonnx_clip.spec.dialect_examples import ComputedBy, bounds_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialect_examples import DialectExample
    from sonnx_clip.spec.entries import Reading


def example_theories(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The theories of the examples of dialects by their path in the repository, and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in spec.element_types:
        examples = [example for example in spec.dialect_examples if example.type == etype.id]
        if not examples:
            continue
        path = f"{THEORIES}/examples_{etype.id}.mlw"
        readings = _readings(spec, examples)
        printer = Printer(etype, {"X": "x", "L": "l", "M": "m", "Y": "y"})
        goals = [*(_goal(spec, etype, example) for example in examples), smoke("smoke_examples")]
        files[path] = template("examples.mlw.j2").render(
            header=header(spec),
            etype=etype,
            cases=declared_cases(spec, printer),
            result=result_of_cases(spec),
            definitions=[definition(d, etype) for d in definitions_used(spec, [r.returns for r in readings])],
            readings=[
                {"id": r.id, **declare(returns(r), "x l m y", "t", printer.show(r.returns), r.title)}
                for r in readings
            ],
            goals=goals[:-1],
        )
        obligations += obligations_of(etype.id, path, "Examples", goals)
    return files, tuple(obligations)


def _readings(spec: Spec, examples: list[DialectExample]) -> tuple[Reading, ...]:
    """What the words of the dialects allow, and what computes a result, in the order of the file."""
    used = {spec.dialect(example.dialect).reading for example in examples}
    used |= {example.Y.reading for example in examples if isinstance(example.Y, ComputedBy)}
    return tuple(reading for reading in spec.readings if reading.id in used)


def _goal(spec: Spec, etype: ElementType, example: DialectExample) -> Goal:
    """The entries of the result are all that the dialect allows; or, for all X, it has the computed value."""
    printer = Printer(etype, {})
    low, high = (printer.value(bound) for bound in bounds_of(spec, example))
    allows = returns(spec.reading(spec.dialect(example.dialect).reading))
    if isinstance(example.Y, ComputedBy):
        theirs = " ".join(printer.literal(text) for text in (example.Y.L, example.Y.M))
        finite = ""
        if etype.family == "float":
            finite = f"lt {printer.literal('-inf')} x -> lt x {printer.literal('inf')} -> "
        statement = (
            f"forall x y z: t. {finite}{allows} x {low} {high} y -> "
            f"{returns(spec.reading(example.Y.reading))} x {theirs} z -> same_value y z"
        )
        title = (
            f"{example.dialect} has the value that {example.Y.reading} computes, for every X that is finite"
        )
    else:
        entries = [
            f"({allows} {printer.literal(x)} {low} {high} y <-> y = {printer.literal(y)})"
            for x, y in example.pairs
        ]
        statement = "forall y: t. " + " /\\ ".join(entries)
        title = f"{example.dialect} allows the listed results and no others"
    shows = (example.id, example.dialect)
    return Goal(
        f"example_{example.id}", "theorem", shows, f"the worked example {example.id}: {title}", statement
    )
