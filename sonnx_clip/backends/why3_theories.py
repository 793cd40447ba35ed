"""The theories in Why3: of each element type, its readings, dialects and examples and what findings claim;
and of the restrictions on what a model declares.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.backends.declared import declarations_used, stated_predicate, uses_of
from sonnx_clip.backends.theory import (
    CLIP,
    FOLDER,
    ORDERED,
    TENSORS,
    Generated,
    Goal,
    Module,
    axioms_of,
    instance_goals,
    theory_file,
)
from sonnx_clip.backends.whyml_printer import (
    APPLY,
    ATOM,
    WhymlPrinter,
    element_printer,
    goal,
    tensor_printer,
)
from sonnx_clip.claims.all_claims import MEANING, READINGS, claims_of
from sonnx_clip.claims.templates import SUBJECT
from sonnx_clip.language.tree import Kind, Value
from sonnx_clip.spec.evaluate import declared_example
from sonnx_clip.spec.operators import has_written_theory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Claim, Obligation
    from sonnx_clip.language.printing import Piece
    from sonnx_clip.language.tree import Expr, Leaf
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import DeclaredTensor


def _module(
    spec: Spec,
    etype: ElementType,
    name: str,
    about: str,
    groups: Sequence[str],
    uses: Sequence[str] = (),
    printer: WhymlPrinter | None = None,
    constants: Sequence[str] = (),
) -> Iterator[Module]:
    """A module with the claims of some groups as goals and what they use, if there are any."""
    printer = printer or element_printer(spec, etype)
    goals = [goal(claim, printer) for claim in claims_of(spec, etype.id, *groups)]
    if not goals:
        return
    statements = [g.statement for g in goals]
    # Conversions from FLOAT are used by few theories, and Why3 puts what a theory uses into each task.
    if any("converts" in statement for statement in statements):
        uses = ["use elements.Float32 as FLOAT", f"use convert.To{etype.why3}", *uses]
    parts = [*declarations_used(spec, etype, statements), *constants]
    smoke = "smoke" + re.sub("([A-Z])", r"_\1", name).lower()  # smoke_tensor_findings
    yield Module(
        name=name,
        about=about,
        uses=[*uses_of(spec, etype), *uses],
        parts=parts,
        goals=goals,
        smoke=smoke,
    )


# --- The element types --------------------------------------------------------------------------------------

PREFIXES = ("", "readings_", "dialects_", "examples_", "findings_")
"""How the names of the files of an element type begin."""


def modules_of(spec: Spec, etype: ElementType) -> Mapping[str, list[Module]]:
    """The modules of each file of an element type, by the prefix of the file."""
    id_ = etype.id
    # The claims of an operator without a theory by hand are about its cases alone.
    uses_clip = [CLIP] if has_written_theory(spec) else []
    # The shape is a parameter there: with recursive lists Z3 ran out of memory or time on C2.
    uses_tensors = [CLIP, TENSORS]
    of_tensors = tensor_printer(spec, etype)
    # Findings speak of the constraints by name: `stated_C2 x l m y`.
    of_stated = replace(of_tensors, of_result=True, prefix="stated_")
    meaning = f"The meaning of {spec.operator} on one element."
    constraints = "The constraints, on tensors of any shape."
    readings = f"Where the readings of {spec.operator} agree in {id_}: with the cases, and with one another."
    dialects = (
        f"The dialects of Clip in {id_}: where each is the Clip of SONNX, what its missing bounds do,"
        " what its\n    conversions do to bounds, and what a newer one changes."
    )
    uses_dialects = [CLIP]
    if _has_scale_and_bias(spec, etype):
        uses_dialects.insert(0, f"use scale_bias.Scale{etype.why3}")
    examples = f"The worked examples of dialects in {id_}."
    findings = "What the findings about the sources claim of"
    elements = f"{findings} elements of {id_}."
    tensors = f"{findings} tensors of {id_}, of any shape."
    return {
        "": [
            _instance(etype),
            *_module(spec, etype, "Meaning", meaning, MEANING, uses_clip),
            *_module(
                spec, etype, "Constraints", constraints, ["constraints"], uses_tensors, of_tensors
            ),
            *_refutation(spec, etype),
        ],
        "readings_": [*_module(spec, etype, "Readings", readings, READINGS, uses_clip)],
        "dialects_": [*_module(spec, etype, "Dialects", dialects, ["dialects"], uses_dialects)],
        "examples_": [*_module(spec, etype, "Examples", examples, ["dialect examples"])],
        "findings_": [
            *_module(spec, etype, "Findings", elements, ["findings"]),
            *_module(
                spec,
                etype,
                "TensorFindings",
                tensors,
                ["findings on tensors"],
                uses_tensors,
                of_stated,
            ),
        ],
    }


def _has_scale_and_bias(spec: Spec, etype: ElementType) -> bool:
    """Whether a dialect scales the result of a float type."""
    if etype.family != "float":
        return False
    dialects = (dialect for dialect in spec.dialects if etype.id in dialect.element_types)
    return any(dialect.scale_bias for dialect in dialects)


def _instance(etype: ElementType) -> Module:
    """That an element type meets each axiom of an ordered one."""
    axioms = axioms_of(ORDERED)
    # Why3 turns an axiom into a goal where the clone says so: it has no statement of its own here.
    goals = ",\n".join(f"    goal {axiom}" for axiom in axioms)
    clone = (
        "  clone ordered.Ordered with\n    type t = t, predicate nan = nan, predicate le = le,"
        f" predicate lt = lt, predicate eq = eq,\n{goals}"
    )
    return Module(
        name="Instance",
        about=f"The comparisons of {etype.id} meet the axioms of an ordered element type.",
        uses=[f"use elements.{etype.why3}"],
        parts=[clone],
        goals=[],
        cloned=instance_goals(etype, axioms, "is ordered"),
    )


def _refutation(spec: Spec, etype: ElementType) -> Iterator[Module]:
    """The refuted constraints, on tensors of one entry: the numbers of the first refutation."""
    group = "refuted constraints"
    printer = element_printer(spec, etype)
    witness: Mapping[str, Expr] = {}
    for claim in claims_of(spec, etype.id, group):
        if claim.role == "refuted":
            witness = claim.witness
            break
    # X has one dimension of one entry; the bounds are scalars, as ONNX has them.
    tensors = []
    for name, number in witness.items():
        shape = "Dim 1 Scalar" if name in spec.signature.tensors else "Scalar"
        entry = f"fun _ -> {printer.atom(number)}"
        record = f"{{ element = {etype.why3}; shape = {shape}; entry = {entry} }}"
        tensors.append(f"  constant refuting_{name.lower()} : tensor =\n    {record}")
    clone = (
        "clone export tensor.TensorClip with\n"
        "    type t = t, predicate le = le, predicate eq = eq, function clip = clip,\n"
        "    type shape = shape, type index = index, predicate valid = valid,\n"
        "    constant empty = Scalar, constant origin = Origin"
    )
    about = "What the page states of the tensors and is not so: the numbers that refute it."
    uses = ["use tensor.OneEntry", CLIP, clone]
    of_tensors = tensor_printer(spec, etype)
    yield from _module(spec, etype, "Refutation", about, [group], uses, of_tensors, tensors)


# --- The restrictions, on what a model declares -------------------------------------------------------------


def restrictions_module(spec: Spec) -> Module:
    """The restrictions as the YAML states them, and what is claimed of them."""
    printer = WhymlPrinter(None, spec.signature, of_result=True)
    restrictions = []
    for restriction in spec.restrictions:
        predicate = stated_predicate(restriction, printer.implicit, "declared", printer)
        restrictions.append(predicate.text)
    example = declared_example(spec)
    fields = []
    for name in spec.signature.all_ids:
        tensor = _declared(spec, example[name])
        fields.append(f"{name.lower()} = {tensor}")
    record = "{ " + ";\n    ".join(fields) + " }"
    node = f"  (** A node that meets every restriction. *)\n  constant example : node =\n  {record}"
    return Module(
        name="Profile",
        about="The restrictions as the YAML states them.",
        uses=["use profile.Restrictions"],
        parts=[*restrictions, node],
        goals=[_goal(spec, claim) for claim in claims_of(spec, SUBJECT)],
        smoke="smoke_restrictions",
    )


def _goal(spec: Spec, claim: Claim) -> Goal:
    """A claim as a goal; its witness is a node: the `example` of the theory, or one that differs from it."""
    of_node = {name: f"n.{name.lower()}" for name in spec.signature.all_ids}
    printer = _DeclaredPrinter(None, spec.signature, of_node, spec=spec)
    printed = goal(replace(claim, witness={}), printer)
    if not claim.witness:
        return printed
    if claim.role == "consistent":  # its witness is the whole of the example
        node = "example"
    else:
        fields = claim.witness.items()
        changes = [f"{name.lower()} = {printer.show(value)}" for name, value in fields]
        node = f"{{ example with {'; '.join(changes)} }}"
    return replace(printed, statement=f"let n = {node} in {printed.statement}")


@dataclass(frozen=True)
class _DeclaredPrinter(WhymlPrinter):
    """Prints conditions on tensors as a model declares them."""

    spec: Spec | None = None

    def leaf(self, expr: Leaf) -> Piece:
        match expr:
            case Value(value=tensor, kind=Kind.DECLARED):
                assert self.spec is not None
                text = _declared(self.spec, tensor)
                return (APPLY if " " in text else ATOM), text
            case _:
                return super().leaf(expr)


def _declared(spec: Spec, tensor: DeclaredTensor | None) -> str:
    if tensor is None:
        return "Absent"
    tag = spec.element_type(tensor.type).why3
    return f"Present {{ element = {tag}; sparse = {tensor.sparse}; dims = {_dims(tensor.dims)} }}"


def _atom(text: str) -> str:
    return f"({text})" if " " in text else text


def _dims(dims: tuple[int | str, ...] | None) -> str:
    """Declared dimensions, symbolic ones numbered: the theory knows only which of them are the same."""
    if dims is None:
        return "Undeclared"
    symbols: list[str] = []
    text = "NoMore"
    for dim in reversed(dims):  # a list of Why3 is built from its end
        if isinstance(dim, str):
            if dim not in symbols:
                symbols.append(dim)
            shown = f"Symbolic {symbols.index(dim)}"
        else:
            shown = f"Known {dim}" if dim >= 0 else f"Known ({dim})"
        text = f"And ({shown}) {_atom(text)}"
    return f"Dims {_atom(text)}"


# --- All of them --------------------------------------------------------------------------------------------


def why3_theories(spec: Spec) -> Generated:
    """The theories by their path in the repository, and their obligations."""
    by_type = {etype.id: modules_of(spec, etype) for etype in spec.element_types}
    files: dict[str, str] = {}
    obligations: list[Obligation] = []

    def add(name: str, subject: str, modules: Sequence[Module]) -> None:
        path = f"{FOLDER}/{name}.mlw"
        files[path] = theory_file(spec, modules)
        for module in modules:
            obligations.extend(module.obligations(subject, path))

    for prefix in PREFIXES:
        for id_, modules in by_type.items():
            if modules[prefix]:
                add(f"{prefix}{id_}", id_, modules[prefix])
        # Restrictions come behind the first theory of every type: so obligations keep their order.
        if prefix == "" and spec.restrictions and has_written_theory(spec):
            add(SUBJECT, SUBJECT, [restrictions_module(spec)])
    return Generated(files, tuple(obligations))
