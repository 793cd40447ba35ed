"""Time a cold and an unchanged run of the proofs: wall time against the provers' own processor time.

    python -m bench.prove

The ratio is wall / (provers' CPU / cores). Exit status 1 if it is missed twice, or if an unchanged run asks
a prover.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.timing import HEADER, Target, judge


def main() -> int:
    """Prove everything with an empty ledger, then with a full one."""
    Path("build").mkdir(exist_ok=True)
    print(HEADER)
    return 0 if judge(Target("cold proofs: wall / (provers' CPU / cores)", 1.25), _measure) else 1


def _measure() -> tuple[float, str]:
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(dir=Path("build")) as folder:
        cold, unchanged = _run(folder, cores), _run(folder, cores)
    if unchanged["asked"]:
        sys.exit(f"an unchanged run asked {unchanged['asked']} questions")
    what = (
        f"{cold['asked']} questions, {cold['wall']:.0f} s, provers {cold['prover_cpu']:.0f} CPU-s"
    )
    return cold["wall"] / (
        cold["prover_cpu"] / cores
    ), f"{what}; unchanged {unchanged['wall']:.1f} s"


def _run(build: str, cores: int) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "sonnx_clip",
        "prove",
        "--json",
        "--jobs",
        str(cores),
        "--build",
        build,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the proofs failed:\n{done.stderr[-2000:]}")
    run: dict[str, float] = json.loads(done.stdout)["run"]
    return run


if __name__ == "__main__":
    sys.exit(main())
