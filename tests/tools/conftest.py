"""A machine of fakes: a checkout with tools/setup.sh, and a PATH on which nothing else is real."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from pathlib import Path

CORE = ("bash", "cat", "cut", "dirname", "env", "flock", "grep", "head", "mktemp", "rm", "sha256sum", "tail")

# Installing a package makes a command of its name, unless FAKE_APT says otherwise.
APT_GET = """#!/bin/bash
echo "apt-get $*" >> "$LOG"
[[ " $* " == *" install "* ]] || exit 0
[[ ${FAKE_APT:-} == fails ]] && { echo "E: Unable to locate package"; exit 100; }
[[ ${FAKE_APT:-} == installs-nothing ]] && exit 0
for package in ${*#-*}; do
    case $package in
        why3) version=1.5.1 ;; z3) version=4.8.12 ;; cvc5) version=1.0.3 ;; chromium) version=156.0 ;;
        gcc) version=12.2 ;;
        frama-c-base) package=frama-c version=25.0 ;;
        python3-venv) touch "$BIN/venv-module"; continue ;;
        *) continue ;;
    esac
    printf '#!/bin/bash\\necho "version %s"\\n' "$version" > "$BIN/$package"
    chmod +x "$BIN/$package"
done
"""

# Answers what setup.sh asks of an interpreter; `-m venv DIR` copies itself there.
PYTHON3 = """#!/bin/bash
case "$*" in
    *"version_info >= (3, 11)"*) [[ ${FAKE_PYTHON:-3.11} == 3.9 ]] && exit 1; echo "$0" ;;
    *"import venv, ensurepip"*) [[ ${FAKE_VENV:-yes} == yes || -e $BIN/venv-module ]] ;;
    *"print(sys.version_info[:2])"*) echo "(3, 11)" ;;
    --version) echo "Python 3.11.2" ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$BIN/python3" "$3/bin/python" ;;
    "-m pip "*)
        echo "pip $*" >> "$LOG"
        if [[ ${FAKE_PIP:-} == killed ]]; then kill -9 $PPID; fi
        if [[ ${FAKE_PIP:-} == fails-extra && $* == *"[bench]" ]]; then echo "ERROR: no torch" >&2; exit 1; fi
        if [[ ${FAKE_PIP:-} == fails ]]; then echo "ERROR: no network" >&2; exit 1; fi ;;
    *) echo "python3 asked for: $*" >&2; exit 99 ;;
esac
"""

SUDO = """#!/bin/bash
echo "sudo $*" >> "$LOG"
[[ ${FAKE_SUDO:-} == wants-password ]] && exit 1
shift
exec "$@"
"""


@dataclass(frozen=True)
class Machine:
    """One fake machine; `home` is its checkout, `bin` its PATH, `log` what was called."""

    home: Path
    bin: Path
    log: Path

    def add(self, name: str, text: str) -> None:
        """Put a command on the PATH."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def add_tool(self, name: str, version: str) -> None:
        """Put a command on the PATH that only tells its version."""
        self.add(name, f"#!/bin/bash\necho '{name} version {version}'\n")

    def add_sudo(self) -> None:
        """Put a sudo on the PATH, which asks for no password unless FAKE_SUDO says otherwise."""
        self.add("sudo", SUDO)

    def setup(self, *what: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run tools/setup.sh there."""
        places = {"PATH": self.bin, "BIN": self.bin, "LOG": self.log, "TMPDIR": self.bin.parent}
        here = {name: str(place) for name, place in places.items()} | settings
        command = [str(self.home / "tools/setup.sh"), *what]
        return subprocess.run(command, env=here, capture_output=True, text=True, check=False, timeout=30)

    def calls(self) -> list[str]:
        """What apt-get, sudo and pip were asked for since the last time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A Debian machine whose user is root, with Python and without provers."""
    made = Machine(tmp_path / "checkout", tmp_path / "bin", tmp_path / "log")
    made.bin.mkdir()
    (made.home / "tools").mkdir(parents=True)
    shutil.copy(repo_file("tools/setup.sh"), made.home / "tools/setup.sh")
    (made.home / "requirements.lock").write_text("numpy==2.4.6\n")
    (made.home / "pyproject.toml").write_text("[project]\n")
    for name in (*CORE, "cp", "mkdir", "chmod", "touch", "true"):
        found = shutil.which(name)
        assert found, name
        (made.bin / name).symlink_to(found)
    made.add("apt-get", APT_GET)
    made.add("python3", PYTHON3)
    made.add("id", "#!/bin/bash\necho ${FAKE_ID:-0}\n")
    return made
