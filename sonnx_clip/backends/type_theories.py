"""The theories of the element types: the cases and what they entail, and the constraints on tensors. And the
theory of the restrictions on what a model declares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.backends.declared import (
    cases_and_result,
    constraint_trees,
    declared_classes,
    definitions,
    definitions_used,
    other_trees,
    reading_trees,
    stated,
)
from sonnx_clip.backends.theory import (
    CLIP,
    FOLDER,
    TENSORS,
    Declared,
    Goal,
    Module,
    comment,
    theories_of_types,
    theory_file,
)
from sonnx_clip.backends.whyml_printer import (
    APPLY,
    ATOM,
    WhymlPrinter,
    element_printer,
    goal,
    goals,
    tensor_printer,
)
from sonnx_clip.claims.all_claims import MEANING, claims_of
from sonnx_clip.claims.meaning_claims import WRITTEN
from sonnx_clip.claims.templates import SUBJECT
from sonnx_clip.language.tree import Kind, Value
from sonnx_clip.language.values import float_bits, infinity, sign_bit
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.evaluate import declared_example
from sonnx_clip.whyml.declarations import declarations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.claim import Claim, Obligation
    from sonnx_clip.language.printing import Piece
    from sonnx_clip.language.tree import Leaf
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.evaluate import DeclaredTensor

_ORDERED = "why3/ordered.mlw"


def type_theories(spec: Spec) -> tuple[Mapping[str, str], list[Obligation]]:
    """The theories of the element types and of the restrictions by their path, and their obligations."""
    files, obligations = theories_of_types(spec, "", lambda s, etype: [*_modules(s, etype)])
    if spec.operator not in WRITTEN or not spec.restrictions:
        return files, obligations
    path, module = f"{FOLDER}/{SUBJECT}.mlw", restrictions_module(spec)
    return {**files, path: theory_file(spec, [module])}, [*obligations, *module.obligations(SUBJECT, path)]


def ordered_axioms() -> tuple[str, ...]:
    """The axioms of why3/ordered.mlw, by name: what each element type has to meet."""
    text = repo_file(_ORDERED).read_text(encoding="utf-8")
    found = tuple(d.name for d in declarations(text) if d.form == "axiom")
    if not found:
        raise UserError("there is no axiom of an ordered element type", _ORDERED, "restore the file")
    return found


def _modules(spec: Spec, etype: ElementType) -> Iterator[Module]:
    yield _instance(etype)
    yield _meaning(spec, etype)
    if spec.operator not in WRITTEN:
        return
    if spec.constraints:
        yield _constraints(spec, etype)
    if refutations := claims_of(spec, etype.id, "refuted constraints"):
        yield _refutation(spec, etype, refutations)


def _instance(etype: ElementType) -> Module:
    axioms = ordered_axioms()
    given = ",\n".join(f"    goal {axiom}" for axiom in axioms)
    clone = (
        "  clone ordered.Ordered with\n    type t = t, predicate nan = nan, predicate le = le,"
        f" predicate lt = lt, predicate eq = eq,\n{given}"
    )
    titles = {axiom: f"{etype.id} is ordered: {axiom.replace('_', ' ')}" for axiom in axioms}
    return Module(
        "Instance",
        f"The comparisons of {etype.id} meet the axioms of an ordered element type.",
        [f"use elements.{etype.why3}"],
        [clone],
        [],
        cloned=[Goal(axiom, "instance", (etype.id,), title, "") for axiom, title in titles.items()],
    )


def _meaning(spec: Spec, etype: ElementType) -> Module:
    printer = element_printer(spec, etype)
    of_readings = definitions_used(spec, reading_trees(spec))
    of_others = definitions_used(spec, other_trees(spec))
    own = [d for d in spec.definitions if d in of_others or d not in of_readings]
    return Module(
        "Meaning",
        f"The meaning of {spec.operator} on one element.",
        [f"use elements.{etype.why3}", *[CLIP] * (spec.operator in WRITTEN)],
        [
            *cases_and_result(spec, printer),
            *([comment("Definitions."), *definitions(spec, etype, own)] if own else []),
            comment("Classes."),
            *declared_classes(spec, etype),
            *(_float_bits(etype) if etype.family == "float" else []),
        ],
        list(goals(claims_of(spec, etype.id, *MEANING), printer)),
        "smoke_meaning",
    )


def _float_bits(etype: ElementType) -> list[str]:
    """What the bits of a float are, as sign and magnitude, and how they compare."""
    form, digits = float_bits(etype), (etype.width or 0) // 4
    mask, top, zero = (f"(0x{value:0{digits}x}: t)" for value in (sign_bit(form) - 1, infinity(form), 0))
    return [
        comment("The bits of a float: sign and magnitude."),
        f"  function magnitude (a: t) : t = bw_and a {mask}",
        f"  predicate negative (a: t) = ult {mask} a",
        f"  predicate nan_bits (a: t) = ult {top} (magnitude a)",
        f"""  predicate le_bits (a b: t) =
    not nan_bits a /\\ not nan_bits b /\\
    if negative a
    then if negative b then ule (magnitude b) (magnitude a) else true
    else if negative b then magnitude a = {zero} /\\ magnitude b = {zero}
    else ule (magnitude a) (magnitude b)""",
    ]


def _constraints(spec: Spec, etype: ElementType) -> Module:
    found = list(goals(claims_of(spec, etype.id, "constraints"), tensor_printer(spec, etype)))
    typed = Declared(
        "predicate typed (x: tensor)", f"x.element = {etype.why3}",
        "The tag of a tensor is that of its entries.",
    )  # fmt: skip
    return Module(
        "Constraints",
        "The constraints, on tensors of any shape.",
        [f"use elements.{etype.why3}", CLIP, TENSORS],
        [
            *[typed.text] * any(g.name == "C3_of_the_entries" for g in found),
            *definitions(spec, etype, definitions_used(spec, constraint_trees(spec))),
            *_stated(spec, etype, refuted=False),
        ],
        found,
        "smoke_constraints",
    )


def _stated(spec: Spec, etype: ElementType, *, refuted: bool) -> list[str]:
    """The constraints of an element type as predicates, or those alone that are refuted."""
    parameters = WhymlPrinter(etype, spec.head, of_result=True).implicit
    printer = tensor_printer(spec, etype)
    return [
        stated(c, parameters, "tensor", printer)
        for c in spec.constraints
        if etype.family in (c.refuted_for if refuted else c.families)
    ]


def _refutation(spec: Spec, etype: ElementType, claims: tuple[Claim, ...]) -> Module:
    (witness,) = [claim.witness for claim in claims if claim.role == "refuted"]
    printer = element_printer(spec, etype)
    tensors = []
    for name, number in witness.items():
        shape = "Dim 1 Scalar" if name in spec.head.tensors else "Scalar"
        record = f"{{ element = {etype.why3}; shape = {shape}; entry = fun _ -> {printer.atom(number)} }}"
        tensors.append(f"  constant refuting_{name.lower()} : tensor =\n    {record}")
    clone = (
        "clone export tensor.TensorClip with\n"
        "    type t = t, predicate le = le, predicate eq = eq, function clip = clip,\n"
        "    type shape = shape, type index = index, predicate valid = valid,\n"
        "    constant empty = Scalar, constant origin = Origin"
    )
    return Module(
        "Refutation",
        "What the page states of the tensors and is not so: the numbers that refute it.",
        [f"use elements.{etype.why3}", "use tensor.OneEntry", CLIP, clone],
        [
            *definitions(spec, etype, definitions_used(spec, constraint_trees(spec))),
            *_stated(spec, etype, refuted=True),
            *tensors,
        ],
        list(goals(claims, tensor_printer(spec, etype))),
        "smoke_refutation",
    )


# --- The restrictions, on what a model declares -------------------------------------------------------------


def restrictions_module(spec: Spec) -> Module:
    """The restrictions as the YAML states them, and what is claimed of them."""
    printer = WhymlPrinter(None, spec.head, of_result=True)
    restrictions = [stated(r, printer.implicit, "declared", printer) for r in spec.restrictions]
    example = declared_example(spec)
    fields = [f"{name.lower()} = {_declared(spec, example[name])}" for name in spec.head.all]
    record = "{ " + ";\n    ".join(fields) + " }"
    node = f"  (** A node that meets every restriction. *)\n  constant example : node =\n  {record}"
    return Module(
        "Profile",
        "The restrictions as the YAML states them.",
        ["use profile.Restrictions"],
        [*restrictions, node],
        [_goal(spec, claim) for claim in claims_of(spec, SUBJECT)],
        "smoke_restrictions",
    )


def _goal(spec: Spec, claim: Claim) -> Goal:
    """A claim as a goal; its witness is a node: the `example` of the theory, or one that differs from it."""
    of_node = {name: f"n.{name.lower()}" for name in spec.head.all}
    printer = _DeclaredPrinter(None, spec.head, of_node, spec=spec)
    printed = goal(replace(claim, witness={}), printer)
    if not claim.witness:
        return printed
    changes = "; ".join(f"{name.lower()} = {printer.show(of)}" for name, of in claim.witness.items())
    node = "example" if claim.role == "consistent" else f"{{ example with {changes} }}"
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
    if dims is None:
        return "Undeclared"
    symbols: list[str] = []
    text = "NoMore"
    for dim in reversed(dims):
        if isinstance(dim, str) and dim not in symbols:
            symbols.append(dim)
        if isinstance(dim, str):
            shown = f"Symbolic {symbols.index(dim)}"
        else:
            shown = f"Known {dim}" if dim >= 0 else f"Known ({dim})"
        text = f"And ({shown}) {_atom(text)}"
    return f"Dims {_atom(text)}"
