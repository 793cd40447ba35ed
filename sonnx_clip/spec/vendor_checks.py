"""Compares the dialects with the pages that define them: types, ranks, bounds, defaults, what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import Diagnostic
from sonnx_clip.spec.references import format_of, meaning
from sonnx_clip.spec.sonnx_page import chapters
from sonnx_clip.spec.texts import plain
from sonnx_clip.spec.vendor_pages import UnreadError, Version, directml_levels, onnx_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.model import Spec

_READERS = {"onnx": onnx_versions, "directml": directml_levels}
_LIMITS = ("lowest", "highest")


def check_vendor_pages(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about dialects that are not as their pages have them, and versions that no dialect takes."""
    for system in dict.fromkeys(dialect.system for dialect in spec.whole_dialects):
        first = next(i for i, dialect in enumerate(spec.whole_dialects) if dialect.system == system)
        page = next(row.page for row in spec.dialects if row.system == system and row.page)
        name = spec.page(page).file
        if system == "sonnx":
            versions: tuple[Version, ...] = tuple(_sonnx(spec, name))
        else:
            try:
                versions = _READERS[system](repo_file(name))
            except UnreadError as error:
                yield Diagnostic(("dialects", first, "page"), str(error), "write it as its neighbours")
                continue
        known = {d.version: (i, d) for i, d in enumerate(spec.whole_dialects) if d.system == system}
        for version in versions:
            if version.version not in known:
                what = f"no dialect takes version {version.version} of {name}:{version.line}"
                yield Diagnostic(("dialects",), what, f"add the dialect {system}-{version.version}")
                continue
            index, dialect = known.pop(version.version)
            yield from _compare(spec, name, ("dialects", index), dialect, version)
        for index, dialect in known.values():
            what = f"{name} has no version {dialect.version}"
            yield Diagnostic(("dialects", index, "version"), what)


def _sonnx(spec: Spec, name: str) -> Iterator[Version]:
    """The chapters as versions: the page names no ranks, refuses missing bounds, and allows nothing else."""
    by_title = {chapter.title: chapter for chapter in chapters(repo_file(name))}
    for family in spec.families:
        chapter = by_title.get(plain(family.chapter))
        if chapter is not None:
            types = chapter.types[0][1]
            required = {"R1", "R2"} <= {row.tag for row in chapter.rows}
            none = any("has no attribute" in line for line in chapter.lines)
            yield Version(
                version=family.id, line=chapter.line, types=types, ranks=None,
                bounds="inputs" if none else "attributes",
                bound_type="T", optional=not required, defaults=None, limits=False, in_place=False,
                scale_bias=False,
            )  # fmt: skip


def _compare(spec: Spec, name: str, way: Way, dialect: Dialect, there: Version) -> Iterator[Diagnostic]:
    where = f"{name}:{there.line}"
    yield from _types(spec, where, way, dialect, there)
    row = spec.dialects[int(way[1])]

    def wrong(key: str, says: object, todo: str) -> Diagnostic:
        own = getattr(row, key, None) not in (None, {}, ())
        return Diagnostic((*way, key) if own else (*way, "id"), f"`{dialect.id}`: {where} has {says}", todo)

    ranks = (dialect.ranks.least, dialect.ranks.greatest)
    if ranks != (there.ranks or (0, None)):
        least, greatest = there.ranks or (0, None)
        shown = "no limit of ranks" if not there.ranks else f"ranks {least} to {greatest}"
        yield wrong("ranks", shown, f"write {{least: {least}, greatest: {greatest}}}")
    if dialect.bounds != there.bounds:
        yield wrong("bounds", there.bounds, f"write `bounds: {there.bounds}`")
    bound_type = "tensor" if there.bound_type == "T" else _type_named(spec, there.bound_type)
    if dialect.bound_type != bound_type:
        yield wrong("bound_type", f"bounds of type {there.bound_type}", f"write `bound_type: {bound_type}`")
    for key in ("in_place", "scale_bias"):
        if getattr(dialect, key) != getattr(there, key):
            says = f"{'' if getattr(there, key) else 'no '}{key.replace('_', ' ')}"
            yield wrong(key, says, f"write `{key}: {str(getattr(there, key)).lower()}`")
    if dialect.function != there.function:
        printed = {None: "nothing of a function", True: "function: True", False: "function: False"}
        todo = (
            "take it away" if there.function is None else f"write `function: {str(there.function).lower()}`"
        )
        yield wrong("function", printed[there.function], todo)
    yield from _inputs(where, way, dialect, there)
    yield from _missing(where, way, dialect, there)


