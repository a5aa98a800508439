"""Pages in which the model runs: what a browser computes is what `simulate` gives, and sliders move it."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

import tellegen as tg
from support.browser import opened
from tellegen.cli.main import run as tellegen

EXAMPLES = [example.name for example in tg.examples()]
QUICK = ("bouncing_ball",)
"""With modes; a smooth one has its slider moved below."""

TOLD = 1e-6
"""What a page says that it keeps."""

REFUSED: dict[str, str] = {}
"""What no browser can run, with the code that says why."""

RUN = """([values, names, times]) => {
  const data = JSON.parse(document.querySelector('form.live script').textContent);
  const code = Uint8Array.from(atob(data.code), (letter) => letter.charCodeAt(0));
  const model = new WebAssembly.Instance(new WebAssembly.Module(code), { Math }).exports;
  model.tg_page_restore();
  for (const [reference, value] of values) model.tg_page_set(reference, value);
  if (model.tg_page_begin(data.until)) return 'no start';
  return times.map((t) => (model.tg_page_reach(t) ? null : names.map((name) => model.tg_page_value(data.variables[name]))));
}"""


@pytest.fixture
def chromium(system_tool: Callable[[str], str]) -> str:
    return system_tool("chromium")


def data_of(file: Path) -> dict[str, Any]:
    """What the script of a page is told."""
    found = re.search(
        r'<form class="live".*?<script type="application/json">(.*?)</script>', file.read_text(), re.DOTALL
    )
    assert found is not None
    made: dict[str, Any] = json.loads(found[1])
    return made


def sliders_of(file: Path) -> dict[str, list[float]]:
    names = re.findall(r'<input type="range"[^>]*aria-label="([^"]*)"', file.read_text())
    return dict(zip(names, data_of(file)["sliders"], strict=True))


def computed(page: Page, file: Path, values: Mapping[str, float], names: list[str], times: list[float]) -> np.ndarray:
    """What the browser gives for some values, in SI."""
    sliders = sliders_of(file)
    settings = [[sliders[name][0], value] for name, value in values.items()]
    rows = page.evaluate(RUN, [settings, names, times])
    assert isinstance(rows, list), rows
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=float)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in EXAMPLES])
def test_a_page_computes_what_simulate_gives(name: str, chromium: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    if name in REFUSED:
        with pytest.raises(tg.ExportError) as refused:
            tg.page(name, file)
        assert refused.value.code == REFUSED[name]
        return
    tg.page(name, file)
    until = data_of(file)["until"]
    times = [k * until / 50 for k in range(51)]
    moved = {}
    for slider, (_, value, _low, _high, factor, offset, _) in list(sliders_of(file).items())[:1]:
        moved[slider] = 1.1 * value * factor + offset
    # Beside each time: where a state jumps it is on one side here, and may be on the other there. No row is left out.
    beside = 1e-7 * until
    near = np.unique(np.clip([t + off for t in times for off in (-beside, 0, beside)], 0, until))
    with opened(file, chromium) as page:
        for values in ({}, moved):
            run = tg.simulate(name, times=near, rtol=1e-9, parameters=values)
            names = [n for n in (*run.state_names, *run.displacement_names) if n in data_of(file)["variables"]]
            found = computed(page, file, values, names, times)
            for k, variable in enumerate(names):
                wanted = run.values(variable)
                size = max(float(np.abs(wanted).max()), 1e-3)
                for row, t in zip(found[:, k], times, strict=True):
                    there = wanted[np.abs(run.t - t) < 1.5 * beside]
                    assert np.abs(there - row).min() < TOLD * size, (variable, t, values)


@pytest.fixture(scope="module")
def motor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "motor.html"
    tg.page("dc_motor_pump", file, sliders=["R_a=0.1:2", "K_m"])
    return file


def test_a_slider_moves_the_curves_and_goes_back(motor: Path, chromium: str) -> None:
    with opened(motor, chromium) as page:
        page.wait_for_selector("form.live[data-runs]")
        assert page.locator("form.live label").count() == 2
        # The pale curve behind the others says where they came from: what is drawn has changed.
        curve = "document.querySelector('#figure-run canvas').toDataURL()"
        before = page.evaluate(curve)
        page.get_by_label("R_a", exact=True).focus()
        page.keyboard.press("End")
        page.wait_for_selector("form.live[data-runs='2']")
        assert float(page.get_by_label("value of R_a").input_value()) == pytest.approx(2.0)
        assert page.evaluate(curve) != before
        page.get_by_text("As in the file").click()
        page.wait_for_selector("form.live[data-runs='3']")
        assert float(page.get_by_label("value of R_a").input_value()) == pytest.approx(0.5)
        assert page.evaluate(curve) == before


def test_a_page_is_small_and_asks_nobody(motor: Path) -> None:
    text = motor.read_text()
    assert len(text.encode()) < 1_500_000
    assert "connect-src" not in text
    assert "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="https?:', text)


@pytest.mark.parametrize(
    ("slider", "said"),
    [("R_b", "did you mean 'R_a'"), ("V_a", "cannot be moved"), ("R_a=2:1", "no interval"), ("R_a=x", "R_a=LOW:HIGH")],
)
def test_a_slider_that_cannot_be_is_told_before_anything_is_written(slider: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "motor.html"
    with pytest.raises(tg.ExportError) as refused:
        tg.page("dc_motor_pump", file, sliders=[slider])
    assert refused.value.code == "X305"
    assert said in str(refused.value)
    assert not file.exists()


def test_a_page_of_a_model_with_mistakes_or_without_an_experiment_says_why(tmp_path: Path) -> None:
    network = "system: x\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a], R: 1 ohm}\n"
    plain, wrong = tmp_path / "plain.yaml", tmp_path / "wrong.yaml"
    plain.write_text(network)
    wrong.write_text(network + "  W: {voltage source: [a]}\n")
    for file, code in ((plain, "S301"), (wrong, "K101")):
        with pytest.raises(tg.TellegenError) as refused:
            tg.page(str(file), tmp_path / "page.html")
        assert refused.value.code == code


@pytest.mark.slow
def test_report_with_live_has_sliders(tmp_path: Path) -> None:
    file = tmp_path / "rlc.html"
    assert tellegen(["report", "rlc", "--live", "-o", str(file)]) == 0
    assert sliders_of(file)
