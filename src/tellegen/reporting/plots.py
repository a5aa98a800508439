"""Plots inside a page."""

from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_svg(figure: "Figure") -> str:
    """A plot as SVG, the same bytes for the same plot. Nobody else sees the figure, so it is closed."""
    from matplotlib import pyplot, rc_context  # noqa: PLC0415

    text = StringIO()
    with rc_context({"svg.hashsalt": "tellegen"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    written = text.getvalue()
    return written[written.index("<svg") :]
