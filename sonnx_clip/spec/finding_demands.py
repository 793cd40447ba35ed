"""What the specification says and the findings must tell: without a finding, one of these is open.

Each place in which the specification itself shows that a source is wrong, unclear or silent is a demand: a
refuted constraint, a number that stands for two constraints, an example that a type cannot hold, a version
that changes what a missing bound means, a reading that is not the cases, a latitude, a type that a function
body cannot take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.values import encode, identical
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.dialects import line_of
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.finding_answers import answers_of
from sonnx_clip.spec.findings import Contrast, Lack, NoNumber, NotTaken, Refutation, SharedTag
from sonnx_clip.spec.readings import agrees
from sonnx_clip.spec.references import format_of, meaning
from sonnx_clip.spec.texts import fold, sections
from sonnx_clip.spec.vendor_pages import constraints_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.spec.dialects import DialectRow
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Latitude
    from sonnx_clip.spec.findings import Witness
    from sonnx_clip.spec.model import Spec

    Demand = tuple[Way, str, Callable[[Witness], bool]]

_BODY_OPERATORS = "onnx-where"
_EXAMPLES = "onnx-clip-examples"


def check_demands(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about what no finding of the file tells."""
    witnesses = [witness for finding in spec.findings for witness in finding.witnesses]
    for way, what, met in _demands(spec):
        if not any(met(witness) for witness in witnesses):
            yield Diagnostic(way, f"no finding tells that {what}", "add it to `findings`")


def _demands(spec: Spec) -> Iterator[Demand]:
    for index, constraint in enumerate(spec.constraints):
        if constraint.refuted_for:
            yield (
                ("constraints", index, "refuted_for"),
                f"{constraint.id} is refuted",
                lambda w, id_=constraint.id: isinstance(w, Refutation) and w.refutes == id_,  # type: ignore[misc]
            )
    yield from _tags(spec)
    yield from _examples(spec)
    yield from _readings(spec)
    yield from _latitudes(spec)
    yield from _dialects(spec)
    yield from _renderings(spec)
    yield from _body(spec)


def _tags(spec: Spec) -> Iterator[Demand]:
    uses: dict[str, set[str]] = {}
    for constraint in spec.constraints:
        for alias in constraint.aliases.values():
            uses.setdefault(alias, set()).add(constraint.id)
    for tag in sorted(tag for tag, ids in uses.items() if len(ids) > 1):
        yield (
            ("constraints",),
            f"[{tag}] is {' and '.join(sorted(uses[tag]))}",
            lambda w, tag=tag: isinstance(w, SharedTag) and w.tag == tag,  # type: ignore[misc]
        )


def _examples(spec: Spec) -> Iterator[Demand]:
    for index, example in enumerate(spec.examples):
        for type_id in example.not_representable_in:
            yield (
                ("examples", index, "not_representable_in"),
                f"{type_id} lacks a number of `{example.id}`",
                lambda w, key=(example.id, type_id): isinstance(w, Lack) and (w.example, w.type) == key,  # type: ignore[misc]
            )


def _readings(spec: Spec) -> Iterator[Demand]:
    """Each reading that is not the cases stands against them, itself or as what a dialect's words allow."""
    for index, reading in enumerate(spec.readings):
        if not reading.agrees:
            continue
        of_page = {
            d.id
            for d in spec.whole_dialects
            if d.reading == reading.id and reading.source and d.says["bounds"].page == reading.source.page
        }
        names = of_page or {reading.id}
        yield (
            ("readings", index, "agrees"),
            f"`{reading.id}` is not the cases",
            lambda w, names=names, reading=reading: (  # type: ignore[misc]
                isinstance(w, Contrast)
                and w.L is not None and w.M is not None
                and any(side.by in names for side in w.answers[1:])
                and not _agrees(spec, w, reading.id)
            ),
        )  # fmt: skip
    if any("np.clip(" in line for s in sections(repo_file(spec.page(_EXAMPLES).file)) for line in s.lines):
        yield (
            ("sources",),
            "the examples of ONNX are made by np.clip, which is not the function body",
            lambda w: isinstance(w, Contrast) and [s.by for s in w.answers] == ["onnx-body", "numpy"],
        )


def _agrees(spec: Spec, witness: Contrast, reading: str) -> bool:
    etype = spec.element_type(witness.type)
    x, l, m = (encode(text, etype) for text in (witness.X, witness.L or "", witness.M or ""))
    return agrees(spec, etype, spec.reading(reading), (x, l, m), bitwise=False)


def _latitudes(spec: Spec) -> Iterator[Demand]:
    for index, entry in enumerate(spec.latitude):
        if not entry.always:
            yield (
                ("latitude", index, "id"),
                f"an answer differs as `{entry.id}` allows",
                lambda w, entry=entry: isinstance(w, Contrast) and _uses(spec, w, entry),  # type: ignore[misc]
            )


def _uses(spec: Spec, witness: Contrast, entry: Latitude) -> bool:
    """Whether a contrast with the cases has an answer that a latitude accepts."""
    if witness.answers[0].by != "cases" or witness.L is None or witness.M is None:
        return False
    etype = spec.element_type(witness.type)
    triple = tuple(encode(text, etype) for text in (witness.X, witness.L, witness.M))
    ask = evaluator(spec, etype)
    x, l, m = triple
    for side in witness.answers[1:]:
        found = answers_of(spec, witness, side)
        others = [*found.values, *([encode("nan", etype)] if found.any_nan else [])]
        if any(
            not identical(a, ask.result(x, l, m)) and entry in ask.latitudes((x, l, m), a) for a in others
        ):
            return True
    return False


