"""Renders build/evidence/explorer.html: one input of an operator or a rewrite, and the evidence on it.

The conditions are those of spec/, printed as JavaScript; the page evaluates them. What the runtimes
answered and what is proved is data, compressed as in index.html, to which the page links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.javascript import numbers_used, render_javascript, rewrites_script
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

    from sonnx_clip.evidence.evidence_model import Evidence
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.rewrites.rewrite import Rewrite
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Case, ValueClass


def render_explorer(evidence: Evidence, records: Records) -> str:
    """The page as text."""
    spec = records.spec
    name = spec.signature.function
    # The operator of the page as it was read for the records; the others as they are in spec/.
    specs = {name: spec}
    for other_name, other in operators().items():
        specs.setdefault(other_name, other)
    scopes = {}  # what page.js reads of each operator, and of all rewrites
    for id_, member in specs.items():
        scopes[id_] = meaning_data(member)
    runtimes = [
        *runtimes_of(spec, evidence.runtimes),
        *dialects_of(spec, evidence.dialects),
    ]
    # Runtimes are judged on the operator of the page alone.
    scopes[name] |= {
        "obligations": _by_type(spec, evidence.obligations),
        "runtimes": list(map(_runtime, runtimes)),
    }
    # An operator that was not proved is in the explorer too, without obligations.
    for operator in evidence.operators:
        if operator.name in specs and operator.totals:
            # The page joins it to an id for links into index.html, where ids of other operators
            # have it.
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
        meaning=render_javascript(*specs.values()) + rewrites_script(rewrites),
        data=packed({"scopes": scopes}),
    )


def _by_type(spec: Spec, obligations: Iterable[Outcome], prefix: str = "") -> dict[str, Any]:
    """The obligations of an operator that the page links to, by element type."""
    all_obligations = list(obligations)
    by_type = {}
    for etype in spec.element_types:
        by_type[etype.id] = _obligation_rows(spec, all_obligations, etype.id, prefix)
    return by_type


def rewrites_data() -> dict[str, Any]:
    """What the printed rewrites need beside them, and their texts; the types are those of Clip."""
    clip = operators()["clip"]
    return {
        "operator": "",
        "constants": _constants(clip),
        "types": {etype.id: _type_of_rewrites(etype) for etype in clip.element_types},
        "rewrites": {rewrite.id: _rewrite(rewrite) for rewrite in known_rewrites()},
    }


def _constants(spec: Spec) -> dict[str, list[str]]:
    """The names of numbers that an input may have, such as inf, by family."""
    return {family.id: sorted(CONSTANTS[family.id]) for family in spec.families}


def _type_of_rewrites(etype: ElementType) -> dict[str, Any]:
    """An element type with the numbers of every operator and of every rewrite that has it."""
    # Of all operators, because a term of a rewrite may have any of them.
    texts = set(CONSTANTS[etype.family])
    for spec in operators().values():
        for known in spec.element_types:
            if known.id == etype.id:
                texts.update(numbers_used(spec, known.family))
    for rewrite in known_rewrites():
        if family := _types_of(rewrite).get(etype.id):
            texts.update(_numbers(rewrite, family))
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
        # The page finds the condition of an element type by its family here.
        "families": _types_of(rewrite),
        "numbers": _texts_of_numbers([rewrite.before, rewrite.after]),
    }


def _types_of(rewrite: Rewrite) -> dict[str, str]:
    """The element types in which a rewrite can be decided, with the family of each."""
    types: dict[str, str] = {}
    for family in operators()["clip"].families:
        if rewrite.fits(family.id):
            for etype in rewrite.element_types(family.id):
                types[etype.id] = family.id
    return types


def _numbers(rewrite: Rewrite, family: str) -> list[str]:
    """The numbers of a rewrite and of its conditions in a family, as texts."""
    # Conditions are printed too: each number in them needs its bits in this family.
    expressions: list[tree.Expr] = [rewrite.before, rewrite.after]
    if rewrite.given is not None:
        expressions.append(rewrite.given)
    for stated_family, strength in rewrite.stated():
        condition = rewrite.condition(stated_family, strength)
        if stated_family != family or condition is None or isinstance(condition, bool):
            continue  # always and never have no tree
        expressions.append(condition)
    return _texts_of_numbers(expressions)


def _texts_of_numbers(expressions: Iterable[tree.Expr]) -> list[str]:
    texts = set()
    for expr in expressions:
        for part in tree.subtrees(expr):
            if isinstance(part, tree.Number):
                texts.add(part.text)
    return sorted(texts)


def operands_of(spec: Spec) -> list[dict[str, Any]]:
    """Of each operand its variable, its name in the fragment and on the page, and who asks for a scalar."""
    required = {}  # by the id of an operand that must not be absent: the restriction
    for restriction in spec.restrictions:
        for name, change in restriction.broken_alone_by.items():
            if change == "absent":
                required[name] = f"{restriction.id}: {restriction.statement}"
    operands = []
    for operand in spec.signature.operands:
        fields = {
            "id": operand.id,
            "key": operand.key,
            "onnx": operand.onnx,
            "scalar": operand.role == "scalar",
            "required": required.get(operand.id),
        }
        operands.append(fields)
    return operands


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
        "constants": _constants(spec),
        "types": {etype.id: _type(spec, etype) for etype in spec.element_types},
        "cases": {case.id: _case(case) for case in spec.cases},
        "classes": {klass.id: _class(klass) for klass in spec.classes},
        "latitude": {entry.id: entry.reason for entry in spec.latitude},
        "readings": {reading.id: reading.title for reading in spec.readings},
        "dialects": {dialect.id: _dialect(spec, dialect) for dialect in spec.dialects},
    }


def _type(spec: Spec, etype: ElementType) -> dict[str, Any]:
    return _type_with(etype, {*CONSTANTS[etype.family], *numbers_used(spec, etype.family)})


def _type_with(etype: ElementType, texts: Iterable[str]) -> dict[str, Any]:
    """An element type with numbers: `family` names the form of its values, `functions` its family."""
    form: Mapping[str, Any] = etype.bits.model_dump() if etype.bits else {}  # real has no bits
    # By the text that the printed functions have: the bits, in which the page computes.
    numbers = {}
    for text in sorted(texts):
        numbers[text] = text if etype.width is None else show_bits(encode(text, etype), etype)
    data = {
        # Unsigned numbers have the form of signed ones in JavaScript: a BigInt.
        "family": "int" if etype.family == "uint" else etype.family,
        "functions": etype.family,
        "width": etype.width,
        **form,
        "numbers": numbers,
    }
    if etype.family == "float":
        # Values that the page tries by itself: as answers of a latitude, and as X of a rewrite.
        data["special"] = [_hex(pattern, etype) for pattern in special_patterns(etype)]
    return data


def _case(case: Case) -> dict[str, str]:
    return {"title": case.title, "when": unparse(case.when), "result": case.result_text}


def _class(klass: ValueClass) -> dict[str, Any]:
    return {
        "title": klass.title,
        "matters": klass.matters,
        "when": unparse(klass.when),
        "families": klass.families,
        # An input of the class, which the page fills in when the class is chosen.
        "at": [*klass.inhabited_by.texts().values()],
    }


def _dialect(spec: Spec, dialect: Dialect) -> dict[str, Any]:
    # A missing bound may stand for a number of its own in each type, such as the least one.
    missing = {}
    if dialect.missing:
        for type_id in dialect.element_types:
            etype = spec.element_type(type_id)
            bounds = defaults(spec, dialect, etype) or ()
            missing[type_id] = [_hex(bound, etype) for bound in bounds]
    return {
        "title": dialect.title,
        "types": dialect.element_types,
        "bound_type": dialect.bound_type,
        "missing": missing or None,
        "reading": dialect.reading,
        "answers": dialect.answers,
        # What the source leaves open when a bound has no number in the type: the reason of the
        # refusal.
        "cast": dialect.unsaid.get("cast_of_no_number"),
    }


def _hex(value: Any, etype: ElementType) -> str:
    return str(value) if etype.width is None else show_bits(value, etype)


def _obligation_rows(
    spec: Spec, obligations: Iterable[Outcome], type_id: str, prefix: str = ""
) -> list[list[Any]]:
    """Those of a type that show a case or a class: id, title, whether of a kernel, status, and which.

    The ids of another operator begin with a prefix, which the ids of what is shown here lack.
    """
    ids = {f"{prefix}{case.id}" for case in spec.cases}
    ids |= {f"{prefix}{klass.id}" for klass in spec.classes}
    subject = f"{prefix}{type_id}"
    rows = []
    for evidenced in obligations:
        o = evidenced.obligation
        if o.subject != subject:
            continue
        shown = [id_.removeprefix(prefix) for id_ in o.shows if id_ in ids]
        # The page shows what is proved of a case or a class: other obligations are in index.html.
        if shown:
            is_of_kernel = o.kind == "refinement"
            rows.append([o.id, o.title, is_of_kernel, evidenced.status, shown])
    return rows


def _runtime(view: RuntimeView) -> dict[str, Any]:
    """A runtime with its verdicts and first deviations, by element type and class."""
    report = view.report
    about = "not run"
    if report:
        about = f"{report.runtime_version}, policy {report.policy}, {report.machine}"
    return {
        "name": view.name,
        "about": about,
        "run": report is not None,
        # Judged against a dialect, it may rightly differ from what the page shows of the cases.
        "against": " against " in view.name,
        "verdicts": view.verdicts if report else {},
        "deviations": [*_deviations(view)],
    }


def _deviations(view: RuntimeView) -> Iterator[list[str]]:
    """Element type, class, kind or latitude, the call, and its form and explanation where there are any."""
    for deviation in view.deviations:
        # An accepted deviation is named by the latitude that accepts it.
        kind = deviation["latitude"] or deviation["kind"]
        form = deviation["form"] and f"model with {deviation['form']}"
        notes = "; ".join(filter(None, (form, deviation["explanation"])))
        yield [deviation["type"], deviation["klass"], kind, deviation["shown"], notes]
