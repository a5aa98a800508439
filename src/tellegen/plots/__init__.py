"""Curves and bars with units as scenes: axes with their ticks, curves of as many points as can be seen, and panels."""

from tellegen.plots.panels import BarSpan, bars_plot, panels_plot, spans_plot
from tellegen.plots.values import Line, Look, Panel, Plot

__all__ = ["BarSpan", "Line", "Look", "Panel", "Plot", "bars_plot", "panels_plot", "spans_plot"]
