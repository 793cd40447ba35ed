"""Records as `prove` and `check` write them, made by hand: quick, and free to be spoilt by a test."""

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np

from sonnx_clip import __version__
from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.generate import render_all, render_theories
from sonnx_clip.backends.generate import write as write_files
from sonnx_clip.conform.check_report import ClassReport, Deviation, Report, TypeReport
from sonnx_clip.conform.verdict_table import worst_verdict
from sonnx_clip.evidence.records import installed_version
from sonnx_clip.language import encode, show_bits
from sonnx_clip.prove.proofs_record import theory_digests
from sonnx_clip.prove.trusted import GOLDEN, of_tasks, trusted
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import OURS, code_digest
from sonnx_clip.spec import evaluator, load_spec
from sonnx_clip.spec.operators import known_operators

TOOLS = {"why3": "1.5.1", "Z3": "4.8.12", "cvc5": "1.0.3"}
MACHINE_TYPES = tuple(t.id for t in load_spec().element_types if t.width is not None)


def others():
    """The operators of spec/ besides Clip."""
    return [load_spec(file) for name, file in known_operators().items() if name != "clip"]


@cache
def generated():
    """Everything that is rendered from the specification of the repository."""
    return render_all(load_spec())


def replies(kind, number):
    known = {"smoke": ("unknown", "unknown"), "canary": ("countermodel", "sat")}
    verdict, words = known.get(kind, ("valid", "unsat"))
    return [
        {"prover": prover, "version": TOOLS[prover], "verdict": verdict, "cpu": 0.25,
         "task": f"{number * 2 + index:064x}", "words": words}
        for index, prover in enumerate(("Z3", "cvc5"))
    ]  # fmt: skip


def other(name):
    """The specification of another operator than Clip."""
    return load_spec(known_operators()[name])


@cache
def _theories(name):
    return render_theories(other(name))


def write_other(build, name):
    """Lay out what `prove --operator` leaves of an operator when both provers show everything."""
    spec, theories = other(name), _theories(name)
    write_files(theories, build / name, alone=False)
    whole = proofs() | {
        "about": {
            "tool": f"sonnx-clip {__version__}",
            "spec_digest": spec.digest,
            "files": theory_digests(build / name),
        },
        "outcomes": outcomes_of(theories.obligations),
        "canaries": outcomes_of(render_canaries(spec).obligations),
    }
    (build / name / "proofs.json").write_text(json.dumps(whole))
    return build


def outcomes_of(obligations):
    return [{"id": o.id, "replies": replies(o.kind, n)} for n, o in enumerate(obligations)]


@cache
def _proofs():
    obligations = generated().obligations
    lines = repo_file(GOLDEN).read_text(encoding="utf-8").splitlines()
    rows = [line.partition(" ") for line in lines if line.startswith(("assertion ", "setting "))]
    said = [
        (kind, *rest.split(": ", 1)) for kind, _, rest in rows
    ]  # what the tasks take for granted
    return json.dumps({
        "about": {
            "tool": f"sonnx-clip {__version__}",
            "spec_digest": load_spec().digest,
            "files": theory_digests(),
        },
        "tools": TOOLS,
        "limits": {"proof": {"seconds": 60, "megabytes": 4000}, "smoke": {"seconds": 1, "megabytes": 4000}},
        "outcomes": [{"id": o.id, "replies": replies(o.kind, n)} for n, o in enumerate(obligations)],
        "programs": {"why3": "1" * 64, "Z3": "2" * 64, "cvc5": "3" * 64},
        "why3_drivers": {"drivers/z3_471.drv": "4" * 64},
        "canaries": [
            {"id": o.id, "replies": replies(o.kind, 10**6 + n)}
            for n, o in enumerate(render_canaries(load_spec()).obligations)
        ],
        "strays": [],
        "trusted": [asdict(item) for item in of_tasks(said, trusted(obligations))],
    })  # fmt: skip


def proofs():
    """What build/proofs.json holds when both provers show everything; a test changes it as it likes."""
    return json.loads(_proofs())


def answered(document, id_, found):
    """Give an obligation other replies, in place; returns the document."""
    (outcome,) = [o for o in document["outcomes"] if o["id"] == id_]
    outcome["replies"] = found
    return document


HOSTILE = "</script><img src=x onerror=alert(1)>"
_SMOKE, _PROVED = replies("smoke", 7), replies("theorem", 7)


def _second(**fields):
    return [_PROVED[0], _PROVED[1] | fields]


