"""ONNX Runtime on the CPU."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnxruntime

from sonnx_clip.runtimes.models import runtime_of_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.runtimes.runtime import ModelFunction, RunText

_FATAL = 4  # the log repeats the text of the exception

OPTIMISERS = (
    "FuseReluClip", "ClipQuantRewrite", "ClipQuantFusion", "ConvActivationFusion", "GemmActivationFusion",
    "ConvAddActivationFusion", "NchwcTransformer", "NhwcTransformer", "TransposeOptimizer", "ConstantFolding",
    "ConstantSharing", "CommonSubexpressionElimination", "QDQPropagationTransformer",
    "QDQSelectorActionTransformer", "ReluQuantFusion", "CastElimination", "CastChainElimination",
    "PropagateCastOps", "NoopElimination", "EliminateIdentity", "EliminateDropout", "DivMulFusion",
    "ConvBNFusion", "ConvAddFusion", "ConvMulFusion", "MatMulAddFusion", "MatmulBNFusion", "GemmSumFusion",
    "GemmTransposeFusion", "ReshapeFusion", "UnsqueezeElimination", "EliminateSlice",
)  # fmt: skip
"""Graph optimisers beside Clip, by the names with which each can be left out; unknown names do no harm."""


def open_model(
    model: bytes, *, optimised: bool = True, threads: int = 1, without: str = "", written: str = ""
) -> ModelFunction:
    """Open a serialised model; 0 threads are as many as ONNX Runtime takes by itself.

    One optimiser can be left out, and the graph that runs be written to a file.
    """
    onnxruntime.set_default_logger_severity(_FATAL)
    options = onnxruntime.SessionOptions()
    # One by default: `onnxruntime-threads` judges what its own number of threads changes.
    options.intra_op_num_threads = threads
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if written:
        options.optimized_model_filepath = written
    disabled = {"disabled_optimizers": [without]} if without else {}
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"], **disabled
    )

    def run(inputs: Mapping[str, Any]) -> Any:
        return session.run(None, dict(inputs))[0]

    return run


def open_without(model: bytes, optimiser: str) -> ModelFunction:
    """Open a model without one optimiser."""
    return open_model(model, without=optimiser)


def graph_that_runs(model: bytes) -> bytes:
    """The model as it was optimised."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "optimised.onnx"
        open_model(model, written=str(file))
        return file.read_bytes()


def run_text(optimised: bool) -> RunText:
    """The text that runs a model, with as many threads as ONNX Runtime takes by itself."""
    session = "s = onnxruntime.InferenceSession(p.SerializeToString(){})"
    if optimised:
        return session.format(""), "s.run(None, d)[0]"
    off = "o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL"
    return f"o = onnxruntime.SessionOptions(); {off}; {session.format(', o')}", "s.run(None, d)[0]"


RUNTIME = runtime_of_models(
    open_model, f"onnxruntime {onnxruntime.__version__}", "import onnxruntime", run_text,
    open_unoptimised=partial(open_model, optimised=False), optimisers=OPTIMISERS,
    open_without=open_without, graph_that_runs=graph_that_runs,
)  # fmt: skip