def _dialects(spec: Spec) -> Iterator[Demand]:
    known = {row.id: row for row in spec.dialects}
    for index, row in enumerate(spec.dialects):
        way: Way = ("dialects", index)
        family = {other.id for other in spec.dialects if row in line_of(other, known)}
        if row.changes:
            yield (
                (*way, "changes"),
                f"the result without bounds changes from {row.after} to {row.id}",
                lambda w, pair={row.after, row.id}: (
                    isinstance(w, Contrast) and {s.by for s in w.answers} == pair
                ),  # type: ignore[misc]
            )
        if row.printed_default is not None:
            yield (
                (*way, "printed_default"),
                f"the default that is printed for {row.id} is not its limit",
                lambda w, row=row: isinstance(w, Contrast) and _printed(w, row),  # type: ignore[misc]
            )
        if "cast_of_no_number" in row.unsaid:
            yield (
                (*way, "unsaid", "cast_of_no_number"),
                f"a bound of {row.id} may become no number",
                lambda w, family=family: isinstance(w, NoNumber) and w.dialect in family,  # type: ignore[misc]
            )
        if "inverted_bounds" in row.unsaid:
            silent = {d.id for d in spec.whole_dialects if d.id in family and "inverted_bounds" in d.unsaid}
            yield (
                (*way, "unsaid", "inverted_bounds"),
                f"{row.id} does not say what comes of inverted bounds",
                lambda w, silent=silent: isinstance(w, Contrast) and _inverted(spec, w, silent),  # type: ignore[misc]
            )
        if row.reading is not None and row.reading != "cases":
            yield (
                (*way, "reading"),
                f"{row.id} is not the cases",
                lambda w, family=family: isinstance(w, Contrast) and _against(w, family),  # type: ignore[misc]
            )
    missing = [d for d in spec.whole_dialects if d.missing is not None and d.missing.of == "element"]
    if any(spec.element_type(id_).family == "float" for d in missing for id_ in d.element_types):
        yield (
            ("dialects",),
            "the limits that stand for missing bounds limit an infinity",
            lambda w: isinstance(w, Contrast) and "inf" in w.X and None in (w.L, w.M)
            and any(side.by in {d.id for d in missing} for side in w.answers)
            and any(side.by in {r.id for r in spec.readings} for side in w.answers),
        )  # fmt: skip


def _renderings(spec: Spec) -> Iterator[Demand]:
    """What a version says of inverted bounds stands in the other rendering too: else they define two."""
    path = repo_file(spec.page(_EXAMPLES).file)
    there = {section.title: _unquoted("\n".join(section.lines)) for section in sections(path)}
    for index, dialect in enumerate(spec.whole_dialects):
        source = dialect.says.get("inverted_bounds")
        if dialect.system != "onnx" or source is None or _unquoted(source.quote) in there[source.section]:
            continue
        before = next(d for d in spec.whole_dialects if d.id == dialect.after)
        yield (
            ("dialects", index, "says", "inverted_bounds"),
            f"{path.name} does not say this of {dialect.title}",
            lambda w, pair=[dialect.id, before.reading]: (  # type: ignore[misc]
                isinstance(w, Contrast) and [side.by for side in w.answers] == pair
            ),
        )


def _unquoted(text: str) -> str:
    """A text without the marks in which renderings differ."""
    return fold(text.replace("‘", "'").replace("’", "'").replace("*", ""))


def _printed(witness: Contrast, row: DialectRow) -> bool:
    printed = row.printed_default
    return printed is not None and any(
        side.by == row.id and (printed.min, printed.max) == (side.L, side.M) for side in witness.answers
    )


def _inverted(spec: Spec, witness: Contrast, family: set[str]) -> bool:
    if witness.L is None or witness.M is None or not any(side.by in family for side in witness.answers):
        return False
    etype = spec.element_type(witness.type)
    x, l, m = (encode(text, etype) for text in (witness.X, witness.L, witness.M))
    return evaluator(spec, etype).case(x, l, m).id == "inverted"


def _against(witness: Contrast, family: set[str]) -> bool:
    """Whether a dialect of a line answers otherwise than another for bounds that are given."""
    given = witness.L is not None and witness.M is not None
    return given and any(side.by in family for side in witness.answers[1:])


def _body(spec: Spec) -> Iterator[Demand]:
    """The function body of a version cannot take a type that an operator in it does not name."""
    path = repo_file(spec.page(_BODY_OPERATORS).file)
    newest = [d for d in spec.whole_dialects if d.system == "onnx"][-1]
    for section in sections(path):
        _, _, since = section.title.partition(" - ")
        if not since.isdecimal() or int(since) > int(newest.version):
            continue
        named = {meaning(name) for name in constraints_of(path, section.title) or ()}
        for id_ in newest.element_types:
            if format_of(spec.element_type(id_)) not in named:
                yield (
                    ("findings",),
                    f"{section.title} in the function body of {newest.id} does not take {id_}",
                    lambda w, id_=id_, title=section.title: (  # type: ignore[misc]
                        isinstance(w, NotTaken) and w.type == id_ and w.not_named.section == title
                    ),
                )
