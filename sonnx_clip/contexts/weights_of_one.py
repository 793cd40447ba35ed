"""Weights of one: a window whose convolutions hand single numbers on, so that NaN and infinity reach Clip.

Real weights add up many entries, and one NaN or infinity would be all that is left. With weights of one, and
an input of which each kernel sees at most one entry that is not zero, a convolution gives that entry. So
kernels keep their shapes and layouts, and a Clip that is fused into one meets every class of its input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from sonnx_clip.contexts.windows import spreads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    from sonnx_clip.contexts.context import Tensor
    from sonnx_clip.contexts.windows import Window
    from sonnx_clip.root.dtypes import Array


@dataclass(frozen=True)
class _Kernel:
    """A convolution whose kernel is 1×1 or depthwise.

    Args:
        weight: the name of its weights.
        bias: the name of its bias; empty if it has none.
        is_depthwise: whether each channel has a kernel of its own.
        distance: between two entries that it never sees together, one of which it sees at every stride.
    """

    weight: str
    bias: str
    is_depthwise: bool
    distance: int


def takes_weights_of_one(window: Window) -> bool:
    """Whether a window has convolutions, each 1×1 or depthwise, and nothing else in it adds up entries."""
    return bool(_kernels(window))


def with_weights_of_one(window: Window) -> Window:
    """A window that takes them, with weights of one and biases of zero."""
    constants = dict(window.constants)
    for kernel in _kernels(window):
        constants[kernel.weight] = np.ones_like(constants[kernel.weight])
        if kernel.bias in constants:
            constants[kernel.bias] = np.zeros_like(constants[kernel.bias])
    return replace(window, constants=constants)


def has_single_numbers(window: Window, name: str) -> bool:
    """Whether an input of a window is one of single numbers: what convolutions read, or what has its extent.

    A factor or a summand of each channel is not: one NaN of it would be all that is left.
    """
    for node in window.nodes:
        if node.op_type == "Conv" and node.input[0] == name:
            return True
    # The axes behind batch and channel; a factor of each channel has the extent 1.
    extent = prod(window.inputs[name].shape[2:])
    return extent > 1


def single_numbers(window: Window, tensor: Tensor, values: Array) -> Array:
    """An input of which no kernel of the window sees two entries that are not zero.

    Args:
        window: one that takes weights of one.
        tensor: the element type and the shape of the input.
        values: the entries, shape (n,). If there is no room for all, NaN goes first, then infinities.

    Returns:
        an array of the shape, with as many of the values as there is room for.
    """
    kernels = _kernels(window)
    everywhere = slice(None)
    # A 1×1 kernel sees all channels: then only the first one has numbers.
    channels = everywhere
    if not all(kernel.is_depthwise for kernel in kernels):
        channels = slice(0, 1)
    # No kernel may see two of the numbers, so the one that reaches farthest decides.
    distance = max(kernel.distance for kernel in kernels)
    spaced = slice(None, None, distance)
    axes = len(tensor.shape)
    batch_and_channels = (everywhere, channels)
    places = (*batch_and_channels, *[spaced] * axes)[:axes]
    numbers = np.zeros(tensor.shape, tensor.etype)
    room = numbers[places].shape
    numbers[places] = np.resize(_special_first(values), room)
    return numbers


def _special_first(values: Array) -> Array:
    """NaNs, then infinities, zeros, and other numbers; each kind in the order of the values."""
    is_number = ~np.isnan(values)
    is_finite = np.isfinite(values)
    is_ordinary = is_finite & (values != 0)
    # Each kind has one more of these properties than the kind before it.
    rank = is_number.astype(int) + is_finite + is_ordinary
    return values[np.argsort(rank, kind="stable")]


def _kernels(window: Window) -> Sequence[_Kernel]:
    """The convolutions of a window; none if one is of another kind, or another operator adds up entries."""
    kernels: list[_Kernel] = []
    for node in window.nodes:
        if not spreads(node):
            continue
        kernel = _kernel(node, window.constants) if node.op_type == "Conv" else None
        if kernel is None:
            return []
        kernels.append(kernel)
    return kernels


def _kernel(node: onnx.NodeProto, constants: Mapping[str, Array]) -> _Kernel | None:
    _, weight, *others = node.input
    bias = others[0] if others else ""  # it may be absent
    weights = constants.get(weight)
    if weights is None or weights.dtype.kind != "f":
        return None
    attributes: dict[str, Any] = {}
    for attribute in node.attribute:
        attributes[attribute.name] = helper.get_attribute_value(attribute)
    # Weights have the shape (channels of the result, channels that each of them sees, *sizes).
    sizes = weights.shape[2:]
    channels_seen = weights.shape[1]
    is_depthwise = channels_seen == 1
    is_pointwise = all(size == 1 for size in sizes)
    if not is_depthwise and not is_pointwise:
        return None
    strides = attributes.get("strides", [1])
    dilations = attributes.get("dilations", [1] * len(sizes))
    extents: list[int] = []
    for size, dilation in zip(sizes, dilations, strict=True):
        extents.append((size - 1) * dilation + 1)
    reach = max(extents)
    stride = max(strides)
    # The next multiple of the stride: between two, some entries would be skipped by the kernel.
    distance = -(-reach // stride) * stride
    return _Kernel(weight, bias, is_depthwise, distance)
