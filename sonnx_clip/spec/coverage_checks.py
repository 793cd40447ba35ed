"""Compares spec/coverage.yaml with the sources, with what spec/clip.yaml quotes from them, and with itself:
what is said of words in one place is said of all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.coverage_file import PATH, Coverage, CoverageFile, Covered, SentenceAnswer
from sonnx_clip.spec.diagnostic import Diagnostic, raise_first, unknown
from sonnx_clip.spec.document import Document, read_text
from sonnx_clip.spec.findings import Contrast
from sonnx_clip.spec.quotes import places, quoted
from sonnx_clip.spec.sections import SECTIONS
from sonnx_clip.spec.sentences import items, places_of
from sonnx_clip.spec.structure import validate_as

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.language.types import Source
    from sonnx_clip.spec.findings import SourceFinding
    from sonnx_clip.spec.model import Spec
    from sonnx_clip.spec.sentences import Item


_OF_TYPE_T = re.compile(r"- (\*\*)?T(\*\*)?:$")
_ASPECT = "/missing_bounds"


def check_alike(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    """Findings about answers that leave out what those to like words say."""
    yield from _types(file)
    yield from _missing_bounds(spec, file)


def _types(file: CoverageFile) -> Iterator[Diagnostic]:
    """Words that give an input or an output the type T are encoded by the types that T stands for."""
    for source, answers in file.sources.items():
        for index, answer in enumerate(answers):
            named = any(name.endswith("/element_types") for name in answer.encoded_by)
            if _OF_TYPE_T.search(answer.words) and not named:
                what = "these words say that the type is T, and the answer does not name what T stands for"
                yield Diagnostic(("sources", source, index), what, "add the element_types of the dialect")


def _missing_bounds(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    """A finding on missing bounds disputes the same words of each version whose Clip its witnesses ask."""
    versions = {f.id: _asked(f) for f in spec.findings}
    disputed: dict[str, set[str]] = defaultdict(set)
    for answer in (a for answers in file.sources.values() for a in answers):
        if any(name.endswith(_ASPECT) for name in answer.encoded_by):
            disputed[answer.words].update(answer.disputed_by)
    for source, answers in file.sources.items():
        for index, answer in enumerate(answers):
            of = {name.removesuffix(_ASPECT) for name in answer.encoded_by if name.endswith(_ASPECT)}
            for name in sorted(disputed[answer.words] - {*answer.disputed_by} if of else ()):
                if of & versions[name]:
                    what = f"`{name}` disputes these words elsewhere and asks {min(of)} too"
                    yield Diagnostic(("sources", source, index), what, f"add `{name}` to disputed_by")


def _asked(entry: SourceFinding) -> set[str]:
    """The versions of ONNX whose node Clip is asked about numbers without a bound."""
    return {
        f"onnx-{form.removeprefix('clip-')}"
        for witness in entry.witnesses
        if isinstance(witness, Contrast) and (witness.L is None or witness.M is None)
        for form in witness.ask
        if form.startswith("clip-")
    }


# --- Compares spec/coverage.yaml with the sources and with what spec/clip.yaml quotes from them -------------


_SHOWN = 90


def require_coverage(spec: Spec, obligations: Iterable[str]) -> Coverage:
    """Every sentence of every source with its answer.

    Args:
        spec: the specification, whose sources are read.
        obligations: the ids of all there are, which an answer may name.

    Raises:
        UserError: words have no answer; an answer is to words that are gone, names what is not there, or is
            not that of the entries of spec/clip.yaml which quote these words.
    """
    name, text, _ = read_text(repo_file(PATH))
    document, file = _read(name, text)
    raise_first(document, _sources(spec, file))
    for source, answers in file.sources.items():
        _aligned(document, spec.page(source).file, source, answers)
    raise_first(document, _reasons(spec, file))
    raise_first(document, _names(spec, file, set(obligations)))
    raise_first(document, _quotations(spec, file))
    raise_first(document, check_alike(spec, file))
    return Coverage(tuple(_covered(spec, file)))


@lru_cache(maxsize=2)  # whoever plants mistakes in the specification asks again
def _read(name: str, text: str) -> tuple[Document, CoverageFile]:
    document = Document(name, text)
    return document, validate_as(CoverageFile, document, document.data)


def _covered(spec: Spec, file: CoverageFile) -> Iterator[Covered]:
    for page in spec.sources:
        for item, answer in zip(items(repo_file(page.file)), file.sources[page.id], strict=True):
            reason = file.reasons.get(answer.descriptive or "")
            yield Covered(page.id, item, answer, reason.reason if reason else answer.descriptive)


def _sources(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    known = [page.id for page in spec.sources]
    unknown = [source for source in file.sources if source not in known]
    for source in unknown:
        what = f"spec/clip.yaml has no source `{source}`"
        yield Diagnostic(("sources", source), what, suggestion(source, known, "it has"), of_key=True)
    for source in known if not unknown else ():  # one may only be misspelt
        if source not in file.sources:
            what = f"the source `{source}` of spec/clip.yaml has no answers"
            yield Diagnostic(("sources",), what, "answer each of its sentences", of_key=True)


def _aligned(document: Document, file: str, source: str, answers: Sequence[SentenceAnswer]) -> None:
    """UserError for the first words without an answer, or the first answer whose words are not there."""
    found = items(repo_file(file))
    told, there = [" ".join(answer.words.split()) for answer in answers], [item.text for item in found]
    if told == there:
        return
    steps = SequenceMatcher(None, told, there, autojunk=False).get_opcodes()
    _, first, _, at, to = next(step for step in steps if step[0] != "equal")
    if at < to:
        item = found[at]
        line = document.position(("sources", source, min(first, len(told) - 1))).line if told else 1
        before = f"above line {line}" if first < len(told) else f"below line {line}"
        raise UserError(
            f"this {item.kind} has no answer in {PATH}: `{_short(item.text)}`",
            f"{file}:{item.line}",
            f"answer it there {before}; if an answer stands there to words that are gone, mend it",
        )
    what = f"{file} does not say this here: `{_short(told[first])}`"
    raise document.error(
        ("sources", source, first), what, "take the answer away, or restore the words and their place"
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _reasons(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    """A reason is used, and for words of its kinds; an answer names one that is there or gives its own."""
    used = set()
    for page in spec.sources:
        for index, (item, answer) in enumerate(
            zip(items(repo_file(page.file)), file.sources[page.id], strict=True)
        ):
            way, given = ("sources", page.id, index), answer.descriptive
            if given is None:
                continue
            used.add(given)
            reason = file.reasons.get(given)
            if reason is None and len(given.split()) < 3:
                what = f"there is no reason `{given}`"
                todo = f"{suggestion(given, file.reasons, 'there are')}; or give the reason in words"
                yield Diagnostic((*way, "descriptive"), what, todo)
            elif reason is not None and reason.kinds and item.kind not in reason.kinds:
                what = f"`{given}` is a reason for {', '.join(reason.kinds)}; this is a {item.kind}"
                yield Diagnostic((*way, "descriptive"), what, "give another answer")
    for name in file.reasons:
        if name not in used:
            yield Diagnostic(
                ("reasons", name), f"no answer gives the reason `{name}`", "take it away", of_key=True
            )


def _names(spec: Spec, file: CoverageFile, obligations: set[str]) -> Iterator[Diagnostic]:
    """What answers name is there."""
    known = {entry.id for s in SECTIONS if s.answers for entry in getattr(spec, s.name)}
    known |= {f"{dialect.id}/{aspect}" for dialect in spec.whole_dialects for aspect in dialect.says}
    findings = [finding.id for finding in spec.findings]
    for source, answers in file.sources.items():
        for index, answer in enumerate(answers):
            way = ("sources", source, index)
            for position, name in enumerate(answer.encoded_by):
                if name not in known and name not in obligations:
                    yield Diagnostic(
                        (*way, "encoded_by", position), f"there is no `{name}`", _nearest(name, known)
                    )
            for position, name in enumerate(answer.disputed_by):
                yield from unknown((*way, "disputed_by", position), name, findings, "finding")


def _nearest(name: str, known: set[str]) -> str:
    near = get_close_matches(name, sorted(known), 1)
    if near:
        return f"did you mean `{near[0]}`?"
    return "name an entry of spec/clip.yaml, a dialect's aspect as `onnx-13/bounds`, or an obligation"


def _quotations(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    """What spec/clip.yaml quotes is answered by what quotes it, or by a finding that quotes it too."""
    findings = {finding.id for finding in spec.findings}
    for page in spec.sources:
        path = repo_file(page.file)
        there = items(path)
        by: list[list[tuple[str, ...]]] = [[] for _ in there]
        for names, source in _quoting(spec):
            if source.page == page.id:
                for index in _touched(there, places_of(path, source.quote, places(source, path) or ())):
                    by[index].append(names)
        for index, (quoting, answer) in enumerate(zip(by, file.sources[page.id], strict=True)):
            given = {*answer.encoded_by, *answer.disputed_by}
            disputed = {name for names in quoting for name in names if name in findings} & given
            for names in quoting:
                if given.isdisjoint(names) and not (disputed and not findings.intersection(names)):
                    key = "disputed_by" if names[0] in findings else "encoded_by"
                    what = (
                        f"`{names[0]}` of spec/clip.yaml quotes these words, and the answer does not name it"
                    )
                    todo = f"add `{names[0]}` to {key}"
                    todo += "" if names[0] in findings else ", or to disputed_by a finding that quotes them"
                    yield Diagnostic(("sources", page.id, index), what, todo)


def _touched(there: Sequence[Item], found: Iterable[tuple[int, int]]) -> Iterator[int]:
    for start, end in found:
        yield from (i for i, item in enumerate(there) if item.start < end and start < item.end)


def _quoting(spec: Spec) -> Iterator[tuple[tuple[str, ...], Source]]:
    """Each quotation with what has it: one id, or those of several dialects that share an aspect's words."""
    for way, source in quoted(spec):
        yield (getattr(spec, str(way[0]))[int(way[1])].id,), source
    shared: dict[tuple[str, str, str, str], list[str]] = {}
    sources: dict[tuple[str, str, str, str], Source] = {}
    for dialect in spec.whole_dialects:
        for aspect, source in dialect.says.items():
            key = (aspect, source.page, source.section, source.quote)
            shared.setdefault(key, []).append(f"{dialect.id}/{aspect}")
            sources[key] = source
    yield from ((tuple(names), sources[key]) for key, names in shared.items())
