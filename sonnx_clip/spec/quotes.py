"""Checks quotations: each source has its recorded digest, and each quotation is in its section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import Diagnostic, Way, unknown
from sonnx_clip.spec.model import Spec, entries_with
from sonnx_clip.spec.texts import fold, plain, source_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import Source

_SHORTEST = 12  # characters of a quotation; fewer occur in a text by chance
_FOLDER = "spec/sources"
_SUMS = f"{_FOLDER}/SHA256SUMS"


def require_sources(spec: Spec) -> None:
    """UserError for the first text that differs from its recorded digest, or has none.

    A word that no quotation takes can change what a text means. `sha256sum --check` reads the same file.
    """
    sums = repo_file(_SUMS)
    if not sums.is_file():
        raise UserError("it is missing", _SUMS, f"restore it: git checkout {_SUMS}")
    recorded: dict[str, str] = {}
    for line in sums.read_text(encoding="utf-8").splitlines():
        if line.strip():
            digest, *_, name = line.split()
            recorded[f"{_FOLDER}/{name}"] = digest  # names are from the folder of the list

    files = dict.fromkeys(page.file for page in spec.texts)  # several pages may share a file
    for file in files:
        # A digest is written by a person who has read the text, and by no command of this project.
        todo = f"write its digest there: sha256sum {file}"
        if file not in recorded:
            raise UserError(f"it has no digest in {_SUMS}", file, todo)
        if digest_of_file(repo_file(file)) != recorded[file]:
            message = f"the digest of the text differs from that in {_SUMS}"
            raise UserError(message, file, f"restore it, or read it again and {todo}")


def lines_of(spec: Spec, source: Source) -> tuple[int, ...]:
    """Every line of the page at which a quotation begins, below headings of its section's name."""
    if source.quote is None:  # the fact of a page that is only cited, which has no lines here
        return ()
    page = spec.page(source.page)
    text = source_text(repo_file(page.file))
    lines: set[int] = set()
    # That the section is missing is for `check_quotes` to report.
    for start, _ in text.spans(source.section, source.quote) or ():
        lines.add(text.line(start))
    return tuple(sorted(lines))


def all_quotations(spec: Spec) -> Iterator[tuple[Way, Source]]:
    """Every quotation, or fact of a page that is cited, with its place."""
    way: Way
    for section, index, entry in entries_with(spec, "source"):
        if entry.source is not None:
            way = (section, index, "source")
            yield way, entry.source
        # Of restrictions alone, as the page repeats some of them in other words.
        for position, source in enumerate(getattr(entry, "also", ())):
            way = (section, index, "also", position)
            yield way, source
    for index, finding in enumerate(spec.findings):
        for position, source in enumerate(finding.words):
            way = ("findings", index, "words", position)
            yield way, source
    for index, dialect in enumerate(spec.dialects):
        for aspect, source in dialect.says.items():
            way = ("dialects", index, "says", aspect)
            yield way, source


def check_quotes(spec: Spec) -> Iterator[Diagnostic]:
    """Missing pages, missing sections, and quotations that are not in their section."""
    pages = {page.id: page.file for page in spec.sources}
    readable: dict[str, str] = {}  # without the pages whose file is missing
    for index, page in enumerate(spec.sources):
        if page.file and not repo_file(page.file).is_file():
            message = f"there is no file {page.file}"
            todo = "give its path in the repository"
            yield Diagnostic(("sources", index, "file"), message, todo)
        else:
            readable[page.id] = page.file
    for way, source in all_quotations(spec):
        section, *_ = way
        if section != "dialects":  # whose page is a reference of their own
            yield from unknown((*way, "page"), source.page, pages, "source")
        if source.page in readable:
            yield from _check(way, source, readable[source.page])


def _check(way: Way, source: Source, file: str) -> Iterator[Diagnostic]:
    """A quotation that is not in its section, or is not what a page of its kind needs."""
    has_quote = source.quote is not None
    has_fact = source.fact is not None
    # A text that is kept is quoted, word for word. Of one that is not, nobody could compare the words.
    if file and (has_fact or not has_quote):
        message = f"the text of {source.page} is in the repository"
        yield Diagnostic(way, message, "give a `quote` and nothing else")
    if not file and (has_quote or not has_fact):
        message = f"the text of {source.page} is only cited"
        yield Diagnostic(way, message, "give a `fact` and nothing else")
    if source.quote is None or not file:
        return

    path = repo_file(file)
    text = source_text(path)
    spans = text.spans(source.section, source.quote)
    # First the section: where it is misspelt, the quotation would be missing as well.
    if spans is None:
        titles = dict.fromkeys(section.title for section in text.sections)
        message = f"{path.name} has no section `{source.section}`"
        todo = suggestion(plain(source.section), titles, "it has")
        yield Diagnostic((*way, "section"), message, todo)
        return
    if len(fold(source.quote)) < _SHORTEST:
        message = "this quotation is too short to be found again"
        yield Diagnostic((*way, "quote"), message, "quote a whole statement")
    elif not spans:
        message = f"the section `{source.section}` of {path.name} does not contain this"
        yield Diagnostic((*way, "quote"), message, "quote it exactly; only white space may differ")
