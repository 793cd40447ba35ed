"""The search for root causes with planted bugs: each is caught by the model that is named beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sonnx_clip.graph import causes, expand, lint_model
from tests.graph.open_models import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sonnx_clip.graph.graph_names import GraphScope

_read_inside, _scope = causes._read_inside, expand.function_scope
_cause = causes._cause
_before = causes._Trace._before


def mistaken(folder: Path, names: list[str]) -> list[str]:
    """The models of which not exactly the root causes are found that they have."""
    found = []
    for name in names:
        proto, expected = MODELS[name]
        path = folder / "model.onnx"
        path.write_bytes(proto.SerializeToString())
        causes_found = [(one.title, one.remedy, one.nodes) for one in lint_model(path).causes]
        if sorted(causes_found) != sorted(expected):
            found.append(name)
    return found


def test_the_search_as_it_is_finds_every_root_cause(tmp_path: Path) -> None:
    assert mistaken(tmp_path, list(MODELS)) == []


def _called_by_nobody(*given: Any) -> GraphScope:
    return replace(_scope(*given), call=None)


def _one_alone(trace: Any, place: Any) -> Any:
    return _before(trace, place)[:1]


PLANTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "the search ends at the next node": (
        lambda patch: patch.setattr(causes, "_is_open", lambda _: False),
        "two Clip behind one input",
    ),
    "every shape is open": (
        lambda patch: patch.setattr(causes, "_is_open", lambda _: True),
        "a shape that depends on values",
    ),
    "one input stands for all": (
        lambda patch: patch.setattr(causes._Trace, "_before", _one_alone),
        "two inputs",
    ),
    "branches read nothing": (
        lambda patch: patch.setattr(causes, "_read_inside", lambda _: []),
        "in branches and behind them",
    ),
    "nobody calls a function": (
        lambda patch: patch.setattr(expand, "function_scope", _called_by_nobody),
        "in a function",
    ),
    "a node stands for the scope around it": (
        lambda patch: patch.setattr(causes, "_defining", lambda place: place),
        "in branches and behind them",
    ),
    "the last node that follows is forgotten": (
        lambda patch: patch.setattr(causes, "_cause", lambda root, nodes: _cause(root, nodes[:-1])),
        "two Clip behind one input",
    ),
}


@pytest.mark.parametrize("bug", PLANTS)
def test_a_planted_bug_is_caught_by_the_model_named_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str
) -> None:
    plant, caught_by = PLANTS[bug]
    plant(monkeypatch)
    assert mistaken(tmp_path, [caught_by]) == [caught_by]
