"""LiteRT on the CPU. It has no Clip: MINIMUM(MAXIMUM(X, min), max) is judged, two of its operators."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import flatbuffers
from ai_edge_litert import interpreter
from ai_edge_litert import schema_py_generated as tfl

from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.runtime import ClipFunction, Runtime


def two_operators(etype: str) -> bytes:
    """The model for an element type: X of a rank that is given later, and bounds of rank 0."""
    element_type = getattr(tfl.TensorType, etype.upper())
    ranks = {"x": 1, "l": 0, "m": 0, "t": 0, "y": 1}
    tensors = []
    for name, rank in ranks.items():
        tensor = tfl.TensorT(shape=[1] * rank, type=element_type, name=name)
        tensors.append(tensor)
    # Operators and graphs name tensors by their places.
    x, lower, upper, t, y = range(len(tensors))
    operators = (tfl.BuiltinOperator.MAXIMUM, tfl.BuiltinOperator.MINIMUM)
    codes = [tfl.OperatorCodeT(code, builtinCode=code) for code in operators]
    options = tfl.BuiltinOptions.MaximumMinimumOptions, tfl.MaximumMinimumOptionsT()
    steps = [
        tfl.OperatorT(0, [x, lower], [t], *options),
        tfl.OperatorT(1, [t, upper], [y], *options),
    ]
    graph = tfl.SubGraphT(tensors, inputs=[x, lower, upper], outputs=[y], operators=steps)
    model = tfl.ModelT(version=3, operatorCodes=codes, subgraphs=[graph], buffers=[tfl.BufferT()])
    builder = flatbuffers.Builder()
    packed = model.Pack(builder)
    builder.Finish(packed, b"TFL3")
    return bytes(builder.Output())


def open_type(etype: str) -> ClipFunction:
    """A function (x, min, max)."""
    # One thread, as of ONNX Runtime.
    opened = interpreter.Interpreter(model_content=two_operators(etype), num_threads=1)
    shape: Any = None

    def clip(x: Any, *bounds: Any) -> Any:
        nonlocal shape
        # Its tensors have fixed shapes: another X needs other memory.
        if x.shape != shape:
            opened.resize_tensor_input(0, x.shape)
            opened.allocate_tensors()
            shape = x.shape
        for index, array in enumerate((x, *bounds)):
            opened.set_tensor(index, array)
        opened.invoke()
        # The fifth tensor is y.
        return opened.get_tensor(4)

    return clip


RUNTIME = Runtime(
    version=f"ai-edge-litert {version('ai-edge-litert')}, MINIMUM of MAXIMUM",
    open=open_type,
    imports="from sonnx_clip.runtimes.adapters.litert import open_type",
    call=lambda etype: f'open_type("{etype}")({CLIP_SIGNATURE.call})',
    strides=False,
)
