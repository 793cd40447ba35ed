"""What adapters share: a `Runtime` from a function (x, min, max), or from what opens ONNX models.

An adapter has the function in its own module, so that a line that repeats a deviation can import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.model_forms.axes import SYMBOLIC
from sonnx_clip.conform.model_forms.form_caller import form_function
from sonnx_clip.conform.operator_node import CLIP_NODE
from sonnx_clip.conform.runtimes import ClipFunction, RunText, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.conform.runtimes import OpenModel


def runtime_of_function(function: ClipFunction, version: str) -> Runtime:
    """The runtime of a function (x, min, max) that copies X, so that layouts do not matter to it.

    Args:
        function: of arrays; it stands at the head of a module, under its own name.
        version: see `Runtime`.
    """
    name = function.__name__
    return Runtime(
        version=version,
        open=lambda _: function,
        imports=f"from {function.__module__} import {name}",
        call=lambda _: f"{name}({CLIP_NODE.call})",
        strides=False,
    )


def runtime_of_ranked_models(open_model: OpenModel, version: str) -> Runtime:
    """The runtime of what opens models, if it must know the rank of X: each rank has its model.

    Args:
        open_model: it stands at the head of a module, under the name ``open_model``.
        version: see `Runtime`.
    """
    return Runtime(
        version=version,
        open=lambda etype: form_function(open_model, SYMBOLIC, etype),
        imports=f"import onnx.parser; from {open_model.__module__} import open_model, RUNTIME",
        call=lambda etype: f'RUNTIME.open("{etype}")({CLIP_NODE.call})',
        open_model=open_model,
        run_model=_runs_by("open_model"),
        strides=False,
    )


def runtime_of_models(
    open_model: OpenModel, version: str, opener: tuple[str, str], *, strides: bool = True, few: bool = False
) -> Runtime:
    """The runtime of what opens models of any rank.

    Args:
        open_model: itself.
        version: see `Runtime`.
        opener: the Python text that imports what opens models, and the text that names it.
        strides: see `Runtime`.
        few: see `Runtime`.
    """
    from sonnx_clip.conform.runtimes.clip_model import function_of_model, parse_call

    imports, name = opener
    return Runtime(
        version=version,
        open=lambda etype: function_of_model(open_model, etype),
        imports=f"import onnx.parser; {imports}",
        call=lambda etype: f"{name}({parse_call(etype)}.SerializeToString())({CLIP_NODE.inputs})",
        open_model=open_model,
        run_model=_runs_by(name),
        strides=strides,
        few=few,
    )


def _runs_by(name: str) -> Callable[[bool], RunText]:
    return lambda _: (f"f = {name}(p.SerializeToString())", "f(d)")
