"""The line that shows how far a run is."""

import io
import re
import sys
import threading

import pytest

import tellegen as tg
from tellegen.experiments import simulating
from tellegen.experiments.setup import set_up
from tellegen.experiments.simulating import ProgressLine
from tellegen.simulation.hybrid.integration import integrate_graph
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import Watch


def test_short_runs_show_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine("motor", 2.0)
    line(1.0)
    line.close()
    assert capsys.readouterr() == ("", "")


def test_long_runs_show_the_time_reached_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # other tests of this process may have run a notebook
    monkeypatch.setattr(simulating, "PATIENCE_S", -1.0)
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    line = ProgressLine("motor", 2.0)
    line(0.5)
    line.count(321)
    line(1.0)
    line.close()
    assert "motor" in shown.getvalue()
    assert "t = 1 of 2 s, 321 steps" in shown.getvalue()


def test_nobody_watches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # other tests of this process may have run a notebook
    assert not simulating.is_watched()


@pytest.mark.parametrize("name", ["stick_slip", "pmsm"])
def test_runs_tell_their_steps(name: str) -> None:
    """Through modes and within one; `told` is looked at while the run goes on, so a slow one is asked for."""
    told: list[int] = []
    ready = set_up(tg.load(name), until=20.0 if name == "pmsm" else 100.0)
    problem = Problem(
        ready.numeric, ready.until, y0=dict(ready.start), inputs=dict(ready.inputs), max_step=2e-5, times=2
    )
    stop = threading.Event()

    def enough(steps: int) -> None:
        told.append(steps)
        if steps > 0:
            stop.set()

    made = integrate_graph(ready.graph, problem, Watch(cancel=stop, steps=enough))
    assert made.status == "cancelled"
    assert 0 < told[-1] <= made.steps


class _Page:
    """What IPython shows, in place of a page."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, text: object, *, display_id: bool) -> "_Page":
        assert display_id
        self.update(text)
        return self

    def update(self, text: object) -> None:
        self.shown.append(str(getattr(text, "data", text)))


def test_a_notebook_shows_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No widgets are needed for it."""
    page = _Page()
    monkeypatch.setattr("IPython.display.display", page.display)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr(simulating, "PATIENCE_S", -1.0)
    monkeypatch.setattr(simulating, "PAUSE_S", -1.0)
    line = ProgressLine("motor <1>", 2.0)
    line(0.5)
    line.count(321)
    line(1.0)
    line.close()
    assert [text.startswith("<pre>motor &lt;1&gt; ") for text in page.shown] == [True, True, False]
    assert re.search(r"50%, t = 1 of 2 s, 321 steps, 0:0\d left", page.shown[1])
    assert page.shown[2] == ""
    assert simulating.is_watched()
