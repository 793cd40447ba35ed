"""Checks of the findings: each witness shows what it says, by evaluation, or in the texts and entries
themselves.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sonnx_clip.language.convert import convert
from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Call, Not, Use, conjuncts, subtrees
from sonnx_clip.language.values import encode, identical
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.claims import claim_names, types_of_claim
from sonnx_clip.spec.dialects import bound_type
from sonnx_clip.spec.document import Diagnostic, unknown
from sonnx_clip.spec.evaluate import DeclaredTensor, TensorValue, evaluator
from sonnx_clip.spec.finding_answers import Answers, answers_of, differ, refuted_result
from sonnx_clip.spec.findings import (
    Contrast,
    Lack,
    ManyTags,
    NoNumber,
    NotTaken,
    Overlap,
    Refutation,
    Rounded,
    SameStatement,
    SharedTag,
    Stands,
    Theorem,
    key_of,
)
from sonnx_clip.spec.quotes import says
from sonnx_clip.spec.sections import unknown_in
from sonnx_clip.spec.texts import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.findings import SourceFinding, Witness
    from sonnx_clip.spec.model import Spec


_BEGINS_ANOTHER = ("#", "<a id")  # a heading, or the anchor in front of one


def check_stands(witness: Stands, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    """The text stands at these lines, at all of them, and ends its section where that is said."""
    path = repo_file(spec.page(witness.page).file)
    lines = path.read_text(encoding="utf-8").splitlines()
    wanted = fold(witness.text).casefold()
    found = tuple(number for number, line in enumerate(lines, 1) if wanted in fold(line).casefold())
    if found != witness.stands_at:
        told = f"stands at {', '.join(map(str, found))}" if found else "stands nowhere"
        yield Diagnostic((*way, "stands_at"), f"`{witness.text}` {told} of {path.name}")
    elif witness.ends and (follows := next((n for n in found if not _ends(lines, n, wanted)), None)):
        what = f"something follows `{witness.text}` at line {follows} of {path.name}"
        yield Diagnostic((*way, "ends"), what, "say where the section ends with it")


def _ends(lines: Sequence[str], number: int, wanted: str) -> bool:
    rest = [line.strip() for line in lines[number:] if line.strip()]
    ends_line = fold(lines[number - 1]).casefold().endswith(wanted)
    return ends_line and (not rest or rest[0].startswith(_BEGINS_ANOTHER))


def check_overlap(witness: Overlap, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    """Both rows apply to the numbers, but for the order in which they are read, and their results differ."""
    etype = spec.element_type(witness.type)
    numbers = {name: encode(getattr(witness, name), etype) for name in ("X", "L", "M")}
    cases = [spec.case(id_) for id_ in witness.rows]
    conditions = [{unparse(part): part for part in conjuncts(case.when)} for case in cases]
    for position, (case, own) in enumerate(zip(cases, conditions, strict=True)):
        other = conditions[1 - position]
        for part in own.values():
            first = isinstance(part, Not) and unparse(part.operand) in other
            if not first and not evaluator(spec, etype)(part, numbers):
                what = f"the row `{case.id}` does not apply: {unparse(part)} is false"
                yield Diagnostic((*way, "rows", position), what)
    one, two = (numbers[case.result] for case in cases)
    if identical(one, two):
        yield Diagnostic(
            (*way, "rows"), f"both rows give {show(one, etype)}", "give numbers for which they differ"
        )


def check_same(witness: SameStatement, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    """For all element types that X, L, M and Y can have, one holds exactly if the other does.

    Four types are enough: what is said of four tensors is whether they have the same one.
    """
    restriction, constraint = spec.restriction(witness.restriction), spec.constraint(witness.same_as)
    types = [etype.id for etype in spec.element_types[: len("XLMY")]]
    evaluate = evaluator(spec, spec.element_types[0])
    for given in product(types, repeat=len("XLMY")):
        named = dict(zip("XLMY", given, strict=True))
        declared = {name: DeclaredTensor(type_, ()) for name, type_ in named.items()}
        values = {name: TensorValue(type_, (), (0,)) for name, type_ in named.items()}
        if evaluate(restriction.holds, declared) != evaluate(constraint.holds, values):
            told = ", ".join(f"{name}: {type_}" for name, type_ in named.items())
            yield Diagnostic(way, f"`{restriction.id}` and `{constraint.id}` are not the same for {told}")
            return


# --- Checks of the findings: each witness shows what it says, by evaluation ---------------------------------


def check_findings(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about names that are not there, and about witnesses that do not show what they say."""
    for index, entry in enumerate(spec.findings):
        yield from _witnesses(spec, index, entry)
    yield from _claims(spec)


