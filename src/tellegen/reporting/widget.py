"""A model in a notebook: its page with sliders, whose curves the kernel computes, and its values in both directions.

The page lives in a frame of its own: styles and names of the notebook do not reach it, and it needs no package of the notebook's.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from tellegen.core.errors import TellegenError
from tellegen.core.packages import load_package
from tellegen.experiments.simulating import DEFAULT_RTOL, simulate
from tellegen.notations.loading import AnyModel
from tellegen.reporting.html import to_html
from tellegen.reporting.live import kernel_run
from tellegen.reporting.pages import LiveRun
from tellegen.reporting.reports import live_page, sound_subject
from tellegen.results import Run


def widget(model: AnyModel, *, sliders: Sequence[str] = (), height: int = 720) -> Any:
    """The model in a notebook (Jupyter, VS Code, marimo): sliders, curves, linked figures and equations; an `anywidget`.

    `params` of the widget holds the values of its sliders in the units of the file, by name: set it and the page follows, move a
    slider and it changes. `run` is the latest run. `sliders` are as those of `page`.

    Raises: what `page` raises for the model and its sliders; ExportError without the package anywidget (X001).
    """
    asked = sound_subject(model)
    assert asked.model is not None
    live = kernel_run(asked.run, asked.model, sliders, "run", DEFAULT_RTOL)
    return _widget_class()(asked.model, asked.run, live, to_html(live_page(asked, live)), height)


@cache
def _widget_class() -> type:
    """The class of the widget: only a notebook has what it is made from."""
    anywidget = load_package("anywidget", purpose="a widget", extra="notebook")
    traitlets = load_package("traitlets", purpose="a widget", extra="notebook")

    class ModelWidget(anywidget.AnyWidget):  # type: ignore[misc, name-defined]
        """The page of a model, its values, and its latest run."""

        _esm = (files("tellegen.reporting") / "page" / "widget.js").read_text(encoding="utf-8")
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        order = traitlets.List().tag(sync=True)
        params = traitlets.Dict().tag(sync=True)

        def __init__(self, model: AnyModel, run: Run, live: LiveRun, page: str, height: int) -> None:
            self.model, self.run, self.live = model, run, live
            names = [slider.name for slider in live.sliders]
            values = {slider.name: slider.value for slider in live.sliders}
            super().__init__(page=page, height=height, order=names, params=values)
            self.on_msg(self._asked)

        def _asked(self, _: object, content: Mapping[str, Any], __: object) -> None:
            """Compute the rows that the page asks for."""
            moved = dict(zip(self.order, content["si"], strict=True))
            times, names = content["times"], [name for panel in content["names"] for name in panel]
            try:
                self.run = run = _moved(self.model, self.run, moved, times)
            except TellegenError as wrong:
                self.send({"said": wrong.what}, buffers=[b""])
                return
            rows = [np.interp(times, run.t, run.values(name), right=np.nan) for name in names if name in run]
            said = run.finding.what if run.finding is not None else ""
            self.send({"said": said}, buffers=[np.array(rows, dtype=float).tobytes()])

    return ModelWidget


def _moved(model: AnyModel, before: Run, moved: Mapping[str, float], times: Sequence[float]) -> Run:
    """A run with other values, all in SI."""
    constant = before.trajectory.segments[0].model.inputs
    inputs = {name: value for name, value in moved.items() if name in constant}
    parameters = {name: value for name, value in moved.items() if name not in constant}
    return simulate(model, times=times, inputs=inputs, parameters=parameters, progress=False, on_failure="return")
