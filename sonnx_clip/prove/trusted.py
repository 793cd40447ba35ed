"""Lists the assumptions of the proofs, from the theories and drivers themselves.

The tasks themselves (accounts.py) are compared with it.

The list is compared with why3/trusted.txt, which a person keeps: an axiom that slips in stops the proofs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.backends.c_reference import COMMAND as EXTRACT
from sonnx_clip.backends.c_reference import HEADER, HEADER_TEMPLATE, PRECISE
from sonnx_clip.backends.drivers import COMMANDS, driver, driver_file, why3_configuration
from sonnx_clip.backends.templating import template_text
from sonnx_clip.prove.assumptions import CALLED, TheoryItem, read_theories
from sonnx_clip.prove.proofs_record import TrustedItem
from sonnx_clip.prove.snapshot import INLINE
from sonnx_clip.prove.statements import lines_of_list
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_file
from sonnx_clip.trace.numpy_meaning import PATH as NUMPY
from sonnx_clip.trace.numpy_meaning import table
from sonnx_clip.whyml.hand_written import directives, theory_texts
from sonnx_clip.whyml.why3_lexer import why3_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.accounts import Said

GOLDEN = "why3/trusted.txt"
DRIVERS = "why3/drivers"
_TOOLS = "sonnx_clip/backends/drivers.py"
_TASKS = "sonnx_clip/prove/tasks.py"
C_DRIVERS = "generated/c/drivers"

_POINTER = re.compile(r"^(const )?\w+ \*$")

_FLOATS = "IEEE 754 by the SMT-LIB theory FloatingPoint; shown to be what the bits say"
_ARITHMETIC = "conversion, rounding and comparison of IEEE 754 by the SMT-LIB theory FloatingPoint"
_C = "what C says of its scalar types and of memory"
_PRINTED = "how Why3 prints the [val] in C"
_CONTRACT = (
    "what a caller has to see to, and what then holds: the comment of sonnx_clip.h says the same"
)
_BESIDE = "written by hand, and read by a person: no proof speaks of it"
_GENERIC = "proved once for every type that meets the axioms; each type proves that it does"
_ABSTRACT = (
    "its meaning is a driver's, or that of whoever clones the module; nothing is assumed of it here"
)
_LIBRARY = "widely used; the tasks name what they take from it"
_READ_AS = "decides how a formula is read: the tasks show it as it was read"
_EXTRACTION = "sonnx_clip/backends/c_reference.py"
_EXTRACTED = (
    "how Why3 prints the programs as C; its own driver is named with its digest in proofs.json"
)
_RUN = "how a prover is run: limits and seeds, and nothing that states something"
_DRIVER = "takes in Why3's own driver and ours, and states nothing more; DATA is the folder of Why3"
_INLINED = "Why3 replaces names by their definitions, and takes premises out of the goal"
_OURS = "the axiom of this name, as the provers get it"
_RECURSIVE = "a recursive definition, which Why3 has shown to end, or an accessor of a record"
_WHY3S = "Why3's own: of its library, or of the encoding of types"
_LOGIC = "chooses the logic, and states nothing"
_IN_TASKS = "the tasks"
_BITS = "the sort, the literal or the operation of the SMT-LIB theory FixedSizeBitVectors"


def trusted(
    obligations: Iterable[Obligation],
    texts: Mapping[str, str] | None = None,
) -> tuple[TrustedItem, ...]:
    """All assumptions of the theories and the driver.

    Args:
        obligations: all of them.
        texts: the theories by path; those of the repository by default.
    """
    # Each assumption names the obligations that discharge it, so all of them are needed.
    known = tuple(obligations)
    return (
        *_of_theories(known, texts or dict(theory_texts())),
        *_of_drivers(known),
        *_of_c(),
        *_of_numpy(),
    )


def of_tasks(said: Iterable[Said], axioms: Iterable[TrustedItem]) -> tuple[TrustedItem, ...]:
    """What the tasks say to the provers besides premises and goals.

    Args:
        said: kind, name and statement of each.
        axioms: what is taken for granted besides: the axioms of this project are among it.
    """
    # Provers get an axiom under its own name, without file and module.
    ours: dict[str, TrustedItem] = {}
    for item in axioms:
        if item.kind == "axiom":
            _, _, own_name = item.name.rpartition(".")
            ours[own_name] = item
    items: list[TrustedItem] = []
    for kind, name, statement in sorted(said):
        discharged_by: tuple[str, ...] = ()
        reason = _WHY3S
        if name in ours:
            discharged_by = ours[name].discharged_by
            reason = _OURS
        elif name.endswith("'def"):
            # Definitions of another form are accounted for, and not listed.
            reason = _RECURSIVE
        if kind == "setting":
            reason = _LOGIC
        items.append(TrustedItem(kind, name, _IN_TASKS, statement, reason, discharged_by))
    return tuple(items)


def surprises(taken: Iterable[TrustedItem]) -> list[str]:
    """Where the list differs from the golden one: ``+`` for what is new, ``-`` for what is gone.

    What is not understood is new whatever the golden list says. What tasks may say need not be said:
    versions of Why3 differ in it.
    """
    items = tuple(taken)
    # Counted, because two assumptions may be written alike.
    kept = Counter(lines_of_list(repo_file(GOLDEN)))
    now = Counter(item.line for item in items)
    added = list((now - kept).elements())
    for item in items:
        if item.kind == "refused" and item.line not in added:
            added.append(item.line)
    lines = [f"+ {line}" for line in added]
    for line in (kept - now).elements():
        if not line.startswith(("assertion ", "setting ")):
            lines.append(f"- {line}")
    return lines


def _of_theories(
    obligations: tuple[Obligation, ...],
    texts: Mapping[str, str],
) -> Iterator[TrustedItem]:
    instances = [o for o in obligations if o.kind == "instance"]
    ours = {Path(where).stem for where in texts if where.startswith("why3/")}
    library: dict[str, str] = {}  # the first theory that uses a module
    for where, text in texts.items():
        undefined: dict[str, list[str]] = {}  # the symbols of a module
        stem = Path(where).stem
        for assumption in read_theories(text):
            module = f"{stem}.{assumption.module}"
            if assumption.kind == "library":
                # A name without a file is a module of the same file.
                package, dot, _ = assumption.name.partition(".")
                if dot and package not in ours:
                    library.setdefault(assumption.name, where)
            elif assumption.kind == "undefined":
                undefined.setdefault(module, []).append(assumption.text)
            elif assumption.kind == "refused":
                name = f"{where}:{assumption.line}"
                statement = f"{assumption.name}: {assumption.text}"
                yield TrustedItem("refused", name, where, statement, "", ())
            else:
                yield from _taken(assumption, module, where, instances)
        for module, symbols in undefined.items():
            statement = f"no definition of {', '.join(symbols)}"
            yield TrustedItem("symbol", f"abstract {module}", where, statement, _ABSTRACT)
    # Each module of the library once, at the first theory that uses it.
    for name, where in sorted(library.items()):
        statement = "a theory of Why3's own library"
        yield TrustedItem("symbol", f"library {name}", where, statement, _LIBRARY)


def _taken(
    assumption: TheoryItem,
    module: str,
    where: str,
    instances: list[Obligation],
) -> Iterator[TrustedItem]:
    """The assumption at one place of a theory, if any."""
    name = f"{module}.{assumption.name}"
    statement = assumption.text
    if assumption.kind == "axiom":
        # Every type that clones the theory has an obligation of the axiom's name.
        shown = tuple(o.id for o in instances if o.goal == assumption.name)
        yield TrustedItem("axiom", name, where, statement, assumption.comment, shown)
    elif assumption.kind == "clone":
        shown = tuple(o.id for o in instances)
        yield TrustedItem("assumption", module, where, statement, _GENERIC, shown)
    elif assumption.kind == "val":
        yield TrustedItem("symbol", name, where, statement, assumption.comment or _C)
    elif assumption.kind == "meta":
        yield TrustedItem("symbol", module, where, statement, _READ_AS)
    elif assumption.kind in ("type", "unasked", "attribute"):
        yield TrustedItem("assumption", module, where, statement, "")


def _of_drivers(obligations: tuple[Obligation, ...]) -> Iterator[TrustedItem]:
    """The drivers of this project: each as a whole, and what it says of each symbol."""
    ids = {o.id for o in obligations}
    types = {o.subject.lower(): o.subject for o in obligations}
    yield from _of_tools()
    texts: dict[str, str] = {}
    for path in repo_file(DRIVERS).iterdir():
        texts[f"{DRIVERS}/{path.name}"] = path.read_text(encoding="utf-8")
    for where, text in sorted(texts.items()):
        name = Path(where).name
        digest = f"sha256 {digest_of(text)}"
        yield TrustedItem("symbol", where, where, digest, "the file as a whole, read by a person")
        for directive in directives(why3_tokens(text).plain):
            meaning = directive.text or ""
            if directive.word == "prelude":
                yield TrustedItem("symbol", f"{name}.prelude", where, meaning, _LOGIC)
            symbol = directive.symbol
            if symbol is None:
                continue
            module = directive.module
            # Modules are named after types, with a capital letter.
            _, _, type_name = module.rpartition(".")
            etype = types.get(type_name.lower(), "")
            # It is trusted no more where an obligation proves it to be what the bits say.
            encoding = f"{etype}.encoding_{symbol.removeprefix('ieee_')}"
            shown = (encoding,) if encoding in ids else ()
            if name.endswith(".drv"):
                reason = _PRINTED
            elif module.startswith(("convert.", "scale_bias.")):
                reason = _ARITHMETIC
            else:
                reason = _FLOATS if shown else _BITS
            yield TrustedItem("symbol", f"{module}.{symbol}", where, meaning, reason, shown)


def _of_tools() -> Iterator[TrustedItem]:
    """How Why3 and the provers are run: commands, transformations, drivers and configuration."""
    # Words in place of folders and versions, so that the list is the same on every machine.
    for name, command in COMMANDS.items():
        yield TrustedItem("symbol", f"{name} command", _TOOLS, " ".join(command), _RUN)
        driver_text = _one_line(driver(name, "DATA"))
        yield TrustedItem("symbol", driver_file(name), _TOOLS, driver_text, _DRIVER)
    versions = dict.fromkeys(COMMANDS, "VERSION")
    configured = _one_line(why3_configuration("DRIVERS", versions))
    yield TrustedItem("symbol", "why3.conf", _TOOLS, configured, _RUN)
    extract = " ".join(EXTRACT)
    yield TrustedItem("symbol", "why3 extract command", _EXTRACTION, extract, _EXTRACTED)
    transformations = " ".join(INLINE)
    yield TrustedItem("symbol", "why3 transformations", _TASKS, transformations, _INLINED)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _of_c() -> Iterator[TrustedItem]:
    """What C the kernels are printed in, and their contracts: one entry for what element types share."""
    types_by_line: dict[_SharedLine, list[str]] = defaultdict(list)
    for path in sorted(repo_file(C_DRIVERS).glob("*.drv")):
        for name, text in _driver_lines(path):
            line = _SharedLine(name, text, C_DRIVERS, _PRINTED)
            types_by_line[line].append(path.stem)
    for path in sorted(repo_file("generated/why3").glob("c_*.mlw")):
        etype = path.stem.removeprefix("c_")
        for program in read_theories(path.read_text(encoding="utf-8")):
            if program.kind != "program":
                continue
            # A star in place of the type, so that the types share the line.
            name = f"c_*.{program.module}.{CALLED}*"
            line = _SharedLine(name, program.text, "generated/why3", _CONTRACT)
            types_by_line[line].append(etype)
    yield from _beside_c()
    for line, ids in types_by_line.items():
        statement = f"{line.text} [{', '.join(ids)}]"
        yield TrustedItem("symbol", line.name, line.where, statement, line.reason)


class _SharedLine(NamedTuple):
    """What several element types say in the same words."""

    name: str
    text: str
    where: str
    reason: str


def _beside_c() -> Iterator[TrustedItem]:
    """What the compiler reads beside the extracted C."""
    digest = f"sha256 {digest_of(template_text(HEADER_TEMPLATE))}"
    yield TrustedItem("symbol", HEADER_TEMPLATE, HEADER, digest, _BESIDE)
    yield TrustedItem("symbol", "c_*.before", "generated/c", _one_line(PRECISE), _BESIDE)


def _driver_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Every line of a generated driver: its subject and its content."""
    tokens = why3_tokens(path.read_text(encoding="utf-8"))
    for directive in directives(tokens.plain):
        module = directive.module.replace(f"c_{path.stem}.", "c_*.")
        if directive.symbol is not None:
            # A pointer to the element type is the same line for all types.
            text = _POINTER.sub(r"\1T *", directive.text or "")
            content = f"{text} {directive.rest}".rstrip()
            yield f"{module}.{directive.symbol}", content
        else:
            yield f"{module}.{directive.word}", directive.said


def _of_numpy() -> Iterator[TrustedItem]:
    """What the operations of NumPy mean: one entry an operation."""
    stem = Path(NUMPY).stem
    for meaning in table().values():
        yield TrustedItem(
            "assumption",
            name=f"{stem}.{meaning.module}.{meaning.name}",
            where=NUMPY,
            statement=f"{meaning.head} = {meaning.text}",
            justification=f"{meaning.about}; compared with the installed NumPy",
        )
