"""The picture of a run: time per element over that of a copy, one group a type, ours against the peers."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Any

from bench.contestants import EXACT, MINIMUM_MAXIMUM, NUMPY, ONNXRUNTIME, OURS, OURS_C, TORCH
from bench.peers import NotThereError
from bench.targets import MIDDLE, relative
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.measure import Cell

# Ours are filled, the peers hollow; shapes and colours differ, for a colour-blind reader too.
_STYLES: dict[str, dict[str, Any]] = {
    OURS_C: {"color": "#d55e00", "marker": "D", "markersize": 9, "zorder": 6},
    OURS: {"color": "#0072b2", "marker": "o", "markersize": 10, "zorder": 5},
    NUMPY: {"color": "#222222", "marker": "s", "markersize": 9, "fillstyle": "none"},
    MINIMUM_MAXIMUM: {"color": "#888888", "marker": "x", "markersize": 8},
    TORCH: {"color": "#007a55", "marker": "^", "markersize": 10, "fillstyle": "none"},
    ONNXRUNTIME: {"color": "#b0478c", "marker": "v", "markersize": 10, "fillstyle": "none"},
}
_LABELS = {OURS_C: "ours, C", OURS: "ours, NumPy"}
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 400, 1000)


def draw(cells: Sequence[Cell], caption: str, folder: Path) -> list[Path]:
    """Write kernels.png and kernels.svg into `folder`.

    Raises:
        NotThereError: matplotlib is not installed, or there is nothing to draw.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotThereError("matplotlib is not installed") from error
    shown = [cell for cell in cells if (cell.size, cell.kind) == (MIDDLE, "ordinary") and relative(cell)]
    if not shown:
        raise NotThereError(f"no case of {MIDDLE:,} ordinary values was measured with a copy beside it")
    figure = Figure(figsize=(10, 0.46 * len(shown) + 2.4), layout="constrained")
    _fill(figure.subplots(), shown)
    figure.supxlabel("\n".join(textwrap.wrap(caption, 150)), fontsize=7, color="#555555", x=0.01, ha="left")
    files = []
    for suffix, settings in (("png", {"dpi": 150}), ("svg", {})):
        drawn = io.BytesIO()
        figure.savefig(drawn, format=suffix, **settings)
        files.append(_write(folder / f"kernels.{suffix}", drawn.getvalue()))
    return files


def _fill(axes: Any, shown: Sequence[Cell]) -> None:
    """A line for each type from top to bottom, a mark for each contestant."""
    for name, style in _STYLES.items():
        # Ours above the line of a type and the peers below it, so that equals do not hide each other.
        shift = -0.13 if name in EXACT else 0.13
        points = [
            (relative(cell)[name], row + shift) for row, cell in enumerate(shown) if name in cell.figures
        ]
        if points:
            label = _LABELS.get(name, name)
            axes.plot(*zip(*points, strict=True), linestyle="none", markeredgewidth=1.8, label=label, **style)
    axes.set_xscale("log")
    axes.set_xticks(_TICKS, [str(tick) for tick in _TICKS])
    axes.minorticks_off()
    drawn = [over for cell in shown for name, over in relative(cell).items() if name in _STYLES]
    axes.set_xlim(0.9 * min(1, *drawn), 1.25 * max(1.5, *drawn))
    axes.axvline(1, color="#222222", linewidth=1, zorder=1)
    axes.set_yticks(range(len(shown)), [cell.etype for cell in shown], fontsize=11)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.grid(color="#e4e4e4", zorder=0)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(
        f"Clip of {MIDDLE:,} elements: time as a multiple of copying them",
        loc="left", fontsize=13, pad=42,
    )  # fmt: skip
    axes.set_xlabel("time over that of a copy, logarithmic; left is faster, 1 is a copy", fontsize=10)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=6, frameon=False, fontsize=9.5,
                columnspacing=1.2, handletextpad=0.2, borderaxespad=0.2)  # fmt: skip


def _write(file: Path, content: bytes) -> Path:
    """Write a picture beside its place and rename it there."""
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.write_bytes(content)
        beside.replace(file)
    except OSError as error:
        raise UserError(f"it cannot be written: {error.strerror}", str(file), "check the folder") from error
    finally:
        beside.unlink(missing_ok=True)
    return file
