"""Each mistake in the YAML or in the Coq files stops `sonnx-clip foundation` by name, by the real Coq."""

from __future__ import annotations

import re
import shutil

import pytest

from sonnx_clip.foundation.command import surprises
from sonnx_clip.foundation.coq import assumptions, check_again, compile_all, lay_out
from sonnx_clip.foundation.sources import Source, coq_sources
from sonnx_clip.paths import repo_root
from sonnx_clip.prove.provers import Running
from sonnx_clip.render.coq import render_coq
from sonnx_clip.spec import load, load_spec

pytestmark = pytest.mark.skipif(
    shutil.which("coqc") is None, reason="Coq is not installed: apt-get install coq"
)

INTEGERS = ("Order", "Clip", "Integers", "Generated.Int")
FLOATS = ("Order", "Clip", "Key", "Floats", "Decide", "Generated.Float")


def chosen(names, planted=None):
    """The files of these names, with other text for some of them."""
    wanted = {f"SonnxClip.{name}" for name in names}
    sources = [s for s in coq_sources(repo_root()) if s.module in wanted]
    assert len(sources) == len(wanted)
    return [Source(s.path, s.module, (planted or {}).get(s.path, s.text)) for s in sources]


def problems(sources, folder):
    lay_out(sources, folder)
    return [c.problem for c in compile_all(sources, folder, Running()) if c.problem]


def rendered(old, new, tmp_path, monkeypatch):
    """What is rendered from a YAML with a mistake that the loader is kept from finding."""
    monkeypatch.setattr(load, "check_cases", lambda _: ())
    monkeypatch.setattr(load, "check_witnesses", lambda _: ())
    text = (repo_root() / "spec/clip.yaml").read_text()
    assert text.count(old) == 1
    (tmp_path / "clip.yaml").write_text(text.replace(old, new))
    return render_coq(load_spec(tmp_path / "clip.yaml"))


def test_swapped_branch(tmp_path, monkeypatch):
    low = "when: not inverted and X <= L\n    result: L"
    files = rendered(low, low.replace("result: L", "result: M"), tmp_path, monkeypatch)
    (found,) = problems(chosen(INTEGERS, files), tmp_path / "work")
    assert "generated/coq/Int.v" in found
    assert "Theorem cases_are_clip is not accepted by Coq" in found


def test_dropped_nan_condition(tmp_path, monkeypatch):
    whole = (
        "claim: (L <= Y and Y <= M) or Y == M\n    holds_for: [real, int]\n"
        "    refuted_for: {float: {X: nan, L: 0, M: 1}}\n    repaired: {float: "
    )
    condition = "not is_nan(X) and bounds_are_numbers"
    files = rendered(whole + condition, f"{whole}bounds_are_numbers", tmp_path, monkeypatch)
    # The other theorems stand as they do, and need not be proved here again.
    others = re.compile(r"^Theorem (?!interval_repaired).*?^Proof.*?Qed\.$", re.MULTILINE | re.DOTALL)
    files = {path: others.sub("", text) for path, text in files.items()}
    (found,) = problems(chosen(FLOATS, files), tmp_path / "work")
    assert "Theorem interval_repaired is not accepted by Coq" in found


def test_admitted_is_stopped_by_name_even_where_coq_accepts_it(tmp_path):
    clip = next(s for s in coq_sources(repo_root()) if s.module == "SonnxClip.Clip")
    sly = clip.text + "\n(** shows: monotone *)\nTheorem sly : False.\nProof. Admitted.\n"
    sources = chosen(("Order", "Clip"), {"coq/Clip.v": sly})
    line = sly[: sly.index("Admitted")].count("\n") + 1
    (found,) = [line for source in sources for line in source.forbidden()]
    assert found.startswith(f"coq/Clip.v:{line}: `Admitted` is not allowed")
    assert problems(sources, tmp_path) == []
    rests = assumptions([t for s in sources for t in s.theorems()], tmp_path, Running())
    assert rests["Clip.sly"] != ()
    assert any("Clip.sly" in told for told in surprises(tmp_path, rests))
    assert "SonnxClip.Clip.sly" in check_again([s.module for s in sources], tmp_path, Running())


def test_extra_axiom_is_stopped_by_name_three_times(tmp_path):
    clip = next(s for s in coq_sources(repo_root()) if s.module == "SonnxClip.Clip")
    sly = clip.text + "\nAxiom wish : False.\nTheorem granted : False.\nProof. exact wish. Qed.\n"
    sources = chosen(("Order", "Clip"), {"coq/Clip.v": sly})
    (found,) = [line for source in sources for line in source.forbidden()]
    assert "`Axiom` is not allowed" in found
    assert problems(sources, tmp_path) == []
    rests = assumptions([t for s in sources for t in s.theorems()], tmp_path, Running())
    assert rests["Clip.granted"][0].endswith("wish")
    (told,) = [line for line in surprises(tmp_path, rests) if "Clip.granted" in line]
    assert "wish" in told
    assert check_again([s.module for s in sources], tmp_path, Running()) == (
        "coqchk finds an axiom of ours: SonnxClip.Clip.wish"
    )
