"""Results of `prove` and `check` as they would be, made by hand: quick, and free to be spoilt by a test."""

import json
import tempfile
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from sonnx_clip.conform.check_report import ClassReport, Deviation, ReadingMatch, Report, TypeReport
from sonnx_clip.conform.verdicts import worst
from sonnx_clip.evidence import recheck_proofs
from sonnx_clip.language import encode, show_bits
from sonnx_clip.prove.proofs_report import by_hand, theory_digests
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.standing import Standing
from sonnx_clip.prove.tasks import configure
from sonnx_clip.prove.trusted import GOLDEN, of_tasks, trusted
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import code_digest
from sonnx_clip.spec import evaluator, load_spec

_FOLDER = tempfile.TemporaryDirectory(prefix="made-")
WHY3 = configure(Path(_FOLDER.name))
PROVERS = find_provers()
TOOLS = {"why3": WHY3.version, **{prover.name: prover.version for prover in PROVERS}}
BY_HAND = {prover.name: by_hand(WHY3, prover) for prover in PROVERS}
COUNTS = Standing("counts")
PACKAGES = {"numpy": "numpy", "onnxruntime": "onnxruntime", "onnx-reference": "onnx"}


def believe(monkeypatch):
    """What is made here has no tasks of Why3, adds nothing, and needs no configuration of its own."""
    monkeypatch.setattr(recheck_proofs, "_tasks", lambda *_, **__: frozenset(said_by_tasks()))
    monkeypatch.setattr(recheck_proofs, "standings", lambda _, wanted, __: {o.id: COUNTS for o in wanted})
    monkeypatch.setattr(recheck_proofs, "configure", lambda _: WHY3)


def replies(kind, number):
    verdict = "unknown" if kind == "smoke" else "valid"
    return [
        {
            "prover": prover,
            "version": TOOLS[prover],
            "verdict": verdict,
            "cpu": 0.25,
            "task": f"{number * 2 + index:064x}",
            "from_ledger": True,
            "words": "unknown" if kind == "smoke" else "unsat",
        }
        for index, prover in enumerate(("Z3", "cvc5"))
    ]


def outcome(obligation, number):
    return {
        **asdict(obligation),
        "shows": list(obligation.shows),
        "status": "proved",
        "commands": {name: asked(obligation) for name, asked in BY_HAND.items()},
        "replies": replies(obligation.kind, number),
    }


def proofs(obligations):
    """What build/proofs.json holds when both provers show everything; a test changes it as it likes."""
    return json.loads(_proofs(tuple(obligations)))


def said_by_tasks():
    """What the tasks say besides premises and goals, as the golden list has it."""
    lines = repo_file(GOLDEN).read_text(encoding="utf-8").splitlines()
    rows = [line.partition(" ") for line in lines if line.startswith(("assertion ", "setting "))]
    return [(kind, *rest.split(": ", 1)) for kind, _, rest in rows]


@cache
def _proofs(obligations):
    listed = trusted(obligations)
    return json.dumps({
        "format": 1,
        "about": {
            "tool": "sonnx-clip 0.1.0",
            "spec_digest": load_spec().digest,
            "files": theory_digests(),
        },
        "tools": TOOLS,
        "why3_drivers": dict(WHY3.files),
        "commands": {prover.name: " ".join(prover.command) for prover in PROVERS},
        "limits": {"proof": {"seconds": 60, "megabytes": 4000}, "smoke": {"seconds": 1, "megabytes": 4000}},
        "run": {"asked": 0, "wall": 0.1, "prover_cpu": 0.0, "why3_cpu": 0.0},
        "complete": True,
        "outcomes": [outcome(o, number) for number, o in enumerate(obligations)],
        "strays": [],
        "trusted": [asdict(item) for item in (*listed, *of_tasks(said_by_tasks(), listed))],
    })  # fmt: skip


def change(document, id_, **fields):
    """Change an outcome in place; returns the document."""
    (found,) = [o for o in document["outcomes"] if o["id"] == id_]
    found.update(fields)
    return document


MACHINE_TYPES = tuple(t.id for t in load_spec().element_types if t.width is not None)


