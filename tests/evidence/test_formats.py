"""Formats of other tools: all facts, linked both ways; a signed statement fails once a file changes."""

import base64
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from subprocess import PIPE, STDOUT
from xml.etree import ElementTree as ET

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cyclonedx.model.bom import Bom
from reqif.parser import ReqIFParser

from sonnx_clip.evidence import write_evidence
from sonnx_clip.evidence.collect import gather
from sonnx_clip.evidence.exchange_formats import render_junit, render_matrix, render_needs
from sonnx_clip.evidence.records import read_records
from sonnx_clip.evidence.reqif_file import render_reqif
from sonnx_clip.evidence.signing_keys import private_key, public_key
from sonnx_clip.evidence.supply_chain import STATEMENT, render_sbom, sign, verify_signed
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests import command
from tests.evidence import made
from tests.evidence.conftest import unpacked

PAGE = repo_file("docs/evidence-formats.md").read_text()

OPEN = "float32.idempotent"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    document = made.answered(made.proofs(), OPEN, made.replies("canary", 0))
    build = made.write(
        tmp_path_factory.mktemp("formats") / "build", document, [made.report("numpy")]
    )
    return read_records(build, load_spec(), ())


@pytest.fixture(scope="module")
def evidence(found):
    return gather(found)


@pytest.fixture(scope="module")
def needs(found, evidence):
    document = json.loads(render_needs(evidence, found))
    return document["versions"][document["current_version"]]["needs"]


def test_needs_have_every_entry_obligation_and_finding(needs, evidence):
    def tags(*kinds):
        return {tag for need in needs.values() if need["type"] in kinds for tag in need["tags"]}

    assert tags("obligation") == {o.obligation.id for o in evidence.obligations}
    assert tags("finding") == {finding.id for finding in evidence.findings}
    assert tags("requirement", "statement", "class") == {entry.id for entry in evidence.entries}
    assert all(re.fullmatch("[A-Z0-9_]{5,}", id_) for id_ in needs)


def test_needs_are_linked_both_ways(needs):
    for need in needs.values():
        assert all(need["id"] in needs[link]["links_back"] for link in need["links"])
        assert all(need["id"] in needs[link]["links"] for link in need["links_back"])
    assert "REQ_IDEMPOTENT" in needs["OBL_FLOAT32_IDEMPOTENT"]["links"]
    assert needs["OBL_FLOAT32_IDEMPOTENT"]["status"] == "not proved"
    assert needs["REQ_IDEMPOTENT"]["status"].startswith("not proved")
    assert needs["VRD_NUMPY_INT8_INSIDE_ORDINARY"]["links"] == ["TST_INT8_INSIDE_ORDINARY"]
    assert needs["TST_INT8_INSIDE_ORDINARY"]["links"] == ["CLS_INSIDE_ORDINARY"]
    assert all(
        need["links"] for need in needs.values() if need["type"] in ("class", "test", "verdict")
    )


def test_reqif_comes_back_with_all_objects_and_relations(needs, found, evidence, tmp_path):
    (tmp_path / "evidence.reqif").write_text(render_reqif(evidence, found), encoding="utf-8")
    content = ReqIFParser.parse(str(tmp_path / "evidence.reqif")).core_content.req_if_content
    read = {one.identifier: {a.definition_ref.partition("-")[2]: a.value for a in one.attributes}
            for one in content.spec_objects}  # fmt: skip
    assert read.keys() == needs.keys()
    for id_, values in read.items():
        assert (values["ReqIF.ForeignID"], values["ReqIF.Name"]) == (id_, needs[id_]["title"])
        assert values["STATUS"] == needs[id_]["status"]
    links = {(relation.source, relation.target) for relation in content.spec_relations}
    assert links == {(need["id"], link) for need in needs.values() for link in need["links"]}
    listed = [child.spec_object for of in content.specifications for child in of.children]
    assert sorted(listed) == sorted(needs)


def test_matrix_has_every_sentence_and_every_obligation_of_an_entry(found, evidence):
    rows = list(csv.DictReader(io.StringIO(render_matrix(evidence, found))))
    files = {page.id: page.file for page in found.spec.texts}
    sentences = {(row["source"], row["sentence"]) for row in rows if row["sentence"]}
    assert sentences == {(files[one.source], one.text.removeprefix("- ")) for one in found.coverage}
    cells = {
        (e.id, c.type, o) for e in evidence.entries for c in e.cells for o in c.obligations or ("",)
    }
    assert {(r["entry"], r["element type"], r["obligation"]) for r in rows if r["entry"]} == cells
    opened = {row["obligation"] for row in rows if row["obligation status"] == "not proved"}
    assert opened == {OPEN}
    judged = next(
        row for row in rows if row["entry"] == "inside_ordinary" and row["element type"] == "int8"
    )
    assert "numpy: conforms" in judged["runtimes"]
    assert int(judged["vectors"]) > 0


def test_junit_fails_for_what_is_not_proved(found, evidence):
    suites = ET.fromstring(render_junit(evidence, found))
    assert (
        int(suites.get("tests")) == len(evidence.obligations) == len(list(suites.iter("testcase")))
    )
    assert [case.get("name") for case in suites.iter("testcase") if len(case)] == [OPEN]
    assert suites.get("failures") == "1"


