"""The evidence names a replay where its record is of the same obligations, and only there."""

from __future__ import annotations

import re
import subprocess

import pytest

from sonnx_clip.backends.drivers import PATH
from sonnx_clip.evidence.evidence_model import Evidence
from sonnx_clip.evidence.page import render_page, write_evidence
from sonnx_clip.evidence.road_records import read_replays, replayed_digest
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec import load_spec
from tests.evidence import made


def _record(build, **fields):
    whole = {
        "why3": "1.8.0", "z3": "4.13.3", "cvc5": "1.1.2", "digest": replayed_digest(),
        "valid": 10, "goals": 10, "smoke": 4, "false": 0, "smokes": 4,
    }  # fmt: skip
    file = build / "replays" / "one.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{name}: {value}\n" for name, value in (whole | fields).items()))
    return file


def test_the_script_and_the_evidence_compute_the_same_digest():
    (line,) = re.findall(r"^digest=.*$", repo_file(PATH).read_text(), re.MULTILINE)
    script = f"{line}\necho ${{digest%% *}}"
    done = subprocess.run(["sh", "-c", script], cwd=repo_file(""), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == replayed_digest()


def test_a_record_of_the_same_obligations_is_read(tmp_path):
    assert read_replays(tmp_path) == ()
    _record(tmp_path)
    (found,) = read_replays(tmp_path)
    assert (found.why3, found.valid, found.goals) == ("1.8.0", 10, 10)


def test_a_record_of_other_obligations_is_left_out(tmp_path):
    _record(tmp_path, digest="0" * 64)
    assert read_replays(tmp_path) == ()


@pytest.mark.parametrize("fields", [{"valid": "many"}, {"other": 1}, {"goals": ""}])
def test_a_damaged_record_is_refused(fields, tmp_path):
    file = _record(tmp_path, **fields)
    with pytest.raises(UserError, match="the record of a replay is damaged at") as stop:
        read_replays(tmp_path)
    assert stop.value.where == str(file)


def test_the_page_names_the_versions_and_what_failed(obligations, tmp_path):
    reports = [*map(made.ours, OURS), made.report("numpy", violates=("low_max_nan", "inside_min_nan"))]
    build = made.write(tmp_path / "build", made.proofs(obligations), reports)
    _record(build)
    write_evidence(build, tmp_path / "out")
    with_tools = "Also replayed with Why3 1.8.0, Z3 4.13.3 and cvc5 1.1.2, without our Python:"
    assert f"{with_tools} 10 of 10 goals proved." in (tmp_path / "out" / "index.html").read_text()
    evidence = Evidence.model_validate_json((tmp_path / "out" / "evidence.json").read_text())
    failed = evidence.replays[0].model_copy(update={"valid": 9, "smoke": 3, "false": 1})
    page = render_page(evidence.model_copy(update={"replays": (failed,)}), load_spec())
    said = "9 of 10 goals proved; of 4 smoke goals 1 were not answered and 1 were proved."
    assert f"{with_tools} {said}" in page


def test_a_page_without_records_names_no_replay(written):
    assert written.evidence.replays == ()
    assert "replayed" not in written.html
