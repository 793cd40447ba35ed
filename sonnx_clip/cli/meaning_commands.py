"""The commands that explain Clip, and compare readings, dialects and sources with it."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sonnx_clip.cli.options import (
    CLIP,
    INPUT,
    NUMBER,
    Build,
    Format,
    Operator,
    Type,
    X,
    hidden_option,
    option,
    print_value,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import BUILD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.rewrites.rewrite import Rewrite
    from sonnx_clip.rewrites.views import RewritesView
    from sonnx_clip.spec import Spec

_Bound = option("", "Bound; missing by default.", INPUT, value="NUMBER")
_Scale = option("", "ScaleBias of DirectML.", INPUT, value="NUMBER")


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[OPERATOR] TYPE",
            help="Element type of X, such as float32; before it the operator, as for --operator.",
        ),
    ],
    x: Annotated[str | None, NUMBER] = None,
    min: Annotated[str | None, NUMBER] = None,
    max: Annotated[str | None, NUMBER] = None,
    operator: Operator = CLIP,
    operand: Annotated[list[str] | None, hidden_option("", "NAME=NUMBER")] = None,
    format: Format = "text",
    build: Build = BUILD,
) -> None:
    """Explain one call: its case and class, the result, accepted deviations, and the proofs.

    Another operator has options of its own: `explain max float32 --u -0 --w 0`.
    """
    from sonnx_clip.explain.triple import explain_triple as explain_call
    from sonnx_clip.explain.triple import explanation_text
    from sonnx_clip.prove.proofs_record import known
    from sonnx_clip.spec.operators import specification

    dtype, operator = _type_and_operator(words, operator)
    spec = specification(operator)
    # The options of Clip have lines in the help; those of other operators come as `operand`.
    given = _numbers(operand)
    for name, text in (("x", x), ("min", min), ("max", max)):
        if text is not None:
            given[name] = text
    texts = _operands(spec, given)
    explanation = explain_call(spec, dtype, *texts, status_of=partial(known, build))
    print_value(explanation, explanation_text, format)


def _numbers(pairs: list[str] | None) -> dict[str, str]:
    """The numbers of hidden options ``NAME=NUMBER``, by name."""
    numbers = {}
    for pair in pairs or []:
        name, _, number = pair.partition("=")
        numbers[name] = number
    return numbers


def _type_and_operator(words: list[str], operator: str) -> tuple[str, str]:
    """The element type and the operator, which may stand before it; UserError for anything else."""
    *named, dtype = words  # Typer has no optional argument before one that is required
    if len(named) > 1:
        wrong = f"explain takes an operator and an element type, not {len(words)} words"
        raise UserError(wrong, todo="give operands as options, such as --x 1")
    if named and operator not in (CLIP, named[0]):
        both = f"two operators are named: {named[0]} and {operator}"
        raise UserError(both, todo="name one: OPERATOR TYPE, or --operator")
    return dtype, named[0] if named else operator


def _operands(spec: "Spec", given: "Mapping[str, str]") -> list[str]:
    """The texts of the operands in their order; UserError for one that is missing or unknown."""
    keys = spec.signature.keys
    options = ", ".join(f"--{key}" for key in keys)
    for name in given:
        if name not in keys:
            raise UserError(f"{spec.operator} has no operand --{name}", todo=f"it has {options}")
    # No operand has a default here: absent bounds are a matter of dialects, which `dialect`
    # evaluates.
    for key in keys:
        if key not in given:
            raise UserError(f"the option --{key} is missing", todo=f"give {options}")
    return [given[key] for key in keys]


def readings(
    dtype: Annotated[
        str, option("", "Element type; float32 by default.", INPUT, value="TYPE")
    ] = "float32",
    operator: Operator = CLIP,
    format: Format = "text",
) -> None:
    """Print the result of each reading of the sources in each class, compared with the cases."""
    from sonnx_clip.explain.readings_matrix import matrix, matrix_text
    from sonnx_clip.spec.operators import part_missing, specification

    spec = specification(operator)
    if not spec.readings:
        raise part_missing(spec, "readings")
    print_value(matrix(spec, spec.element_type(dtype)), matrix_text, format)


def dialects(format: Format = "text") -> None:
    """List the dialects: ONNX by operator set, DirectML by feature level, SONNX by chapter."""
    from sonnx_clip.explain.dialects_table import dialect_table, table_text
    from sonnx_clip.spec import load_spec

    print_value(dialect_table(load_spec()), table_text, format)


def dialect(
    id: Annotated[
        str, typer.Argument(metavar="DIALECT", help="For example onnx-6 or directml-2.1.")
    ],
    dtype: Type,
    x: X,
    min: Annotated[str | None, _Bound] = None,
    max: Annotated[str | None, _Bound] = None,
    scale: Annotated[str | None, _Scale] = None,
    bias: Annotated[str | None, _Scale] = None,
    format: Format = "text",
) -> None:
    """Evaluate a dialect for one element, and show how it converts the bounds."""
    from sonnx_clip.explain.dialect_call import applied_text, apply
    from sonnx_clip.spec import load_spec

    applied = apply(load_spec(), id, dtype, x, min=min, max=max, scale=scale, bias=bias)
    print_value(applied, applied_text, format)


def findings(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Only these findings.", show_default=False),
    ] = None,
    measure: Annotated[
        bool, option("--measure", "Run the installed runtimes and store their answers.")
    ] = False,
    operator: Operator = CLIP,
    format: Format = "text",
) -> None:
    """Print defects, ambiguities and gaps of the sources: claim, proof, and answers of runtimes."""
    from sonnx_clip.explain.finding_views import tell
    from sonnx_clip.explain.findings_text import as_json, as_text
    from sonnx_clip.explain.measured_record import PATH, read_measured
    from sonnx_clip.spec.operators import known_operators, part_missing, specification

    spec = specification(operator)
    if not spec.findings:
        raise part_missing(spec, "findings")
    if measure:
        from sonnx_clip.explain.measure import write_record
        from sonnx_clip.root.folders import checkout

        checkout()  # for its error: the record is a source, and not in a wheel to be changed
        # One record for all operators: it is written as a whole.
        record = write_record([specification(name) for name in known_operators()])
        rejected = sum(not answer.bits for answer in record.answers)
        print(f"{PATH}: {len(record.answers)} answers, {rejected} of them rejections")
        print("to update docs/findings.md, run: sonnx-clip generate")
        return
    record = read_measured(spec)
    known = {finding.id: finding for finding in tell(spec, record)}
    selected = []
    for id_ in ids or known:
        selected.append(known[spec.entry("findings", id_).id])  # UserError for an unknown one
    print(as_json(selected, record) if format == "json" else as_text(selected))


def rewrites(
    id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Only this rewrite.", show_default=False),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Argument(
            metavar="[TYPE]",
            help="Decide it for constants of this element type.",
            show_default=False,
        ),
    ] = None,
    before: Annotated[
        str | None, option("", "Decide another rewrite: this term ...", INPUT, value="TERM")
    ] = None,
    after: Annotated[str | None, option("", "... becomes this one.", INPUT, value="TERM")] = None,
    operand: Annotated[list[str] | None, hidden_option("", "NAME=NUMBER")] = None,
    format: Format = "text",
    build: Build = BUILD,
) -> None:
    """Print for which constants a rewrite of Clip and its neighbours is legal, or decide one.

    Constants are options. With --before and --after, terms such as `relu(clip(X, A, B))`, the only argument
    is the element type. The exit status is 1 if a value changes.
    """
    given = _numbers(operand)
    if before is not None or after is not None:
        # The only argument is the element type then, in the place of an id.
        if before is None or after is None or id is None or dtype is not None:
            what = "two terms and one element type decide a rewrite"
            todo = "write: sonnx-clip rewrites float32 --before TERM --after TERM"
            raise UserError(what, "sonnx-clip rewrites", todo)
        _decide_terms(before, after, id, given, format)
    elif id is not None and dtype is not None:
        _decide_known(id, dtype, given, format, build)
    elif given:
        what = "constants are given without an element type"
        raise UserError(
            what, "sonnx-clip rewrites", "write: sonnx-clip rewrites ID TYPE --A NUMBER"
        )
    else:
        _show_rewrites(id, format, build)


def _decide_terms(
    before: str, after: str, type_id: str, given: "Mapping[str, str]", format: Format
) -> None:
    from sonnx_clip.prove.on_the_spot import prove_sufficiency
    from sonnx_clip.rewrites.decide import decide
    from sonnx_clip.rewrites.terms import read_term
    from sonnx_clip.rewrites.views import decision_text

    terms = read_term(before, "--before"), read_term(after, "--after")
    # The decision looks at critical points alone; provers show that these suffice, for all constants.
    decision = decide(*terms, type_id, given)
    proof = prove_sufficiency(*terms, type_id)
    decision = decision.model_copy(
        update={"suffice": proof.status, "provers": proof.provers, "reason": proof.reason}
    )
    print_value(decision, decision_text, format)
    if not decision.is_legal:
        raise typer.Exit(1)


def _decide_known(
    id: str, type_id: str, given: "Mapping[str, str]", format: Format, build: Path
) -> None:
    from sonnx_clip.rewrites.decide import decide
    from sonnx_clip.rewrites.rewrite import known_theorems, rewrite_of
    from sonnx_clip.rewrites.terms import type_of_clip
    from sonnx_clip.rewrites.views import decision_text

    # Its id is accepted by `rewrites ID`, so the message says why TYPE and constants are too much.
    if any(theorem.id == id for theorem in known_theorems()):
        what = f"{id} is about every function of a kind: there are no constants to decide"
        raise UserError(what, "sonnx-clip rewrites", f"show it: sonnx-clip rewrites {id}")
    rewrite = rewrite_of(id)
    decision = decide(rewrite.before, rewrite.after, type_id, given)
    (shown,) = _views_of([rewrite], build, witnesses=False).rewrites
    family = type_of_clip(type_id).family
    of_type = [condition for condition in shown.conditions if condition.family == family]
    # The theorem is about constants of a condition: for others, only the decision is there.
    if of_type and rewrite.covers(type_id, given):
        is_proved = all(condition.status == "proved" for condition in of_type)
        decision = decision.model_copy(update={"suffice": "proved" if is_proved else "stated"})
    print_value(decision, decision_text, format)
    if not decision.is_legal:
        raise typer.Exit(1)


def _show_rewrites(id: str | None, format: Format, build: Path) -> None:
    from sonnx_clip.rewrites.rewrite import known_rewrites, known_theorems, rewrite_of
    from sonnx_clip.rewrites.views import RewritesView, rewrites_text, theorem_views

    # Theorems are listed with the rewrites, and one can be shown by its id as they are.
    chosen_theorems = [theorem for theorem in known_theorems() if id in (None, theorem.id)]
    theorems = theorem_views(chosen_theorems)
    if id is not None and theorems:
        shown = RewritesView(rewrites=(), theorems=theorems)
    else:
        chosen = known_rewrites() if id is None else (rewrite_of(id),)
        # Witnesses are for the reader of one rewrite; in a list they would bury the conditions.
        shown = _views_of(chosen, build, witnesses=id is not None)
        shown = shown.model_copy(update={"theorems": theorems})
    print_value(shown, rewrites_text, format)


def _views_of(chosen: "Sequence[Rewrite]", build: Path, *, witnesses: bool) -> "RewritesView":
    """The rewrites with what a run of the provers found of them."""
    from sonnx_clip.backends.rewrites_theory import obligations_by_condition
    from sonnx_clip.prove.proofs_record import known
    from sonnx_clip.rewrites.views import view
    from sonnx_clip.spec import load_spec

    spec = load_spec()
    # All in one look-up: `known` reads the record of the proofs at each call.
    all_obligations = []
    ids = {}
    for condition, obligations in obligations_by_condition(spec).items():
        all_obligations += obligations
        ids[condition] = [obligation.id for obligation in obligations]
    outcomes = known(build, spec, all_obligations)
    statuses = {id_: outcome.status for id_, outcome in outcomes.items()}
    return view(chosen, ids, statuses, witnesses=witnesses)
