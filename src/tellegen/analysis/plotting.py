"""Bode diagrams and responses as figures."""

from typing import TYPE_CHECKING

import numpy as np

from tellegen.analysis.responses import Bode, Response
from tellegen.results.figures import figure_of, label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.5, 5.5


def plot_bode(bode: Bode, *, figure: "Figure | None" = None) -> "Figure":
    """Gain and phase over frequency: one column an input, one line an output."""
    columns = max(len(bode.inputs), 1)
    drawn = figure_of(figure, width=WIDTH * columns, height=HEIGHT)
    axes = drawn.subplots(2, columns, sharex=True, squeeze=False)
    decibel, phase = bode.decibel, bode.phase
    for j, u in enumerate(bode.inputs):
        above, below = axes[0][j], axes[1][j]
        for i, y in enumerate(bode.outputs):
            if np.isfinite(decibel[:, i, j]).any():
                above.semilogx(bode.frequency, decibel[:, i, j], label=f"{y}/{u}")
                below.semilogx(bode.frequency, phase[:, i, j])
        above.set_ylabel("gain [dB, SI]")
        below.set_ylabel("phase [deg]")
        below.set_xlabel("angular frequency [rad/s]")
        _finish(above, below)
    return drawn


def plot_response(response: Response, units: dict[str, str], *, figure: "Figure | None" = None) -> "Figure":
    """Outputs over time: one column an input, one row an output."""
    rows, columns = max(len(response.outputs), 1), max(len(response.inputs), 1)
    drawn = figure_of(figure, width=WIDTH * columns, height=HEIGHT / 2 * rows)
    axes = drawn.subplots(rows, columns, sharex=True, squeeze=False)
    for j, u in enumerate(response.inputs):
        for i, y in enumerate(response.outputs):
            axes[i][j].plot(response.t, response.values[:, i, j], label=f"from {u}")
            axes[i][j].set_ylabel(label(y, units.get(y, "")))
            _finish(axes[i][j])
        axes[-1][j].set_xlabel("t [s]")
    return drawn


def _finish(*axes: object) -> None:
    for k, axis in enumerate(axes):
        axis.grid(True, alpha=0.3)  # type: ignore[attr-defined]
        if k == 0 and axis.get_legend_handles_labels()[0]:  # type: ignore[attr-defined]
            axis.legend()  # type: ignore[attr-defined]
