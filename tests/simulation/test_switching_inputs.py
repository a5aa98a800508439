"""Inputs that switch by formulas of time: every solver stops at every switch, judged by the exact solution between them."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.compiler.enclosures import zeros_of
from tellegen.expressions import parse
from tellegen.notations.reading import read_model

UNTIL, TAU = 4.0, 0.01
TEXT = """\
system: Switched low pass
parameters: {{p: 1 s, c: 0.5, a: 1 V, b: 0 V}}
signals: {{wave: '{wave}', u: '{course}'}}
network:
  V: {{voltage source: [in, gnd], signal: u}}
  R: {{resistor: [in, out], R: 10 kohm}}
  C: {{capacitor: [out, gnd], C: 1 uF}}
"""


def _of_cosine(p: float, c: float) -> list[float]:
    half = p * math.acos(c) / (2 * math.pi)
    return [k * p + sign * half for k in range(-1, int(UNTIL / p) + 2) for sign in (-1, 1)]


def _of_steps(p: float, c: float) -> list[float]:
    """floor(2 sin) passes -2, -1, 0, 1: where 2 sin is -1, 0 or 1, and at the crest no time long."""
    angles = [math.asin(level) for level in (-0.5, 0.0, 0.5)]
    whole = [k * p + p * angle / (2 * math.pi) for k in range(-1, int(UNTIL / p) + 2) for angle in angles]
    return whole + [k * p + p * (math.pi - a) / (2 * math.pi) for k in range(-1, int(UNTIL / p) + 2) for a in angles]


FORMS: dict[tuple[str, str], Callable[[float, float], list[float]]] = {
    ("cos(2*pi*t/p)", "if(cos(2*pi*t/p) > c, a, b)"): _of_cosine,
    ("cos(2*pi*t/p)", "if(wave > c, a, b)"): _of_cosine,
    ("(t - p)^2", "if((t - p)^2 > (1 s)^2*c^2, a, b)"): lambda p, c: [p - abs(c), p + abs(c)],
    ("exp(-t/p)", "if(wave < (1 + c)/2, a, b)"): lambda p, c: [-p * math.log((1 + c) / 2)],
    ("t^2/p^2", "a*min(wave, 1) + b"): lambda p, _: [p],
    ("2*sin(2*pi*t/p)", "a*floor(wave) + b"): _of_steps,
    ("(t - p)^2", "if(wave > (1 s)^2*c^2, a, b)"): lambda p, c: [p - abs(c), p + abs(c)],
}


NARROW = ("cos(2*pi*t/p)", "if(cos(2*pi*t/p) > c, a, b)")


def exact(form: tuple[str, str], values: dict[str, float], edges: list[float], times: np.ndarray) -> np.ndarray:
    """The voltage of the capacitor, by quadrature where the input is smooth and by exponentials where it is constant."""
    wave, course = (parse(text.replace("1 s", "1")) for text in form)
    inner = sorted({0.0, *(e for e in edges if 0.0 < e < UNTIL), *times.tolist()})
    nodes, weights = np.polynomial.legendre.leggauss(12)
    known, v = {0.0: 0.0}, 0.0
    for start, end in pairwise(inner):
        pieces = np.linspace(start, end, 1 + math.ceil((end - start) / (2 * TAU)))
        for low, high in pairwise(pieces):
            at = low + (high - low) * (nodes + 1) / 2
            u = [course.evaluate({**values, "t": t, "wave": wave.evaluate({**values, "t": t})}) for t in at]
            part = sum(w * e * math.exp(-(high - t) / TAU) for w, e, t in zip(weights, u, at, strict=True))
            v = v * math.exp(-(high - low) / TAU) + part * (high - low) / (2 * TAU)
        known[end] = v
    return np.array([known[t] for t in times])


@settings(max_examples=12)
@given(
    st.sampled_from(list(FORMS)),
    st.floats(0.3, 3.0),
    st.one_of(st.floats(-0.95, 0.95), st.just(0.9999)),
    st.sampled_from(("exponential", "exponential", "runge-kutta", "cvode", "ida", "auto")),
    st.sampled_from((1e-4, 1e-6, 1e-8)),
)
@example(NARROW, 1.0, 0.5, "exponential", 1e-6)
@example(NARROW, 3.0, 0.99999, "exponential", 1e-6)
@example(NARROW, 3.0, 0.99999, "runge-kutta", 1e-6)
@example(NARROW, 3.0, 0.99999, "cvode", 1e-6)
@example(NARROW, 3.0, 0.99999, "ida", 1e-6)
def test_every_solver_stops_at_every_switch(
    form: tuple[str, str], p: float, c: float, solver: str, rtol: float
) -> None:
    assume(abs(c) > 1e-3)
    # Comparisons of signals are events, at which the exponential refuses to be asked for.
    assume(solver != "exponential" or "wave" not in form[1])
    values = {"p": p, "c": c, "a": 1.0, "b": -0.25}
    times = np.linspace(0.0, UNTIL, 41)
    wave, course = form
    model = read_model(TEXT.format(wave=wave, course=course))
    run = tg.simulate(model, until=UNTIL, times=times, parameters=values, solver=solver, rtol=rtol)
    wanted = exact(form, values, FORMS[form](p, c), times)
    # A sine is rounded to one for some 1e-8 of a radian about its crest, where floor is a step higher: what that lets in counts.
    crest = 3e-8 * p / (2 * math.pi) / TAU if "floor" in course else 0.0
    error = np.maximum(np.abs(run["V_C"].values - wanted) - crest, 0.0) / (rtol * (1e-3 + np.abs(wanted).max()))
    assert error.max() <= 20.0


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=5, unique=True), st.floats(0.1, 3.0))
def test_zeros_of_formulas_are_all_found(roots: list[float], rate: float) -> None:
    roots = sorted(roots)
    assume(all(b - a > 1e-3 for a, b in pairwise(roots)))
    assume(all(root == 0 or abs(root) > 1e-100 for root in roots))  # a product of smaller numbers is zero itself
    product = "*".join(f"(sin({rate}*t/3) - sin({rate}*({root})/3))" for root in roots)
    assume(rate < 1.5)  # the sine rises over the whole
    found = zeros_of(parse(product), "t", -3.1, 3.1).places
    assert found == pytest.approx(roots, abs=1e-9)
