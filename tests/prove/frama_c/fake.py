"""A Frama-C of our own: a script first on the PATH, which leaves the reports that a test gives it."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sonnx_clip.backends.acsl import c_functions, required_goals
from sonnx_clip.spec import load_spec

INT8 = load_spec().element_type("int8")
HELD = {key: {"total": 1, "failed": 1} for key in ("Z3:4.8.12", "cvc5:1.0.3", "wp:main")}

_SCRIPT = """#!/bin/sh
[ "$1" = -version ] && {{ echo "25.0-beta (Manganese)"; exit 0; }}
run=proof
while [ $# -gt 0 ]; do
    case $1 in
        -wp-report-json) goals=$2 ;;
        -report-csv) properties=$2 ;;
        -wp-prop) run=smoke ;;
    esac
    shift
done
cat {folder}/words
[ -e {folder}/$run.json ] && cp {folder}/$run.json "$goals"
[ -e {folder}/properties.csv ] && cp {folder}/properties.csv "$properties"
exit {status}
"""


def proved(simplified=0):
    """What WP reports of a property with two goals that are proved."""
    by = {"total": 2 - simplified, "valid": 2 - simplified}
    counts = {"Z3:4.8.12": by, "cvc5:1.0.3": by, "wp:main": {"total": 2, "valid": 2}}
    if simplified:
        counts["qed"] = {"total": simplified, "valid": simplified}
    return counts


@dataclass
class FakeFramaC:
    """What the script leaves behind; a test changes it, and then calls `install`."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    goals: dict = field(default_factory=lambda: {name: proved() for name in required_goals(INT8)})
    smoke: dict = field(
        default_factory=lambda: {f"{name}_ensures_smoke": dict(HELD) for name in c_functions(INT8)}
    )
    rows: list = field(
        default_factory=lambda: [
            (name, "termination clause", "Valid") for name in c_functions(INT8)
        ]
    )
    words: str = "[kernel] Parsing unit.c (with preprocessing)\n"
    status: int | str = 0
    texts: dict = field(default_factory=dict)
    """Files that are written otherwise, or not at all, by name."""

    def install(self):
        """Put the script first on the PATH."""
        self.folder.mkdir(exist_ok=True)
        for name, goals in (("proof", self.goals), ("smoke", self.smoke)):
            (self.folder / f"{name}.json").write_text(json.dumps(self._report(goals)))
        lines = ["directory\tfile\tline\tfunction\tproperty kind\tstatus\tproperty"]
        lines += [
            f".\tunit.c\t1\t{function}\t{kind}\t{status}\ttext"
            for function, kind, status in self.rows
        ]
        (self.folder / "properties.csv").write_text("\n".join(lines) + "\n")
        for name, text in self.texts.items():
            (self.folder / name).unlink()
            if text is not None:
                (self.folder / name).write_text(text)
        (self.folder / "words").write_text(self.words)
        script = self.folder / "frama-c"
        script.write_text(_SCRIPT.format(folder=self.folder, status=self.status))
        script.chmod(0o755)
        self.monkeypatch.setenv("PATH", str(self.folder), prepend=os.pathsep)

    def _report(self, goals):
        by_function = {}
        for name, counts in goals.items():
            function = max((f for f in c_functions(INT8) if name.startswith(f)), key=len)
            by_function.setdefault(function, {"wp:section": {}})[name] = counts
        return {"wp:global": {}, "wp:functions": by_function}
