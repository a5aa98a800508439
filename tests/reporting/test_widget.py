"""The widget of a notebook in Chromium: the frame asks, Python answers, values go both ways."""

import base64
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tellegen as tg
from support.browser import opened

HOST = """([text, page, order, params]) =>
  import('data:text/javascript;charset=utf-8,' + encodeURIComponent(text)).then((module) => {
  const heard = {}, state = { page, order, params, height: 600 };
  window.widgetModel = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; window.lastParams = value; },
    save_changes: () => {}, off: () => {},
    on: (event, call) => { heard[event] = call; },
    send: async (content) => {
      const [said, rows] = await window.askPython(JSON.stringify(content));
      const bytes = Uint8Array.from(atob(rows), (letter) => letter.charCodeAt(0));
      heard['msg:custom']({ said }, [new DataView(bytes.buffer)]);
    },
    fromPython: (params) => { state.params = params; heard['change:params'](); },
  };
  module.default.render({ model: window.widgetModel, el: document.body });
})"""


@pytest.fixture
def made() -> Any:
    pytest.importorskip("anywidget")
    return tg.widget("dc_motor_pump", sliders=["R_a=0.1:2", "K_m"])


def answered(made: Any, content: dict[str, Any]) -> tuple[str, bytes]:
    """What the kernel sends back."""
    sent: list[tuple[str, bytes]] = []
    made.send = lambda told, buffers: sent.append((told["said"], buffers[0]))
    made._asked(None, content, None)
    return sent[0]


def test_values_go_both_ways(made: Any, system_tool: Callable[[str], str], tmp_path: Path) -> None:
    chromium = system_tool("chromium")
    host = tmp_path / "host.html"
    host.write_text("<!DOCTYPE html><title>notebook</title><body></body>")

    def ask(content: str) -> list[str]:
        found: list[tuple[str, bytes]] = []
        # The driver of the browser has an event loop in its thread; a run wants one without.
        worker = threading.Thread(target=lambda: found.append(answered(made, json.loads(content))))
        worker.start()
        worker.join()
        return [found[0][0], base64.b64encode(found[0][1]).decode()]

    with opened(host, chromium) as page:
        page.expose_function("askPython", ask)
        page.evaluate(HOST, [made._esm, made.page, made.order, made.params])
        inside = page.frame_locator("iframe")
        inside.locator("form.live[data-runs='1']").wait_for()
        inside.get_by_label("R_a", exact=True).focus()
        page.keyboard.press("End")
        inside.locator("form.live[data-runs='2']").wait_for()
        assert page.evaluate("window.lastParams.R_a") == pytest.approx(2.0)
        assert made.run.final()["I_a"] == pytest.approx(
            tg.simulate("dc_motor_pump", parameters={"R_a": 2.0}).final()["I_a"]
        )
        page.evaluate("window.widgetModel.fromPython({ R_a: 0.7, K_m: 0.15 })")
        inside.locator("form.live[data-runs='3']").wait_for()
        assert float(inside.get_by_label("value of R_a").input_value()) == pytest.approx(0.7)
        assert made.run.final()["I_a"] == pytest.approx(18.6417, rel=1e-5)


def test_a_value_that_does_not_run_is_told_and_the_run_before_stays(made: Any) -> None:
    before = made.run
    said, rows = answered(made, {"si": [float("nan"), 0.15], "times": [0.0, 0.1], "names": [["I_a"]]})
    assert said
    assert not rows
    assert made.run is before


def test_the_bundle_is_small(made: Any) -> None:
    assert len(made._esm) < 300_000
    assert len(made.page) < 500_000
