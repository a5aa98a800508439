"""Dependent storages behind moduli that read states: T' contains rates of states, and the power balance still holds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from support.networks import equations
from tellegen import linearise, simulate
from tellegen.equations.forms.hamiltonian import port_hamiltonian
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import Expression, is_zero, parse
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

VARIATOR = """
system: Variator whose ratio follows the speed
parameters: {J_1: 2 kg*m^2, J_2: 0.7 kg*m^2, c: 0.4 s/rad, b: 0.3 N*m*s}
bond graph:
  - Se:tau -> 1:a (omega, rotational)
  - a -> I:J_1
  - a -> MTF:n -> 1:d (rotational)
  - d -> I:J_2
  - d -> R:b
elements: {n: {K: 1 + c*omega}}
"""

GOVERNED = """
system: A source decides a dependent inertia through a modulus that reads a state
parameters: {J_1: 1.3 kg*m^2, J_2: 0.6 kg*m^2, c: 0.4 s/rad, e: 0.3, b: 0.2 N*m*s}
network:
  W: {speed source: [s, frame]}
  n: {connection: [s, frame, a, frame], domains: [rotational, rotational], relation: across_2 = (1 + c*omega)*across_1}
  J_2: {inertia: [a]}
  k: {torsion compliance: [a, d], value: 0.8}
  J_1: {inertia: [d], angular velocity: omega}
  b: {friction: [d, frame]}
