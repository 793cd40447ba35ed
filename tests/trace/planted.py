"""The traced functions with a mistake in them: modules made from a changed source."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sonnx_clip import oracle
from sonnx_clip.oracle import float_formats, kernels, plan
from sonnx_clip.trace import subject as subjects
from sonnx_clip.trace import tracing
from sonnx_clip.trace.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pytest

MODULES = {"float_formats": float_formats, "kernels": kernels, "plan": plan}


def planted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, tuple[str, str]]
) -> Subject:
    """The planners and kernels with a text replaced in some modules of `sonnx_clip.oracle`.

    Args:
        folder: where the changed sources go.
        monkeypatch: undoes what is done to the list of modules.
        changes: by module, a text that stands there once and what takes its place.
    """
    made = {}
    for name, module in MODULES.items():
        text = Path(module.__file__ or "").read_text(encoding="utf-8")
        if name in changes:
            old, new = changes[name]
            assert text.count(old) == 1, f"the text to replace must stand once in {name}: {old!r}"
            text = text.replace(old, new)
        file = folder / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        made[name] = ModuleType(module.__name__)
        made[name].__file__ = str(file)
        monkeypatch.setitem(sys.modules, module.__name__, made[name])
        monkeypatch.setattr(oracle, name, made[name])
        exec(compile(text, str(file), "exec"), vars(made[name]))
    return Subject((made["kernels"], made["plan"]), made["plan"].PLANNERS)


@contextmanager
def in_use(what: Subject, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the proofs speak of these functions for a while."""
    with monkeypatch.context() as here:
        here.setattr(subjects, "subject", lambda: what)
        tracing.traced_kernels.cache_clear()
        yield
    tracing.traced_kernels.cache_clear()
