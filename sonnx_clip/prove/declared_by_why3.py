"""Compares what `taken_for_granted` reads from the theories with what Why3 itself prints of them.

Why3's parser prints each file anew, without comments and in its own way. Why3's typing prints each theory
with every axiom in it, those of clones, types and programs included. Where one has what the other has not,
somebody reads wrongly, and the difference is reported by name.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sonnx_clip.prove import taken_for_granted
from sonnx_clip.prove.taken_for_granted import Found, module_names, read_theories
from sonnx_clip.prove.tasks import WHY3_SECONDS, run_why3
from sonnx_clip.prove.trusted import TrustedItem
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.run_program import Running
from sonnx_clip.whyml import why3_lexer
from sonnx_clip.whyml.why3_lexer import tokens, without_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LOAD: Final = ("-L", "why3")
_NUMBER: Final = re.compile(r"[0-9]*$")
# Why3 1.8 prints a ghost value so, and names the hypotheses of a variant.
_GHOST_VALUE: Final = re.compile(r"\blet ghost (\w+) = ghost \(any (\w+)\)")
# It names what an operator gives in a program after the operator, which no name of a theory may be.
_RESULT: Final = re.compile(r"\blet \( *[^\s()]+ *\)'result'unused(\d*) =")
_MADE: Final = ("attribute", "[@hyp_name:Variant]")
# What the printed text of a file has to have as often as the file: kind, module and name of each.
_COMPARED: Final = (
    "axiom", "lemma", "goal", "val", "clone", "type", "unasked", "attribute", "undefined",
    "lemma program", "library",
)  # fmt: skip


def differences_from_why3(
    texts: Mapping[str, str], files: Sequence[str], jobs: int
) -> tuple[TrustedItem, ...]:
    """What Why3 reads otherwise; empty when all is as it should be.

    Args:
        texts: all theory files with their text, by the path in the repository.
        files: those that are compared.
        jobs: how many processes run at once.
    """
    with ThreadPoolExecutor(jobs) as pool, Running() as running:
        typed = pool.submit(_said, ["prove", *_LOAD, "--print-theory", *files], running)
        parsed = list(pool.map(lambda file: _said(["pp", "--output=mlw", file], running), files))
        said = typed.result()
    found = [t for file, said in zip(files, parsed, strict=True) for t in _as_parsed(file, texts[file], said)]
    return (*found, *_as_typed(texts, files, said))


@cache
def reader_digest() -> str:
    """A digest of what reads the theories here: where it changes, they are compared again."""
    sources = (__file__, taken_for_granted.__file__, why3_lexer.__file__)
    return digest_of_parts([Path(source).read_bytes() for source in sources])


def _said(arguments: list[str], running: Running) -> tuple[str, str]:
    """What Why3 prints, and what it complains of."""
    done = run_why3(["why3", *arguments], running)
    if done.killed:
        return "", f"why3 {arguments[0]} did not end within {WHY3_SECONDS} s"
    if done.status != 0:
        return "", done.words.strip() or f"why3 {arguments[0]} ended with exit status {done.status}"
    return done.text, ""


def _refused(where: str, what: str) -> TrustedItem:
    return TrustedItem("refused", where, where, " ".join(what.split()), "", ())


# --- As Why3's parser reads a file -----------------------------------------------------------------------


def _as_parsed(file: str, text: str, said: tuple[str, str]) -> Iterator[TrustedItem]:
    printed, complaint = said
    if complaint:
        yield _refused(file, f"Why3 does not read it: {complaint}")
        return
    printed = _GHOST_VALUE.sub(r"val ghost \1 : \2", printed)
    here, there = _counted(read_theories(text)), _counted(read_theories(printed))
    for kind, module, name in [key for key in there if (key[0], key[2]) == _MADE]:
        del there[kind, module, name]
    for (kind, module, name), count in sorted(((here - there) + (there - here)).items()):
        which = (
            "Why3 alone reads"
            if there[kind, module, name] > here[kind, module, name]
            else "Why3 does not read"
        )
        yield _refused(f"{file}:{module}", f"{which} {count} {kind} {name}".rstrip())


def _counted(found: Sequence[Found]) -> Counter[tuple[str, str, str]]:
    return Counter(
        (f.kind, f.module, "".join(f.text.split()) if f.kind == "attribute" else f.name)
        for f in found
        if f.kind in _COMPARED
    )


# --- As Why3's typing reads it ---------------------------------------------------------------------------


def _as_typed(texts: Mapping[str, str], files: Sequence[str], said: tuple[str, str]) -> Iterator[TrustedItem]:
    printed, complaint = said
    if complaint:
        yield _refused("why3", f"Why3 does not print the theories: {complaint}")
        return
    expected = [(file, module) for file in files for module in module_names(texts[file])]
    theories = _theories(_RESULT.sub(r"let result'unused\1 =", printed))
    if [_bare(module) for _, module in expected] != [_bare(module) for module, _ in theories]:
        yield _refused("why3", "Why3 does not print the theories that the files have, in their order")
        return
    axioms: dict[str, Counter[str]] = defaultdict(Counter)
    for file, text in texts.items():
        for f in read_theories(text):
            if f.kind == "axiom":
                axioms[f"{file.rpartition('/')[2].removesuffix('.mlw')}.{f.module}"][_bare(f.name)] += 1
    for (file, module), (_, there) in zip(expected, theories, strict=True):
        yield from _theory(file, module, read_theories(texts[file]), there, axioms, _ranges(texts[file]))


def _theories(printed: str) -> list[tuple[str, tuple[Found, ...]]]:
    """Each theory that Why3 printed, with what it declares."""
    parts = re.split(r"(?m)^(?=theory )", printed)
    return [(module_names(part)[0], read_theories(part)) for part in parts if module_names(part)]


def _ranges(text: str) -> set[str]:
    """The types of a file that are ranges of integers: ``type t = < range 0 0xff >``."""
    words = [token.text for token in tokens(without_header(text)).tokens]
    return {
        words[at - 3] for at in range(4, len(words)) if words[at - 4 : at + 1 : 2] == ["type", "=", "range"]
    }


def _theory(
    file: str,
    module: str,
    here: Sequence[Found],
    there: Sequence[Found],
    axioms: Mapping[str, Counter[str]],
    ranges: set[str],
) -> Iterator[TrustedItem]:
    where = f"{file}:{module}"
    for refusal in (f for f in there if f.kind == "refused"):
        yield _refused(where, f"Why3 prints what is not understood: {refusal.name}: {refusal.text}")
    read = _printed(there, "axiom")
    own, programs = _names(here, module, "axiom"), _names(here, module, "lemma program")
    assumed: Counter[str] = Counter()
    for clone in (f for f in here if f.module == module and f.kind == "clone"):
        stem = file.rpartition("/")[2].removesuffix(".mlw")
        assumed += axioms.get(clone.name) or axioms.get(f"{stem}.{clone.name}") or Counter()
    made = {f"{type_}'inj" for type_ in ranges}  # of a type that is a range, by Why3 1.8: its numbers differ
    for name in read - own - programs - assumed:
        if name in made:
            continue
        yield _refused(where, f"Why3 alone reads an axiom {name}")
    for name in own - read:
        yield _refused(where, f"Why3 reads no axiom {name}")
    asked = {_bare(f.name.partition("'vc")[0]) for f in there if f.kind == "goal" and "'vc" in f.name}
    for name in programs:
        if name not in asked:
            yield _refused(where, f"Why3 asks for no proof of {name}")
    stated = [f for f in there if f.kind in ("axiom", "lemma", "goal")]
    smokes = [f for f in stated if f.kind == "goal" and f.name.startswith("smoke_")]
    if smokes and stated[-1] is not smokes[-1]:
        yield _refused(where, f"{stated[-1].kind} {stated[-1].name} stands behind the smoke goal")


def _names(found: Sequence[Found], module: str, kind: str) -> Counter[str]:
    return Counter(_bare(f.name) for f in found if f.module == module and f.kind == kind)


def _printed(found: Sequence[Found], kind: str) -> Counter[str]:
    return Counter(_bare(f.name) for f in found if f.kind == kind)


def _bare(name: str) -> str:
    """A name without the number that Why3 puts behind it when it prints two of one name."""
    return _NUMBER.sub("", name) or name
