"""`check --so --abi`: C functions however they are called; each planted fault with verdict and message."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.runtimes.frames import TYPES
from sonnx_clip.runtimes.limits import Limits
from tests.command import run

pytestmark = [
    pytest.mark.usefixtures("brief"),
    pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler is installed"),
]
USUAL = '["y", "x", "min", "max", "n"]'


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return built(tmp_path_factory.mktemp("library"), [Path(__file__).with_name("planted_library.c")])


def built(folder, sources):
    found = folder / "libplanted.so"
    command = ["cc", "-shared", "-fPIC", "-O1", f"-I{repo_file('generated/c')}", *map(str, sources)]
    subprocess.run([*command, "-o", str(found)], check=True, timeout=100)
    return found


def abi(folder, symbol, operands=USUAL, more="", etype="int16"):
    file = folder / "clip.toml"
    file.write_text(f'operands = {operands}\n{more}\n[symbols]\n{etype} = "{symbol}"\n')
    return file


def judged(library, file, limits=Limits(call=0.5)):  # noqa: B008 - it is frozen
    (report,) = run_campaign(CheckOptions(f"so[{file}]:{library}", ["int16"], limits=limits)).types
    return report, {found.id: found for found in report.classes}


@pytest.mark.nightly
def test_our_own_kernels_conform_in_every_type(tmp_path):
    library = built(tmp_path, sorted(repo_file("generated/c").glob("*.c")))
    report = run_campaign(CheckOptions(f"so[{repo_file('harness/clip.toml')}]:{library}"))
    assert {found.type: found.verdict for found in report.types} == dict.fromkeys(TYPES, "conforms")
    assert report.runtime_version == "libplanted.so by clip.toml"


@pytest.mark.parametrize(
    ("symbol", "operands", "more"),
    [
        ("right", USUAL, ""),
        ("right_in_place", '["n", "x", "max", "min"]', 'length = "int32"'),
        ("right_by_pointers", '["x", "min", "max", "y", "n"]', 'bounds = "pointer"\nlength = "uint64"'),
    ],
)
def test_correct_function_conforms_under_every_calling_convention(library, tmp_path, symbol, operands, more):
    report, _ = judged(library, abi(tmp_path, symbol, operands, more))
    assert report.verdict == "conforms", report.words
    assert not report.remarks


def test_a_wrong_class_is_found_with_a_line_that_repeats_it(library, tmp_path):
    _, classes = judged(library, abi(tmp_path, "wrong_in_one_class"))
    assert [id_ for id_, c in classes.items() if c.verdict == "violates"] == ["inverted_ordinary"]
    first = classes["inverted_ordinary"].deviations[0]
    done = subprocess.run(
        [sys.executable, "-c", first.reproduce], check=True, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(repo_root())},
    )  # fmt: skip
    assert hex(int(first.got, 16)) in done.stdout
    assert f"expected: {first.expected}" in done.stdout


def test_a_wrong_order_of_operands_gives_wrong_values(library, tmp_path):
    _, classes = judged(library, abi(tmp_path, "right", '["y", "x", "max", "min", "n"]'))
    assert classes["inside_ordinary"].verdict == "violates"


@pytest.mark.parametrize(
    ("symbol", "words"),
    [
        ("writes_past_the_end", "it wrote past the end of its result"),
        ("writes_before_the_start", "it wrote before the start of its result"),
        ("writes_into_x", "it wrote into its input X"),
        ("reads_past_x", "it reads past the end of X"),
    ],
)
def test_out_of_bounds_access_is_a_violation_with_its_place(library, tmp_path, symbol, words):
    report, _ = judged(library, abi(tmp_path, symbol))
    assert report.verdict == "violates"
    assert words in {found.words for found in report.classes}


def test_out_of_bounds_access_hides_no_wrong_value(library, tmp_path):
    _, classes = judged(library, abi(tmp_path, "writes_past_the_end_and_is_wrong"))
    assert len(classes["inverted_ordinary"].deviations) > 0
    assert classes["inverted_ordinary"].violating > 2 * classes["inside_ordinary"].violating > 0
    line = classes["inside_ordinary"].deviations[0].reproduce
    done = subprocess.run(
        [sys.executable, "-c", line], check=False, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(repo_root())},
    )  # fmt: skip
    assert "Fault: it wrote past the end of its result" in done.stderr


def test_an_entry_that_is_not_written_is_seen(library, tmp_path):
    report, _ = judged(library, abi(tmp_path, "forgets_the_last"))
    assert report.verdict == "violates"


def test_a_status_other_than_0_is_a_refusal(library, tmp_path):
    _, classes = judged(library, abi(tmp_path, "refuses_inverted", more='returns = "status"'))
    assert classes["inverted_ordinary"].words == "Refused: it returned 22"
    assert classes["inside_ordinary"].verdict == "conforms"


def test_a_segmentation_fault_is_narrowed_to_its_class(library, tmp_path):
    report, classes = judged(library, abi(tmp_path, "dies_inverted"))
    assert report.verdict == "crashed"
    assert {id_ for id_, c in classes.items() if c.verdict == "crashed"} == {"inverted_ordinary"}
    assert "killed by SIGSEGV" in classes["inverted_ordinary"].words


def test_hanging_runtime_is_stopped_and_reported(library, tmp_path):
    report, classes = judged(library, abi(tmp_path, "hangs_at_seven"))
    assert report.verdict == "crashed"
    assert "no answer within 0.5 s" in report.words
    assert classes["inside_ordinary"].compared > 100


def test_a_type_without_a_function_is_unsupported(library, tmp_path):
    found = run_campaign(CheckOptions(f"so[{abi(tmp_path, 'right')}]:{library}", ["uint16"])).types[0]
    assert (found.verdict, found.words) == (
        "unsupported", "Unsupported: the file names no function for uint16",
    )  # fmt: skip


def check(folder, *arguments):
    return run("check", "--dtype", "int16", *arguments, cwd=folder)


END = '\n[symbols]\nint16 = "f"'
ALL = f"operands = {USUAL}\n"
FILES = (
    ("operands = [\n", "clip.toml: it is no TOML: "),
    ('operands = ["x", "min", "max"]' + END, "clip.toml:1: operands: `n` is missing"),
    ('operands = ["x", "x", "min", "max", "n"]' + END, "operands: `x` stands there 2 times"),
    ('operands = ["z", "x", "min", "max", "n"]' + END, "clip.toml:1: operands: Input should be"),
    (
        ALL + '\nbounds = "register"' + END,
        "clip.toml:3: bounds: Input should be 'value' or 'pointer', not 'reg",
    ),
    (ALL + 'lenght = "int32"' + END, "clip.toml:2: lenght: there is no key `lenght`"),
    (ALL, "clip.toml: the key `symbols` is missing"),
    (ALL + "[symbols]\n", "clip.toml:2: symbols: there is no function for any element type"),
    (ALL + '[symbols]\nint17 = "f"', "symbols: there is no element type `int17`"),
    (ALL + '[symbols]\nint16 = "f()"', "clip.toml:3: symbols.int16: String should match"),
    (
        ALL + '[symbols]\nint8 = "right"\nint16 = "rihgt"',
        "clip.toml:4: environment: the runtime so[clip.toml]:",
    ),
    (ALL + '[symbols]\nint16 = "rihgt"', "symbols.int16: there is no `rihgt` in libplanted.so"),
)


@pytest.mark.parametrize(("text", "words"), FILES)
def test_error_in_the_abi_file_is_reported_with_its_place(library, tmp_path, text, words):
    (tmp_path / "clip.toml").write_text(text)
    shutil.copy(library, tmp_path)
    done = check(tmp_path, "--so", "libplanted.so", "--abi", "clip.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--so", "nowhere.so", "--abi", "clip.toml"), "nowhere.so: environment: "),
        (("--so", "nowhere.so", "--abi", "clip.toml"), "there is no such file"),
        (("--so", ".", "--abi", "clip.toml"), "it is no file"),
        (("--so", "clip.toml", "--abi", "clip.toml"), "it is no library that this process can open: "),
        (("--so", "libplanted.so"), "--so LIBRARY needs --abi FILE"),
        (("--runtime", "numpy", "--abi", "clip.toml"), "--abi FILE needs --so LIBRARY"),
        (("--so", "libplanted.so", "--abi", "nowhere.toml"), "nowhere.toml: --abi cannot be read: No such"),
        (("--so", "libplanted.so", "--exec", "x", "--abi", "clip.toml"), "--exec and --so are both given"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_one_message(tmp_path, arguments, words):
    abi(tmp_path, "right")
    done = check(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
