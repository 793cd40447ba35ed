"""`make portability`: what it takes over, what it refuses, and that it never removes what it has not made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from load_tool import ROOT, load_tool

portability = load_tool("portability")
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


def test_the_steps_of_the_container_file_are_those_that_are_run() -> None:
    steps = portability.steps_of(CONTAINERFILE)
    assert [step.word for step in steps] == ["FROM", "ENV", "RUN", "COPY", "WORKDIR", "RUN", "CMD"]
    assert steps[0].text == "debian:13-slim"
    assert steps[3].text == f". {steps[4].text}"
    assert steps[5].text == "make prove"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("WORKDIR /sonnx-clip", "USER nobody", "the step USER is not known"),
        ("COPY . /sonnx-clip", "COPY tools /sonnx-clip", "only the whole checkout is copied"),
        ("RUN make prove", "RUN make lint", "no step is RUN make prove"),
    ],
)
def test_a_container_file_that_would_be_run_otherwise_is_refused(old: str, new: str, said: str) -> None:
    assert CONTAINERFILE.count(old) == 1
    with pytest.raises(ValueError, match=said):
        portability.steps_of(CONTAINERFILE.replace(old, new))


def test_a_step_may_go_on_in_the_next_line() -> None:
    text = "FROM a\nRUN b \\\n    && c\nRUN make prove\n"
    assert [step.text for step in portability.steps_of(text)] == ["a", "b && c", "make prove"]


PARAGRAPHS = """Types: deb
# of a person
URIs: http://one.example/debian/
Suites: bookworm bookworm-updates
Components: main

Types: deb-src
URIs: http://source.example/debian
Suites: bookworm
Components: main

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main
"""


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("sources.list.d/a.sources", PARAGRAPHS, "http://one.example/debian"),
        ("sources.list.d/a.sources", PARAGRAPHS.replace("Types: deb\n#", "Types: deb-src\n#"), None),
        (
            "sources.list",
            "deb [signed-by=/a] http://b.example/debian trixie main\n",
            "http://b.example/debian",
        ),
        ("sources.list", "# deb http://b.example/debian trixie main\n", None),
        ("sources.list", "deb http://b.example/debian trixie contrib\n", None),
        ("sources.list", "deb http://b.example/debian-security trixie-security main\n", None),
        ("sources.list", "deb http://b.example/ubuntu noble main\n", None),
    ],
)
def test_the_mirror_is_that_of_the_sources_of_apt(
    file: str, text: str, expected: str | None, tmp_path: Path
) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert portability.mirror_of(tmp_path, portability._same_archive("trixie")) == expected


def test_settings_of_pip_are_taken_over_with_what_they_name(tmp_path: Path) -> None:
    index, wheels, home = tmp_path / "pypi" / "simple", tmp_path / "wheels", tmp_path / "home"
    for folder in (index, wheels, home / ".config" / "pip"):
        folder.mkdir(parents=True)
    certificates = tmp_path / "ca.crt"
    certificates.touch()
    settings = home / ".config" / "pip" / "pip.conf"
    settings.write_text(f"[global]\nextra-index-url = file://{index} file:///none/simple\n", encoding="utf-8")
    environment = {"PIP_FIND_LINKS": str(wheels), "PIP_CERT": str(certificates), "SECRET": "x"}
    found = portability.settings_of(environment, home, tmp_path)
    assert found.environment == {"PIP_FIND_LINKS": str(wheels), "PIP_CERT": str(certificates)}
    assert found.files == tuple(sorted([str(certificates), str(settings)]))
    assert found.folders == (str(index.parent), str(wheels))


def test_a_mount_below_a_folder_is_seen() -> None:
    info = "1 2 3:4 / /a/b rw - x\n1 2 3:4 / /a/bc rw - x\n1 2 3:4 / /a/b/with\\040space rw - x\n"
    assert portability.mounted_below(Path("/a/b"), info) == ["/a/b", "/a/b/with space"]


def test_what_is_mounted_or_was_not_made_here_is_not_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made"
    made.mkdir()
    with pytest.raises(SystemExit) as stop:
        portability.remove(made)
    assert (stop.value.code, made.is_dir()) == (2, True)
    assert "was not made by this script: it is not removed" in capsys.readouterr().err
    (made / portability._MARK).touch()
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 2 3:4 / {made.resolve()}/dev rw - x\n")
    with pytest.raises(SystemExit):
        portability.remove(made, mounts)
    assert made.is_dir()
    assert f"{made}/dev is mounted" in capsys.readouterr().err
    portability.remove(made)
    assert not made.exists()
    portability.remove(made)  # nothing is there


def test_without_root_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit) as stop:
        portability._require_root()
    assert stop.value.code == 2
    assert "portability: error: root is needed" in capsys.readouterr().err


def test_without_debootstrap_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SETUP_SYSTEM", "no")
    with pytest.raises(SystemExit) as stop:
        portability._require_debootstrap()
    assert stop.value.code == 2
    assert "debootstrap is not installed, and may not be" in capsys.readouterr().err


RECORD = portability.Record(
    "debian-13", "Debian GNU/Linux 13 (trixie)", "2026-01-02", "0123456789", 2,
    {"Python": "3.13.5", "numpy": "2.5.5"},
    [{"command": "make prove", "status": 1, "seconds": 60, "closing": ["one", "two"]}],
)  # fmt: skip


def test_the_page_shows_each_record() -> None:
    page = portability.page_with(f"a\n{portability._BEGIN}\nold\n{portability._END}\nb\n", [RECORD])
    assert page.startswith("a\n")
    assert page.endswith(f"{portability._END}\nb\n")
    assert "old" not in page
    assert "| Debian GNU/Linux 13 (trixie) | 3.13.5 | 2.5.5 | – |" in page
    assert "`make prove` on Debian GNU/Linux 13 (trixie), 2 cores: exit status 1 after 60 s." in page
    assert "```text\none\ntwo\n```" in page
    assert portability.page_with(page, [RECORD]) == page
    with pytest.raises(ValueError, match="both of its marks"):
        portability.page_with("a", [RECORD])


def test_a_record_is_kept_and_shown(tmp_path: Path) -> None:
    page = tmp_path / "portability.md"
    page.write_text(f"{portability._BEGIN}\n{portability._END}\n", encoding="utf-8")
    portability.keep_record(RECORD, tmp_path)
    assert json.loads((tmp_path / "portability" / "debian-13.json").read_text()) == asdict(RECORD)
    assert portability.records(tmp_path) == [RECORD]
    assert "exit status 1 after 60 s" in page.read_text()
    assert portability.render(check=True, docs=tmp_path) == 0
    page.write_text(page.read_text().replace("exit status 1", "exit status 0"), encoding="utf-8")
    assert portability.render(check=True, docs=tmp_path) == 1


def test_the_page_is_what_its_records_say() -> None:
    done = subprocess.run(
        [sys.executable, "tools/portability.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_how_the_tests_ended_is_kept_though_a_table_follows() -> None:
    table = [f"module_{n}.py  10  0  100" for n in range(9)]
    runner = "=========== 3 passed, 1 skipped in 9.50s ==========="
    assert portability.closing_lines(["a", runner, "", *table]) == [runner, *table[-3:]]
    assert portability.closing_lines([*table, runner]) == [*table[-3:], runner]
    assert portability.closing_lines(["=== 1 passed", *table]) == table[-4:]
    assert portability.closing_lines(["", "a"]) == ["a"]
