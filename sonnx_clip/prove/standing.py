"""What an obligation adds: whether its premises can hold, and whether it says more than definitions and
others do.

No prover is asked. Each statement is evaluated (`sonnx_clip.whyml`): values that meet its premises are its
witness. Its normal form, with the definitions put in, tells what holds by definition alone, and what another
obligation of the same subject states too. Both are proved and shown like all others, and counted apart;
what holds by definition has to be on a list that a person keeps, so that a statement that becomes empty is
noticed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sonnx_clip.language import special
from sonnx_clip.root.files import digest_of_parts, write_whole
from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml import evaluate_goals
from sonnx_clip.whyml.evaluate_goals import Goals
from sonnx_clip.whyml.node import shown
from sonnx_clip.whyml.normal import Normal
from sonnx_clip.whyml.why3_lexer import without_header
from sonnx_clip.whyml.written import theory_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.evaluate_goals import Statement
    from sonnx_clip.whyml.node import Node

GOLDEN = "why3/by_definition.txt"
KEPT = "standing.json"
StandingKind: TypeAlias = Literal["counts", "by definition", "repeats", "vacuous"]


@dataclass(frozen=True)
class Standing:
    """What an obligation adds.

    Args:
        kind: it counts; it holds by definition; it repeats another statement; or it says nothing of any
        value.
        of: the obligation that it repeats; why it is vacuous; else empty.
        witness: values of its variables that meet the premises of its first conclusion; empty without
        premises.
        conclusions: how many conclusions it has with premises of their own: each has a witness.
    """

    kind: StandingKind
    of: str = ""
    witness: dict[str, str] | None = None
    conclusions: int = 0


def standings(
    spec: Spec,
    obligations: Sequence[Obligation],
    build: Path | None,
    on_progress: Callable[[int], None] = lambda _: None,
    asked: Collection[str] | None = None,
) -> dict[str, Standing]:
    """What each obligation but smoke adds; what is known of unchanged theories is taken from the build
    folder.

    Args:
        spec: what the element types are.
        obligations: all of them: what repeats another is seen only beside it.
        build: where the results are kept; None keeps nothing.
        on_progress: called with the number of obligations so far.
        asked: the ids of those that are wanted, all by default. What is kept of others stays.
    """
    kept = _read(build) if build is not None else {}
    by_subject: dict[str, list[Obligation]] = defaultdict(list)
    for o in obligations:
        if o.kind != "smoke":
            by_subject[o.subject].append(o)
    found: dict[str, Standing] = {}
    fresh: dict[str, Any] = {} if asked is None else dict(kept)
    for subject, mine in by_subject.items():
        wanted = frozenset(o.id for o in mine if asked is None or o.id in asked)
        if not wanted:
            continue
        key = _key(spec, mine)
        known = kept.get(subject, {})
        rows = _kept_rows(known) if known.get("key") == key else {}
        if asked is None and set(rows) != wanted:
            rows = _of_subject(spec, mine, wanted)
        elif not wanted <= set(rows):
            rows |= _of_subject(spec, mine, wanted)
        found |= {id_: rows[id_] for id_ in rows if id_ in wanted}
        fresh[subject] = {"key": key, "rows": {id_: asdict(row) for id_, row in rows.items()}}
        on_progress(len(found))
    if build is not None and fresh != kept:
        write_whole(build / KEPT, json.dumps(fresh, indent=1, ensure_ascii=False) + "\n")
    return found


def _kept_rows(known: Mapping[str, Any]) -> dict[str, Standing]:
    return {id_: Standing(**row) for id_, row in known["rows"].items()}


def _of_subject(spec: Spec, mine: Sequence[Obligation], wanted: frozenset[str]) -> dict[str, Standing]:
    """What the wanted ones of a subject add. Of those before them the normal form is enough."""
    evaluated, normal = Goals(spec), Normal()
    first: dict[int, str] = {}
    found: dict[str, Standing] = {}
    for o in mine:
        if len(found) == len(wanted):
            break
        statement = evaluated.statement(o)
        assert statement is not None
        form = normal.statement(statement)
        if o.id in wanted:
            found[o.id] = _standing(evaluated, statement, first.get(form, ""), plainly=form == normal.true)
        first.setdefault(form, o.id)
    return found


def _standing(evaluated: Goals, statement: Statement, same: str, *, plainly: bool) -> Standing:
    """What one statement adds.

    Args:
        evaluated: evaluates it.
        statement: what is stated.
        same: an obligation before it with the same normal form.
        plainly: whether its normal form is true.
    """
    parts = [p for p in evaluated.parts(statement) if p.premises]
    empty = next((p for p in parts if p.witness is None), None)
    witness = dict(parts[0].witness or {}) if parts else None
    kind: StandingKind = "counts"
    of = ""
    if empty is not None:
        kind, of = "vacuous", "no value that was tried meets " + " -> ".join(map(shown, empty.premises))
    elif tie := _tied(statement):
        kind, of = "vacuous", tie
    elif plainly:
        kind = "by definition"
    elif same:
        kind, of = "repeats", same
    return Standing(kind, of, witness, len(parts))


def _tied(statement: Statement) -> str:
    """Why a reduction of NumPy says nothing of the other entries; empty if it does.

    What the rest of an array comes to must be any value at all: a variable of the goal, for that alone.
    """
    node, free = statement.node, set()
    while node.kind == "forall":
        free |= {name for name, _ in node.binders}
        node = node.parts[0]
    rests: list[Node] = []
    others: list[str] = []
    for _, part in node.walk():
        reduces = part.kind == "apply" and part.text.rpartition(".")[0].endswith("Reduce")
        for index, inner in enumerate(part.parts):
            if reduces and index == 1:
                rests.append(inner)
            elif inner.kind == "name":
                others.append(inner.text)
    for rest in rests:
        if rest.kind != "name" or rest.text not in free:
            return f"the rest of a reduction is {shown(rest)}, and not any value"
        if rest.text in others:
            return f"the rest of a reduction is {rest.text}, of which the goal says more"
    return ""


def empty(found: Mapping[str, Standing]) -> list[str]:
    """A line for each obligation that says nothing: vacuous, or by definition without a person's leave."""
    allowed = by_definition()
    lines = [f"{id_}: {s.of}" for id_, s in found.items() if s.kind == "vacuous"]
    lines += [
        f"{id_}: it holds by definition, whatever Clip is"
        for id_, s in found.items()
        if s.kind == "by definition" and not any(fnmatchcase(id_, pattern) for pattern in allowed)
    ]
    return lines


