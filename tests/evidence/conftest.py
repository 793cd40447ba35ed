"""One page, written once, for all tests that only read it."""

import base64
import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from sonnx_clip.evidence import EvidenceSummary, collect, records, write_evidence
from sonnx_clip.evidence.collect import gather
from sonnx_clip.evidence.evidence_model import Evidence
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec
from tests.evidence import made


@dataclass(frozen=True)
class Written:
    folder: Path
    summary: EvidenceSummary
    html: str
    evidence: Evidence
    data: dict


def unpacked(html):
    """The data that a page carries."""
    packed = re.search(r'<script type="application/gzip" id="data">(.*?)</script>', html)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def gathered_in(folder, document, reports=()):
    """What the evidence says of some records, before a page is rendered."""
    return gather(
        records.read_records(made.write(folder / "build", document, reports), load_spec(), ())
    )


def written_in(folder, document, reports=()):
    """The evidence of some records."""
    build = made.write(folder / "build", document, reports)
    summary = write_evidence(load_spec(), build, folder / "out", others=made.others())
    html = (folder / "out" / "index.html").read_text()
    evidence = Evidence.model_validate_json((folder / "out" / "evidence.json").read_text())
    return Written(folder / "out", summary, html, evidence, unpacked(html))


@pytest.fixture(autouse=True, scope="session")
def rendered_once():
    """The specification of the repository is rendered, and its mutants are listed, once for all tests."""
    real, root, mutants = records.render_all, repo_root(), collect.all_mutants(load_spec())
    with pytest.MonkeyPatch.context() as monkeypatch:

        def shared(spec):
            is_ours = spec is load_spec() and repo_root() == root
            return made.generated() if is_ours else real(spec)

        monkeypatch.setattr(records, "render_all", shared)
        monkeypatch.setattr(collect, "all_mutants", lambda _: mutants)
        yield


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    reports = [made.report("numpy", violates=("low_max_nan", "inside_min_nan"))]
    return written_in(tmp_path_factory.mktemp("evidence"), made.proofs(), reports)


@pytest.fixture(scope="session")
def spoilt(tmp_path_factory):
    return written_in(tmp_path_factory.mktemp("spoilt"), made.spoilt_proofs())
