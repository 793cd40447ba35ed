"""The exported C headers: they compile without a warning, accept our kernels, and find a wrong one."""

import json
import re
import shlex
import shutil
import subprocess

import pytest

from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.write_export import write_export
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.c.targets import OTHERS

TYPES = {etype.id: etype for etype in load_spec().element_types if etype.width is not None}
JUDGED = ("int8", "float16", "float32", "bfloat16")  # compiled in `make test`; every type nightly
FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror")


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headers") / "vectors"
    write_export(clip_operator(), "c-header", folder, JUDGED)
    return folder


@pytest.fixture(scope="module")
def every_header(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headers") / "every"
    write_export(clip_operator(), "c-header", folder)
    return folder


def ran(compiler, headers, type_id, source, *more, emulator=()):
    program = headers.parent / f"{compiler}_{type_id}"
    options = [f"-DTYPE={type_id}", f"-DT={TYPES[type_id].c}", f"-DWIDTH={TYPES[type_id].width}"]
    options += [
        f"-DCLIP=sonnx_clip_{type_id}",
        f"-I{headers}",
        f"-I{repo_file('generated/c')}",
        *more,
    ]
    sources = [str(headers / "vectors.c"), source, "-o", str(program)]
    build([compiler, *FLAGS, *options, *sources])
    return subprocess.run([*emulator, program], capture_output=True, text=True, check=False)


def build(command):
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")


@pytest.mark.parametrize("type_id", ["int8", "float32"])
def test_compile_line_of_the_manifest_works(type_id, headers, tmp_path):
    needs("cc")
    folder = tmp_path / "vectors"
    shutil.copytree(headers, folder)
    kernel = repo_file(f"generated/c/sonnx_clip_{type_id}.c")
    c_type = TYPES[type_id].c
    (folder / "my_clip.c").write_text(
        f'#include "{kernel}"\n'
        f"void my_clip({c_type} *y, const {c_type} *x, {c_type} min, {c_type} max, size_t n)\n"
        f"{{ sonnx_clip_{type_id}(y, x, min, max, n); }}\n"
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    (line,) = (fields["compile"] for fields in manifest["types"] if fields["type"] == type_id)
    subprocess.run(shlex.split(line), cwd=folder, check=True)
    done = subprocess.run([folder / "a.out"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{type_id}: " in done.stdout


def needs(compiler):
    return compiler if shutil.which(compiler) else pytest.skip(f"{compiler} is not installed")


@pytest.mark.parametrize(
    ("compiler", "type_id"), [("clang", "bfloat16"), ("gcc", "int8"), ("gcc", "float32")]
)
def test_our_kernels_are_right(compiler, headers, type_id):
    needs(compiler)
    kernel = str(repo_file(f"generated/c/sonnx_clip_{type_id}.c"))
    done = ran(compiler, headers, type_id, kernel, "-DPOLICY=0u")
    counts = re.fullmatch(rf"{type_id}: (\d+) results of (\d+) calls, 0 wrong\n", done.stdout)
    assert counts, done.stdout
    assert int(counts[1]) > 500_000
    assert int(counts[2]) > 300
    assert done.returncode == 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    "target", [t for t in OTHERS if not t.bare], ids=lambda target: target.name
)
def test_our_kernels_are_right_on_other_processors(target, every_header):
    """Bits are the same in every byte order: s390x is big-endian."""
    if not (shutil.which(target.compiler) and shutil.which(target.emulator[0])):
        pytest.skip(f"no compiler or emulator for {target.name}")
    for type_id in ("float16", "int64"):
        source = str(repo_file(f"generated/c/sonnx_clip_{type_id}.c"))
        done = ran(
            target.compiler, every_header, type_id, source, *target.flags, emulator=target.emulator
        )
        assert done.stdout.endswith(", 0 wrong\n"), done.stdout + done.stderr
        assert done.returncode == 0


@pytest.mark.nightly
def test_headers_compile_as_cpp(every_header, tmp_path):
    needs("g++")
    names = [f"sonnx_clip_{type_id}_suite.vector_count" for type_id in TYPES]
    includes = "".join(f'#include "sonnx_clip_vectors_{type_id}.h"\n' for type_id in TYPES)
    (tmp_path / "all.cpp").write_text(
        f"{includes}int main() {{ return !({' && '.join(names)}); }}\n"
    )
    program = tmp_path / "all"
    build(
        ["g++", "-std=c++11", *FLAGS[1:], f"-I{every_header}", tmp_path / "all.cpp", "-o", program]
    )
    assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("type_id", "old", "new", "policies"),
    [
        ("float16", "(less_than(max, min))", "(0)", {"DEFAULT", "STRICT"}),
        ("float32", "x <= min", "x < min", {"STRICT"}),  # the sign of a zero
    ],
)
def test_wrong_kernel_is_found(headers, tmp_path, type_id, old, new, policies):
    compiler, text = needs("gcc"), repo_file(f"generated/c/sonnx_clip_{type_id}.c").read_text()
    assert old in text
    wrong = tmp_path / "wrong.c"
    wrong.write_text(text.replace(old, new))
    for policy in ("DEFAULT", "STRICT"):
        done = ran(
            compiler, headers, type_id, str(wrong), f"-DPOLICY=SONNX_CLIP_{policy}", "-Wno-unused"
        )
        assert done.returncode == (1 if policy in policies else 0), done.stdout
        assert ("wrong: " in done.stdout) == (policy in policies)
