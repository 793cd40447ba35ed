"""The door for pytest: the options of `--sonnx-clip-runtime`, and nothing else until it is given.

pytest imports this module in every run where the package is installed, so it imports nothing but pytest.
"""

from __future__ import annotations

import pytest

_OPTIONS = {
    "runtime": (
        "NAME",
        "judge this runtime, as sonnx-clip check:  NAME, module:function or ./file.py:f",
    ),
    "types": ("TYPES", "only these element types, separated by commas"),
    "xfail": ("FILE", "file of expected deviations, one a line: a test id and the reason"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("sonnx-clip", "a test for each element type, class and form of Clip")
    for name, (metavar, text) in _OPTIONS.items():
        # The names of the variables are the plugin's own: other plugins share the name space.
        group.addoption(
            f"--sonnx-clip-{name}", dest=f"sonnx_clip_{name}", metavar=metavar, help=text
        )


def pytest_configure(config: pytest.Config) -> None:
    """Load what makes the tests, if a runtime is named; UsageError if only the other options are."""
    runtime, types, xfail = (config.getoption(f"sonnx_clip_{name}") for name in _OPTIONS)
    if runtime is None:
        if types is not None or xfail is not None:
            raise pytest.UsageError(
                "--sonnx-clip-types and --sonnx-clip-xfail need --sonnx-clip-runtime"
            )
        return
    # Only now: this function runs in every session of pytest.
    from sonnx_clip.conform.pytest_items import ClipTests

    config.pluginmanager.register(ClipTests(config, runtime, types, xfail), "sonnx-clip-tests")
