"""Renders build/evidence/explorer.html: one input of an operator or a rewrite, and the evidence on it.

The conditions are those of spec/, printed as JavaScript; the page evaluates them. What the runtimes
answered and what is proved is data, compressed as in index.html, to which the page links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.javascript import constants_of, render_javascript, render_rewrites
from sonnx_clip.evidence.page import packed, render_template
from sonnx_clip.evidence.runtimes import dialects_of, runtimes_of
from sonnx_clip.language import encode, show_bits, tree, unparse
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import CONSTANTS
from sonnx_clip.rewrites.rewrite import known_rewrites
from sonnx_clip.rewrites.terms import operators
from sonnx_clip.root.terminal import counted
from sonnx_clip.spec.dialects import defaults

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.evidence.evidence_model import Evidence, ObligationEvidence
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.rewrites.rewrite import Rewrite
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import ValueClass


def render_explorer(evidence: Evidence, records: Records) -> str:
    """The page as text."""
    spec = records.spec
    name = spec.signature.function
    specs = {name: spec}
    for other_name, other in operators().items():
        specs.setdefault(other_name, other)
    scopes = {id_: meaning_data(member) for id_, member in specs.items()}
    runtimes = [
        *runtimes_of(spec, evidence.runtimes),
        *dialects_of(spec, evidence.dialects),
    ]
    scopes[name] |= {
        "obligations": _by_type(spec, evidence.obligations),
        "runtimes": [_runtime(view) for view in runtimes],
    }
    for operator in evidence.operators:
        if operator.name in specs and operator.totals:
            prefix = f"{operator.name}:"
            other = specs[operator.name]
            scopes[operator.name] |= {
                "prefix": prefix,
                "obligations": _by_type(other, operator.obligations, prefix),
            }
    rewrites = known_rewrites()
    others = counted(len(specs) - 1, "other operator")
    subject = f"{spec.operator}, {others} and {counted(len(rewrites), 'rewrite')}"
    scopes["rewrites"] = rewrites_data()
    return render_template(
        "explorer.html.j2",
        subject=subject,
        operators={id_: member.operator for id_, member in specs.items()},
        rewrites=[rewrite.id for rewrite in rewrites],
        meaning=render_javascript(*specs.values()) + render_rewrites(rewrites),
        data=packed({"scopes": scopes}),
    )


def _by_type(
    spec: Spec, obligations: Iterable[ObligationEvidence], prefix: str = ""
) -> dict[str, Any]:
    """The obligations of an operator that the page links to, by element type."""
    all_obligations = list(obligations)
    by_type = {}
    for etype in spec.element_types:
        by_type[etype.id] = _obligations(spec, all_obligations, etype.id, prefix)
    return by_type


def rewrites_data() -> dict[str, Any]:
    """What the printed rewrites need beside them, and their texts; the types are those of Clip."""
    clip = operators()["clip"]
    return {
        "operator": "",
        "constants": {family.id: sorted(CONSTANTS[family.id]) for family in clip.families},
        "types": {etype.id: _type_of_rewrites(etype) for etype in clip.element_types},
        "rewrites": {rewrite.id: _rewrite(rewrite) for rewrite in known_rewrites()},
    }


def _type_of_rewrites(etype: ElementType) -> dict[str, Any]:
    """An element type with the numbers of every operator and of every rewrite that has it."""
    texts = set(CONSTANTS[etype.family])
    for spec in operators().values():
        if etype.id in {known.id for known in spec.element_types}:
            texts |= {*constants_of(spec, spec.element_type(etype.id).family)}
    for rewrite in known_rewrites():
        if family := _types_of(rewrite).get(etype.id):
            texts |= {*_numbers(rewrite, family)}
    return _type_with(etype, texts)


def _rewrite(rewrite: Rewrite) -> dict[str, Any]:
    entry = rewrite.entry
    return {
        "title": entry.title,
        "before": entry.before,
        "after": entry.after,
        "given": entry.given,
        "legal_when": entry.legal_when,
        "why": entry.why,
        "seen": [str(seen) for seen in entry.seen],
        "constants": rewrite.constants,
        "families": _types_of(rewrite),
        "numbers": _numbers_of_terms(rewrite),
    }


def _types_of(rewrite: Rewrite) -> dict[str, str]:
    """The element types in which a rewrite can be decided, with the family of each."""
    families = [family.id for family in operators()["clip"].families]
    return {
        etype.id: family
        for family in families
        if rewrite.fits(family)
        for etype in rewrite.element_types(family)
    }


def _numbers_of_terms(rewrite: Rewrite) -> list[str]:
    return _texts_of_numbers([rewrite.before, rewrite.after])


def _numbers(rewrite: Rewrite, family: str) -> list[str]:
    """The numbers of a rewrite and of its conditions in a family, as texts."""
    conditions = [
        rewrite.condition(of_family, strength)
        for of_family, strength in rewrite.stated()
        if of_family == family
    ]
    trees = [rewrite.before, rewrite.after, rewrite.given, *conditions]
    return _texts_of_numbers(
        [expr for expr in trees if expr is not None and not isinstance(expr, bool)]
    )


def _texts_of_numbers(expressions: Iterable[tree.Expr]) -> list[str]:
    parts = (part for expr in expressions for part in tree.subtrees(expr))
    return sorted({part.text for part in parts if isinstance(part, tree.Number)})


def operands_of(spec: Spec) -> list[dict[str, Any]]:
    """Of each operand its variable, its name in the fragment and on the page, and who asks for a scalar."""
    required = {
        name: f"{restriction.id}: {restriction.statement}"
        for restriction in spec.restrictions
        for name, change in restriction.broken_alone_by.items()
        if change == "absent"
    }
    return [
        {
            "id": o.id,
            "key": o.key,
            "onnx": o.onnx,
            "scalar": o.role == "scalar",
            "required": required.get(o.id),
        }
        for o in spec.signature.operands
    ]


def meaning_data(spec: Spec) -> dict[str, Any]:
    """What the printed functions need beside them, and the words of the entries."""
    return {
        "operator": spec.signature.function,
        "title": spec.operator,
        "prefix": "",
        "domain": {family: domain.reason for family, domain in spec.domain.items()},
        "obligations": {},
        "runtimes": [],
        "operands": operands_of(spec),
        "result": spec.signature.result.id,
        "constants": {family.id: sorted(CONSTANTS[family.id]) for family in spec.families},
        "types": {etype.id: _type(spec, etype) for etype in spec.element_types},
        "cases": {
            c.id: {"title": c.title, "when": unparse(c.when), "result": c.result_text}
            for c in spec.cases
        },
        "classes": {c.id: _class(c) for c in spec.classes},
        "latitude": {entry.id: entry.reason for entry in spec.latitude},
        "readings": {reading.id: reading.title for reading in spec.readings},
        "dialects": {d.id: _dialect(spec, d) for d in spec.dialects},
    }


def _type(spec: Spec, etype: ElementType) -> dict[str, Any]:
    return _type_with(etype, {*CONSTANTS[etype.family], *constants_of(spec, etype.family)})


def _type_with(etype: ElementType, texts: Iterable[str]) -> dict[str, Any]:
    """An element type with numbers: `family` names the form of its values, `functions` its family."""
    form: Mapping[str, Any] = etype.bits.model_dump() if etype.bits else {}
    special = (
        [_hex(pattern, etype) for pattern in special_patterns(etype)]
        if etype.family == "float"
        else []
    )
    return {
        "family": "int" if etype.family == "uint" else etype.family,
        "functions": etype.family,
        "width": etype.width,
        **form,
        "numbers": {
            t: t if etype.width is None else show_bits(encode(t, etype), etype)
            for t in sorted(texts)
        },
        **({"special": special} if special else {}),
    }


def _class(c: ValueClass) -> dict[str, Any]:
    return {
        "title": c.title,
        "matters": c.matters,
        "when": unparse(c.when),
        "families": c.families,
        "at": [*c.inhabited_by.texts().values()],
    }


def _dialect(spec: Spec, d: Dialect) -> dict[str, Any]:
    etypes = [spec.element_type(id_) for id_ in d.element_types]
    missing = {
        e.id: [_hex(value, e) for value in defaults(spec, d, e) or ()] for e in etypes if d.missing
    }
    return {
        "title": d.title,
        "types": d.element_types,
        "bound_type": d.bound_type,
        "missing": missing or None,
        "reading": d.reading,
        "answers": d.answers,
        "cast": d.unsaid.get("cast_of_no_number"),
    }


def _hex(value: Any, etype: ElementType) -> str:
    return str(value) if etype.width is None else show_bits(value, etype)


def _obligations(
    spec: Spec, obligations: Iterable[ObligationEvidence], type_id: str, prefix: str = ""
) -> list[list[Any]]:
    """Those of a type that show a case or a class: id, title, whether of a kernel, status, and which.

    The ids of another operator begin with a prefix, which the ids of what is shown here lack.
    """
    ids = {f"{prefix}{entry.id}" for section in (spec.cases, spec.classes) for entry in section}
    rows = []
    for found in obligations:
        o = found.obligation
        shown = [id_.removeprefix(prefix) for id_ in o.shows if id_ in ids]
        if o.subject == f"{prefix}{type_id}" and shown:
            rows.append([o.id, o.title, o.kind == "refinement", found.status, shown])
    return rows


def _runtime(view: RuntimeView) -> dict[str, Any]:
    """A runtime with its verdicts and first deviations, by element type and class."""
    report = view.report
    about = (
        f"{report.runtime_version}, policy {report.policy}, {report.machine}"
        if report
        else "not run"
    )
    return {
        "name": view.name,
        "about": about,
        "run": report is not None,
        "against": " against " in view.name,
        "verdicts": view.verdicts if report else {},
        "deviations": [*_deviations(view)],
    }


def _deviations(view: RuntimeView) -> Iterator[list[str]]:
    """Element type, class, kind or latitude, the call, and its form and explanation where there are any."""
    for d in view.deviations:
        how = d["latitude"] or d["kind"]
        beside = "; ".join(
            filter(None, (d["form"] and f"model with {d['form']}", d["explanation"]))
        )
        yield [d["type"], d["klass"], how, d["shown"], beside]