CONTROLLING = "1.0\x00\x07\x1b[31m\x85\u202e end"


def test_control_characters_of_records_are_escaped_on_pages_and_removed_from_xml(tmp_path):
    spoilt = made.replies("canary", 0)
    spoilt[0]["version"] = CONTROLLING
    document = made.answered(made.proofs(), OPEN, spoilt)
    report = made.report("example", runtime_version=CONTROLLING)
    build = made.write(tmp_path / "build", document, [report])
    write_evidence(load_spec(), build, tmp_path, formats=["page", "junit", "reqif"])
    control = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
    for page in ("index.html", "explorer.html"):
        html = (tmp_path / page).read_text()
        shown = html + json.dumps(unpacked(html), ensure_ascii=False).replace("\\\\", "\\")
        assert r"1.0\x00\x07\x1b[31m\x85\u202e end" in shown
        assert not control.search(shown)
    for export in ("junit.xml", "evidence.reqif"):
        text = (tmp_path / export).read_text()
        ET.fromstring(text.encode())
        assert "1.0[31m end" in text
        assert not control.search(text)


def test_sbom_names_provers_and_packages(found, evidence):
    document = json.loads(render_sbom(evidence, found))
    bom = Bom.from_json(document)
    names = {component.name for component in bom.components}
    assert {"numpy", "pydantic", *evidence.programs} <= names
    assert "pytest" not in names
    for component in bom.components:
        if component.name in evidence.programs:
            assert [one.content for one in component.hashes] == [evidence.programs[component.name]]
        else:
            assert component.version and component.purl  # noqa: PT018
    (ours,) = (one for one in document["dependencies"] if one["ref"] == "sonnx-clip")
    assert "numpy" in ours["dependsOn"]


def write_keys(folder, private=None):
    private = private or Ed25519PrivateKey.generate()
    pem, none = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "private.pem").write_bytes(
        private.private_bytes(pem, serialization.PrivateFormat.PKCS8, none)
    )
    public = private.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / "public.pem").write_bytes(public)


@pytest.fixture(scope="module")
def signed_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signed")
    write_keys(folder)
    build = made.write(folder / "build", made.proofs(), [made.report("numpy")])
    write_evidence(
        load_spec(), build, build / "evidence", ["page", "csv", "in-toto"], folder / "private.pem"
    )
    return folder


@pytest.fixture
def signed(signed_once, tmp_path):
    """A folder with keys, and records that are signed with them in build/."""
    shutil.copytree(signed_once, tmp_path, dirs_exist_ok=True)
    return tmp_path


def append(path):
    path.write_text(path.read_text() + " ")


def replace_payload(path):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"payload": "e30="}))


def unsign(path):
    path.write_bytes(base64.b64decode(json.loads(path.read_text())["payload"]))


def sign_anew(path, statement):
    """Put another text under a valid signature."""
    signer = private_key(path.parents[2] / "private.pem")
    path.write_text(sign(statement, signer))


def signed_with(**fields):
    """Signs the statement again, with other fields."""

    def apply(path):
        unsign(path)
        sign_anew(path, json.dumps(json.loads(path.read_text()) | fields))

    return apply


def signed_without(name):
    """Signs the statement again, without one of its subjects."""

    def apply(path):
        unsign(path)
        statement = json.loads(path.read_text())
        kept = [subject for subject in statement["subject"] if subject["name"] != name]
        sign_anew(path, json.dumps(statement | {"subject": kept}))

    return apply


def remove_page_and_sign(path):
    (path.parent / "index.html").unlink()
    signed_without("evidence/index.html")(path)


DEEP = "[" * 200_000