def _inputs(where: str, way: Way, dialect: Dialect, there: Version) -> Iterator[Diagnostic]:
    """How many inputs the page counts, and which attributes it lists beside the bounds."""
    taken = None
    if there.inputs is not None and dialect.bounds == "inputs":
        taken = (1 if dialect.missing is not None else 3, 3)
    if there.inputs is not None and there.inputs != taken:
        least, most = there.inputs
        what = f"`{dialect.id}`: {where} has {least} to {most} inputs, and this has other ones"
        yield Diagnostic((*way, "id"), what, "see `bounds` and `missing`")
    said = dialect.says.get("attributes")
    for name in there.attributes:
        if said is None or name not in said.quote:
            what = (
                f"`{dialect.id}`: {where} has an attribute {name}, and no quotation of `attributes` names it"
            )
            yield Diagnostic((*way, "id"), what, "quote it under `says`")
    if said is not None and not there.attributes and "no attribute" not in said.quote:
        what = f"`{dialect.id}`: {where} has no attribute beside the bounds"
        yield Diagnostic((*way, "id"), what, "state that under `unsaid`")


def _missing(where: str, way: Way, dialect: Dialect, there: Version) -> Iterator[Diagnostic]:
    """Whether a bound may be missing, what stands for it then, and of which type."""
    missing = dialect.missing
    if (missing is not None) != there.optional:
        says = "may be missing" if there.optional else "must be given"
        yield Diagnostic((*way, "id"), f"`{dialect.id}`: at {where} a bound {says}", "see `missing`")
        return
    if missing is None:
        return
    if there.limits and (missing.min, missing.max) != _LIMITS:
        what = f"`{dialect.id}`: {where} has numeric_limits::lowest() and numeric_limits::max()"
        yield Diagnostic((*way, "id"), what, "write `missing: {min: lowest, max: highest, …}`")
    of = "bound" if there.defaults is not None and there.bound_type != "T" else "element"
    if missing.of != of:
        printed = "prints defaults of" if of == "bound" else "prints no default of"
        what = f"`{dialect.id}`: {where} {printed} the bound's own type"
        yield Diagnostic((*way, "id"), what, f"write `of: {of}`")
    shown = dialect.printed_default
    if (None if shown is None else (shown.min, shown.max)) != there.defaults:
        says = "no default" if there.defaults is None else " and ".join(there.defaults)
        what = f"`{dialect.id}`: {where} prints {says}"
        yield Diagnostic((*way, "id"), what, "see `printed_default`")


def _types(spec: Spec, where: str, way: Way, dialect: Dialect, there: Version) -> Iterator[Diagnostic]:
    """The types that a dialect takes are those that its page lists, by what their names mean."""
    named = {meaning(name): name for name in there.types}
    taken = {format_of(spec.element_type(id_)): id_ for id_ in dialect.element_types}
    row = spec.dialects[int(way[1])]
    at = (*way, "element_types") if row.element_types is not None else (*way, "id")
    for form, name in named.items():
        if form not in taken:
            what = f"`{dialect.id}` does not take {name}, which {where} lists"
            yield Diagnostic(at, what, "add the type to element_types")
    for form, id_ in taken.items():
        if form not in named:
            what = f"`{dialect.id}` takes {id_}, which {where} does not list"
            yield Diagnostic(at, what, f"it lists {', '.join(there.types)}")


def _type_named(spec: Spec, name: str) -> str | None:
    """The element type that a page calls so: FLOAT is that of 32 bits for ONNX and for DirectML."""
    form = meaning(name)
    return next((etype.id for etype in spec.element_types if format_of(etype) == form), None)
