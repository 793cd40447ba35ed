"""Renders spec/clip.yaml into Why3 theories: one file an element type, and one for the restrictions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass


from sonnx_clip.errors import UserError
from sonnx_clip.paths import repo_file
from sonnx_clip.render.goals import Goal, TypeGoals, tensor_printer
from sonnx_clip.render.header import header_lines
from sonnx_clip.render.obligation import Obligation
from sonnx_clip.render.templating import template
from sonnx_clip.render.whyml import AND, Printer
from sonnx_clip.spec import Spec
from sonnx_clip.spec.entries import Change, Declaration, Definition
from sonnx_clip.spec.scope import kind_of
from sonnx_clip.spec.tree import Kind as Sort
from sonnx_clip.spec.tree import Use
from sonnx_clip.spec.types import ElementType
from sonnx_clip.spec.values import float_bits, infinity, sign_bit
from sonnx_clip.spec.walk import subtrees

FOLDER = "generated/why3"


@dataclass(frozen=True)
class Rendering:
    """Rendered files by their path in the repository, and the obligations that they hold."""

    files: Mapping[str, str]
    obligations: tuple[Obligation, ...]


def render_why3(spec: Spec) -> Rendering:
    """All Why3 theories of a specification, with the list of their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in spec.element_types:
        path = f"{FOLDER}/{etype.id}.mlw"
        files[path], found = _type_theory(spec, etype, path)
        obligations += found
    path = f"{FOLDER}/restrictions.mlw"
    files[path], found = _profile_theory(spec, path)
    obligations += found
    files[f"{FOLDER}/obligations.json"] = _manifest(spec, obligations)
    return Rendering(files, tuple(obligations))


def _header(spec: Spec) -> str:
    first, *rest = header_lines(spec)
    return "\n".join([f"(* {first}", *(f"   {line}" for line in rest)]) + " *)\n"


def ordered_axioms() -> tuple[str, ...]:
    """The axioms of why3/ordered.mlw, by name: what each element type has to meet."""
    text = repo_file("why3/ordered.mlw").read_text(encoding="utf-8")
    found = tuple(re.findall(r"^\s*axiom\s+(\w+)", text, re.MULTILINE))
    if not found:
        raise UserError(
            "there is no axiom of an ordered element type", "why3/ordered.mlw", "restore the file"
        )
    return found


def _type_theory(spec: Spec, etype: ElementType, path: str) -> tuple[str, list[Obligation]]:
    goals = TypeGoals(spec, etype)
    axioms = ordered_axioms()
    element_goals = [
        *goals.encoding(),
        *goals.cases(),
        *goals.classes(),
        *goals.properties(),
        *goals.latitude(),
        *goals.examples(),
    ]
    tensor_goals, refutation_goals = list(goals.constraints()), list(goals.refutations())
    text = template("type.mlw.j2").render(
        header=_header(spec),
        etype=etype,
        axioms=axioms,
        element_goals=element_goals,
        tensor_goals=tensor_goals,
        refutation_goals=refutation_goals,
        **_declarations(spec, goals),
    )
    instances = [
        Goal(name, "instance", (etype.id,), f"{etype.id} is ordered: {name.replace('_', ' ')}", "")
        for name in axioms
    ]
    smoke = [_smoke("smoke_meaning"), _smoke("smoke_constraints")]
    if refutation_goals:
        refutation_goals.append(_smoke("smoke_refutation"))
    found = [
        *_obligations(etype.id, path, "Instance", instances),
        *_obligations(etype.id, path, "Meaning", [*element_goals, smoke[0]]),
        *_obligations(etype.id, path, "Constraints", [*tensor_goals, smoke[1]]),
        *_obligations(etype.id, path, "Refutation", refutation_goals),
    ]
    return text, found


def _smoke(name: str) -> Goal:
    return Goal(name, "smoke", ("smoke",), "false does not follow", "false")


def _obligations(subject: str, path: str, theory: str, goals: Iterable[Goal]) -> list[Obligation]:
    return [
        Obligation(
            f"{subject}.{g.name}", g.kind, subject, g.shows, g.title, path, theory, g.name, g.statement
        )
        for g in goals
    ]


def _declarations(spec: Spec, goals: TypeGoals) -> dict[str, object]:
    """What the template declares before the goals."""
    etype, printer = goals.etype, goals.printer()
    cases = [declare(c.id, "x l m", "t", printer.show(c.when), c.title) for c in spec.cases]
    classes = [
        declare(c.id, "x l m", "t", f"{c.case} x l m /\\ {printer.operand(c.when, AND)}")
        for c in spec.classes_of(etype.family)
    ]
    *first, last = spec.cases
    result = "".join(f"if {c.id} x l m then {c.result.lower()} else\n" for c in first) + last.result.lower()
    constraints = [
        {
            **declare(f"stated_{c.id}", "x l m y", "tensor", tensor_printer(etype).show(c.holds), c.title),
            "is_refuted": etype.family in c.refuted_for,
        }
        for c in spec.constraints
        if etype.family in c.families
    ]
    definitions = [_definition(d, etype) for d in spec.definitions]
    general = [_definition(d, etype) for d in _used_by_constraints(spec)]
    bits = None
    if etype.family == "float":
        form, digits = float_bits(etype), (etype.width or 0) // 4
        pattern = {"mask": sign_bit(form) - 1, "infinity": infinity(form), "zero": 0}
        bits = {name: f"(0x{value:0{digits}x}: t)" for name, value in pattern.items()}
    return {
        "cases": cases,
        "classes": classes,
        "result": result,
        "constraints": constraints,
        "definitions": definitions,
        "general": general,
        "float": bits,
        "refuting": goals.refuting_tensors(),
    }


