"""What onnxscript and onnxoptimizer make of Clip is the right side of a rewrite, for every X, bit for bit.

They need the optimisers: pip install 'sonnx-clip[optimisers]'.
"""

from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest

from sonnx_clip.language import encode, tree
from sonnx_clip.rewrites.critical_points import STRENGTHS, critical_points, difference
from sonnx_clip.rewrites.rewrite import rewrite_of
from sonnx_clip.rewrites.terms import meaning, read_term

onnx = pytest.importorskip("onnx")

FLOAT32 = meaning("float32")
ALL = frozenset(STRENGTHS)


@dataclass(frozen=True)
class Published:
    """A model on which a project makes a rewrite.

    Args:
        project: the package.
        rewrite: the id of the entry.
        around: the whole model; `{}` is the term that is rewritten.
        constants: in the order of the model's initializers, which decides what onnxoptimizer keeps.
        differs: the strengths in which both sides differ for some X.
    """

    project: str
    rewrite: str
    constants: dict[str, str]
    differs: frozenset[str]
    around: str = "{}"

    def __str__(self):
        return f"{self.project}-{self.rewrite}-{','.join(self.constants.values())}"


PUBLISHED = [
    Published(
        "onnxscript", "clip-clip-by-max-min", {"A": "0", "B": "1", "C": "2", "D": "3"}, differs=ALL
    ),
    Published(
        "onnxscript",
        "clip-clip-by-max-min",
        {"A": "0", "B": "3", "C": "2", "D": "9"},
        differs=frozenset(),
    ),
    Published("onnxscript", "clip-relu-by-max-of-min", {"A": "-2", "B": "-1"}, differs=ALL),
    Published("onnxscript", "relu-clip-by-max", {"A": "nan", "B": "1"}, differs=ALL),
    Published("onnxscript", "relu-clip-by-max", {"A": "1", "B": "3"}, differs=frozenset()),
    Published(
        "onnxscript",
        "min-of-max-as-clip",
        {"A": "2", "B": "1"},
        differs=frozenset({"bits", "value"}),
    ),
    Published("onnxscript", "max-of-min-as-clip", {"A": "0", "B": "nan"}, differs=ALL),
    Published(
        "onnxscript",
        "constant-folded-by-min-of-max",
        {"A": "nan", "B": "1", "C": "0"},
        differs=ALL,
        around="max(X, {})",
    ),
    Published(
        "onnxoptimizer",
        "zeros-merged",
        {"E": "0", "A": "-0", "B": "1"},
        differs=frozenset({"bits"}),
        around="min({}, E)",
    ),
    Published(
        "onnxoptimizer",
        "zeros-merged-to-minus",
        {"E": "-0", "A": "0", "B": "1"},
        differs=frozenset({"bits"}),
        around="max({}, E)",
    ),
]


def model_of(term, constants):
    """A float32 model of a term, whose initializers are the constants."""
    nodes = []

    def output_of(part):
        if isinstance(part, tree.Name):
            return part.id
        inputs = [output_of(argument) for argument in part.arguments]
        output = f"result_{len(nodes)}"
        nodes.append(onnx.helper.make_node(part.function.capitalize(), inputs, [output]))
        return output

    y = onnx.helper.make_tensor_value_info(output_of(term), onnx.TensorProto.FLOAT, ["n"])
    x = onnx.helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, ["n"])
    initializers = [
        onnx.numpy_helper.from_array(np.array(bits, np.uint32).view(np.float32), name)
        for name, bits in constants.items()
    ]
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], initializers)
    opsets = [onnx.helper.make_opsetid("", 18)]
    return onnx.helper.make_model(graph, ir_version=8, opset_imports=opsets)


def term_of(model):
    """The term that a model computes, and the bits of its initializers, which are named by letters."""
    texts = {"X": "X"}
    constants = {}
    for letter, initializer in zip("ABCDEF", model.graph.initializer, strict=False):
        texts[initializer.name] = letter
        constants[letter] = int(onnx.numpy_helper.to_array(initializer).view(np.uint32))
    for node in model.graph.node:
        arguments = ", ".join(texts[name] for name in node.input)
        texts[node.output[0]] = f"{node.op_type.lower()}({arguments})"
    return read_term(texts[model.graph.output[0].name], "the optimised model"), constants


def optimised(model, project, version):
    """The model after a project's optimiser; skips the test if this version is not installed."""
    package = pytest.importorskip(project)
    if package.__version__ != version:
        pytest.skip(f"the entry is about {project} {version}")
    optimiser = import_module("onnxscript.optimizer") if project == "onnxscript" else package
    return optimiser.optimize(model)


@pytest.mark.nightly
@pytest.mark.parametrize("published", PUBLISHED, ids=str)
def test_an_optimiser_makes_the_rewrite_as_stated(published):
    rewrite = rewrite_of(published.rewrite)
    before, after = (
        read_term(published.around.format(text), published.rewrite)
        for text in (rewrite.entry.before, rewrite.entry.after)
    )
    constants = {name: encode(text, FLOAT32.etype) for name, text in published.constants.items()}
    (seen,) = (seen for seen in rewrite.entry.seen if seen.project == published.project)

    model = optimised(model_of(before, constants), published.project, seen.version)
    made, kept = term_of(model)
    for x in critical_points(FLOAT32.etype, (before, after), constants):
        result = FLOAT32.result(made, {**kept, "X": x})
        assert result == FLOAT32.result(after, {**constants, "X": x})
    wrong = {s for s in STRENGTHS if difference(FLOAT32, before, after, constants, s)}
    assert wrong == published.differs