def _witnesses(spec: Spec, index: int, entry: SourceFinding) -> Iterator[Diagnostic]:
    for position, witness in enumerate(entry.witnesses):
        way = ("findings", index, "witnesses", position)
        unknown = list(_unknown(spec, way, witness))
        yield from unknown
        if not unknown:
            try:
                yield from _check(witness, spec, way)
            except UserError as error:
                yield Diagnostic(way, error.what, error.todo)


_NAMED = {
    "example": "examples", "dialect": "dialects", "taken_by": "dialects", "constraint": "constraints",
    "same_as": "constraints", "restriction": "restrictions", "page": "sources",
}  # fmt: skip
"""What a witness names, by its key: an entry of this section."""


def _unknown(spec: Spec, way: Way, witness: Witness) -> Iterator[Diagnostic]:
    """Names of a witness that nothing in the specification has."""
    for key, section in _NAMED.items():
        if (id_ := getattr(witness, key, None)) is not None:
            yield from unknown_in(spec, section, (*way, key), id_)
    machine_types = [etype.id for etype in spec.element_types if etype.width is not None]
    claimed = [*(c.id for c in spec.constraints), *(p.id for p in spec.properties)]
    for key, one, ids in (
        ("type", "machine type", machine_types),
        ("refutes", "constraint or property", claimed),
    ):
        if (id_ := getattr(witness, key, None)) is not None:
            yield from unknown((*way, key), id_, ids, one)
    yield from _unknown_in_lists(spec, way, witness)


def _unknown_in_lists(spec: Spec, way: Way, witness: Witness) -> Iterator[Diagnostic]:
    if isinstance(witness, Contrast):
        sides = [*(r.id for r in spec.readings), *(d.id for d in spec.dialects)]
        for position, side in enumerate(witness.answers):
            yield from unknown((*way, "answers", position, "by"), side.by, sides, "reading or dialect")
    if isinstance(witness, Overlap):
        for position, id_ in enumerate(witness.rows):
            yield from unknown_in(spec, "cases", (*way, "rows", position), id_)
    if isinstance(witness, SharedTag):
        for position, id_ in enumerate(witness.stands_for):
            yield from unknown_in(spec, "constraints", (*way, "stands_for", position), id_)