def ours(runtime="sonnx", **fields):
    """A report in which our own Clip is judged in every machine type."""
    return report(runtime, types=MACHINE_TYPES, **fields)


def refusing(type_id):
    """A report in which our own Clip raises in every call of a type."""
    made = ours()
    refused = {"compared": 0, "raised": 10, "verdict": "unsupported", "words": "ValueError: no"}
    refused |= {"deviations": ()}
    types = tuple(
        t.model_copy(
            update={
                "compared": 0,
                "verdict": "unsupported",
                "readings": None,
                "classes": tuple(c.model_copy(update=refused) for c in t.classes),
            }
        )
        if t.type == type_id
        else t
        for t in made.types
    )
    return made.model_copy(update={"types": types})


def report(runtime, *, violates=(), types=("int8", "float32"), **fields):
    """A report in which the classes of `violates` violate, and all others conform."""
    spec = load_spec()
    found = []
    for type_id in types:
        family = spec.element_type(type_id).family
        ids = [(c.id, c.case) for c in spec.classes_of(family)] + [("C1", None), ("C3", None)]
        classes = tuple(_class(id_, case, type_id, bad=id_ in violates) for id_, case in ids)
        verdict = worst(c.verdict for c in classes)
        compared = 10 * (len(classes) - 2)
        found.append(
            TypeReport(
                type=type_id, verdict=verdict, compared=compared, classes=classes,
                readings=readings(type_id, [c.id for c in classes if c.violating and c.case]),
            )
        )  # fmt: skip
    made = Report(
        tool="sonnx-clip 0.1.0",
        spec_sha256=spec.digest,
        runtime=runtime,
        runtime_version=installed(runtime),
        code_sha256=code_digest(runtime),
        python="3.11.2",
        numpy=np.__version__,
        machine="x86_64",
        policy="default",
        seconds=1.0,
        types=tuple(found),
    )
    return made.model_copy(update=fields)


def installed(runtime):
    """What a runtime says of itself."""
    package = PACKAGES.get(runtime)
    return f"{package} {version(package)}" if package else f"{runtime} 1.0"


def readings(type_id, deviating):
    """What the readings say to answers that deviate in some classes."""
    if not deviating:
        return ReadingMatch(answers=20, allowed_by=("cases",), exactly=("cases",))
    return ReadingMatch(
        answers=20, allowed_by=(), exactly=(), nearest="cases", left=3, left_in=tuple(deviating)
    )


def deviation_in(id_, type_id):
    """An answer that no latitude accepts, to the numbers by which the YAML shows a class."""
    spec = load_spec()
    etype = spec.element_type(type_id)
    family = etype.family
    klass = next((c for c in spec.classes_of(family) if c.id == id_), spec.classes_of(family)[0])
    x, l, m = (int(encode(text, etype)) for text in klass.inhabited_by.texts().values())
    due = evaluator(spec, etype).result(x, l, m)
    got = int(encode("7", etype))
    bits = [show_bits(value, etype) for value in (x, l, m, due, got)]
    names = ("x", "min", "max", "expected", "got")
    return Deviation(
        kind="violates",
        **dict(zip(names, bits, strict=True)),
        shown=f"X={bits[0]} min={bits[1]} max={bits[2]}: got {bits[4]}, expected {bits[3]}",
        layout="plain",
        reproduce="import numpy as np; np.clip(0, np.nan, 1)",
    )


def _class(id_, case, type_id, *, bad):
    deviation = deviation_in(id_, type_id)
    return ClassReport(
        id=id_,
        case=case,
        verdict="violates" if bad else "conforms",
        compared=10,
        violating=3 if bad else 0,
        deviations=(deviation,) if bad else (),
    )


def write(build: Path, document, reports=()):
    """Lay out a build folder."""
    (build / "verdicts").mkdir(parents=True, exist_ok=True)
    (build / "proofs.json").write_text(json.dumps(document))
    for number, made in enumerate(reports):
        text = made if isinstance(made, str) else made.model_dump_json()
        (build / "verdicts" / f"{number}.json").write_text(text)
    return build
