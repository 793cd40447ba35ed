"""Compares the specification with the SONNX page: what the page lists is taken, as it stands there.

Types, restrictions, constraints with their numbers below each tensor, worked examples and the branches of the
formula are read from the page; an entry that says otherwise is wrong, and a row, tag or example that no entry
takes is missing.
"""

from __future__ import annotations

import operator
from itertools import product
from typing import TYPE_CHECKING

from sonnx_clip.language.values import comparison_key, encode
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import Diagnostic
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.references import check_listed_types
from sonnx_clip.spec.sonnx_page import Chapter, FormulaBranch, chapters
from sonnx_clip.spec.texts import fold, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sonnx_clip.language.types import Family, Source
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Constraint, Example, Restriction
    from sonnx_clip.spec.model import Spec

PAGE = "sonnx-clip"
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip
_SAMPLES = {
    "real": ("-1", "0", "1"),
    "int": ("lowest", "0", "1", "highest"),
    "float": ("nan", "-inf", "-0", "0", "1", "inf"),
}


def check_sonnx_page(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about what the page lists and the specification says otherwise, or does not say."""
    name = spec.page(PAGE).file
    found = {chapter.title: chapter for chapter in chapters(repo_file(name))}
    for index, family in enumerate(spec.families):
        chapter = found.pop(plain(family.chapter), None)
        way: Way = ("families", index)
        if chapter is None:
            what = f"{name} has no chapter `{family.chapter}`"
            yield Diagnostic((*way, "chapter"), what, f"it has {', '.join(found)}")
            continue
        for unread in chapter.unread:
            what = f"{name}:{unread.line} has a tag or a matrix in a form that is not read: {unread.text}"
            yield Diagnostic((*way, "chapter"), what, "write it as its neighbours")
        for line, names in chapter.types:
            yield from check_listed_types(spec, index, names, f"{name}:{line}")
        yield from _restrictions(spec, name, index, chapter)
        yield from _constraints(spec, name, index, chapter)
        yield from _sentences(spec, name, index, chapter)
        yield from _examples(spec, name, index, chapter)
    for chapter in found.values():
        what = f"no family takes the chapter `{chapter.title}` of {name}:{chapter.line}"
        yield Diagnostic(("families",), what, "add the family")


def check_sonnx_cases(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about cases that are not the branches of the page's formula, by evaluation on samples."""
    name = spec.page(PAGE).file
    by_title = {chapter.title: chapter for chapter in chapters(repo_file(name))}
    for family in spec.families:
        chapter = by_title[plain(family.chapter)]
        if len(chapter.branches) != len(spec.cases):
            what = f"the formula of {name}:{chapter.line} has {len(chapter.branches)} branches"
            yield Diagnostic(("cases",), f"{what}, and there are {len(spec.cases)} cases")
            continue
        for index, (case, branch) in enumerate(zip(spec.cases, chapter.branches, strict=True)):
            if case.result != branch.result:
                what = f"branch {index + 1} of the formula at {name}:{branch.line} gives {branch.result}"
                yield Diagnostic(("cases", index, "result"), f"{what}, `{case.id}` gives {case.result}")
            if branch.line not in case.source.at:
                what = f"this quotation is not branch {index + 1} of the formula, at {name}:{branch.line}"
                yield Diagnostic(
                    ("cases", index, "source", "quote"), what, "cases stand in the formula's order"
                )
        yield from _conditions(spec, name, family, chapter)


def _conditions(spec: Spec, name: str, family: Family, chapter: Chapter) -> Iterator[Diagnostic]:
    """Each case holds exactly where its branch is the first of the formula whose condition holds."""
    etype = spec.types_of(family.id)[0]
    ask, key = evaluator(spec, etype), comparison_key(etype)
    wrong = set()
    for triple in product([encode(text, etype) for text in _SAMPLES[family.id]], repeat=3):
        environment = dict(zip("XLM", triple, strict=True))
        keys = {letter: key(value) for letter, value in environment.items()}
        first = next(i for i, branch in enumerate(chapter.branches) if _holds(branch, keys))
        for index, case in enumerate(spec.cases):
            if bool(ask(case.when, environment)) != (index == first) and index not in wrong:
                wrong.add(index)
                line = chapter.branches[index].line
                what = f"`{case.id}` is not branch {index + 1} of the formula at {name}:{line}"
                yield Diagnostic(("cases", index, "when"), what, f"they differ in {etype.id}")


def _holds(branch: FormulaBranch, keys: dict[str, Any]) -> bool:
    if branch.condition is None:
        return True
    left, sign, right = branch.condition
    return _SIGNS[sign](keys[left], keys[right])


def _restrictions(spec: Spec, name: str, family: int, chapter: Chapter) -> Iterator[Diagnostic]:
    """The rows of the table are the restrictions of the family: tag, statement and origin."""
    id_ = spec.families[family].id
    known = {r.id: (i, r) for i, r in enumerate(spec.restrictions)}
    for row in chapter.rows:
        if row.tag not in known:
            what = f"no restriction takes the row [{row.tag}] of {name}:{row.line}"
            yield Diagnostic(("restrictions",), what, f"add the restriction {row.tag}")
            continue
        index, entry = known[row.tag]
        way: Way = ("restrictions", index)
        if id_ not in entry.families:
            what = f"the chapter of {id_} lists {row.tag}, {name}:{row.line}"
            yield Diagnostic((*way, "families"), what, f"add {id_}")
        for key, there in (("statement", row.statement), ("origin", row.origin)):
            if getattr(entry, key) != there:
                yield Diagnostic((*way, key), f"the row [{row.tag}] of {name}:{row.line} says `{there}`")
        if row.line not in entry.source.at:
            what = f"this quotation is not of the row [{row.tag}], {name}:{row.line}"
            yield Diagnostic((*way, "source", "quote"), what, "quote the row of its own tag")
    listed = {row.tag for row in chapter.rows}
    for index, entry in enumerate(spec.restrictions):
        if id_ in entry.families and entry.id not in listed and not entry.also and _is_tag(entry.id):
            what = f"the table of {id_}, {name}:{chapter.line}, has no row [{entry.id}]"
            yield Diagnostic(("restrictions", index, "families"), what, f"take {id_} away")


def _is_tag(id_: str) -> bool:
    return id_[:1].isupper() and id_[1:].isdecimal()


def _constraints(spec: Spec, name: str, family: int, chapter: Chapter) -> Iterator[Diagnostic]:
    """Below each tensor stand the constraints that say so by `aliases`, with these numbers and words."""
    id_ = spec.families[family].id
    titles = {c.title: (i, c) for i, c in enumerate(spec.constraints)}
    seen: dict[str, dict[str, str]] = {}
    for tagged in chapter.tagged:
        if tagged.title not in titles:
            what = f"no constraint takes [{tagged.tag}] {tagged.title}, {name}:{tagged.line}"
            yield Diagnostic(("constraints",), what, "add the constraint")
            continue
        index, entry = titles[tagged.title]
        way: Way = ("constraints", index)
        seen.setdefault(entry.id, {})[tagged.tensor] = tagged.tag
        if id_ not in entry.families:
            what = f"the chapter of {id_} has {tagged.title}, {name}:{tagged.line}"
            yield Diagnostic((*way, "families"), what, f"add {id_}")
        if tagged.statement and tagged.statement != entry.statement:
            what = f"{name}:{tagged.line} states it as `{tagged.statement}`"
            yield Diagnostic((*way, "statement"), what, "state it in the same words")
        # The quotation stands in the same item of the list, on the line of the tag or the next.
        if tagged.statement and not {tagged.line, tagged.line + 1} & set(entry.source.at):
            what = f"this quotation is not of [{tagged.tag}] {tagged.title}, {name}:{tagged.line}"
            yield Diagnostic((*way, "source", "quote"), what, "quote its own statement")
    for index, entry in enumerate(spec.constraints):
        yield from _numbers(name, index, entry, seen.get(entry.id), id_)


def _numbers(
    name: str, index: int, entry: Constraint, seen: dict[str, str] | None, id_: str
) -> Iterator[Diagnostic]:
    if id_ not in entry.families:
        return
    way: Way = ("constraints", index)
    if seen is None:
        yield Diagnostic((*way, "families"), f"{name} has no `{entry.title}` in the chapter of {id_}")
        return
    aliases: dict[str, str] = {str(tensor): alias for tensor, alias in entry.aliases.items()}
    for tensor in sorted(seen.keys() | aliases.keys()):
        if seen.get(tensor) != aliases.get(tensor):
            there = f"is [{seen[tensor]}]" if tensor in seen else "does not stand"
            what = f"below {tensor} `{entry.title}` {there} in the chapter of {id_}, {name}"
            yield Diagnostic((*way, "aliases"), what, "give the number that the page has there")


def _sentences(spec: Spec, name: str, family: int, chapter: Chapter) -> Iterator[Diagnostic]:
    """What must be and has no tag is quoted by a restriction or constraint of the family."""
    id_ = spec.families[family].id
    entries: list[Restriction | Constraint] = [*spec.restrictions, *spec.constraints]
    for sentence in chapter.sentences:
        takers = [e for e in entries if any(_quotes(s, sentence.line, sentence.text) for s in _words(e))]
        if not any(id_ in entry.families for entry in takers):
            what = f"no restriction of {id_} quotes {name}:{sentence.line}: {sentence.text}"
            yield Diagnostic(
                ("restrictions",), what, "add it to a restriction, under `also` if in other words"
            )


def _words(entry: Restriction | Constraint) -> tuple[Source, ...]:
    return (entry.source, *getattr(entry, "also", ()))


def _quotes(source: Source, line: int, text: str) -> bool:
    return source.page == PAGE and line in source.at and fold(source.quote) in text


def _examples(spec: Spec, name: str, family: int, chapter: Chapter) -> Iterator[Diagnostic]:
    """Each worked example is taken, with the numbers that it has, as they are written."""
    id_ = spec.families[family].id
    known: dict[str, tuple[int, Example]] = {e.id: (i, e) for i, e in enumerate(spec.examples)}
    taken = set()
    for matrices in chapter.examples:
        wanted = f"{id_}_{matrices.number}"
        if wanted not in known:
            what = f"no entry takes Example {matrices.number} of {name}:{matrices.line}"
            yield Diagnostic(("examples",), what, f"add the example {wanted}")
            continue
        taken.add(wanted)
        index, entry = known[wanted]
        for key in ("X", "L", "M", "Y"):
            there = getattr(matrices, key)
            if there != getattr(entry, key):
                shown = f"[{', '.join(there)}]" if isinstance(there, tuple) else there
                what = f"in Example {matrices.number} of {name}:{matrices.line} {key} is {shown}"
                yield Diagnostic(("examples", index, key), what, "the numbers are those of the page")
        if entry.family != id_:
            yield Diagnostic(("examples", index, "family"), f"`{wanted}` stands in the chapter of {id_}")
        if not any(matrices.line < line < matrices.line + 6 for line in entry.source.at):
            what = f"this quotation is not of Example {matrices.number}, {name}:{matrices.line}"
            yield Diagnostic(("examples", index, "source", "quote"), what, "quote its own matrix")
    for index, entry in enumerate(spec.examples):
        if entry.family == id_ and entry.id not in taken:
            what = f"the chapter of {id_}, {name}:{chapter.line}, has no such example"
            yield Diagnostic(
                ("examples", index, "id"), what, "an example is called by family and number: int_1"
            )
