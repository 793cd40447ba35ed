"""The machines and compilers that the generated C is built for, and how a build of it is run."""

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sonnx_clip.root.folders import repo_file
from tests.c.table import table, vectors

LEVELS = ("-O0", "-O2", "-O3")
STANDARDS = ("-std=c99", "-std=c11")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
UNSAFE = ("-ffast-math", "-ffinite-math-only", "-funsafe-math-optimizations")
FREESTANDING = ("-ffreestanding", "-nostdlib")
_NO_SCREEN = ("-display", "none", "-monitor", "none", "-serial", "none")
_SEMIHOSTING = ("-semihosting-config", "enable=on,target=native")


class MissingToolError(Exception):
    """A compiler or an emulator is not installed."""


@dataclass(frozen=True)
class Target:
    """Where the kernels are to work; a bare one has no C library, and runs examples/frames.c alone."""

    name: str
    compiler: str
    flags: tuple[str, ...] = ()
    emulator: tuple[str, ...] = ()
    bare: bool = False


def _emulated(name: str, triple: str, emulator: str) -> Target:
    return Target(name, f"{triple}-gcc", ("-static",), (emulator,))


def _cortex(name: str, machine: str, *flags: str) -> Target:
    emulator = ("qemu-system-arm", "-M", machine, *_NO_SCREEN, *_SEMIHOSTING, "-kernel")
    return Target(name, "arm-none-eabi-gcc", ("-mthumb", *flags), emulator, bare=True)


NATIVE = (Target("this machine, gcc", "gcc"), Target("this machine, clang", "clang"))
OTHERS = (
    _emulated("aarch64", "aarch64-linux-gnu", "qemu-aarch64"),
    _emulated("armhf", "arm-linux-gnueabihf", "qemu-arm"),
    _emulated("riscv64", "riscv64-linux-gnu", "qemu-riscv64"),
    _emulated("s390x, big-endian", "s390x-linux-gnu", "qemu-s390x"),
    _cortex("Cortex-M0, soft float", "microbit", "-mcpu=cortex-m0"),
    _cortex(
        "Cortex-M4, hard float",
        "mps2-an386",
        "-mcpu=cortex-m4",
        "-mfloat-abi=hard",
        "-mfpu=fpv4-sp-d16",
    ),
    _cortex(
        "Cortex-M7, hard double",
        "mps2-an500",
        "-mcpu=cortex-m7",
        "-mfloat-abi=hard",
        "-mfpu=fpv5-d16",
    ),
)


@dataclass(frozen=True)
class Ran:
    """What a program said: vectors that agree, vectors that were tried, how it ended, its first complaint."""

    agree: int
    asked: int
    status: int
    words: str = ""

    @property
    def fine(self) -> bool:
        """Whether it tried every vector there is, and none is wrong."""
        return self.status == 0 and self.agree == self.asked == count()


def count() -> int:
    """How many vectors there are."""
    return sum(map(len, vectors().values()))


def kernels() -> list[str]:
    """The generated C files."""
    found = [str(path) for path in sorted(repo_file("generated/c").glob("*.c"))]
    assert found, "generated/c holds no C file"
    return found


def c_files(sources: Sequence[Path]) -> list[str]:
    """What a compiler gets of some sources, or of the generated ones if there are none."""
    return [str(path) for path in sources if path.suffix != ".h"] or kernels()


def planted(folder: Path, mistakes: dict[str, tuple[str, str]]) -> tuple[Path, ...]:
    """Copies of the generated C, header included, with a text replaced in the kernels of some types."""
    copies = []
    for path in sorted(repo_file("generated/c").glob("*.[ch]")):
        text = path.read_text(encoding="utf-8")
        if (name := path.stem.removeprefix("sonnx_clip_")) in mistakes:
            old, new = mistakes[name]
            assert old in text, f"{path.name} has no {old!r}"
            text = text.replace(old, new)
        copies.append(folder / path.name)
        copies[-1].write_text(text, encoding="utf-8")
    return tuple(copies)


def include(folder: Path) -> tuple[str, str]:
    """Where headers are: those of generated/c, and vectors.h, which is written to the folder."""
    (folder / "vectors.h").write_text(table(vectors()), encoding="utf-8")
    return f"-I{repo_file('generated/c')}", f"-I{folder}"


def call(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command; MissingToolError if it is not there."""
    if not shutil.which(command[0]):
        raise MissingToolError(f"{command[0]} is not installed: run tools/setup.sh cross")
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)


def compiled(target: Target, folder: Path, *flags: str, sources: Sequence[Path] = ()) -> Path:
    """Build the test program, or for a bare target the kernels alone; AssertionError if that fails."""
    program = folder / "program"
    extra = [*FREESTANDING, "-Wl,-e,sonnx_clip_int8"] if target.bare else []
    harness = [] if target.bare else [str(repo_file("tests/c/check.c"))]
    command = [
        target.compiler,
        "-std=c99",
        *target.flags,
        *WARNINGS,
        *flags,
        *extra,
        *include(folder),
    ]
    # Only the compiler's own helpers are offered, such as the comparison of soft floats: no C library.
    command += [
        *c_files(sources),
        *harness,
        *(["-lgcc"] if target.bare else []),
        "-o",
        str(program),
    ]
    done = call(command)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
    assert not done.stderr, done.stderr
    return program


def ran(target: Target, program: Path) -> Ran:
    """Run the test program."""
    done = call([*target.emulator, str(program)])
    lines = done.stdout.splitlines()
    last = lines[-1].split() if lines else []
    if len(last) != 6 or last[0] != "all:":
        return Ran(
            0,
            0,
            done.returncode or 1,
            (done.stderr or done.stdout).strip()[-500:] or "it said nothing",
        )
    wrong = next((line for line in lines if line.startswith("wrong:")), done.stderr.strip()[-500:])
    return Ran(int(last[1]), int(last[3]), done.returncode, wrong)


def survives(target: Target, folder: Path, flag: str) -> str:
    """What becomes of an unsafe flag: ``refused`` by the header, ``harmless``, or how many are wrong."""
    objects = folder / "unsafe"
    objects.mkdir()
    for source in kernels():
        command = [
            target.compiler,
            "-std=c99",
            *target.flags,
            "-O3",
            flag,
            *include(folder),
            "-c",
            source,
        ]
        done = call([*command, "-o", str(objects / f"{Path(source).stem}.o")])
        if done.returncode:
            assert "sonnx_clip needs IEEE 754 arithmetic" in done.stderr, done.stderr
            return "refused"
    # Linked without the flag, which would also make the processor flush subnormals in the whole program.
    found = ran(target, compiled(target, folder, sources=sorted(objects.glob("*.o"))))
    return "harmless" if found.fine else f"{found.asked - found.agree} wrong"
