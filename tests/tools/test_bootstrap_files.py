"""The files that make a fresh machine work: requirements.lock, Makefile and .ci/run."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement

from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import EXTRAS

LOCK = repo_file("requirements.lock").read_text()


def _pins() -> dict[str, list[str]]:
    pins: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==([^ ]+)", LOCK, flags=re.MULTILINE):
        pins.setdefault(name, []).append(version)
    return pins


def test_the_lock_pins_what_the_project_asks_for() -> None:
    project = tomllib.loads(repo_file("pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    # A user installs a runtime to judge the version that there is; docs/runtimes.md says which were judged.
    unlocked = {"bench", "import", *EXTRAS.values()} - {"onnx"}
    locked = [text for extra, texts in extras.items() if extra not in unlocked for text in texts]
    wanted = [Requirement(text) for text in project["dependencies"] + locked]
    pins = _pins()
    for requirement in wanted:
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name == project["name"]:
            assert requirement.extras <= extras.keys()
            continue
        assert name in pins, f"{requirement} is not in requirements.lock: run `make lock`"
        for version in pins[name]:
            assert version in requirement.specifier, f"{name} {version} is not {requirement}: run `make lock`"
