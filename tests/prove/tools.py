"""Provers and a Why3 that misbehave: scripts that stand first on the PATH and are the real tool elsewhere."""

import os
import shutil

# $file is the question, $digest the name that an answer has to repeat.
_PROVER = """#!/bin/sh
real={real}
case " $* " in *" --version "*) exec "$real" "$@";; esac
for file; do :; done
digest=$(sed -n '1s/.*task \\([0-9a-f]*\\).*/\\1/p' "$file")
{fault}
"""

# $folder is where the tasks go.
_WHY3 = """#!/bin/sh
real={real}
case "$1" in prove | extract) ;; *) exec "$real" "$@";; esac
for folder; do :; done
{fault}
"""


def real_tool(name):
    """The path of an installed tool."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


def fake(name, fault, folder, monkeypatch):
    """Put a tool of this name first on the PATH: it does what the shell lines of `fault` say."""
    text = (_WHY3 if name == "why3" else _PROVER).format(real=real_tool(name), fault=fault)
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(text)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def only_tools(names, folder, monkeypatch):
    """Leave only these tools on the PATH."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(real_tool(name))
    monkeypatch.setenv("PATH", str(folder))
