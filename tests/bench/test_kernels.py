"""The whole run, and what it leaves."""

import json
import sys
from dataclasses import replace

import pytest

from bench import kernels, report
from bench.contestants import C_COPY, NUMPY, OURS, OURS_C
from bench.kernels import Extent
from bench.peers import NotThereError
from bench.plot import draw
from bench.targets import TARGETS, Target, judge
from tests.bench.made import cell

MACHINE = report.Machine("Made Up 3000", 2, "Linux", {"numpy": "2.4.6"}, "cc 12 -O3", 0.5, 0.7)


NEVER = Target("never met", OURS, (NUMPY,), "at least", 1e9, ("float16",), ("ordinary",))
SHORT = Extent(("int8", "float16"), {1000: 0.0, 100_000: 0.0}, 0.02, targets=(*TARGETS, NEVER))


def test_a_run_prints_and_writes_what_it_measured_without_torch(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert kernels.main(["--quick", "--output", str(tmp_path / "new")], quick=SHORT) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "torch.clamp is not there: torch is not installed" in printed.out
    found = json.loads((tmp_path / "new/kernels.json").read_text())
    assert [(case["type"], case["kind"], case["size"]) for case in found["cases"]] == [
        (etype, kind, size)
        for size in (1000, 100_000)
        for etype, kinds in (("int8", "ordinary zero inverted"), ("float16", "ordinary nan zero inverted"))
        for kind in kinds.split()
    ]
    for case in found["cases"]:
        assert {OURS, NUMPY} <= case["figures"].keys()
        assert case["absent"]["torch.clamp"] == "torch is not installed"
        assert all(0 < f["lower"] <= f["median"] <= f["upper"] for f in case["figures"].values())
    assert found["machine"]["versions"]["torch"] == "not there"
    verdicts = {target["what"]: target["verdict"] for target in found["targets"]}
    (never,) = (target for target in found["targets"] if target["what"] == NEVER.what)
    assert (never["fails"], never["verdict"][-6:]) == (True, " twice")
    assert never["before"] != never["figure"]
    assert verdicts["clip, float16, against torch"] == "not measured"
    assert verdicts["clip, float16, against np.clip"] != "not measured"
    assert "| float16 |" in (tmp_path / "new/kernels.md").read_text()


@pytest.mark.parametrize(("second", "status"), [(40, 0), (0.5, 1)])
def test_a_target_that_is_missed_is_measured_again_and_fails_if_missed_twice(second, status):
    made = [cell(ours=2, numpy=1, copy=1), cell("int8", ours=1, without=2, numpy=1, copy=1)]
    seen = []

    def again(missed):
        seen.append(missed)
        return cell(ours=1, numpy=second)

    rows = [*kernels.judged(made, again)]
    assert kernels.status(rows) == status
    assert seen == made[:1]  # not what is no goal: without C, int8 takes twice
    (row,) = [target for target in report.document(rows, made, MACHINE, 1.0)["targets"] if target["before"]]
    assert (row["before"], row["figure"], row["fails"]) == (0.5, second, bool(status))
    assert row["verdict"] == ("missed by a factor of 80.0 twice" if status else MET_AT_LAST)
    assert "no goal; missed by 90 %" in [row.verdict.partition("; not compared")[0] for row in rows]


MET_AT_LAST = "met at the second measurement, after 0.50"


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert kernels.main(["--quick", "--output", str(tmp_path / "file/below")], quick=SHORT) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "cannot be made" in error
    assert "Traceback" not in error


def test_a_wrong_answer_of_ours_writes_nothing(tmp_path, capsys):
    idle = replace(SHORT, contestants={OURS: lambda case, y: lambda: None})
    assert kernels.main(["--quick", "--output", str(tmp_path)], quick=idle) == 2
    assert "wrong answers" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_markdown_shows_figures_verdicts_marks_and_the_machine():
    cells = [
        cell(ours=1, numpy=50, copy=0.5, wrong={NUMPY: 3}, absent={OURS_C: "no compiler"}),
        cell("int8", ours=4, numpy=1, copy=2),
        cell("int8", size=1000, ours=3, copy=1),
        cell("int16", size=1000, ours=5, copy=1),
    ]
    text = report.markdown(judge(cells), cells, MACHINE)
    assert "| clip, float16, against np.clip | 50 × | ≥ 40 × | met | float16, ordinary |" in text
    assert "| C float16, against np.clip |  | ≥ 100 × | not measured | without float16: no compiler |" in text
    assert "| float16 | 2.00 | – | – | 100.00! |" in text
    assert "| int8 | 2.00 | – | – | 0.50 |" in text
    small = text[text.index("The same at 1,000 elements") :]
    assert "| int8 | 3.00 | – | – | – |" in small
    assert "int16" not in small
    assert (
        "Made Up 3000, 2 cores, one used; load 0.5 before and 0.7 after; numpy 2.4.6; C by cc 12 -O3." in text
    )


def test_json_has_every_figure():
    cells = [cell(ours=1, numpy=50, copy=0.5)]
    found = report.document(judge(cells), cells, MACHINE, 1.23)
    (case,) = json.loads(json.dumps(found))["cases"]
    ours = case["figures"][OURS]
    assert (ours["median"], ours["over_copy"], ours["rounds"]) == (pytest.approx(1e-6), pytest.approx(2), 9)
    assert case["figures"][C_COPY]["over_copy"] == 1


def test_remarks_name_who_is_absent_and_who_is_wrong():
    cells = [
        cell("int8", absent={"torch.clamp": "torch is not installed", "onnxruntime": "has none"}),
        cell("int16", absent={"torch.clamp": "torch is not installed"}, wrong={NUMPY: 2}),
    ]
    assert kernels.remarks(cells) == [
        "torch.clamp is not there: torch is not installed",
        "onnxruntime is not there for int8: has none",
        "np.clip gave wrong answers (!): int16 ordinary",
    ]


def test_the_processor_is_named_or_at_least_its_architecture(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n\n")
    assert report.processor_name(info) == "AMD EPYC (family 25, model 17)"
    info.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n")
    assert report.processor_name(info)
    assert report.processor_name(tmp_path / "nowhere")


def test_the_picture_is_left_out_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(NotThereError, match="matplotlib is not installed"):
        draw([cell(ours=1, copy=1)], "", tmp_path)


def test_the_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    cells = [cell(ours=2, c=1, numpy=50, copy=0.5), cell("int16", ours=2, torch=0.4, copy=0.5)]
    png, svg = draw(cells, "a caption", tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text()
    assert sorted(tmp_path.iterdir()) == [png, svg]
    with pytest.raises(NotThereError, match="no case"):
        draw([cell(ours=2)], "", tmp_path)
