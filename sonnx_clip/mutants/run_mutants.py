"""`make mutants`: makes every mutant, notes what finds it, and writes the record and the page.

What is done stands in a journal, build/mutants.jsonl: a run that is killed goes on where it was.
"""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sonnx_clip import __version__
from sonnx_clip.backends.generate import render_theories
from sonnx_clip.mutants import programs
from sonnx_clip.mutants.equivalence import by_normal_form, by_provers
from sonnx_clip.mutants.mutants_record import (
    PAGE,
    RECORD,
    SAME,
    MutantRow,
    MutantsRecord,
    all_found,
    closing_line,
    page,
    short,
)
from sonnx_clip.mutants.theories import WRITTEN, Theories, TheoryMutant, of_renderer, says_nothing
from sonnx_clip.prove.completeness import pinned
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_parts, make_folder, write_whole
from sonnx_clip.root.folders import checkout, repo_file
from sonnx_clip.root.terminal import progress
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.node import Node
from sonnx_clip.whyml.why3_lexer import without_header

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sonnx_clip.spec import Spec

_TYPES = ("float32", "int8", "real")
_KERNELS = ("float32", "float16", "int8")
_DRIVERS = ("elements.Bits8", "elements.Bits16", "elements.Float32", "elements.Float16", "elements.BFloat16",
            "convert.ToInt8", "convert.ToUInt16", "convert.ToFloat16", "convert.ToFloat64",
            "scale_bias.ScaleFloat16", "scale_bias.ScaleFloat32")  # fmt: skip
_GENERATED = ("c kernels", "oracle")
_EVALUATORS = ("sonnx_clip/whyml", "sonnx_clip/mutants/theories.py", "sonnx_clip/mutants/family.py")
_JUDGE = "sonnx_clip/mutants/programs.py"
_TRIES = 60


