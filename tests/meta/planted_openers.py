"""Functions that open serialised models, as `check --onnx` takes them; each is wrong in one way."""

import onnx

from sonnx_clip.runtimes.adapters.onnx_reference import RUNTIME
from tests.meta import planted_forms

__version__ = "5"


def opener(runtime):
    def open_(model):
        assert type(model) is bytes
        run = runtime.open_model(model)

        def function(*inputs):
            assert len(inputs) in (1, 3)
            return [run(dict(zip("xlm", inputs, strict=False)))]

        return function

    return open_


right = opener(planted_forms.right)
wrong_with_initializers = opener(planted_forms.wrong_with_initializers)
wrong_in_every_form = opener(planted_forms.wrong_in_every_form)


def with_constants_only(opener_of_all):
    """As onnx-tensorrt and NNAPI: bounds that are inputs of the model are refused."""

    def open_(model):
        if len(onnx.load_from_string(model).graph.input) > 1:
            raise NotImplementedError("min must be an initializer")
        return opener_of_all(model)

    return open_


constants_only = with_constants_only(right)
wrong_constants_only = with_constants_only(wrong_in_every_form)
wrong_initializers_only = with_constants_only(wrong_with_initializers)
reference = opener(RUNTIME)
answer = 42


def needs_a_rank(model):
    (x, *_) = onnx.load_from_string(model).graph.input
    if not x.type.tensor_type.HasField("shape"):
        raise NotImplementedError("X needs a rank")
    return right(model)


def bare(model):
    return lambda *inputs: right(model)(*inputs)[0]


def two_outputs(model):
    return lambda *inputs: [*right(model)(*inputs), inputs[0]]


def no_function(model):
    return None


def wrong_shape(model):
    function = right(model)
    return lambda *inputs: function(*inputs)[0].reshape(1, -1)
