"""A fresh machine gets what the project needs: requirements.lock."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement

from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import EXTRAS


def test_the_lock_pins_what_the_project_asks_for() -> None:
    project = tomllib.loads(repo_file("pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    # A user installs a runtime or optimiser to judge the version that there is.
    unlocked = {"bench", "import", "optimisers", *EXTRAS.values()} - {"onnx"}
    locked = [text for extra, texts in extras.items() if extra not in unlocked for text in texts]
    pins = re.findall(
        r"^([a-z0-9-]+)==([^ ]+)", repo_file("requirements.lock").read_text(), re.MULTILINE
    )
    for requirement in map(Requirement, project["dependencies"] + locked):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name == project["name"]:
            assert requirement.extras <= extras.keys()
            continue
        versions = [version for pinned, version in pins if pinned == name]
        assert versions, f"{requirement} is not in requirements.lock: run `make lock`"
        assert all(version in requirement.specifier for version in versions), (
            f"{requirement}: run `make lock`"
        )
