"""spec/clip.qualification.yaml: every name in it leads somewhere; a mistake is one message with its place."""

import json
import re

import pytest
import typer.main

from sonnx_clip.cli.app import app
from sonnx_clip.qualification.kit import PATH, load_kit
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from tests.obligations import obligations
from tests.qualification.references import unresolved


def leads_nowhere(kit):
    """The names of a kit that do not exist in this checkout."""
    commands = typer.main.get_command(app).commands
    known = {obligation.id for obligation in obligations()}
    mutants = json.loads(repo_file("spec/measured/mutants.json").read_text())["killed"]
    shown = {name for name, command in commands.items() if not command.hidden}
    return unresolved(kit, repo_root(), shown, known, mutants)


def changed(tmp_path, old, new, count=1):
    """The kit after a change of its text, which must have been there."""
    text = repo_file(PATH).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "clip.qualification.yaml").write_text(
        text.replace(old, new, count), encoding="utf-8"
    )
    return load_kit(tmp_path / "clip.qualification.yaml")


def test_every_name_leads_somewhere():
    found = leads_nowhere(load_kit())
    assert not found, f"correct {PATH}, which names what does not exist:\n" + "\n".join(found)


NOWHERE = [
    ("tests/meta/test_canaries.py", "tests/meta/test_gone.py", "unknown test tests/meta/test_gone.py"),
    ("tests/c/test_native.py", "tests/c/test_native.py::test_gone", "unknown test .*::test_gone"),
    ('"*.cases_complete"', '"*.cases_gone"', r"ERR-0010: no obligation matches \*.cases_gone"),
    ("weakened.refuse_weakened", "weakened.gone", "unknown gate sonnx_clip.prove.weakened.gone"),
    ("mutants: [cases]", "mutants: [gone]", "unknown mutants gone"),
    ("make: [coq]", "make: [gone]", "the Makefile has no target gone"),
    ("why3/kernel.mlw}", "why3/gone.mlw}", "Sn7: unknown link why3/gone.mlw"),
    ("proving.md#the-c-kernels", "proving.md#gone", "Sn8: unknown link docs/proving.md#gone"),
    ("anyone with write access can forge", "nobody can forge", "UC-0090: .* does not contain"),
    ("runtimes: [openvino]", "runtimes: [gone]", "no runtime gone has a record in records/runtimes"),
    ('["the ledger", ', "[", "covers this row of docs/trusted-base.md: the ledger"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), NOWHERE, ids=[new for _, new, _ in NOWHERE])
def test_name_of_what_does_not_exist_is_reported(tmp_path, old, new, message):
    assert any(re.search(message, line) for line in leads_nowhere(changed(tmp_path, old, new)))


REFUSED = [
    ("id: TOR-0020", "id: TOR-0010", "TOR-0010 is out of order"),
    ("commands: [generate, prove]", "commands: [generate, proof]", "ERR-0010 names proof"),
    ("constraints: [UC-0040]", "constraints: [UC-0990]", "ERR-0080 names UC-0990"),
    ('below: G8, text: "Known', 'below: G9, text: "Known', "`below` of Sn21 must name an earlier node"),
    ("criterion: 2", "criterion: 4", "`4` is not allowed here"),
    ("impact: TI1\n", "impact: TI1\n    detection: TD1\n", "`detection` is required for TI2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"), REFUSED, ids=[message for *_, message in REFUSED]
)
def test_mistake_in_the_file_is_one_message_with_its_line(tmp_path, old, new, message):
    with pytest.raises(UserError) as refused:
        changed(tmp_path, old, new)
    assert re.search(
        rf"clip.qualification.yaml:\d+.*{re.escape(message)}", str(refused.value), re.DOTALL
    )


def test_error_that_nothing_detects_is_refused(tmp_path):
    text = repo_file(PATH).read_text(encoding="utf-8")
    entry = text[text.index("  - id: ERR-0200") : text.index("  - id: ERR-0210")]
    bare = re.sub(r"    tests: .*\n", "", entry)
    with pytest.raises(UserError, match="ERR-0200 has no detection"):
        changed(tmp_path, entry, bare)


def test_links_of_the_pages_lead_somewhere():
    folder = repo_root() / "docs/qualification"
    links = {
        (page.name, link)
        for page in folder.iterdir()
        for link in re.findall(r'(?:\]\(|href=")([^)"#]+)', page.read_text(encoding="utf-8"))
        if not link.startswith(("https://", "../../build/"))
    }
    assert len(links) > 60
    assert not [(page, link) for page, link in sorted(links) if not (folder / link).exists()]
