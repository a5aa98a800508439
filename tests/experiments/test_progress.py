"""The line that shows how far a run is."""

import io

import pytest

from tellegen.experiments import progress
from tellegen.experiments.progress import ProgressLine


def test_short_runs_show_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine("motor", 2.0)
    line(1.0)
    line.close()
    assert capsys.readouterr() == ("", "")


def test_long_runs_show_the_time_reached_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(progress, "PATIENCE_S", -1.0)
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    line = ProgressLine("motor", 2.0)
    line(0.5)
    line(1.0)
    line.close()
    assert "motor" in shown.getvalue()
    assert "t = 1 of 2 s" in shown.getvalue()


def test_nobody_watches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert not progress.is_watched()
