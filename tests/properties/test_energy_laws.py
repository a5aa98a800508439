"""Energy of storages with any law: books close, energies are what powers sum up to, and equations tell the same energy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.no_compiler import no_compiler
from tellegen.notations.reading import read_model

BENDS = {
    "0.8*b*sin({x}/b)": True,
    "b*tanh({x}/b)": True,
    "b*atan({x}/b)": True,
    "0.5*{x}*exp(-({x}/b)^2)": True,
    "b*sinh({x}/(3*b))": True,
    "2*abs({x})*{x}/b": True,
    "3*max({x} - b/2, 0)": True,
    "2*min({x} + b/3, b)": True,
    "if({x} > b/2, 4*{x} - 2*b, 0)": True,
    "if({x} < -b/4, 3*{x} + 3*b/4, 0)": True,
    "b*log(1 + exp({x}/b))": False,
    "{x}*({x}/b)^2": True,
    "b*({x}/b)/sqrt(1 + ({x}/b)^2)": True,
}
"""What bends a law, and whether its integral has a formula."""
LAWS = {"q = v": "1 F, b: 1 V", "v = q": "1 V/C, b: 1 C", "phi = i": "1 H, b: 1 A", "i = phi": "1 A/Wb, b: 1 Wb"}
FILE = """\
system: E
parameters: {{a: {numbers}}}
network:
  V: {{voltage source: [p, gnd]}}
  R: {{resistor: [p, n], R: 0.5 ohm}}
  X: {{{kind}: [n, gnd], law: '{law}'}}
{more}
experiment: {{until: 3 s, inputs: {{V: '{volts} V*sin(2.5*t/(1 s))'}}}}
"""
BESIDE = {
    "capacitor": "  Y: {capacitor: [n, m], C: 2 F}\n  r: {resistor: [m, gnd], R: 2 ohm}",
    "inductor": "  Y: {capacitor: [n, gnd], C: 0.1 F}",
}


@settings(max_examples=6)
@given(
    st.sampled_from(sorted(LAWS)),
    st.lists(st.sampled_from(sorted(BENDS)), min_size=1, max_size=3, unique=True),
    st.booleans(),
    st.sampled_from([1, 4]),
)
def test_the_books_close_whatever_the_law_of_a_storage(law: str, bends: list[str], beside: bool, volts: int) -> None:
    x = law.rpartition(" ")[2]
    kind = "capacitor" if x in "qv" else "inductor"
    formula = " + ".join([f"{law.partition(' =')[0]} = a*{x}", *(f"a*({bend.format(x=x)})" for bend in bends)])
    more = BESIDE[kind] if beside else ""
    model = read_model(FILE.format(numbers=LAWS[law], kind=kind, law=formula, more=more, volts=volts))
    with no_compiler():
        run = tg.simulate(model, samples=300, rtol=1e-7)
    assert abs(run.energy.residual) < 3e-7  # the tolerance asked, of energies that two integrals tell
    energy, power = run.values("energy.X"), run.values("power.X")
    gained = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(run.t))])
    assert np.allclose(energy - energy[0], gained, atol=8e-3 * (1 + np.max(np.abs(energy))))
    told = tg.derive(model).stored_energy
    if all(BENDS[bend] for bend in bends):
        assert told is not None
    if told is not None:
        rows = run.table([*tg.derive(model).states])
        found = [
            told.evaluate({**run.parameters, **dict(zip(tg.derive(model).states, row, strict=True))})
            for row in rows[::40]
        ]
        assert np.allclose(found, run.stored_energy.values[::40], rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@settings(max_examples=12)
@given(
    st.sampled_from(["sine(1, {f} Hz)", "if(sin(2*pi*{f}*t/(1 s)) > 0.3, 1, 0)", "pulse(1, 0 s, {w} s, {p} s)"]),
    st.floats(1.0, 3000.0),
    st.sampled_from(["auto", "exponential", "runge-kutta", "cvode", "ida"]),
    st.sampled_from([1e-6, 1e-8]),
)
def test_books_of_few_rows_are_those_of_many(shape: str, f: float, solver: str, rtol: float) -> None:
    """What passes between two rows counts, however often the input changes there; or the books say that they do not close."""
    given_ = {"V": shape.format(f=f, w=0.3 / f, p=1.0 / f)}
    few, many = (
        tg.simulate("rlc", 0.1, inputs=given_, times=np.linspace(0.0, 0.1, rows), solver=name, rtol=tol)
        for rows, name, tol in ((12, solver, rtol), (2001, "runge-kutta", 1e-10))
    )
    known = np.array([many.energy.supplied, many.energy.dissipated], dtype=float)
    found = np.array([few.energy.supplied, few.energy.dissipated], dtype=float)
    assert (
        "S120" in [finding.code for finding in few.notices] or abs(found - known).max() <= 300 * rtol * abs(known).max()
    )


@pytest.mark.parametrize(
    "course", ["sine(1, {f} Hz)", "chirp(1, 1 Hz, {f} Hz, 0.1 s)", "sine(1, {f} Hz)*exp(-50*t/(1 s))"]
)
def test_books_close_under_inputs_that_turn_faster_than_the_states(course: str) -> None:
    """The points of books in a step are as close as the input needs them, not the states alone."""
    for f in (300, 2700):
        times = np.linspace(0.0, 0.1, 12)
        run = tg.simulate("rlc", 0.1, inputs={"V": course.format(f=f)}, times=times, solver="exponential", rtol=1e-8)
        assert abs(run.energy.residual) < 1e-8  # the tolerance asked


@pytest.mark.parametrize("solver", ["exponential", "runge-kutta", "cvode", "ida", "auto"])
@pytest.mark.parametrize(
    "beside",
    ["", "  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n  C: {capacitor: [b, gnd], C: 1 F}\n"],
)
def test_what_a_source_gives_that_no_state_feels_is_in_the_books(solver: str, beside: str) -> None:
    """The energy of a resistor alone at its source has a formula, and no error of a step would tell that it is missed."""
    alone = "  I: {current source: [gnd, c]}\n  r: {resistor: [c, gnd], R: 2 ohm}\n"
    model = read_model(f"system: x\nnetwork:\n{beside}{alone}")
    if solver == "exponential" and not beside:
        return  # it has nothing to advance
    for f in (5.0, 333.3, 2711.0):
        run = tg.simulate(
            model, 0.1, inputs={"I": f"sine(1, {f} Hz)", **({"V": 0.0} if beside else {})}, solver=solver, samples=11
        )
        w = 2 * np.pi * f
        wanted = 2 * (0.05 - np.sin(2 * w * 0.1) / (4 * w))
        assert float(run.energy.dissipated or 0.0) == pytest.approx(
            wanted, rel=1e-5
        )  # ten tolerances: multistep solvers take powers from ends of steps
