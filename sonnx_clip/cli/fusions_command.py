"""`sonnx-clip lint --fusions`: rewrites in use that would change values of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from sonnx_clip.cli.loaded_model import with_messages
from sonnx_clip.contexts.fusions import IllegalRewrite, illegal_rewrites
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class FusionsReport(Stored):
    """The rewrites that would be wrong, by model."""

    models: dict[str, tuple[IllegalRewrite, ...]]


def list_fusions(models: Sequence[Path], *, as_json: bool) -> int:
    """Print the rewrites that would be wrong; 1 if there is one, else 0. UserError for a wrong file."""
    # All models before the first line: one that is no model ends the command.
    by_model = {str(file): with_messages(file, _of_model) for file in models}
    if as_json:
        print(FusionsReport(models=by_model).model_dump_json(indent=1))
    else:
        for file, illegal in by_model.items():
            print(f"{file}: {counted(len(illegal), 'rewrite')} in use would be wrong")
            for rewrite in illegal:
                print("\n".join(_lines(rewrite)))
    return int(any(by_model.values()))


def _lines(illegal: IllegalRewrite) -> Iterator[str]:
    """The lines on a rewrite that would be wrong: where, what changes, and who makes it."""
    yield f"  {illegal.node}: {illegal.nodes} ({illegal.type})"
    yield f"    by {illegal.rewrite} as {illegal.after}: {illegal.differs}"
    yield f"    made by {'; '.join(illegal.seen)}; see sonnx-clip rewrites {illegal.rewrite}"


def _of_model(model: onnx.ModelProto) -> tuple[IllegalRewrite, ...]:
    # A rewrite is judged in an element type, which many models declare of inputs and outputs alone.
    inferred = onnx.shape_inference.infer_shapes(model)
    return tuple(illegal_rewrites(inferred))
