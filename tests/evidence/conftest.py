"""One page, made once, for all tests that only read it."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.evidence import EvidenceSummary, write_evidence
from sonnx_clip.evidence.evidence_model import Evidence
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec import load_spec
from tests.evidence import made
from tests.evidence.once import share


@dataclass(frozen=True)
class Written:
    folder: Path
    summary: EvidenceSummary
    html: str
    evidence: Evidence


@pytest.fixture(autouse=True, scope="session")
def believed():
    """What tests make by hand has no tasks of Why3: tests/meta/test_forged.py asks for those."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        made.believe(monkeypatch)
        share(monkeypatch)
        yield


@pytest.fixture(scope="session")
def obligations():
    return all_obligations(load_spec())


@pytest.fixture(scope="session")
def written(obligations, tmp_path_factory):
    folder = tmp_path_factory.mktemp("evidence")
    reports = [*map(made.ours, OURS), made.report("numpy", violates=("low_max_nan", "inside_min_nan"))]
    build = made.write(folder / "build", made.proofs(obligations), reports)
    summary = write_evidence(build, folder / "out")
    evidence = Evidence.model_validate(json.loads((folder / "out" / "evidence.json").read_text()))
    return Written(folder / "out", summary, (folder / "out" / "index.html").read_text(), evidence)
