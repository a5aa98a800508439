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
    assert abs(run.energy.residual) < 1e-7  # the tolerance asked
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
