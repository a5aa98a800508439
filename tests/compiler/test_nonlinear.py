"""Nonlinear laws, unknowns, moving storages: residuals by hand, energy books, tangents against differences."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler.comparing import close
from compiler.test_models import balance_closes
from tellegen.causality import assign_causality
from tellegen.compiler import NumericModel, compile_model
from tellegen.compiler.compiling import Backend
from tellegen.compiler.context import Array
from tellegen.core.errors import CompilerError
from tellegen.graph import lower
from tellegen.notations.reading import read_model


def compiled(network: str, parameters: str = "", backend: Backend = "auto", more: str = "") -> NumericModel:
    lines = "\n  ".join(network.strip().splitlines())
    text = f"system: test\nparameters: {{{parameters}}}\n{more}\nnetwork:\n  {lines}\n"
    return compile_model(assign_causality(lower(read_model(text))), backend=backend)


DIODES = """
V: {voltage source: [a, gnd]}
D: {resistor: [a, b], law: "i = I_s*(exp(v/V_t) - 1)"}
R: {resistor: [b, gnd], R: 100 ohm}
L: {inductor: [b, c], L: 1 mH}
C: {capacitor: [c, gnd], C: 1 uF}
"""
BACKWARDS = """
V: {voltage source: [a, gnd]}
R: {resistor: [a, b], law: "v = r*i + k*i^3"}
C: {capacitor: [b, gnd], C: 1 F}
"""
SATURATED = """
V: {voltage source: [a, gnd]}
R: {resistor: [a, b], R: 2 ohm}
L: {inductor: [b, gnd], law: "phi = phi_s*tanh(i/I_0)"}
"""
STIFFENING = """
F: {force source: [frame, m]}
m: {mass: [m], m: 2 kg}
k: {spring: [m, frame], law: "F = k*x + c*x^3"}
b: {damper: [m, frame], law: "F = b*v*abs(v)"}
"""
BOTH_CURVED = """
I: {current source: [gnd, a]}
C_1: {capacitor: [a, gnd], law: "q = c*v + d*v^3"}
C_2: {capacitor: [a, gnd], law: "q = e*sinh(v/V_0)"}
R: {resistor: [a, gnd], law: "i = g*v^3 + h*v"}
"""
MOVING = """
V: {voltage source: [a, gnd]}
R: {resistor: [a, b], R: 2 ohm}
C: {capacitor: [b, gnd], C: C_0*(2 + sin(theta))}
R_m: {resistor: [b, d], R: 3 ohm}
motor: {dc machine: [d, gnd, s, frame], K: 0.1}
tau: {torque source: [frame, s]}
J: {inertia: [s], J: 1, angular velocity: omega}
"""
MODELS = {
    "diode": (DIODES, "I_s: 1 nA, V_t: 25 mV", ""),
    "backwards": (BACKWARDS, "r: 1, k: 2", ""),
    "saturated": (SATURATED, "phi_s: 3, I_0: 0.5", ""),
    "stiffening": (STIFFENING, "k: 3, c: 2, b: 0.7", ""),
    "both curved": (BOTH_CURVED, "c: 1, d: 2, e: 3, V_0: 1 V, g: 0.5, h: 1", ""),
    "moving": (MOVING, "C_0: 0.2", "displacements: {theta: omega}"),
}


def model_of(name: str, backend: Backend = "auto") -> NumericModel:
    network, parameters, more = MODELS[name]
    return compiled(network, parameters, backend, more)


def point_of(model: NumericModel, seed: int = 1) -> tuple[Array, Array, Array]:
    chance = np.random.default_rng(seed)
    y, yp = 0.3 * chance.normal(size=(2, model.size))
    return y, yp, 0.3 * chance.normal(size=len(model.inputs))


@pytest.mark.parametrize("name", MODELS)
def test_energy_is_gained_by_what_is_supplied_and_not_dissipated(name: str) -> None:
    model = model_of(name)
    assert model.explicit
    assert not model.linear
    y, _, u = point_of(model)
    assert balance_closes(model, y, u)


@pytest.mark.parametrize("name", MODELS)
def test_python_computes_what_c_computes(name: str) -> None:
    fast, slow = model_of(name, "c"), model_of(name, "python")
    assert (fast.backend, slow.backend) == ("c", "python")
    y, yp, u = point_of(fast)
    dp = np.linspace(0.1, 0.2, len(fast.parameters))
    calls: list[Callable[[NumericModel], Array]] = [
        lambda m: m.residual(0.0, y, yp, m.new_context(inputs=u)),
        lambda m: m.rhs(0.0, y, m.new_context(inputs=u)),
        lambda m: m.tangent(0.0, y, yp, yp, y, dp, m.new_context(inputs=u)),
        lambda m: m.rhs_tangent(0.0, y, yp, dp, m.new_context(inputs=u)),
        lambda m: m.observe(0.0, y, yp, m.new_context(inputs=u)),
        lambda m: m.balance(0.0, y, yp, m.new_context(inputs=u)),
    ]
    for call in calls:
        assert close(call(fast), call(slow), 1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_tangents_are_the_slopes_of_their_functions(name: str) -> None:
    model = model_of(name)
    y, yp, u = point_of(model)
    chance = np.random.default_rng(2)
    dy, dyp = chance.normal(size=(2, model.size))
    p = model.parameter_values
    dp = p * chance.normal(size=len(p))
    h = 1e-6

    def residual(s: float) -> Array:
        return model.residual(0.0, y + s * dy, yp + s * dyp, model.new_context(p + s * dp, u))

    def rhs(s: float) -> Array:
        return model.rhs(0.0, y + s * dy, model.new_context(p + s * dp, u))

    context = model.new_context(inputs=u)
    assert close(model.tangent(0.0, y, yp, dy, dyp, dp, context), (residual(h) - residual(-h)) / (2 * h), 1e-6)
    assert close(model.rhs_tangent(0.0, y, dy, dp, context), (rhs(h) - rhs(-h)) / (2 * h), 1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_the_jacobian_on_its_pattern_is_the_whole_jacobian(name: str) -> None:
    model = model_of(name)
    y, yp, u = point_of(model)
    context, n, cj = model.new_context(inputs=u), model.size, 3.0
    unit = np.eye(n)
    whole = np.array([model.tangent(0.0, y, yp, e, cj * e, context=context) for e in unit]).T
    found = np.zeros((n, n))
    columns = np.repeat(np.arange(n), np.diff(model.pattern.indptr))
    found[model.pattern.indices, columns] = model.jacobian(0.0, y, yp, cj, context)
    assert close(found.ravel(), whole.ravel())


def test_an_unknown_is_solved_inside() -> None:
    model = model_of("backwards")
    assert model.unknowns == ()
    y, u = np.array([0.3]), np.array([5.0])
    context = model.new_context(inputs=u)
    rate = model.rhs(0.0, y, context)[0]  # the current, because C = 1 F
    assert rate + 2 * rate**3 == pytest.approx(5.0 - 0.3, rel=1e-12)


def test_a_law_without_closed_energy_is_integrated() -> None:
    model = model_of("saturated")
    energy = next(k for k, o in enumerate(model.observables) if o.kind == "energy")
    current, yp = np.array([1.7]), np.zeros(1)
    # E = i*phi(i) - integral of phi, and the integral of phi_s*tanh(i/I_0) is phi_s*I_0*log(cosh(i/I_0)).
    expected = 1.7 * 3 * np.tanh(1.7 / 0.5) - 3 * 0.5 * np.log(np.cosh(1.7 / 0.5))
    assert model.observe(0.0, current, yp)[energy] == pytest.approx(expected, rel=1e-9)


def test_work_is_done_by_whoever_moves_the_parameter_of_a_storage() -> None:
    model = model_of("moving")
    y, _, u = point_of(model)
    context = model.new_context(inputs=u)
    rates = model.rhs(0.0, y, context)
    voltage, omega, theta = (y[model.names.index(name)] for name in ("V_C", "omega", "theta"))
    expected = -(voltage**2) / 2 * 0.2 * np.cos(theta) * omega  # -C' v^2/2: plates that part take less energy
    assert model.balance(0.0, y, rates, context)[3] == pytest.approx(expected, rel=1e-12)


def test_values_that_are_not_finite_name_their_variable() -> None:
    model = model_of("stiffening")
    with pytest.raises(FloatingPointError, match="'v_m' is not a finite number"):
        model.rhs(0.0, np.array([np.inf, 1.0]))


def test_a_parameter_without_value_is_named() -> None:
    with pytest.raises(CompilerError, match="'R' has no value") as caught:
        compiled("V: {voltage source: [a, gnd]}\nR: {resistor: [a, gnd]}")
    assert caught.value.code == "N105"


def test_parameters_change_without_compiling_again() -> None:
    model = compiled(BACKWARDS, "r: 1, k: 2, d: 0.5, area: pi*d^2/4")
    assert model.parameters == ("r", "k", "d", "C")
    context = model.new_context({"k": 0.0, "r": 2.0}, {"V": 5.0})
    assert model.rhs(0.0, np.array([1.0]), context)[0] == pytest.approx(2.0)
    with pytest.raises(CompilerError, match="no parameter 'kk'") as caught:
        model.new_context({"kk": 1.0})
    assert "'k'" in caught.value.finding.fix


def test_formulas_of_parameters_follow_their_parameters() -> None:
    model = compiled(
        "V: {voltage source: [a, gnd]}\nR: {resistor: [a, b], R: rho/area}\nC: {capacitor: [b, gnd], C: 1 F}",
        "rho: 2, d: 0.5, area: pi*d^2/4",
    )
    y, u = np.array([1.0]), {"V": 3.0}
    context = model.new_context({"d": 0.25}, u)
    assert model.rhs(0.0, y, context)[0] == pytest.approx(2.0 * np.pi * 0.25**2 / 4 / 2.0)
    along = np.array([name == "d" for name in model.parameters], dtype=float)
    slope = model.rhs_tangent(0.0, y, None, along, context)[0]
    assert slope == pytest.approx(2.0 * np.pi * 0.25 / 2 / 2.0)
