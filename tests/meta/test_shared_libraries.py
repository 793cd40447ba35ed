"""`check --so --abi`: C functions however they are called; each planted fault with verdict and message."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.frames import TYPES
from sonnx_clip.runtimes.runtime import Limits
from tests.command import run
from tests.meta.judged import Due, nightly_but, repeated, require_due, require_repeated

pytestmark = [
    pytest.mark.usefixtures("brief"),
    pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler is installed"),
]
USUAL = '["y", "x", "min", "max", "n"]'


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return built(
        tmp_path_factory.mktemp("library"), [Path(__file__).with_name("planted_library.c")]
    )


def built(folder, sources):
    found = folder / "libplanted.so"
    command = ["cc", "-shared", "-fPIC", "-O1", f"-I{repo_file('generated/c')}", *map(str, sources)]
    subprocess.run([*command, "-o", str(found)], check=True, timeout=100)
    return found


def judged(library, folder, symbol, operands=USUAL, more="", dtype="int16"):
    file = folder / "clip.toml"
    file.write_text(f'operands = {operands}\n{more}\n[symbols]\nint16 = "{symbol}"\n')
    options = CheckOptions(
        f"so[{file}]:{library}", [dtype], limits=Limits(call=0.5), of=clip_operator()
    )
    return run_campaign(options).types[0]


@pytest.mark.nightly
def test_our_own_kernels_conform_in_every_type(tmp_path):
    library = built(tmp_path, sorted(repo_file("generated/c").glob("*.c")))
    report = run_campaign(
        CheckOptions(f"so[{repo_file('examples/clip.toml')}]:{library}", of=clip_operator())
    )
    assert {found.type: found.verdict for found in report.types} == dict.fromkeys(TYPES, "conforms")
    assert report.runtime_version == "libplanted.so by clip.toml"


@pytest.mark.parametrize(
    ("symbol", "operands", "more"),
    [
        ("right", USUAL, ""),
        ("right_in_place", '["n", "x", "max", "min"]', 'length = "int32"'),
        (
            "right_by_pointers",
            '["x", "min", "max", "y", "n"]',
            'bounds = "pointer"\nlength = "uint64"',
        ),
    ],
)
def test_correct_function_conforms_under_every_calling_convention(
    library, tmp_path, symbol, operands, more
):
    report = judged(library, tmp_path, symbol, operands, more)
    require_due(report, Due("conforms", others="conforms"))
    assert not report.remarks


DEAD = {"inverted_ordinary": "crashed"}
INSIDE = {"inside_ordinary": "violates"}
FAULTS = {
    "wrong_in_one_class": Due("violates", "", {"inverted_ordinary": "violates"}, "conforms"),
    "writes_past_the_end": Due("violates", "it wrote past the end of its result"),
    "writes_into_x": Due("violates", "it wrote into its input X"),
    "reads_past_x": Due("violates", "it reads past the end of X"),
    "dies_inverted": Due("crashed", "killed by SIGSEGV", DEAD, "conforms"),
    "hangs_at_seven": Due("crashed", "no answer within 0.5 s"),
}


FAST = {"wrong_in_one_class", "writes_past_the_end", "reads_past_x", "dies_inverted"}


@pytest.mark.parametrize("symbol", nightly_but(FAST, FAULTS))
def test_faulty_function_gets_its_verdict(library, tmp_path, symbol):
    report = judged(library, tmp_path, symbol)
    require_due(report, FAULTS[symbol])
    assert sum(found.compared for found in report.classes if found.id == "inside_ordinary") > 100
    if symbol == "wrong_in_one_class":
        (first,) = [d for found in report.classes for d in found.deviations]
        require_repeated(first)


def test_operands_in_another_order_give_wrong_values(library, tmp_path):
    require_due(
        judged(library, tmp_path, "right", '["y", "x", "max", "min", "n"]'),
        Due("violates", "", INSIDE),
    )


def test_status_other_than_0_is_a_refusal(library, tmp_path):
    report = judged(library, tmp_path, "refuses_inverted", more='returns = "status"')
    rows = {"inverted_ordinary": "violates", "inside_ordinary": "conforms"}
    require_due(report, Due("violates", "Refused: it returned 22", rows))


def test_type_without_a_function_is_unsupported(library, tmp_path):
    report = judged(library, tmp_path, "right", dtype="uint16")
    require_due(report, Due("unsupported", "Unsupported: the file has no function for uint16"))


def test_out_of_bounds_access_hides_no_wrong_value(library, tmp_path):
    report = judged(library, tmp_path, "writes_past_the_end_and_is_wrong")
    classes = {found.id: found for found in report.classes}
    assert len(classes["inverted_ordinary"].deviations) > 0
    assert classes["inverted_ordinary"].violating > 2 * classes["inside_ordinary"].violating > 0
    printed = repeated(classes["inside_ordinary"].deviations[0].reproduce, fails=True)
    assert "Fault: it wrote past the end of its result" in printed


END = '\n[symbols]\nint16 = "f"'
ALL = f"operands = {USUAL}\n"
FILES = (
    ("operands = [\n", "clip.toml: it is not TOML: "),
    ('operands = ["x", "min", "max"]' + END, "clip.toml:1: operands: `n` is missing"),
    ('operands = ["z", "x", "min", "max", "n"]' + END, "clip.toml:1: operands: expected"),
    (
        f'{ALL}bounds = "register"{END}',
        "clip.toml:2: bounds: expected 'value' or 'pointer', not 'reg",
    ),
    (f'{ALL}lenght = "int32"{END}', "clip.toml:2: lenght: unknown key `lenght`"),
    (ALL, "clip.toml: the key `symbols` is missing"),
    (f'{ALL}[symbols]\nint17 = "f"', "symbols: unknown element type `int17`"),
    (f'{ALL}[symbols]\nint16 = "rihgt"', "symbols.int16: libplanted.so has no symbol `rihgt`"),
)


@pytest.mark.parametrize(("text", "words"), FILES)
def test_error_in_the_abi_file_is_reported_with_its_place(library, tmp_path, text, words):
    (tmp_path / "clip.toml").write_text(text)
    shutil.copy(library, tmp_path)
    given = ("--so", "libplanted.so", "--abi", "clip.toml")
    done = run("check", "--dtype", "int16", *given, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
