"""How soon does the studio answer? From a message of a page to the last message that it waits for, over the socket, and from a
hand to the screen in Chromium, warm.

`edit` is a change of a value until what the text says and two views are there; `slider` a run with a value beside the text until
its curves are there; the longest run that an experiment gives by itself has 50 001 rows, and a million rows are told by their
extremes. Asked: an edit within 0.15 s for 20 elements, 0.25 s for 50 and 1 s for 200; a slider within 0.06 s; a million rows within
1 s; the first page within 2 s. Wall s is the median of twenty, p95 what one of twenty exceeds; in Chromium, where there is one, the
time ends with the frame after the page has changed. CPU is the work of all processors for one of them, browser and what follows the
views included: on a machine that has other work it says what the wall clock cannot. Check: the value, the views and the curves.
"""

import json
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, final

import numpy as np
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks.harness import Row, Target
from tellegen.experiments.simulating import simulate
from tellegen.server import results
from tellegen.server.studio import Studio, studio

REPEATS = 20
SIZES = {20: 0.15, 50: 0.25, 200: 1.0}
VIEWS = ["network", "bond"]
QUIET_S = 3.0


def run(_full: bool) -> Iterator[Row]:
    """The same with and without `full`."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for count in SIZES:
            (folder / f"ladder_{count}.yaml").write_text(_ladder(count), encoding="utf-8")
        (folder / "long.yaml").write_text(_long(), encoding="utf-8")
        began = time.perf_counter()
        with studio(folder, browser=False) as running:
            page = _Page(running)
            cold = time.perf_counter() - began
            yield _row("first message of a cold studio", [cold], 2.0, page.hello["kind"] == "hello")
            for count, target in SIZES.items():
                yield page.edit(count, target)
            yield page.slider()
            yield page.samples()
            page.socket.close()
        yield _million()
        yield from _in_chromium(folder)


def _row(
    case: str,
    times: Sequence[float],
    target: float | None,
    ok: bool,
    size: int | None = None,
    cpu: float | None = None,
) -> Row:
    """A row of times in s: their median, and what one of twenty exceeds, where there are so many."""
    middle = median(times)
    slowest = float(np.percentile(times, 95)) if len(times) >= REPEATS else None
    judged = ""
    if target is not None:
        judged = Target(target).judge(middle)
        if slowest is not None:
            judged += ", p95 too" if slowest < target else ", p95 over" if middle < target else ""
    check = "right" if ok else "wrong"
    return Row(case, size=size, seconds=middle, p95=slowest, cpu=cpu, check=check, target=judged, ok=ok)


def _work_s() -> float:
    """What this process and all that it began have worked so far: studio, workers, browser; 0 where the system does not say."""
    parents, worked = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name of a program may hold anything; what counts follows the last bracket.
            words = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)], worked[int(path.parent.name)] = (
                int(words[1]),
                int(words[11]) + int(words[12]),
            )
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(worked.get(pid, 0) for pid in family) / os.sysconf("SC_CLK_TCK") if worked else 0.0


def _timed(page: Any, script: str, values: Sequence[object]) -> tuple[list[float], float | None]:
    """The times that a script tells for some values, in s, and the work of all that was busy with one of them."""
    before = _work_s()
    times = [page.evaluate(script, value) / 1000 for value in values]
    return times, (_work_s() - before) / len(times) if before else None


def _ladder(count: int) -> str:
    """A ladder of resistors and capacitors with so many elements."""
    lines = ["system: Ladder", "parameters: {R: 1 kohm, C: 1 uF}", "network:", "  V: {voltage source: [n0, gnd]}"]
    for k in range(1, count // 2 + 1):
        lines.append(f"  R_{k}: {{resistor: [n{k - 1}, n{k}], R: R}}")
        lines.append(f"  C_{k}: {{capacitor: [n{k}, gnd], C: C}}")
    return "\n".join([*lines, "experiment: {until: 0.1 s, inputs: {V: step(1 V)}}", ""])


def _long() -> str:
    """A resonance whose input is so quick that its run has as many rows as runs have by themselves."""
    return (
        "system: Long\nparameters: {m: 1 kg, K: 1 N/m}\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a]}\n"
        '  K: {spring: [a, frame]}\nexperiment: {until: 500 s, inputs: {F: "sine(1 N, 100 Hz)"}}\n'
    )


def _million() -> Row:
    """A run of a million rows, made small enough for a page."""
    run = simulate("dc_motor_pump", samples=10**6, progress=False)
    names, _ = results.shown_names(run)
    began = time.perf_counter()
    t, rows = results.thinned(run.t, run.table(names))
    seconds = time.perf_counter() - began
    ok = (
        rows.shape == (len(names), len(t))
        and len(t) <= results.MOST_POINTS + 1
        and np.isclose(rows.max(), run.table(names).max())
    )
    return _row("10^6 rows by their extremes", [seconds], 1.0, bool(ok))


def _in_chromium(folder: Path) -> Iterator[Row]:
    """From a hand to the screen, in a browser without a graphics card."""
    browser = shutil.which("chromium")
    if browser is None or find_spec("playwright") is None:
        return
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # of the tests, and heavy

    options = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=browser, args=options.split())
        page = running.new_context(viewport={"width": 1280, "height": 720}).new_page()
        began = time.perf_counter()
        with studio(folder, browser=False) as served:
            page.goto(served.url)
            page.locator(".cards li").first.wait_for()
            cold = time.perf_counter() - began
            ok = page.locator(".cards li").count() > len(SIZES)
            yield _row("Chromium: first page of a cold studio", [cold], 2.0, ok)
            page.evaluate("localStorage.setItem('tellegen.panes', '[\"network\", \"bond\"]')")
            for count, target in SIZES.items():
                _shown(page, f"{served.url}&file=ladder_{count}.yaml", "[data-testid=pane-bond] svg")
                times, cpu = _timed(page, EDIT, [f"{k + 20} kohm" for k in range(REPEATS)])
                ok = f"{REPEATS + 19} kohm" in (folder / f"ladder_{count}.yaml").read_text(encoding="utf-8")
                yield _row("Chromium: edit to two views on the screen", times, target, ok, size=count, cpu=cpu)
            _shown(page, f"{served.url}&file=example:dc_motor_pump", "[data-testid=plots] canvas")
            times, cpu = _timed(page, SLIDE, [200 + 5 * k for k in range(1, REPEATS + 1)])
            ok = page.locator("[data-testid=plots]").get_attribute("data-live") == "true"
            yield _row("Chromium: slider to curves on the screen, dc_motor_pump", times, 0.06, ok, cpu=cpu)
        running.close()


def _shown(page: Any, url: str, what: str) -> None:
    """Open a model, and wait until it is seen and nothing follows any more."""
    page.goto(url)
    page.reload()
    page.locator(what).first.wait_for(timeout=60_000)
    page.wait_for_timeout(1000 * QUIET_S)


WATCH = """const until = (ready) => new Promise((done) => {
  const look = () => (ready() ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look));
  look();
});
const typed = (element, value) => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(element, value);
  element.dispatchEvent(new Event('input', { bubbles: true }));
};
const at = (name) => document.querySelector(`[data-testid="${name}"]`);
"""
EDIT = f"""async (value) => {{ {WATCH}
  const panes = ['network', 'bond'].map((view) => at(`pane-${{view}}`)), before = Number(panes[0].dataset.version);
  typed(at('value-R'), value);
  const began = performance.now();
  at('value-R').dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Enter', bubbles: true }}));
  return await until(() => panes.every((one) => Number(one.dataset.drawn) > before)) - began;
}}"""
SLIDE = f"""async (value) => {{ {WATCH}
  const before = at('plots').dataset.id, began = performance.now();
  typed(at('slider-J_m'), value);
  return await until(() => at('plots').dataset.id !== before) - began;
}}"""


@final
class _Page:
    """What a page does, without a browser."""

    def __init__(self, running: Studio) -> None:
        web = HTTPConnection("127.0.0.1", running.port)
        web.request("POST", "/session", json.dumps({"token": running.secret.token}))
        cookie = (web.getresponse().getheader("set-cookie") or "").partition(";")[0]
        web.close()
        self.socket: ClientConnection = connect(
            f"ws://127.0.0.1:{running.port}/socket",
            origin=Origin(f"http://127.0.0.1:{running.port}"),
            additional_headers={"Cookie": cookie},
            max_size=None,
            proxy=None,
        )
        self.hello = self.next()
        self.number = 0

    def next(self) -> dict[str, Any]:
        """The next message; the numbers behind it are left alone."""
        told = self.socket.recv()
        if isinstance(told, bytes):
            told = told[4 : 4 + struct.unpack("<I", told[:4])[0]].decode()
        found: dict[str, Any] = json.loads(told)
        return found

    def tell(self, kind: str, **fields: object) -> None:
        """Send a message."""
        self.socket.send(json.dumps({"kind": kind, **fields}))

    def until(self, *kinds: str) -> list[dict[str, Any]]:
        """The messages up to one of each kind, the last one of a kind as often as it is named."""
        waiting, found = list(kinds), []
        while waiting:
            message = self.next()
            found.append(message)
            if message["kind"] in waiting:
                waiting.remove(message["kind"])
        return found

    def open(self, file: str) -> None:
        self.tell("open", file=file)
        self.tell("show", views=VIEWS)
        while self.until("viewdrawn")[-1]["picture"]["view"] != VIEWS[-1] or not self._quiet():
            pass

    def _quiet(self) -> bool:
        """Whether nothing more comes: what an earlier file still had to say is heard too."""
        try:
            while True:
                self.socket.recv(timeout=QUIET_S)
        except TimeoutError:
            return True

    def edit(self, count: int, target: float) -> Row:
        self.open(f"ladder_{count}.yaml")
        times, ok = [], True
        for k in range(REPEATS):
            began = time.perf_counter()
            self.tell("gesture", id=k, name="set", arguments={"path": ["parameters", "R"], "text": f"{k + 2} kohm"})
            found = self.until("structure", "viewdrawn", "viewdrawn")
            times.append(time.perf_counter() - began)
            values = [p["text"] for m in found if m["kind"] == "structure" for p in m["parameters"] if p["name"] == "R"]
            ok = (
                ok
                and values[-1] == f"{k + 2} kohm"
                and all(m["picture"]["svg"] for m in found if m["kind"] == "viewdrawn")
            )
        return _row("edit to two views", times, target, ok, size=count)

    def slider(self) -> Row:
        self.open("example:dc_motor_pump")
        return self._runs("slider to curves, dc_motor_pump", "J_m", "{} kg*m^2", 0.06)

    def samples(self) -> Row:
        self.open("long.yaml")
        return self._runs("50 001 rows to curves", "m", "{} kg", None, rows=50_001, repeats=2)

    def _runs(
        self, case: str, name: str, form: str, target: float | None, *, rows: int = 1000, repeats: int = REPEATS
    ) -> Row:
        times, ok = [], True
        for k in range(repeats):
            self.number += 1
            began = time.perf_counter()
            value = form.format(0.001 * (k + 1))
            self.tell("simulate", id=self.number, parameters={name: value}, live=True)
            found = self.until("rundone")[-1]
            times.append(time.perf_counter() - began)
            ok = ok and found["status"] == "finished" and found["rows"] >= rows and found["parameters"] == {name: value}
        return _row(case, times, target, ok)
