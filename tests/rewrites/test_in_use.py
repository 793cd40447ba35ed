"""What an installed optimiser makes of Clip is the right side of a rewrite, and wrong where that is wrong."""

import numpy as np
import pytest

from sonnx_clip.language import encode
from sonnx_clip.rewrites.decide import decide
from sonnx_clip.rewrites.rewrite import rewrite_of
from sonnx_clip.rewrites.terms import meaning

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

RELU_CLIP = """<ir_version: 8, opset_import: ["": 13]>
g (float[n] x) => (float[n] y) <float l, float m> { r = Relu(x) y = Clip(r, l, m) }"""


def answer(minimum, maximum, x, *, optimised):
    """What onnxruntime computes of Relu then Clip with constant bounds."""
    model = onnx.parser.parse_model(RELU_CLIP)
    del model.graph.initializer[:], model.graph.value_info[:]
    for name, value in (("l", minimum), ("m", maximum)):
        tensor = onnx.numpy_helper.from_array(np.array(value, np.float32), name)
        model.graph.initializer.append(tensor)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (y,) = session.run(None, {"x": np.array([x], np.float32)})
    return int(y.view(np.uint32)[0])


@pytest.mark.parametrize(
    ("minimum", "maximum", "x"), [("nan", "1", "-5"), ("-1", "3", "-5"), ("1", "3", "2")]
)
def test_onnxruntime_fuses_relu_and_clip_as_stated(minimum, maximum, x):
    """FuseReluClip keeps a lower bound that is NaN, and drops Relu: -5 instead of 0."""
    rewrite = rewrite_of("relu-clip-by-negative-min")
    in_type = meaning("float32")
    texts = {"A": minimum, "B": maximum}
    values = {name: encode(text, in_type.etype) for name, text in {**texts, "X": x}.items()}
    numbers = float(minimum), float(maximum), float(x)
    assert answer(*numbers, optimised=False) == in_type.result(rewrite.before, values)
    assert answer(*numbers, optimised=True) == in_type.result(rewrite.after, values)
    found = decide(rewrite.before, rewrite.after, "float32", texts)
    assert found.is_legal == (minimum != "nan")