class Journal:
    """What is known already, by the digest of what was asked; each line is written as it is found."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self.path = path
        self.known: dict[str, Any] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
            try:
                key, value = json.loads(line)
            except ValueError:
                continue  # the line at which a run was killed
            self.known[key] = value
        self._file = path.open("a", encoding="utf-8")

    def note(self, key: str, value: Any) -> Any:
        """Keep a result."""
        self.known[key] = value
        self._file.write(json.dumps([key, value], ensure_ascii=False) + "\n")
        self._file.flush()
        return value

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class MutantsRun:
    """One run over the whole family.

    Args:
        spec: the specification.
        build: where the journal and the provers' configuration are.
        console: where progress is shown.
    """

    def __init__(self, spec: Spec, build: Path, console: Console) -> None:
        self.spec, self.build, self.console = spec, build, console
        self.theories = Theories(spec, render_theories(spec).obligations)
        self.journal = Journal(build / "mutants.jsonl")
        self.key = _digest_of("why3", "generated/why3", *_EVALUATORS)
        programs_ = (programs.KERNELS, programs.PLAN, programs.ORACLE)
        self.key_of_programs = _digest_of("generated/c", "generated/vectors", *programs_, _JUDGE)

    def everything(self) -> MutantsRecord:
        """All mutants, and what each obligation finds."""
        start = time.monotonic()
        mutants = list(self._theory_mutants())
        rows = self._programs() + self._of_theories(mutants) + self._renderer()
        kills, unkilled = self._kills(mutants)
        digest = self.spec.digest
        seconds = round(time.monotonic() - start)
        return MutantsRecord(
            tool=f"sonnx-clip {__version__}", spec_sha256=digest, seconds=seconds,
            mutants=tuple(rows), kills=kills, unkilled=unkilled,
        )  # fmt: skip

    def _programs(self) -> list[MutantRow]:
        found = [
            m
            for make in (programs.c_kernels, programs.numpy_kernels, programs.oracle)
            for m in make(self.spec)
        ]
        rows = []
        with progress("programs", len(found), "mutants", self.console) as show:
            for count, m in enumerate(found):
                key = digest_of_parts([self.key_of_programs, m.area, m.name, m.change, m.source])
                if key not in self.journal.known:
                    self.journal.note(key, programs.found_by(self.spec, m) or ["", ""])
                by, example = self.journal.known[key]
                if not by and m.area in _GENERATED:
                    by = SAME  # it means the same, and it is not what is generated
                rows.append(
                    MutantRow(area=m.area, name=m.name, change=short(m.change), by=by, example=example)
                )
                show(count + 1, "")
        return rows

    def _theory_mutants(self) -> Iterator[TheoryMutant]:
        for subject in _TYPES:
            yield from self.theories.of_subject(subject)
        for stem in WRITTEN:
            yield from self.theories.of_written(stem)
        for subject in _KERNELS:
            yield from self.theories.of_kernels(subject)
        for module in _DRIVERS:
            yield from self.theories.of_drivers(module, self.theories.goals.library.scope(module).symbols)

    def _of_theories(self, mutants: list[TheoryMutant]) -> list[MutantRow]:
        found: dict[TheoryMutant, tuple[str, str]] = {}
        with progress("theories", len(mutants), "mutants", self.console) as show:
            for count, m in enumerate(mutants):
                key = self._key(m)
                if key not in self.journal.known:
                    self.journal.note(key, self._found_by(m))
                by, example = self.journal.known[key]
                if by:
                    found[m_key(m)] = (by, example)
                show(count + 1, "")
        left = [m for m in mutants if m_key(m) not in found]
        proved = self._equal(left)
        rows = []
        for m in mutants:
            by, example = found.get(m_key(m), ("", ""))
            if not by and len(proved.get(m_key(m), ())) > 1:
                by = f"equivalent: {' and '.join(proved[m_key(m)])}"
            by = by or self._pinned(m)
            rows.append(MutantRow(area=m.area, name=m.name, change=short(m.change), by=by, example=example))
        return rows

    def _found_by(self, m: TheoryMutant) -> tuple[str, str]:
        first = next(self.theories.found_by(m), None)
        if first is not None:
            return first
        return ("equivalent: one normal form", "") if by_normal_form(self.theories, m) else ("", "")

    def _equal(self, left: list[TheoryMutant]) -> dict[Any, tuple[str, ...]]:
        key = digest_of_parts([self.key, "equal or unseen", *(f"{m.name} {m.change}" for m in left)])
        if key not in self.journal.known:
            with progress("equivalence", 2 * len(left), "questions", self.console) as show:
                proved = by_provers(self.theories, left, self.build, lambda count: show(count, ""))
            self.journal.note(key, [[list(m_key(m)), list(names)] for m, names in proved.items()])
        return {tuple(m): tuple(names) for m, names in self.journal.known[key]}

    def _pinned(self, m: TheoryMutant) -> str:
        """A hand-written statement that is changed is told by the list of statements, whatever it means."""
        return "why3/statements.txt" if m.name in pinned() else ""

    def _renderer(self) -> list[MutantRow]:
        of_programs = {id_ for id_, s in self.theories.statements.items() if s.program is not None}
        subjects = (*_TYPES, "restrictions")
        ids = [id_ for id_, o in self.theories.obligations.items()
               if o.subject in subjects and id_ not in of_programs]  # fmt: skip
        rows = []
        with progress("renderer", len(ids), "goals", self.console) as show:
            for count, id_ in enumerate(ids):
                statement = self.theories.statements[id_]
                for change, node in of_renderer(statement):
                    key = digest_of_parts([self.key, "renderer", id_, change])
                    if key not in self.journal.known:
                        said = (
                            says_nothing(self.theories.goals, statement, node)
                            if change != "it is denied"
                            else None
                        )
                        false = (
                            None
                            if said
                            else self.theories.goals.counterexample(statement, {statement.key: node})
                        )
                        self.journal.note(
                            key, [f"{id_}: {said}" if said else "" if false is None else id_, false or ""]
                        )
                    by, example = self.journal.known[key]
                    rows.append(MutantRow(area="renderer", name=id_, change=change, by=by, example=example))
                show(count + 1, "")
        return rows

    def _kills(self, mutants: list[TheoryMutant]) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
        """For each obligation a mutant that makes it fail: those of its own element type first."""
        pools: dict[Any, list[TheoryMutant]] = {}
        for m in mutants:
            for key in m.bodies:
                pools.setdefault(key, []).append(m)
        kills, unkilled = {}, []
        obligations = self.theories.obligations
        own: dict[str, bool] = {}
        with progress("obligations", len(obligations), "obligations", self.console) as show:
            for count, (id_, o) in enumerate(obligations.items()):
                if o.subject not in own:
                    own[o.subject] = True
                    if o.subject not in _TYPES:
                        more = [*self.theories.of_subject(o.subject), *self.theories.of_kernels(o.subject)]
                        more += self._native(o.subject)
                        for m in more:
                            for key in m.bodies:
                                pools.setdefault(key, []).append(m)
                known = digest_of_parts([self.key, "kill", id_])
                if known not in self.journal.known:
                    self.journal.note(known, self._killer(id_, pools))
                mutant, example = self.journal.known[known]
                if mutant:
                    kills[id_] = (mutant, example)
                else:
                    unkilled.append(id_)
                show(count + 1, o.subject)
        return dict(sorted(kills.items())), tuple(sorted(unkilled))

    def _native(self, subject: str) -> list[TheoryMutant]:
        etype = next((e for e in self.spec.element_types if e.id == subject), None)
        if etype is None or etype.family == "real":
            return []
        modules = [f"elements.{etype.why3}", f"elements.Bits{etype.width}", f"convert.To{etype.why3}"]
        found = []
        for module in modules:
            try:
                scope = self.theories.goals.library.scope(module)
            except UserError:
                continue
            found += list(self.theories.of_drivers(module, scope.symbols))
        return found

    def _killer(self, id_: str, pools: dict[Any, list[TheoryMutant]]) -> tuple[str, str]:
        used = self.theories.goals.used(self.theories.statements[id_])
        tried = 0
        for rank in range(_TRIES):
            for key in sorted(used, key=lambda k: (k[0].startswith("elements"), k)):
                pool = pools.get(key, ())
                if rank >= len(pool) or tried > 6 * _TRIES:
                    continue
                # From both ends: what changes a whole definition, and what changes its last part.
                m = pool[rank // 2] if rank % 2 == 0 else pool[-1 - rank // 2]
                tried += 1
                example = self.theories.false(id_, m)
                if example is not None:
                    return f"{m.name}: {short(m.change)}", example
        return "", ""

    def _key(self, m: TheoryMutant) -> str:
        bodies = [str(body) if isinstance(body, Node) else "" for body in m.bodies.values()]
        return digest_of_parts([self.key, m.area, m.name, m.change, str(sorted(m.bodies)), *bodies])


def _digest_of(*paths: str) -> str:
    """A digest of files and folders; of a rendered theory without its header."""
    files = [
        p
        for path in paths
        for p in sorted([repo_file(path), *repo_file(path).rglob("*")])
        if p.is_file() and "__pycache__" not in p.parts
    ]
    return digest_of_parts(
        [part for file in files for part in (file.name, without_header(file.read_text("utf-8")))]
    )


def m_key(m: TheoryMutant) -> Any:
    """What tells a mutant from all others."""
    return (m.area, m.name, m.change, str(sorted(m.bodies)), str(next(iter(m.bodies.values()))))


def main() -> int:
    """Run the family, write the record and the page; 1 if a mutant is open."""
    ArgumentParser(prog="python -m sonnx_clip.mutants", description=__doc__).parse_args()
    console = Console(stderr=True)
    root = checkout()
    try:
        run = MutantsRun(load_spec(), root / "build", console)
        record = run.everything()
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    run.journal.close()
    write_whole(root / RECORD, record.dump())
    write_whole(root / PAGE, page(record))
    print(closing_line(record))
    return 0 if all_found(record.mutants) else 1
