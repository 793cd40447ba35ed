"""Renders build/evidence/explorer.html: one input, and everything that the evidence has on it.

The conditions are those of spec/clip.yaml, printed as JavaScript; the page evaluates them. What the runtimes
answered and what is proved is data, compressed as in index.html, to which the page links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.javascript import constants_of, render_javascript
from sonnx_clip.evidence.page import packed, render_template
from sonnx_clip.evidence.runtimes import dialects_of, runtimes_of
from sonnx_clip.language import encode, show_bits, unparse
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import CONSTANTS
from sonnx_clip.spec.dialects import defaults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.evidence.model import Evidence
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import ValueClass


def render_explorer(evidence: Evidence, found: Records) -> str:
    """The page as text."""
    spec = found.spec
    data = meaning_data(spec) | {
        "obligations": {
            etype.id: _obligations(spec, evidence, etype.id) for etype in spec.element_types
        },
        "runtimes": [
            _runtime(view)
            for view in (
                *runtimes_of(spec, evidence.runtimes),
                *dialects_of(spec, evidence.dialects),
            )
        ],
    }
    return render_template(
        "explorer.html.j2",
        operator=spec.operator,
        operands=operands_of(spec),
        types=[etype.id for etype in spec.element_types],
        meaning=render_javascript(spec),
        data=packed(data),
    )


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
        for o in spec.operands
    ]


def meaning_data(spec: Spec) -> dict[str, Any]:
    """What the printed functions need beside them, and the words of the entries."""
    return {
        "operator": spec.head.function,
        "operands": operands_of(spec),
        "result": spec.head.result,
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
    texts = sorted({*CONSTANTS[etype.family], *constants_of(spec, etype.family)})
    form: Mapping[str, Any] = etype.bits.model_dump() if etype.bits else {}
    special = (
        [_hex(pattern, etype) for pattern in special_patterns(etype)]
        if etype.family == "float"
        else []
    )
    return {
        "family": etype.family,
        "width": etype.width,
        **form,
        "numbers": {
            t: t if etype.width is None else show_bits(encode(t, etype), etype) for t in texts
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
    of = [spec.element_type(id_) for id_ in d.element_types]
    missing = {
        e.id: [_hex(value, e) for value in defaults(spec, d, e) or ()] for e in of if d.missing
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


def _obligations(spec: Spec, evidence: Evidence, type_id: str) -> list[list[Any]]:
    """Those of a type that show a case or a class: id, title, whether of a kernel, status, and which."""
    shown = {entry.id for section in (spec.cases, spec.classes) for entry in section}
    return [
        [
            o.id,
            o.title,
            o.kind == "refinement",
            found.status,
            [id_ for id_ in o.shows if id_ in shown],
        ]
        for found in evidence.obligations
        for o in [found.obligation]
        if o.subject == type_id and shown & set(o.shows)
    ]


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