def _definition(d: Definition, etype: ElementType) -> dict[str, str]:
    parameters = d.parameters or ("X", "L", "M")
    variables = {name: name.lower() for name in parameters}
    names = " ".join(variables.values())
    if d.families is not None and etype.family not in d.families:
        return declare(d.id, names, "t", "false", f"{d.title}: none in {etype.id}")
    body = Printer(etype, variables).show(d.is_)
    return declare(d.id, names, "t", body, d.title, is_function=kind_of(d.is_) is Sort.ELEMENT)


def declare(
    name: str, parameters: str, of: str, body: str, title: str = "", *, is_function: bool = False
) -> dict[str, str]:
    """A predicate or function; a parameter that the body does not use is marked so that Why3 does not warn."""
    used = set(re.findall(r"[a-z_]\w*", body))
    shown = " ".join(p if p in used else f"_{p}" for p in parameters.split())
    head = f"function {name} ({shown}: {of}) : {of}" if is_function else f"predicate {name} ({shown}: {of})"
    return {"title": title, "head": head, "body": body}


def _used_by_constraints(spec: Spec) -> list[Definition]:
    """The definitions that a constraint uses, and what these use, in the order of the file."""
    wanted: set[str] = set()
    pending = [tree for c in spec.constraints for tree in (c.holds, *c.repaired.values())]
    while pending:
        for node in subtrees(pending.pop()):
            if isinstance(node, Use) and node.id not in wanted:
                wanted.add(node.id)
                pending.append(spec.definition(node.id).is_)
    return [d for d in spec.definitions if d.id in wanted]


def _profile_theory(spec: Spec, path: str) -> tuple[str, list[Obligation]]:
    printer = Printer(None, {"X": "x", "L": "l", "M": "m", "Y": "y"})
    restrictions = [
        declare(f"stated_{r.id}", "x l m y", "declared", printer.show(r.holds), r.statement)
        for r in spec.restrictions
    ]
    goals = list(_profile_goals(spec))
    text = template("profile.mlw.j2").render(
        header=_header(spec),
        restrictions=restrictions,
        goals=goals,
        example=_node(spec, {}),
    )
    return text, _obligations("restrictions", path, "Profile", [*goals, _smoke("smoke_profile")])


def _profile_goals(spec: Spec) -> Iterable[Goal]:
    ids = [r.id for r in spec.restrictions]
    for r in spec.restrictions:
        yield Goal(
            f"{r.id}_is_written",
            "equivalence",
            (r.id,),
            f"{r.id} of the YAML is the hand-written one",
            f"forall n: node. stated_{r.id} n.x n.l n.m n.y <-> {r.id.lower()} n",
        )
    yield Goal(
        "consistent",
        "theorem",
        tuple(ids),
        "one node meets every restriction",
        "let n = example in " + " /\\ ".join(f"stated_{id_} n.x n.l n.m n.y" for id_ in ids),
    )
    for r in spec.restrictions:
        others = "".join(f" /\\ stated_{id_} n.x n.l n.m n.y" for id_ in ids if id_ != r.id)
        yield Goal(
            f"{r.id}_independent",
            "theorem",
            (r.id,),
            f"a node breaks {r.id} and nothing else",
            f"let n = {_node(spec, r.broken_alone_by)} in not stated_{r.id} n.x n.l n.m n.y{others}",
        )


def _node(spec: Spec, changes: Mapping[str, object]) -> str:
    fields = []
    for name in ("X", "L", "M", "Y"):
        declared: Declaration = getattr(spec.declared_example, name)
        change = changes.get(name)
        if change == "absent":
            fields.append(f"{name.lower()} = Absent")
            continue
        if isinstance(change, Change):
            declared = declared.model_copy(update=change.model_dump(exclude_unset=True))
        tag = spec.element_type(declared.type).why3
        fields.append(
            f"{name.lower()} = Present {{ element = {tag}; sparse = {declared.sparse}; dims = {_dims(declared)} }}"
        )
    return "{ " + "; ".join(fields) + " }"


def _dims(declared: Declaration) -> str:
    if declared.dims is None:
        return "Undeclared"
    symbols: list[str] = []
    text = "NoMore"
    for dim in reversed(declared.dims):
        if isinstance(dim, str) and dim not in symbols:
            symbols.append(dim)
        shown = f"Known {dim}" if isinstance(dim, int) else f"Symbolic {symbols.index(dim)}"
        text = f"And ({shown}) ({text})" if " " in text else f"And ({shown}) {text}"
    return f"Dims ({text})" if " " in text else f"Dims {text}"


def _manifest(spec: Spec, obligations: Iterable[Obligation]) -> str:
    about = header_lines(spec)
    rows = [asdict(o) for o in obligations]
    return json.dumps({"about": about, "obligations": rows}, indent=1, ensure_ascii=False) + "\n"