"""


@dataclass
class Point:
    """A system at values of its states, inputs and rates of inputs."""

    system: EquationSystem
    values: dict[str, float]

    def __post_init__(self) -> None:
        self.values = {**self.system.values(), **self.values}
        for name, e in self.system.where.items():
            self.values[name] = e.evaluate(self.values)

    def number(self, expression: Expression) -> float:
        return expression.evaluate(self.values)

    def matrix(self, name: MatrixName) -> np.ndarray:
        rows = self.system.matrices[name]
        width = len(self.system.states) if name in ("L", "A", "N", "C") else len(self.system.inputs)
        return np.array([[self.number(e) for e in row] for row in rows], float).reshape(len(rows), width)

    def vector(self, names: tuple[str, ...]) -> np.ndarray:
        return np.array([self.values[name] for name in names], float)

    @property
    def rates(self) -> np.ndarray:
        x, u = self.vector(self.system.states), self.vector(self.system.inputs)
        du = self.vector(tuple(f"d_{name}" for name in self.system.inputs))
        f = np.array([self.number(e) for e in self.system.vectors["f"]])
        right = -(self.matrix("A") + self.matrix("N")) @ x - f + self.matrix("B") @ u + self.matrix("B_1") @ du
        return np.linalg.solve(self.matrix("L"), right)

    @property
    def outputs(self) -> np.ndarray:
        x, u = self.vector(self.system.states), self.vector(self.system.inputs)
        du = self.vector(tuple(f"d_{name}" for name in self.system.inputs))
        f_y = np.array([self.number(e) for e in self.system.vectors["f_y"]])
        return np.asarray(self.matrix("C") @ x + self.matrix("D") @ u + self.matrix("D_1") @ du + f_y)

    def along(self, expression: Expression) -> float:
        """The derivative of an expression along the motion."""
        rates = dict(zip(self.system.states, self.rates, strict=True))
        rates |= {name: self.values[f"d_{name}"] for name in self.system.inputs}
        rates |= {name: self.number(e) for name, e in self.system.displacements.items()}
        return float(sum(self.number(expression.derivative(n)) * rates[n] for n in rates))


def point(model: Model, values: Mapping[str, float]) -> Point:
    system = equations(model)
    zero = dict.fromkeys((*system.states, *system.displacements, *system.inputs), 0.0)
    zero |= {f"d_{name}": 0.0 for name in system.inputs}
    return Point(system, {**zero, **values})


def balance(at: Point) -> float:
    """Stored less supplied and lost, relative to what passes."""
    assert at.system.stored_energy is not None
    stored = at.along(at.system.stored_energy)
    supplied = float(at.outputs @ at.vector(at.system.inputs))
    lost = at.number(at.system.dissipated_power)
    return (stored - supplied + lost) / (1 + abs(stored) + abs(supplied) + abs(lost))


def test_the_energy_matrix_stays_symmetric_and_the_rate_stands_in_n() -> None:
    system = equations(read_model(VARIATOR))
    assert is_zero(system.matrices["L"][0][0] - parse("J_1 + J_2*(1 + c*omega)^2"))
    assert is_zero(system.matrices["N"][0][0] - parse("J_2*c*omega_rate*(1 + c*omega)"))
    rate = parse("(tau - b*(1 + c*omega)^2*omega)/(J_1 + J_2*(1 + c*omega)*(1 + 2*c*omega))")
    assert is_zero(system.where["omega_rate"] - rate)


def test_a_run_follows_an_integration_by_hand_and_its_books_close() -> None:
    run = simulate(read_model(VARIATOR), until=3, inputs={"tau": 1.5}, rtol=1e-10, atol=1e-12)

    def speed(_: float, state: np.ndarray) -> list[float]:
        J_1, J_2, c, b = 2.0, 0.7, 0.4, 0.3
        w = state[0]
        m = 1 + c * w
        # the momentum of J_2 is J_2 m w, and its torque acts on J_1 through m
        return [(1.5 - m * b * m * w) / (J_1 + m * J_2 * (m + c * w))]

    by_hand = solve_ivp(speed, (0, 3), [0.0], rtol=1e-11, atol=1e-13, method="DOP853")
    assert run.final()["omega"] == pytest.approx(by_hand.y[0, -1], rel=1e-8)
    assert abs(run.energy.residual) < 1e-8


def test_the_tangent_of_the_equations_is_that_of_the_motion() -> None:
    model = read_model(VARIATOR)
    tangent = linearise(model, at={"omega": 0.8}, inputs={"tau": 1.1})
    speed = [point(model, {"omega": 0.8 + h, "tau": 1.1}).rates[0] for h in (-1e-6, 1e-6)]
    slope = (speed[1] - speed[0]) / 2e-6
    L, A = (float(tangent.matrices[name][0][0].evaluate({})) for name in ("L", "A"))
    found = -A / L
    assert found == pytest.approx(slope, rel=1e-7)


def test_the_port_hamiltonian_form_keeps_half_the_rate_of_the_energy_matrix() -> None:
    form = port_hamiltonian(equations(read_model(VARIATOR)))
    assert form.co_energy == ("omega",)
    assert is_zero(form.matrices["E_1"][0][0] - parse("J_2*c*omega_rate*(1 + c*omega)"))


def test_rates_of_inputs_that_reach_a_modulus_stand_in_the_input_matrices() -> None:
    at = point(read_model(GOVERNED), {"omega": 0.7, "tau_k": -0.4, "W": 1.2, "d_W": -2.1})
    assert at.system.outputs == ("tau_W",)
    # tau_W = m (tau_k + J_2 (m W)')
    m, m_rate = 1 + 0.4 * 0.7, 0.4 * at.rates[at.system.states.index("omega")]
    by_hand = m * (-0.4 + 0.6 * (m_rate * 1.2 + m * -2.1))
    assert abs(at.outputs[0]) == pytest.approx(abs(by_hand), rel=1e-12)
    assert balance(at) == pytest.approx(0, abs=1e-12)


def test_outputs_of_dependent_storages_that_moduli_read_are_written_over_the_states() -> None:
    text = VARIATOR.replace("d (rotational)", "d (w, rotational)").replace(
        "  - d -> R:b", "  - d -> MTF:k -> 1:g -> R:b"
    )
    system = equations(read_model(text.replace("{n: {K: 1 + c*omega}}", "{n: {K: 2}, k: {K: 1 + c*(w + omega)}}")))
    assert is_zero(system.matrices["A"][0][0] - parse("n^2*b*(1 + c*(n + 1)*omega)^2"))


def test_a_signal_that_is_a_formula_of_states_moves_a_dependent_storage() -> None:
    text = VARIATOR.replace("elements: {n: {K: 1 + c*omega}}", "elements: {n: {K: m}}\nsignals: {m: 1 + c*omega}")
    by_signal, by_state = equations(read_model(text)), equations(read_model(VARIATOR))
    at = [Point(s, {"omega": 0.6, "tau": 0.9, "d_tau": 0.0, "m": 1.24}) for s in (by_signal, by_state)]
    assert at[0].rates[0] == pytest.approx(at[1].rates[0], rel=1e-12)


SPEEDS = ("w_1", "w_2", "M_k")


@st.composite
def variators(draw: st.DrawFn) -> tuple[str, dict[str, float]]:
    """Two shafts joined by a spring, and one to three inertias that follow them through moduli of states and displacements."""
    number = st.floats(0.2, 3).map(lambda v: round(v, 3))
    lines = [
        "  tau: {torque source: [frame, a]}",
        f"  J_1: {{inertia: [a], J: {draw(number)}, angular velocity: w_1}}",
        f"  b: {{friction: [a, frame], b: {draw(number)}}}",
        f"  k: {{torsion compliance: [a, d], value: {draw(number)}, torque: M_k}}",
        f"  J_2: {{inertia: [d], J: {draw(number)}, angular velocity: w_2}}",
        f"  g: {{friction: [d, frame], b: {draw(number)}}}",
    ]
    if draw(st.booleans()):
        lines += ["  W: {speed source: [e, frame]}", "  h: {friction: [e, frame], b: 1}"]
    ends = ["a", "d", *(["e"] if len(lines) == 8 else [])]
    for k in range(draw(st.integers(1, 3))):
        reads = draw(st.sampled_from(("(w_1/w_0)", "(w_2/w_0)", "(M_k/M_0)", "theta")))
        formula = draw(
            st.sampled_from((f"1 + {draw(number)}*{reads}", f"2 + sin({reads})", f"{draw(number)} + {reads}^2"))
        )
        end = draw(st.sampled_from(ends))
        lines.append(
            f"  n_{k}: {{connection: [{end}, frame, f{k}, frame], domains: [rotational, rotational], "
            f"relation: across_2 = ({formula})*across_1}}"
        )
        lines.append(f"  I_{k}: {{inertia: [f{k}], J: {draw(number)}}}")
        ends.append(f"f{k}")
    head = "system: x\nparameters: {w_0: 1 rad/s, M_0: 1 N*m}\ndisplacements: {theta: w_1}\n"
    text = head + "network:\n" + "\n".join(lines) + "\n"
    place = st.floats(-1, 1).map(lambda v: round(v, 3))
    values = {name: draw(place) for name in (*SPEEDS, "theta", "tau", "W", "d_tau", "d_W")}
    return text, values


def test_equations_of_moduli_that_read_states_exist_at_rest() -> None:
    """No pivot is taken beside the diagonal, where an entry may vanish with the speeds."""
    text = """\