def by_definition() -> dict[str, str]:
    """The obligations that may hold by definition, by a pattern of their ids, and why they are there."""
    golden = repo_file(GOLDEN)
    lines = golden.read_text(encoding="utf-8").splitlines() if golden.is_file() else []
    rows = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def counts(found: Iterable[Standing]) -> dict[StandingKind, int]:
    """How many obligations there are of each kind."""
    kinds: dict[StandingKind, int] = {"counts": 0, "by definition": 0, "repeats": 0, "vacuous": 0}
    for standing in found:
        kinds[standing.kind] += 1
    return kinds


def _key(spec: Spec, mine: Sequence[Obligation]) -> str:
    """A digest of what decides: the theories without their headers, which goals of them are obligations, the
    element types, and this program.
    """
    files = sorted({o.file for o in mine})
    bodies = [without_header(repo_file(file).read_text(encoding="utf-8")) for file in files]
    written = [path.read_text(encoding="utf-8") for path in theory_files()]
    types = [e.model_dump_json() for e in spec.element_types]
    ids = [o.id for o in mine]
    return digest_of_parts([*files, *bodies, *ids, *written, *types, _program()])


@cache
def _program() -> str:
    folder = Path(evaluate_goals.__file__).parent
    sources = [*sorted(folder.glob("*.py")), Path(__file__), Path(special.__file__)]
    return digest_of_parts([path.read_bytes() for path in sources])


def _read(build: Path) -> dict[str, Any]:
    """What was kept; nothing if it cannot be read: then it is found again."""
    try:
        found = json.loads((build / KEPT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict) or not all(isinstance(v, dict) and "rows" in v for v in found.values()):
        return {}
    return found
