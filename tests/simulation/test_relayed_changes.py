"""Changes of mode that C makes by itself are those that Python decides: the same rows, events, losses and books."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.results.run import Run
from tellegen.simulation.hybrid import integration, relay

BRIDGE = """
system: Bridge rectifier behind an inductive source
parameters: {R: 50 ohm, L: 1 mH, C: 100 uF}
network:
  V: {voltage source: [a, s]}
  L: {inductor: [a, b]}
  D_1: {diode: [b, p]}
  D_2: {diode: [s, p]}
  D_3: {diode: [n, b]}
  D_4: {diode: [n, s]}
  C: {capacitor: [p, n], voltage: V_C}
  R: {resistor: [p, n]}
  G: {resistor: [n, gnd], R: 1 Mohm}
experiment: {until: 60 ms, inputs: {V: "10 V * sin(2*pi*50 Hz*t)"}}
"""

BOOST = """
system: Boost converter at light load
parameters: {L: 200 uH, C: 50 uF, R: 800 ohm, T: 20 us, d: 0.3}
network:
  V: {voltage source: [in, gnd]}
  L: {inductor: [in, x], current: I_L}
  S: {switch: [x, gnd], control: "pulse(1, 0 s, d*T, T)", start: open}
  D: {diode: [x, out]}
  C: {capacitor: [out, gnd], voltage: V_C}
  R: {resistor: [out, gnd]}
experiment: {until: 1 ms, inputs: {V: 12 V}}
"""

SAMPLED = """
system: Buck converter under a sampled controller
parameters: {L: 100 uH, C: 100 uF, R: 5 ohm}
network:
  V: {voltage source: [in, gnd]}
  S: {switch: [in, x], control: "2.5 V - held", start: closed}
  D: {diode: [gnd, x]}
  L: {inductor: [x, out], current: I_L}
  C: {capacitor: [out, gnd], voltage: V_C}
  R: {resistor: [out, gnd]}
signals:
  held: {sample: V_C, every: 5 us}
experiment: {until: 1 ms, inputs: {V: 12 V}}
"""

SHARED = """
system: Two capacitors that a switch joins again and again
parameters: {C_1: 1 mF, C_2: 2 mF, R_1: 10 ohm, R_2: 20 ohm}
network:
  V: {voltage source: [in, gnd]}
  R_1: {resistor: [in, a]}
  C_1: {capacitor: [a, gnd], initial: 1 V}
  S: {switch: [a, b], control: "pulse(1, 0 s, 3 ms, 10 ms)", start: open}
  C_2: {capacitor: [b, gnd]}
  R_2: {resistor: [b, gnd]}
experiment: {until: 200 ms, inputs: {V: 5 V}}
"""


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many changes of mode Python has decided."""
    count: list[int] = []
    whole = integration._HybridRun._change

    def counted(self: integration._HybridRun, end: object) -> None:
        count.append(1)
        whole(self, end)  # type: ignore[arg-type]

    monkeypatch.setattr(integration._HybridRun, "_change", counted)
    return count


def one_by_one(model: Model | str, **more: object) -> Run:
    """The run whose changes Python decides, all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relay.ModeRelay, "suits", lambda self, trial: False)
        return tg.simulate(model, **more)  # type: ignore[arg-type]


def assert_same(ours: Run, theirs: Run) -> None:
    assert (ours.status, len(ours.t)) == (theirs.status, len(theirs.t))
    assert [(e.element, e.what) for e in ours.events] == [(e.element, e.what) for e in theirs.events]
    # To rounding: handovers in C add up in another order.
    np.testing.assert_allclose([e.t for e in ours.events], [e.t for e in theirs.events], rtol=1e-9)
    size = np.nanmax(np.abs(theirs.trajectory.y), initial=1e-12)
    np.testing.assert_allclose(ours.trajectory.y, theirs.trajectory.y, rtol=1e-8, atol=1e-9 * size)
    if theirs.trajectory.books is not None:
        # Of energies below 1e-7 J the tolerance of a state leaves digits open; a residual is a share of what was handled.
        handled = abs(theirs.energy.supplied) + abs(theirs.energy.dissipated)
        scale = handled + 1e-7
        assert abs(ours.energy.supplied - theirs.energy.supplied) < 1e-9 * scale
        assert abs(ours.energy.residual - theirs.energy.residual) * handled < 1e-9 * scale
    assert ours.trajectory.losses.keys() == theirs.trajectory.losses.keys()
    for name, lost in theirs.trajectory.losses.items():
        assert ours.trajectory.losses[name] == pytest.approx(lost, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("text", [BRIDGE, BOOST, SAMPLED, SHARED], ids=["bridge", "boost", "sampled", "shared"])
@pytest.mark.parametrize("rows", [{}, {"samples": 50}], ids=["own rows", "samples"])
def test_a_run_is_the_same_whoever_decides_its_changes(text: str, rows: dict[str, int]) -> None:
    model = read_model(text)
    assert_same(tg.simulate(model, **rows), one_by_one(model, **rows))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["buck_converter", "clutch_drive", "stick_slip", "bouncing_ball"])
def test_examples_with_modes_run_as_before(name: str) -> None:
    until = {"buck_converter": 1e-3}.get(name)
    assert_same(tg.simulate(name, until), one_by_one(name, until=until))


def test_a_change_is_decided_once_and_then_made_without_python(decided: list[int]) -> None:
    run = tg.simulate("buck_converter", 5e-3, samples=1)
    assert len(run.events) > 1000
    assert len(decided) < 60


def test_other_values_of_a_load_change_which_mode_follows() -> None:
    """At a heavy load the current never rests: the way that a light load went must not be gone."""
    for load in (5.0, 100.0):
        ours = tg.simulate("buck_converter", 1e-3, parameters={"R": load})
        assert_same(ours, one_by_one("buck_converter", until=1e-3, parameters={"R": load}))


@settings(max_examples=max(4, settings().max_examples // 10), deadline=None)
@given(data=st.data())
def test_random_switched_networks_run_the_same(data: st.DataObject) -> None:
    """Switches, diodes, inductors and capacitors anywhere between five nodes."""
    nodes = ["gnd", "a", "b", "c", "d"]
    pairs = st.lists(st.sampled_from(nodes), min_size=2, max_size=2, unique=True)
    lines = ["  V: {voltage source: [a, gnd]}", "  G: {resistor: [d, gnd], R: 100 ohm}"]
    for k in range(data.draw(st.integers(4, 8))):
        kind = data.draw(st.sampled_from(["resistor", "inductor", "capacitor", "diode", "switch"]))
        one, two = data.draw(pairs)
        more = {
            "resistor": f"R: {data.draw(st.sampled_from([5, 20, 90]))} ohm",
            "inductor": "L: 2 mH",
            "capacitor": "C: 40 uF",
            "diode": "",
            "switch": f'control: "sin({data.draw(st.sampled_from([900, 2100]))} rad/s*t + {k})"',
        }[kind]
        lines.append(f"  X_{k}: {{{kind}: [{one}, {two}]{', ' if more else ''}{more}}}")
    text = "system: random\nnetwork:\n" + "\n".join(lines)
    text += '\nexperiment: {until: 20 ms, inputs: {V: "10 V*sin(314 rad/s*t)"}}\n'
    try:
        theirs = one_by_one(read_model(text), samples=40)
    except TellegenError:
        return
    assert_same(tg.simulate(read_model(text), samples=40), theirs)
