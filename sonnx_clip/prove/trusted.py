"""What the proofs take for granted, listed from the theories and drivers themselves.

The list is compared with why3/trusted.txt, which a person keeps: an axiom that slips in stops the proofs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.digest import digest_of
from sonnx_clip.paths import repo_file
from sonnx_clip.render.c import HEADER, HEADER_TEMPLATE, PRECISE
from sonnx_clip.render.templating import template_text
from sonnx_clip.render.written import modules, theory_files, without_comments
from sonnx_clip.trace.table import PATH as NUMPY
from sonnx_clip.trace.table import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.render.obligation import Obligation

GOLDEN = "why3/trusted.txt"
DRIVERS = "why3/drivers"
C_DRIVERS = "generated/c/drivers"

Kind: TypeAlias = Literal["axiom", "assumption", "symbol"]

# A keyword stands anywhere in a line; a statement goes on to the next declaration or beyond, never less.
# Where a program begins, a type or a [val] ends, but no axiom: its formula may hold a [let]. The [let] of a
# formula has its [=] behind the name; a program has parameters there, or a type.
_NEXT = r"^end\b|^\s*(?:axiom|goal|lemma|predicate|function|constant|type|clone|use|val|inductive)\b|\Z"
_WORDS = r"(?:ghost|rec|lemma|function|predicate|constant)"
_PROGRAM = rf"^\s*let\s+(?:{_WORDS}\s+)*[\w']+(?![\w'])\s*(?:\[@[^\]]*\]\s*)*[(:\w]"
_FLAGS = re.MULTILINE | re.DOTALL
_AXIOM = re.compile(rf"\baxiom\s+(?P<name>[\w']+)\s*(?:\[@[^\]]*\]\s*)*:(?P<body>.*?)(?={_NEXT})", _FLAGS)
# What is given to a clone begins with the words of declarations.
_CLONE = re.compile(
    r"\bclone\s+(?:export\s+|import\s+)?(?P<theory>[\w.]+)(?P<given>.*?)"
    rf"(?=^end\b|^\s*\n|^\s*(?:clone|use|goal|lemma|val|inductive)\b|{_PROGRAM}|\baxiom\s+[\w']+\s*[:\[]|\Z)",
    _FLAGS,
)
_VAL = re.compile(
    r"\bval\s+(?:(?:ghost|function|predicate|constant|lemma|rec)\s+)*(?P<name>[\w']+)(?P<contract>.*?)"
    rf"(?={_PROGRAM}|{_NEXT})",
    _FLAGS,
)
_TYPE = re.compile(rf"\btype\s+(?P<name>[\w']+)(?P<body>.*?)(?={_PROGRAM}|{_NEXT})", _FLAGS)
# What is believed within a program, or makes Why3 ask for less: that a loop ends, above all.
_UNASKED = re.compile(r"\b(?:assume|any|diverges|partial)\b|\[@(?:vc:|W:)[^\]]*\]")
_C_PROGRAM = re.compile(r"\blet\s+sonnx_clip_\w+\s*(?:\[@[^\]]*\]\s*)*(?P<contract>.*?)^\s*= ", _FLAGS)
_SYNTAX = re.compile(r'^\s*syntax\s+\w+\s+(?P<name>\w+)\s+"(?P<text>[^"]*)"', re.MULTILINE)
_PRELUDE = re.compile(r'^\s*prelude\s+"(?P<text>[^"]*)"', re.MULTILINE)
_THEORY = re.compile(r"^(?:theory|module)\s+(?P<name>[\w.]+)(?P<body>.*?)^end", _FLAGS)
_POINTER = re.compile(r"^(const )?\w+ \*$")
_DOC = re.compile(r"\(\*\*(?P<text>(?:(?!\*\)).)*)\*\)\s*$", re.DOTALL)

_FLOATS = "IEEE 754 by the SMT-LIB theory FloatingPoint; shown to be what the bits say"
_ARITHMETIC = "conversion, rounding and comparison of IEEE 754 by the SMT-LIB theory FloatingPoint"
_C = "what C says of its scalar types and of memory"
_PRINTED = "how Why3 prints the [val] in C"
_CONTRACT = "what a caller has to see to, and what then holds: the comment of sonnx_clip.h says the same"
_BESIDE = "written by hand, and read by a person: no proof speaks of it"
_BITS = "the sort, the literal or the operation of the SMT-LIB theory FixedSizeBitVectors"


@dataclass(frozen=True)
class Trusted:
    """One thing that is taken for granted.

    Args:
        kind: an axiom, a theory whose axioms are assumed, or a symbol that the driver gives to the provers.
        name: its full name.
        where: the file.
        statement: what is taken for granted: a formula, or SMT-LIB text.
        justification: why, in the words of the comment beside it.
        discharged_by: the obligations that show it where it is used.
    """

    kind: Kind
    name: str
    where: str
    statement: str
    justification: str
    discharged_by: tuple[str, ...]

    @property
    def line(self) -> str:
        """The line in the golden list."""
        return f"{self.kind} {self.name}: {self.statement}"


def trusted(obligations: Iterable[Obligation]) -> tuple[Trusted, ...]:
    """Everything that the theories and the driver take for granted."""
    known = tuple(obligations)
    return (*_of_theories(known), *_of_drivers(known), *_of_c(), *_of_numpy())


def surprises(found: Iterable[Trusted]) -> list[str]:
    """Where the list differs from the golden one: ``+`` for what is new, ``-`` for what is gone."""
    golden = repo_file(GOLDEN)
    lines = golden.read_text(encoding="utf-8").splitlines() if golden.is_file() else []
    kept = Counter(line for line in lines if line.strip() and not line.startswith("#"))
    now = Counter(t.line for t in found)
    return [f"+ {line}" for line in (now - kept).elements()] + [
        f"- {line}" for line in (kept - now).elements()
    ]


def _of_theories(obligations: tuple[Obligation, ...]) -> Iterator[Trusted]:
    files = [*theory_files(), *sorted(repo_file("generated/why3").glob("*.mlw"))]
    for path in files:
        text = path.read_text(encoding="utf-8")
        where = f"{path.parent.relative_to(repo_file('')).as_posix()}/{path.name}"
        for module, body in modules(text):
            name = f"{path.stem}.{module}"
            for match in _AXIOM.finditer(body):
                shown = tuple(o.id for o in obligations if o.kind == "instance" and o.goal == match["name"])
                yield Trusted(
                    "axiom",
                    f"{name}.{match['name']}",
                    where,
                    " ".join(match["body"].split()),
                    _comment_before(text, f"axiom {match['name']}"),
                    shown,
                )
            for match in _CLONE.finditer(body):
                if not re.search(r"\baxiom\b", match["given"]):
                    continue
                reason = "proved once for every type that meets the axioms; each type proves that it does"
                shown = tuple(o.id for o in obligations if o.kind == "instance")
                yield Trusted(
                    "assumption",
                    name,
                    where,
                    " ".join(f"clone {match['theory']}{match['given']}".split()),
                    reason,
                    shown,
                )
            for match in _VAL.finditer(body):
                if match["contract"].lstrip().startswith("="):
                    continue  # a clone is given a program for the [val], which is proved to keep its contract
                contract = " ".join(f"val {match['contract']}".split())
                comment = _comment_before(text, f"val {match['name']}")
                yield Trusted("symbol", f"{name}.{match['name']}", where, contract, comment or _C, ())
            yield from _unasked(name, where, body)


def _unasked(name: str, where: str, body: str) -> Iterator[Trusted]:
    """What Why3 does not ask to be shown of the types and programs of a module."""
    for match in _TYPE.finditer(body):
        if re.search(r"\binvariant\b", match["body"]):  # of an abstract type, it is assumed
            said = " ".join(f"type {match['name']}{match['body']}".split())
            yield Trusted("assumption", name, where, said, "", ())
    for match in _UNASKED.finditer(body):
        yield Trusted("assumption", name, where, match[0], "", ())


def _of_drivers(obligations: tuple[Obligation, ...]) -> Iterator[Trusted]:
    ids = {o.id for o in obligations}
    types = {o.subject.lower(): o.subject for o in obligations}
    for path in sorted(repo_file(DRIVERS).iterdir()):
        text = path.read_text(encoding="utf-8")
        where = f"{DRIVERS}/{path.name}"
        digest = f"sha256 {digest_of(text)}"
        yield Trusted("symbol", where, where, digest, "the file as a whole, read by a person", ())
        for match in _PRELUDE.finditer(text):
            reason = "chooses the logic, and states nothing"
            yield Trusted("symbol", f"{path.name}.prelude", where, match["text"], reason, ())
        for theory in _THEORY.finditer(text):
            module = theory["name"].rpartition(".")[2]
            for match in _SYNTAX.finditer(theory["body"]):
                encoding = f"{types.get(module.lower(), '')}.encoding_{match['name']}"
                shown = (encoding,) if encoding in ids else ()
                arithmetic = theory["name"].startswith(("convert.", "scale_bias."))
                named = _ARITHMETIC if arithmetic else _FLOATS if shown else _BITS
                reason = _PRINTED if path.suffix == ".drv" else named
                yield Trusted(
                    "symbol", f"{theory['name']}.{match['name']}", where, match["text"], reason, shown
                )


def _of_c() -> Iterator[Trusted]:
    """What C the kernels are printed in, and their contracts: one entry for what element types share."""
    types: dict[tuple[str, str, str], list[str]] = {}
    for path in sorted(repo_file(C_DRIVERS).glob("*.drv")):
        for name, text in _driver_lines(path):
            types.setdefault((name, text, _PRINTED), []).append(path.stem)
    for path in sorted(repo_file("generated/why3").glob("c_*.mlw")):
        for module, body in modules(path.read_text(encoding="utf-8")):
            for match in _C_PROGRAM.finditer(body):
                contract = " ".join(match["contract"].split())
                key = (f"c_*.{module}.sonnx_clip_*", contract, _CONTRACT)
                types.setdefault(key, []).append(path.stem.removeprefix("c_"))
    yield from _beside_c()
    for (name, text, reason), of in types.items():
        where = "generated/why3" if reason == _CONTRACT else C_DRIVERS
        yield Trusted("symbol", name, where, f"{text} [{', '.join(of)}]", reason, ())


def _beside_c() -> Iterator[Trusted]:
    """What the compiler reads beside the extracted C."""
    digest = f"sha256 {digest_of(template_text(HEADER_TEMPLATE))}"
    yield Trusted("symbol", HEADER_TEMPLATE, HEADER, digest, _BESIDE, ())
    yield Trusted("symbol", "c_*.before", "generated/c", " ".join(PRECISE.split()), _BESIDE, ())


def _driver_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Every line of a generated driver: what it is about, and what it says."""
    module = ""
    for line in without_comments(path.read_text(encoding="utf-8")).splitlines():
        words, found = line.split(), _SYNTAX.match(line)
        if len(words) == 2 and words[0] == "module":
            module = words[1].replace(f"c_{path.stem}.", "c_*.")
        elif found:
            text = _POINTER.sub(r"\1T *", found["text"])
            yield f"{module}.{found['name']}", " ".join([text, *line[found.end() :].split()])
        elif words not in ([], ["end"]):
            yield f"{module}.{words[0]}", " ".join(words[1:])


def _of_numpy() -> Iterator[Trusted]:
    """What the operations of NumPy mean: one entry an operation."""
    for meaning in table().values():
        yield Trusted(
            "assumption",
            f"{Path(NUMPY).stem}.{meaning.module}.{meaning.name}",
            NUMPY,
            f"{meaning.head} = {meaning.text}",
            f"{meaning.about}; compared with the installed NumPy",
            (),
        )


def _comment_before(text: str, declaration: str) -> str:
    before, found, _ = text.partition(declaration)
    comment = _DOC.search(before.rstrip()) if found else None
    return " ".join(comment["text"].split()) if comment else ""
