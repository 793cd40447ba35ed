"""`make release` and the long description of the package."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from typing import TYPE_CHECKING

import pytest

from sonnx_clip import __version__
from sonnx_clip.evidence.supply_chain import sbom_text
from sonnx_clip.root.folders import repo_root
from tools.long_description import long_description

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "<!-- ours -->\n\n[a page](docs/a.md), [a site](https://onnx.ai) ![a picture](docs/a.png)"


def test_long_description_has_no_link_that_needs_a_checkout() -> None:
    assert long_description(TEXT, None) == "a page, [a site](https://onnx.ai) "
    linked = long_description(TEXT, "https://example.org/clip/")
    assert "[a page](https://example.org/clip/blob/main/docs/a.md)" in linked
    assert "![a picture](https://example.org/clip/raw/main/docs/a.png)" in linked


def test_sbom_has_licence_and_purl_of_each_package() -> None:
    components = json.loads(sbom_text("0" * 32))["components"]
    assert all(one["purl"].startswith("pkg:pypi/") for one in components)
    without = [one["name"] for one in components if not one.get("licenses")]
    assert without == []


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of this commit, in a clone without evidence."""
    clone = tmp_path_factory.mktemp("release") / "clone"
    subprocess.run(["git", "clone", "-q", str(repo_root()), str(clone)], check=True)
    for name in ("tools/release.py", "tools/long_description.py", "pyproject.toml"):
        shutil.copy(repo_root() / name, clone / name)
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    commit = ["commit", "-q", "--allow-empty", "-am", "Release"]
    subprocess.run(["git", "add", "-A"], cwd=clone, check=True)
    subprocess.run(["git", *identity, *commit], cwd=clone, check=True)
    done = release(clone)
    assert done.returncode == 0, done.stderr
    assert "no evidence" in done.stdout
    return clone / "dist"


def release(clone: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tools/release.py"],
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
def test_release_has_the_same_bytes_twice_and_true_digests(dist: Path) -> None:
    first = {path.name: path.read_bytes() for path in dist.iterdir()}
    assert release(dist.parent).returncode == 0
    assert {path.name: path.read_bytes() for path in dist.iterdir()} == first
    sums = dict(line.split()[::-1] for line in first["SHA256SUMS"].decode().splitlines())
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in first.items()}
    assert sums == {name: digest for name, digest in digests.items() if name != "SHA256SUMS"}
    statement = json.loads(first["statement.intoto.json"])
    for subject in statement["subject"]:
        assert subject["digest"]["sha256"] == digests[subject["name"]]


@pytest.mark.nightly
def test_wheel_has_types_metadata_and_links_that_work(dist: Path) -> None:
    with zipfile.ZipFile(dist / f"sonnx_clip-{__version__}-py3-none-any.whl") as wheel:
        assert "sonnx_clip/py.typed" in wheel.namelist()
        (metadata,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
        fields = message_from_string(wheel.read(metadata).decode())
    assert fields["Author"]
    assert fields.get_all("Project-URL")
    assert "Typing :: Typed" in fields.get_all("Classifier", [])
    links = re.findall(r"\]\(([^)]*)\)", str(fields.get_payload()))
    assert all(link.startswith("https://") for link in links)
    with tarfile.open(dist / f"sonnx_clip-{__version__}.tar.gz") as sdist:
        assert any(name.endswith("spec/clip.yaml") for name in sdist.getnames())


@pytest.mark.nightly
def test_checkout_with_changes_is_not_released(dist: Path) -> None:
    (dist.parent / "README.md").write_text("changed")
    done = release(dist.parent)
    subprocess.run(["git", "checkout", "-q", "README.md"], cwd=dist.parent, check=True)
    assert done.returncode == 2
    assert "README.md" in done.stderr


@pytest.mark.nightly
def test_evidence_is_released_with_the_files_that_it_is_of(dist: Path) -> None:
    evidence = dist.parent / "build/evidence"
    evidence.mkdir(parents=True)
    digest = hashlib.sha256((dist.parent / "spec/clip.yaml").read_bytes()).hexdigest()
    record = evidence / "evidence.json"
    archive = f"sonnx_clip-{__version__}-evidence.tar.gz"
    record.write_text(json.dumps({"files": {"spec/clip.yaml": digest}}))
    assert "the evidence is of the files" in release(dist.parent).stdout
    with tarfile.open(dist / archive) as packed:
        assert packed.getnames() == ["evidence/evidence.json"]
    record.write_text(json.dumps({"files": {"spec/clip.yaml": "0" * 64}}))
    assert "no evidence" in release(dist.parent).stdout
    assert not (dist / archive).exists()
    shutil.rmtree(evidence)