def _check(witness: Witness, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    check: Callable[..., Iterator[Diagnostic]] = _CHECKS[type(witness)]
    yield from check(witness, spec, way)


def _contrast(witness: Contrast, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    etype = spec.element_type(witness.type)
    found: list[Answers] = []
    for position, side in enumerate(witness.answers):
        try:
            found.append(answers_of(spec, witness, side))
        except UserError as error:
            yield Diagnostic((*way, "answers", position), error.what, error.todo)
            return
    for position, (side, answers) in enumerate(zip(witness.answers, found, strict=True)):
        if position and not differ(found[0], answers, etype, bitwise=witness.compared == "bits"):
            told = " or ".join(show(value, etype) for value in answers.values) or "any NaN"
            what = f"`{side.by}` answers {told} here, as `{witness.answers[0].by}` does"
            todo = "give numbers for which they differ, or leave this side out"
            if differ(found[0], answers, etype, bitwise=True):
                todo = "add `compared: bits` if the sign of a zero or a NaN is meant"
            yield Diagnostic((*way, "answers", position), what, todo)


def _refutation(witness: Refutation, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    y, false = refuted_result(spec, witness)
    if not false:
        told = show(y, spec.element_type(witness.type))
        what = f"`{witness.refutes}` holds here: the result of the cases is {told}"
        yield Diagnostic(way, what, "give numbers for which it is false")


def _lack(witness: Lack, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    example = spec.example(witness.example)
    if witness.lacks not in (*example.X, example.L, example.M, *example.Y):
        yield Diagnostic((*way, "lacks"), f"{witness.lacks} is no number of `{example.id}`")
    if witness.type not in [etype.id for etype in spec.types_of(example.family)]:
        yield Diagnostic((*way, "type"), f"`{example.id}` does not speak of {witness.type}")
    if _has(witness.lacks, spec.element_type(witness.type)):
        yield Diagnostic((*way, "lacks"), f"{witness.type} has the number {witness.lacks}")


def _has(text: str, etype: ElementType) -> bool:
    try:
        encode(text, etype)
    except UserError:
        return False
    return True


def _no_number(witness: NoNumber, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    dialect, etype = spec.dialect(witness.dialect), spec.element_type(witness.type)
    of = bound_type(spec, dialect, etype)
    if etype.id not in dialect.element_types or not dialect.converts_to(etype.id):
        yield Diagnostic((*way, "dialect"), f"`{dialect.id}` converts no bound to {etype.id}")
    elif convert(encode(witness.bound, of), of, etype) is not None:
        what = f"{witness.bound} becomes a number of {etype.id}"
        yield Diagnostic((*way, "bound"), what, "give a bound that becomes none")


def _rounded(witness: Rounded, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    dialect, etype = spec.dialect(witness.dialect), spec.element_type(witness.type)
    of = bound_type(spec, dialect, etype)
    if etype.id not in dialect.element_types or not dialect.converts_to(etype.id):
        yield Diagnostic((*way, "dialect"), f"`{dialect.id}` converts no bound to {etype.id}")
        return
    found, meant = convert(encode(witness.written, of), of, etype), encode(witness.written, etype)
    if found is None or not identical(found, encode(witness.becomes, etype)):
        told = "no number" if found is None else show(found, etype)
        yield Diagnostic((*way, "becomes"), f"{witness.written} becomes {told} of {etype.id}")
    elif identical(found, meant):
        yield Diagnostic((*way, "written"), f"{witness.written} is a FLOAT", "give a number that is none")


def _not_taken(witness: NotTaken, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    etype, dialect = spec.element_type(witness.type), spec.dialect(witness.taken_by)
    for text in (witness.X, witness.L, witness.M):
        encode(text, etype)
    if etype.id not in dialect.element_types:
        yield Diagnostic((*way, "taken_by"), f"`{dialect.id}` does not take {etype.id}")
    where = witness.not_named
    pages = {page.id: repo_file(page.file) for page in spec.sources}
    if where.page not in pages:
        what = f"there is no source `{where.page}`"
        yield Diagnostic((*way, "not_named", "page"), what, suggestion(where.page, pages, "there are"))
        return
    stands = says(where, pages[where.page])
    if stands is None:
        what = f"{pages[where.page].name} has no section `{where.section}`"
        yield Diagnostic((*way, "not_named", "section"), what)
    elif stands:
        what = f"the section `{where.section}` does say `{where.quote}`"
        yield Diagnostic((*way, "not_named", "quote"), what, "the witness claims that it does not")


def _shared_tag(witness: SharedTag, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    stands_for = {c.id for c in spec.constraints if witness.tag in c.aliases.values()}
    if set(witness.stands_for) != stands_for:
        what = f"`{witness.tag}` stands for {', '.join(sorted(stands_for)) or 'no constraint'}"
        yield Diagnostic((*way, "stands_for"), what, "see `aliases` of the constraints")


def _many_tags(witness: ManyTags, spec: Spec, way: Way) -> Iterator[Diagnostic]:
    numbers = set(spec.constraint(witness.constraint).aliases.values())
    if set(witness.numbered) != numbers:
        what = f"`{witness.constraint}` has the numbers {', '.join(sorted(numbers))}"
        yield Diagnostic((*way, "numbered"), what, "see `aliases` of the constraint")


def _claims(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about claims that use a dialect in a type it lacks, or that no witness computes."""
    for index, entry in enumerate(spec.findings):
        kinds = {key_of(witness) for witness in entry.witnesses}
        for position, part in enumerate(entry.claim):
            way = ("findings", index, "claim", position)
            if isinstance(part, Theorem):
                yield from _theorem_types(spec, way, part)
            elif part.checked not in kinds:
                what = f"no witness of this finding is of the kind `{part.checked}`"
                yield Diagnostic((*way, "checked"), what, "it is computed by its witnesses alone")


def _theorem_types(spec: Spec, way: Way, part: Theorem) -> Iterator[Diagnostic]:
    """A claim names no dialect in a type that it does not take, and no conversion where there is none."""
    known = claim_names(spec)
    used = {node.id for node in subtrees(part.holds) if isinstance(node, Use)}
    converts = any(isinstance(node, Call) and node.function == "becomes" for node in subtrees(part.holds))
    for etype in types_of_claim(spec, part):
        for name in sorted(used & known.keys()):
            dialect = known[name].dialect
            if dialect is not None and etype.id not in spec.dialect(dialect).element_types:
                yield Diagnostic(
                    (*way, "holds"), f"`{dialect}` does not take {etype.id}, and `{name}` speaks of it"
                )
        for entry in (p for p in spec.properties if p.id in used and etype.family not in p.families):
            yield Diagnostic((*way, "holds"), f"`{entry.id}` does not speak of {etype.id}")
        for constraint in (c for c in spec.constraints if c.id in used and etype.family not in c.families):
            yield Diagnostic((*way, "holds"), f"`{constraint.id}` does not speak of {etype.id}")
        taking = [d for d in spec.whole_dialects if etype.id in d.element_types]
        if converts and not any(d.converts_to(etype.id) for d in taking):
            yield Diagnostic((*way, "holds"), f"no dialect converts a FLOAT to {etype.id}")


_CHECKS: Mapping[type, Callable[..., Iterator[Diagnostic]]] = {
    Contrast: _contrast,
    Refutation: _refutation,
    Lack: _lack,
    NoNumber: _no_number,
    NotTaken: _not_taken,
    SharedTag: _shared_tag,
    ManyTags: _many_tags,
    Stands: check_stands,
    Overlap: check_overlap,
    SameStatement: check_same,
    Rounded: _rounded,
}
