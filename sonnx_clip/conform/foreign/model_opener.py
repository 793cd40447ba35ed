"""The runtime behind ``onnx:module:open``: a function that opens serialised ONNX models, for `find_runtime`.

It takes bytes, and returns a function of the inputs of the model (arrays, in the order of the graph) that
returns the output, or a list or tuple of all outputs. Such a runtime is judged in every form of a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.foreign.runtime_names import opener_name, quoted
from sonnx_clip.conform.foreign.source_file import named
from sonnx_clip.conform.runtimes.adapter import runtime_of_models
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.conform.runtimes import ModelFunction, OpenModel, Runtime


def opener_runtime(name: str) -> Runtime:
    """The runtime of a name that `opener_name` reads.

    Raises:
        UserError: there is no such file, or nothing of that name in it.
        AttributeError: the module has no such function.
        TypeError: what is named is no function.
        BaseException: whatever the module raises while it is imported.
    """
    opener = f"from {__name__} import opened", f"opened({quoted(name)})"
    return runtime_of_models(opened(name), named(opener_name(name) or "")[1], opener)


def opened(name: str) -> OpenModel:
    """How the runtime of a name opens a model; a line that repeats a deviation calls it.

    Raises:
        UserError: it is no such name; and what `opener_runtime` raises.
    """
    target = opener_name(name)
    if target is None:
        raise UserError(f"`{name}` names no function that opens models", todo="for example onnx:module:open")
    their, _ = named(target)
    if not callable(their):
        raise TypeError(f"{target} is no function")

    def open_model(model: bytes) -> ModelFunction:
        function = their(model)
        kind = None if callable(function) else type(function).__name__

        def run(inputs: Mapping[str, Any]) -> Any:
            if kind is not None:  # a mistake of every call, and no refusal of the model
                raise AssertionError(f"{target} returned {kind}, not a function of the inputs of the model")
            found = function(*inputs.values())
            # Clip has one output; what else is returned is judged as it is.
            return found[0] if isinstance(found, (list, tuple)) and len(found) == 1 else found

        return run

    return open_model
