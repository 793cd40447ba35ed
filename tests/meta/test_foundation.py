"""Each mistake in the YAML or in the Coq files stops `prove --road coq` by name, by the real Coq."""

import re
import shutil

import pytest

from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.prove.coq import (
    CoqSource,
    axioms_of,
    check_again,
    compile_all,
    coq_sources,
    lay_out,
    unlisted_axioms,
)
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.run_program import Running
from sonnx_clip.spec import load_spec

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        shutil.which("coqc") is None, reason="Coq is not installed: make coq installs it"
    ),
]

WRITTEN = (
    "Order", "Clip", "Worlds", "Statements", "ByWorlds", "Integers", "Key", "Floats", "FloatWorlds", "Decide",
)  # fmt: skip
INTEGERS = ("Generated.Int", "Generated.IntReadings")
FLOATS = ("Generated.Float", "Generated.FloatReadings")


def chosen(names, planted=None):
    """The files of these names, with other text for some of them."""
    wanted = {f"SonnxClip.{name}" for name in names}
    sources = [s for s in coq_sources(repo_root()) if s.module in wanted]
    assert len(sources) == len(wanted)
    return [CoqSource(s.path, s.module, (planted or {}).get(s.path, s.text)) for s in sources]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder in which the hand-written files are compiled, once for all mistakes in rendered ones."""
    folder = tmp_path_factory.mktemp("written")
    assert problems(chosen(WRITTEN), folder) == []
    return folder


def problems_of(sources, folder, written):
    """What Coq says of rendered files, beside the hand-written ones that are compiled already."""
    shutil.copytree(written, folder)
    return problems(sources, folder)


def problems(sources, folder):
    lay_out(sources, folder)
    return compile_all(sources, folder, Running())[1]


def axioms(sources, folder):
    return axioms_of([t for s in sources for t in s.theorems()], folder, Running())


def rendered(old, new, tmp_path):
    """What is rendered from a YAML with a mistake that no check by evaluation is asked for."""
    text = (repo_root() / "spec/clip.yaml").read_text()
    assert text.count(old) == 1
    (tmp_path / "clip.yaml").write_text(text.replace(old, new))
    return render_coq(load_spec(tmp_path / "clip.yaml"))


def only(files, *names):
    """The files with these theorems alone: the others stand as they do, and need not be proved here again."""
    others = re.compile(
        rf"^Theorem (?!(?:{'|'.join(names)}) ).*?^Proof.*?Qed\.$", re.MULTILINE | re.DOTALL
    )
    return {path: others.sub("", text) for path, text in files.items()}


def line_of(theorem, files):
    """The line of the proof of a theorem on readings of floats."""
    lines = files["generated/coq/FloatReadings.v"].splitlines()
    start = lines.index(f"Theorem {theorem} :")
    return next(n for n, text in enumerate(lines[start:], start + 1) if text.startswith("Proof."))


def test_swapped_branch_is_refused(written, tmp_path):
    low = "when: not inverted and X <= L\n    result: L"
    files = rendered(low, low.replace("result: L", "result: M"), tmp_path)
    (found,) = problems_of(chosen(INTEGERS[:1], files), tmp_path / "work", written)
    assert "generated/coq/Int.v" in found
    assert "Theorem cases_are_clip is not accepted by Coq" in found


@pytest.mark.parametrize(
    ("old", "new", "theorem"),
    [
        # A region that is one point too large: X = -0, M = +0.
        (
            "(high and X == M implies identical(X, M))",
            "(high and X == M and not is_minus_and_plus_zero(X, M) implies identical(X, M))",
            "formula_c_agrees_bitwise",
        ),
        # A region that is too small: there it agrees too.
        (
            "agrees: {float: inverted or (is_nan(X) iff is_nan(L))}",
            "agrees: {float: inverted or (not is_nan(X) and not is_nan(L))}",
            "formula_c_agrees_nowhere_else",
        ),
        # A reading that for some inputs allows no answer.
        ("identical(Y, formula)", "identical(Y, formula) and not is_nan(Y)", "formula_c_answers"),
    ],
)
def test_wrong_reading_is_refused(old, new, theorem, written, tmp_path):
    before = (
        "    title: min(M, max(X, L)) with the comparisons of C, "
        "which return the second operand of two that are equal or unordered\n"
    )
    if theorem == "formula_c_answers":  # a property speaks in the same words
        old, new = f"{before}    returns: {old}\n", f"{before}    returns: {new}\n"
    files = only(rendered(old, new, tmp_path), theorem)
    (found,) = problems_of(chosen(FLOATS, files), tmp_path / "work", written)
    assert f"generated/coq/FloatReadings.v:{line_of(theorem, files)}" in found
    assert f"Theorem {theorem} is not accepted by Coq" in found


ADMITTED = "Theorem sly : False.\nProof. Admitted.\n"
GRANTED = "wish : False.\nTheorem granted : False.\nProof. exact wish. Qed.\n"
ENDLESS = """Unset Guard Checking.
Fixpoint loop (n : nat) : False := loop n.
Theorem granted : False.
Proof. exact (loop 0). Qed.
"""


@pytest.mark.parametrize(
    ("added", "axiom", "by_coqchk"),
    [
        (ADMITTED, "sly", "coqchk finds an axiom of ours: SonnxClip.Clip.sly"),
        (f"Axiom {GRANTED}", "wish", "coqchk finds an axiom of ours: SonnxClip.Clip.wish"),
        (ENDLESS, "loop", "coqchk finds a use of unsafe (co)fixpoints"),
    ],
)
def test_unproved_theorem_is_found_by_coq_and_by_coqchk(added, axiom, by_coqchk, tmp_path):
    clip = next(s for s in coq_sources(repo_root()) if s.module == "SonnxClip.Clip")
    sources = chosen(("Order", "Clip"), {"coq/Clip.v": f"{clip.text}\n{added}"})
    assert problems(sources, tmp_path) == []
    found = axioms(sources, tmp_path)
    assert any(axiom in name for name in found["Clip"])
    assert any("theorems of Clip rest on" in line for line in unlisted_axioms(repo_root(), found))
    assert check_again([s.module for s in sources], tmp_path, Running()) == by_coqchk