system: x
parameters: {w_0: 1 rad/s}
network:
  tau: {torque source: [frame, a]}
  J_1: {inertia: [a], J: 1, angular velocity: w_1}
  k: {torsion compliance: [a, d], value: 1, torque: M_k}
  J_2: {inertia: [d], J: 1, angular velocity: w_2}
  n_0: {connection: [d, frame, e, frame], domains: [rotational, rotational], relation: across_2 = (1 + w_1/w_0)*across_1}
  I_0: {inertia: [e], J: 1}
  n_1: {connection: [a, frame, f, frame], domains: [rotational, rotational], relation: across_2 = (1 + w_2/w_0)*across_1}
  I_1: {inertia: [f], J: 1}
"""
    at = point(read_model(text), {"tau": 3.0})
    assert at.rates == pytest.approx([3.0 / 2, 0.0, 0.0])


@given(variators())
def test_power_balances_and_the_energy_matrix_is_symmetric_at_any_point(case: tuple[str, dict[str, float]]) -> None:
    at = point(read_model(case[0]), case[1])
    L, N = at.matrix("L"), at.matrix("N")
    assert np.allclose(L, L.T)
    assert np.all(np.linalg.eigvalsh(L) > 0)
    assert balance(at) == pytest.approx(0, abs=1e-9)
    if "W" not in at.system.inputs:  # else L moves with the rate of the input too
        rate = np.array([[at.along(e) for e in row] for row in at.system.matrices["L"]])
        assert np.allclose(N + N.T, rate, atol=1e-9 * (1 + np.abs(rate).max()))
    for name, symbol_of_rate in zip(at.system.states, at.rates, strict=True):
        if f"{name}_rate" in at.values and "W" not in at.system.inputs:
            assert at.values[f"{name}_rate"] == pytest.approx(symbol_of_rate, rel=1e-7, abs=1e-9)
