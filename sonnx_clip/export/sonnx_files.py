"""The format sonnx: the page for the SONNX group, cases for the group's driver, the trace of the tags."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import sonnx_clip
from sonnx_clip.backends.generate import render_theories
from sonnx_clip.backends.numpy_oracle import expression
from sonnx_clip.backends.templating import templates
from sonnx_clip.export.latex import written_out
from sonnx_clip.export.page_file import page_path, read_page_file, tags_of
from sonnx_clip.export.sonnx_page import encoded, examples_of, page_text
from sonnx_clip.export.suite import ANY_NAN, granted, vector_keys
from sonnx_clip.prove.proofs_record import RECORD, known, results_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import BUILD
from sonnx_clip.whyml.rendered_goals import is_rendered, rendered_obligations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.export.page_file import PageFile, Tag
    from sonnx_clip.export.suite import TypeSuite
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.prove.outcome import Status
    from sonnx_clip.spec import Spec

    Obligations: TypeAlias = Sequence[tuple[Obligation, Status | None]]

_NO_NUMPY_TYPE = "bfloat16"
"""The type that NumPy does not have; the cases leave it out."""
_ROLES_OF_CASES = ["tensor", "scalar", "scalar"]
"""The operands of the operators that have cases for the group's driver: its sweeps are over bounds."""
_IN_PYTHON = {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf", "-0": "-0.0"}


def sonnx_files(
    operator: Operator, suites: Sequence[TypeSuite], build: Path | None = None
) -> dict[str, bytes]:
    """All files of the format by their paths, with the statuses of obligations that `build` has."""
    spec = operator.spec
    file = read_page_file(spec)
    obligations = rendered_obligations() if is_rendered(spec) else render_theories(spec).obligations
    outcomes = {}
    if build is not None:
        outcomes = known(build, spec, obligations)
    statuses: list[tuple[Obligation, Status | None]] = []
    for obligation in obligations:
        outcome = outcomes.get(obligation.id)
        status = outcome.status if outcome else None
        statuses.append((obligation, status))

    trace = templates("sonnx_clip.export").get_template("sonnx_trace.md.j2")
    # As a reader's commands name it, wherever the build folder of this run is.
    results, *_ = results_of(spec, BUILD)
    rows = [_traced(spec, file, tag, suites, statuses) for tag in tags_of(spec, file)]
    traced = trace.render(
        spec=spec,
        version=sonnx_clip.__version__,
        rows=rows,
        record=(results / RECORD).as_posix(),
        has_kernels=is_rendered(spec),
    )
    files = {page_path(spec): page_text(spec).encode()}
    # The roles, not the name: another operator with two bounds has cases too.
    roles = [operand.role for operand in spec.signature.operands]
    if roles == _ROLES_OF_CASES:
        path = f"verification/{spec.signature.function}/cases.py"
        files[path] = _cases(spec, file, suites).encode()
    files["trace.md"] = traced.encode()
    return files


def _cases(spec: Spec, file: PageFile, suites: Sequence[TypeSuite]) -> str:
    """The module of cases for the group's driver."""
    vectors = {}  # by element type, in rows
    for suite in suites:
        if suite.etype.id != _NO_NUMPY_TYPE:
            vectors[suite.etype.id] = _rows(suite)
    conditions = []
    for case in spec.cases:
        # Written out, a condition names no function, and thus no family: any would do.
        condition = written_out(spec, case.when)
        conditions.append(expression(condition, "int", "X"))
    template = templates("sonnx_clip.export").get_template("sonnx_cases.py.j2")
    return template.render(
        spec=spec,
        version=sonnx_clip.__version__,
        opset=file.onnx.version,
        vectors=vectors,
        examples=_examples(spec, file),
        conditions=conditions,
        results=[case.result_text for case in spec.cases],
    )


def _rows(suite: TypeSuite) -> Iterator[str]:
    """The vectors of a type as rows of the cases: class, bits, and what else is acceptable (1, 2 or both)."""
    keys = vector_keys(suite.operator)
    latitudes = granted(suite.operator)
    for vector, also in zip(suite.vectors, suite.also.tolist(), strict=True):
        acceptable = 0  # OTHER_ZERO = 1 and ANY_NAN = 2 of the written module
        for latitude in latitudes:
            if also & latitude.flag:
                acceptable |= 2 if latitude.accepts == ANY_NAN else 1
        numbers = ", ".join(vector[key] for key in keys)
        yield f'"{vector["class"]}", {numbers}, {acceptable}'


def _examples(spec: Spec, file: PageFile) -> Iterator[tuple[str, ...]]:
    """The examples of the page in Python, in every type of NumPy that has all their numbers."""
    families: tuple[FamilyId, ...] = ("int", "float")
    for family in families:
        etypes = []
        for etype in spec.types_of(family):
            if etype.id != _NO_NUMPY_TYPE:
                etypes.append(etype)
        for example in examples_of(spec, file, family):
            operands = example.operands.values()
            numbers = [*map(_in_python, operands), _in_python(example.result)]
            # The result is computed in one type of the family. That it is that of the others too is
            # proved: the cases are those of all types, and no case rounds.
            for etype in etypes:
                with suppress(UserError):  # where the type lacks a number
                    encoded(operands, etype)
                    yield (etype.id, *numbers)


def _in_python(numbers: str | Sequence[str]) -> str:
    """A scalar or the entries of a tensor as an expression."""
    if isinstance(numbers, str):
        return _IN_PYTHON.get(numbers, numbers)
    entries = [_IN_PYTHON.get(number, number) for number in numbers]
    return f"[{', '.join(entries)}]"


def _traced(
    spec: Spec, file: PageFile, tag: Tag, suites: Sequence[TypeSuite], obligations: Obligations
) -> dict[str, str]:
    """A row of the trace."""
    types = {etype.id for etype in spec.types_of(tag.family)}
    # A tag is of one family: another one has a tag of its own for the same entry.
    suites_of_family = [suite for suite in suites if suite.etype.id in types]
    functions = []
    if tag.zone == "function" and is_rendered(spec):  # other operators have no kernels
        functions = [f"sonnx_clip_{suite.etype.id}" for suite in suites_of_family]
    findings = [id_ for id_, entry in file.corrects.items() if entry in tag.entries]
    vectors = _vectors_of(tag, suites_of_family)
    # An obligation is about one element type, or about the restrictions, which are of all types.
    subjects = types | {"restrictions"}
    return {
        "tag": tag.id,
        "entries": ", ".join(tag.entries) or "none",
        "obligations": _proofs_of(spec, tag, subjects, obligations),
        "vectors": f"{vectors:,}" if vectors else "none",
        "c": ", ".join(functions) or "none",
        "findings": ", ".join(findings) or "none",
    }


def _proofs_of(spec: Spec, tag: Tag, subjects: set[str], obligations: Obligations) -> str:
    """How many obligations show an entry of a tag, or a class of it, and how many have which status."""
    # Classes are no entries of a page. Their obligations show the case in which they are.
    ids = set(tag.entries)
    for klass in spec.classes:
        if klass.case in tag.entries:
            ids.add(klass.id)
    counts: Counter[Status | None] = Counter()
    for obligation, status in obligations:
        shows_entry = not ids.isdisjoint(obligation.shows)
        if shows_entry and obligation.subject in subjects:
            counts[status] += 1
    if not counts:
        return "none"
    parts = [f"{counts.total()}"]
    for status, count in counts.items():
        if status:  # without a record of proofs there is none
            parts.append(f"{count} {status}")
    return ", ".join(parts)


def _vectors_of(tag: Tag, suites: Sequence[TypeSuite]) -> int:
    """The number of vectors that show a function, or that have more than one acceptable result."""
    count = 0
    for suite in suites:
        if tag.zone == "function":
            count += len(suite.vectors)
        elif tag.zone == "latitude":
            count += int(np.count_nonzero(suite.also))
    return count  # no vector is about a restriction or a constraint