SPOILT = {
    "not proved: int8.total: no prover answered": ("int8.total", []),
    "not proved: int16.total": ("int16.total", None),
    "not proved: float32.monotone: Z3 valid, cvc5 failed": ("float32.monotone", _second(verdict="failed")),
    "not proved: float64.monotone: Z3 valid, cvc5 countermodel": (
        "float64.monotone", _second(verdict="countermodel")),
    "not proved: float32.smoke_meaning": ("float32.smoke_meaning", _PROVED),
    "not proved: float16.smoke_meaning": ("float16.smoke_meaning", _SMOKE[:1]),
    "not answered by every prover: ": ("uint8.total", [_PROVED[0], _PROVED[0]]),
    "a statement planted as false (a canary) was not refuted: ": ("", None),
    "unaccounted for: why3/clip.mlw Clip.stray": ("", None),
    "cheat": ("", None),
    "no reason": ("", None),
}  # fmt: skip
"""What is open, by the obligation that is answered otherwise, or not at all; see `spoilt_proofs`."""


def spoilt_proofs():
    """Proofs that are spoilt in each way of `SPOILT`, with names that must be escaped on a page."""
    document = proofs()
    for id_, found in SPOILT.values():
        if id_ and found is not None:
            answered(document, id_, found)
    answered(document, "uint16.total", _second(task=""))
    answered(document, "uint32.total", _second(prover="Oracle"))
    document["outcomes"] = [o for o in document["outcomes"] if o["id"] != "int16.total"]
    document["outcomes"][0]["status"] = "proved"  # nobody reads it
    of_float16 = [canary for canary in document["canaries"] if "float16" in canary["id"]]
    of_float16[0]["replies"][1]["verdict"] = "valid"
    document["canaries"].remove(of_float16[1])
    document["strays"] = ["why3/clip.mlw Clip.stray", HOSTILE]
    first = document["trusted"][0]
    document["trusted"] += [
        first | {"name": "cheat", "statement": "false"},
        first | {"justification": " "},
    ]
    return document


def ours(runtime="sonnx", **fields):
    """A report in which our own Clip is judged in every machine type."""
    return report(runtime, types=MACHINE_TYPES, **fields)


def report(runtime, *, violates=(), types=("int8", "float32"), **fields):
    """A report in which the classes of `violates` violate, and all others conform."""
    spec = load_spec()
    found = []
    for type_id in types:
        ids = [(c.id, c.case) for c in spec.classes_of(spec.element_type(type_id).family)]
        classes = tuple(
            _class(id_, case, type_id, bad=id_ in violates)
            for id_, case in [*ids, ("C1", None), ("C3", None)]
        )
        verdict = worst_verdict(c.verdict for c in classes)
        found.append(
            TypeReport(type=type_id, verdict=verdict, compared=10 * len(ids), classes=classes)
        )
    whole = {
        "tool": f"sonnx-clip {__version__}", "spec_sha256": spec.digest, "runtime": runtime,
        "runtime_version": installed_version(runtime) or f"{runtime} 1.0",
        "code_sha256": code_digest(runtime), "python": "3.11.2",
        "numpy": np.__version__, "machine": "x86_64", "policy": "default", "seconds": 1.0,
        "types": tuple(found),
    }  # fmt: skip
    return Report(**(whole | fields))


def deviation_in(id_, type_id, **fields):
    """An answer that no latitude accepts, to the numbers by which the YAML shows a class."""
    spec = load_spec()
    etype = spec.element_type(type_id)
    klass = next(
        (c for c in spec.classes_of(etype.family) if c.id == id_), spec.classes_of(etype.family)[0]
    )
    x, l, m = (int(encode(text, etype)) for text in klass.inhabited_by.texts().values())
    due = evaluator(spec, etype).result(x, l, m)
    bits = [show_bits(value, etype) for value in (x, l, m, due, int(encode("7", etype)))]
    whole = {
        "kind": "violates", "operands": dict(zip(("X", "min", "max"), bits, strict=False)),
        "expected": bits[3], "got": bits[4],
        "shown": f"X={bits[0]} min={bits[1]} max={bits[2]}: got {bits[4]}, expected {bits[3]}",
        "layout": "contiguous", "length": 1, "entries": ((bits[0],),),
        "reproduce": "import numpy as np; np.clip(0, np.nan, 1)",
    }  # fmt: skip
    return Deviation(**(whole | fields))


def _class(id_, case, type_id, *, bad):
    found = {"verdict": "conforms", "violating": 0, "deviations": ()}
    if bad:
        found = {"verdict": "violates", "violating": 3, "deviations": (deviation_in(id_, type_id),)}
    return ClassReport(id=id_, case=case, compared=10, **found)


def write(build: Path, document, reports=()):
    """Lay out a build folder; our own Clip conforms in it where no report says otherwise."""
    names = {made.runtime for made in reports}
    (build / "verdicts").mkdir(parents=True, exist_ok=True)
    (build / "proofs.json").write_text(
        document if isinstance(document, str) else json.dumps(document)
    )
    for number, made in enumerate([*(ours(name) for name in OURS if name not in names), *reports]):
        (build / "verdicts" / f"{number}.json").write_text(made.model_dump_json())
    return build
