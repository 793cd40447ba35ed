"""A model of a user, loaded with its external data; what is wrong with it becomes one message."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import onnx
from google.protobuf.message import DecodeError, EncodeError

from sonnx_clip.lint.model_file import parse_model, read_model
from sonnx_clip.lint.safe_text import shown
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_T = TypeVar("_T")


def with_messages(file: Path, use: Callable[[onnx.ModelProto], _T]) -> _T:
    """What a function makes of the model in a file; UserError for a file that is no valid model."""
    # By lint's reader first, which refuses external data outside of the model's folder.
    model = parse_model(read_model(file), file)
    try:
        onnx.load_external_data_for_model(model, str(file.parent))
        onnx.checker.check_model(model)
        return use(model)
    except UserError:
        raise
    except (
        onnx.checker.ValidationError, onnx.shape_inference.InferenceError, DecodeError, EncodeError, OSError,
        ValueError, TypeError, RuntimeError,
    ) as error:  # fmt: skip
        words = shown(" ".join(str(error).split())[:300])
        todo = "correct the model; onnx.checker.check_model has details"
        raise UserError(f"not a valid model: {words}", shown(str(file)), todo) from None
