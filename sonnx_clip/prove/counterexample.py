"""Numbers that refute a failed obligation: a prover's model, checked by evaluation where it can be."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.backends.numpy_kernels import THEORIES as NUMPY
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.evaluation import bound_names, is_evaluated, truth
from sonnx_clip.language import ElementType, show, show_bits
from sonnx_clip.language.special import special_patterns
from sonnx_clip.prove.in_numpy import in_numpy
from sonnx_clip.prove.provers import GRACE
from sonnx_clip.prove.tasks import INLINE, Why3, clean, command
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.run_program import LARGE_PAGES, run_limited
from sonnx_clip.spec import Spec, evaluator

if TYPE_CHECKING:
    from sonnx_clip.claims.claim import Claim, Obligation
    from sonnx_clip.prove.provers import Prover

_SECONDS = 10
_PRINTING = 60  # seconds for Why3 to print one task
_VARIABLES = ("x", "x2", "l", "m", "y", "z", "a", "b", *(f"rest{i}" for i in range(1, 9)))
_SHOWN = {"l": "min", "m": "max"}
_THEORIES = ("Meaning", "Readings", "ReadingClasses", "Kernel", "IntegerRoute", *NUMPY)
_VALUE = re.compile(r"\(\s*(?P<name>\w+)\s+#(?P<base>[xb])(?P<digits>[0-9a-fA-F]+)\s*\)")

Numbers = Mapping[str, int]


def explain_failure(spec: Spec, why3: Why3, provers: Sequence[Prover], obligation: Obligation) -> list[str]:
    """Lines for people: numbers that refute the obligation, and their case; empty where none is found.

    Only for obligations on single elements of a machine type. A prover is asked for a model; where the
    claim behind the obligation can be evaluated, it is at the model's numbers, and special values are tried
    when no prover has any.
    """
    etype = next((e for e in spec.element_types if e.id == obligation.subject), None)
    if etype is None or etype.width is None or obligation.theory not in _THEORIES:
        return []
    for prover in provers:
        numbers = _model(why3, prover, obligation)
        if numbers:
            said = _confirm(spec, etype, obligation, numbers)
            found = _lines(spec, etype, numbers, f"a counterexample by {prover.name}{said}")
            return [*found, *in_numpy(spec, etype, obligation, numbers)]
    for special in _special(spec, etype, obligation):
        return _lines(spec, etype, special, "a counterexample among the special values, by evaluation")
    return []


def _lines(spec: Spec, etype: ElementType, numbers: Numbers, origin: str) -> list[str]:
    shown = {_SHOWN.get(name, name): value for name, value in numbers.items()}
    values = ", ".join(f"{name} = {show(v, etype)} ({show_bits(v, etype)})" for name, v in shown.items())
    return [f"{origin}: {values}", *_case(spec, etype, numbers)]


def _case(spec: Spec, etype: ElementType, numbers: Numbers) -> list[str]:
    operands = [name.lower() for name in spec.head.operands]
    if not set(operands) <= set(numbers):
        return []
    ask = evaluator(spec, etype)
    environment = {name.upper(): value for name, value in numbers.items()}
    cases = [c.id for c in spec.cases if ask(c.when, environment)]
    classes = [c.id for c in ask.classes(*(numbers[n] for n in operands))] if len(cases) == 1 else []
    return [
        f"it falls in case {', '.join(cases) or 'none'}"
        + (f", class {', '.join(classes)}" if classes else "")
    ]


def _model(why3: Why3, prover: Prover, obligation: Obligation) -> dict[str, int]:
    """The numbers of the prover's model; empty when it has none."""
    with tempfile.TemporaryDirectory() as folder:
        asked = command(
            why3, prover, obligation.file, "-T", obligation.theory, "-G", obligation.goal,
            *INLINE, "-o", folder,
        )  # fmt: skip
        done = run_limited(asked, _PRINTING, folder=repo_root())
        if done.killed or done.unstarted:
            return {}
        files = list(Path(folder).glob("*.smt2"))
        if len(files) != 1:
            return {}
        text = clean(files[0].read_text(encoding="utf-8"))
        names = [n for n in _VARIABLES if f"(declare-fun {n} () (_ BitVec" in text]
        if not names:
            return {}
        query = Path(folder) / "query.smt2"
        query.write_text(f"(set-option :produce-models true)\n{text}\n(get-value ({' '.join(names)}))\n")
        limits = [part.format(seconds=_SECONDS, megabytes=4000) for part in prover.command]
        asked = [*limits, str(query)]
        said = run_limited(asked, _SECONDS + GRACE, environment=LARGE_PAGES, together=True).text
    if not said.startswith("sat"):
        return {}
    found = {m["name"]: int(m["digits"], 16 if m["base"] == "x" else 2) for m in _VALUE.finditer(said)}
    return {name: found[name] for name in names if name in found}


def _claim(spec: Spec, obligation: Obligation) -> Claim | None:
    """The claim behind an obligation, if it can be evaluated and speaks of all numbers."""
    found = next((c for c in claims_of(spec, obligation.subject) if c.id == obligation.id), None)
    return found if found is not None and found.binders and is_evaluated(found) else None


def _confirm(spec: Spec, etype: ElementType, obligation: Obligation, numbers: Numbers) -> str:
    """What evaluation says of a prover's numbers."""
    claim = _claim(spec, obligation)
    if claim is None or not {name.lower() for name in bound_names(spec, claim)} <= numbers.keys():
        return ""  # without a number for each variable evaluation would speak of others
    refutes = _refutes(spec, etype, claim, numbers)
    return ", confirmed by evaluation" if refutes else ", which evaluation does not confirm"


def _special(spec: Spec, etype: ElementType, obligation: Obligation) -> Iterator[Numbers]:
    claim = _claim(spec, obligation)
    head = spec.head
    known = {*head.operands, head.second}
    if claim is None or any(set(binder.names) - known for binder in claim.binders):
        return
    pool: Iterable[int] = special_patterns(etype)
    for values in product(pool, repeat=len(head.operands)):
        numbers = {name.lower(): value for name, value in zip(head.operands, values, strict=True)}
        if _refutes(spec, etype, claim, numbers):
            yield numbers


def _refutes(spec: Spec, etype: ElementType, claim: Claim, numbers: Numbers) -> bool:
    given = {name: numbers.get(name.lower(), 0) for binder in claim.binders for name in binder.names}
    second = spec.head.second
    given |= {second: numbers.get(second.lower(), given.get(spec.head.operands[0], 0))}
    try:
        return not truth(spec, etype).holds_at(claim, given)
    except ValueError:
        return False  # the cases have a gap there