STATEMENT_PATH = f"build/evidence/{STATEMENT}"
CHANGES = {
    "proofs": ("build/proofs.json", append, "differs from the signed file"),
    "published file": ("build/evidence/matrix.csv", append, "differs from the signed file"),
    "removed file": ("build/verdicts/0.json", Path.unlink, "missing"),
    "statement": (STATEMENT_PATH, replace_payload, "not signed by"),
    "unsigned statement": (STATEMENT_PATH, unsign, "not signed by"),
    "another key": ("public.pem", lambda path: write_keys(path.parent), "not signed by"),
    "type": (STATEMENT_PATH, signed_with(_type="other"), "_type is 'other'"),
    "predicate type": (STATEMENT_PATH, signed_with(predicateType="x"), "predicateType is 'x'"),
    "no subjects": (STATEMENT_PATH, signed_with(subject=[]), "not among the signed files"),
    "record left out": (STATEMENT_PATH, signed_without("verdicts/0.json"), "not among the signed files"),
    "page removed": (STATEMENT_PATH, remove_page_and_sign, "not among the signed files"),
    "later record": (
        "build/verdicts/later.json", lambda path: path.write_text("{}"), "not among the signed files",
    ),
    "nested envelope": (STATEMENT_PATH, lambda path: path.write_text(DEEP), "nested deeper than"),
    "nested statement": (STATEMENT_PATH, lambda path: sign_anew(path, DEEP), "nested deeper than"),
    "duplicate key": (
        STATEMENT_PATH, lambda path: sign_anew(path, '{"_type": 1, "_type": 2}'), "occurs twice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_change_after_signing_is_refused(signed, change):
    name, apply, message = CHANGES[change]
    assert "files as signed" in verify_signed(signed / "build", signed / "public.pem")
    apply(signed / name)
    with pytest.raises(UserError, match=message) as refused:
        verify_signed(signed / "build", signed / "public.pem")
    assert "differs" not in message or name.removeprefix("build/") in str(refused.value.where)
    assert "do not rely on the files" in refused.value.todo
    assert "--sign" not in str(refused.value)
    assert len(str(refused.value).splitlines()) == 2


def test_nested_statement_ends_the_command_with_one_message(signed):
    (signed / STATEMENT_PATH).write_text('{"payload": ' * 200_000)
    done = command.run("verify", "--key", "public.pem", cwd=signed)
    assert done.returncode == 2
    assert "nested deeper than" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("load", [private_key, public_key])
def test_short_rsa_key_is_refused(tmp_path, load):
    write_keys(tmp_path, rsa.generate_private_key(65537, 1024))
    name = "private.pem" if load is private_key else "public.pem"
    with pytest.raises(UserError, match="RSA of 1024 bits, which is less than 2048"):
        load(tmp_path / name)
    write_keys(tmp_path, rsa.generate_private_key(65537, 2048))
    load(tmp_path / name)


def test_statement_is_not_signed_without_the_page(signed):
    shutil.rmtree(signed / "build/evidence")
    with pytest.raises(UserError, match="there is no page to sign"):
        write_evidence(
            load_spec(),
            signed / "build",
            signed / "build/evidence",
            ["in-toto"],
            signed / "private.pem",
        )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["evidence", "--sign", "private.pem"], "--format in-toto"),
        (["evidence", "--format", "in-toto", "--sign", "absent.pem"], "absent.pem"),
        (["evidence", "--format", "in-toto", "--sign", "public.pem"], "not a usable private key"),
        (["verify", "--key", "private.pem"], "not a usable public key"),
    ],
)
def test_unusable_key_is_refused_with_one_message(signed, arguments, what):
    shutil.rmtree(signed / "build/evidence")
    done = command.run(*arguments, cwd=signed)
    assert done.returncode == 2
    assert what in done.stderr
    assert not (signed / "build/evidence").exists()


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_key_of_the_page_signs_and_verifies(signed):
    commands = re.findall(r"^ {4}(openssl|sonnx-clip) (.*)$", PAGE, re.MULTILINE)
    assert len(commands) == 4
    for program, text in commands:
        arguments = shlex.split(text)
        if program == "openssl":
            subprocess.run([program, *arguments], cwd=signed, check=True, capture_output=True)
            continue
        done = command.run(*arguments, cwd=signed)
        assert "not signed" not in done.stdout + done.stderr
    assert "signed by" in done.stdout


IMPORTERS = Path(os.environ.get("IMPORTERS", repo_file(".venv-import"))) / "bin"

(CONF,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def imported(tool, *arguments, cwd):
    """Run an importer, which must accept the file."""
    done = subprocess.run(
        [IMPORTERS / tool, *arguments], cwd=cwd, stdout=PIPE, stderr=STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.nightly
@pytest.mark.skipif(
    not (IMPORTERS / "sphinx-build").exists(), reason="tools/setup.sh import was not run"
)
def test_sphinx_needs_imports_the_needs_without_a_warning(needs, found, evidence, tmp_path):
    (tmp_path / "needs.json").write_text(render_needs(evidence, found), encoding="utf-8")
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.rst").write_text("Evidence\n========\n\n.. needimport:: needs.json\n")
    for builder in ("html", "needs"):
        imported(
            "sphinx-build", "-q", "-W", "-b", builder, "-d", "trees", ".", builder, cwd=tmp_path
        )
    document = json.loads((tmp_path / "needs/needs.json").read_text())
    read = document["versions"][document["current_version"]]["needs"]
    for id_, need in needs.items():
        assert sorted(read[id_]["links"]) == sorted(need["links"])
        assert sorted(read[id_].get("links_back", [])) == sorted(need["links_back"])


@pytest.mark.nightly
@pytest.mark.skipif(
    not (IMPORTERS / "strictdoc").exists(), reason="tools/setup.sh import was not run"
)
def test_strictdoc_imports_the_reqif(found, evidence, needs, tmp_path):
    (tmp_path / "evidence.reqif").write_text(render_reqif(evidence, found), encoding="utf-8")
    imported("strictdoc", "convert", "evidence.reqif", "out", cwd=tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").rglob("*.sdoc"))
    assert set(re.findall(r"^UID: (\S+)$", text, re.MULTILINE)) == set(needs)
    targets = re.findall(r"^ +VALUE: (\S+)$", text, re.MULTILINE)
    assert sorted(targets) == sorted(link for need in needs.values() for link in need["links"])
